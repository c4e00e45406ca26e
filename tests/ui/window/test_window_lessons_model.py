"""From a lesson to the real model and back, as a learner goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ui.app import Explorer

Start = Callable[..., Explorer]
Settle = Callable[[Explorer], None]


@pytest.mark.model
def test_now_on_the_real_model_and_back(start: Start, settle: Settle, smollm2: str) -> None:
    explorer = start()
    settle(explorer)
    explorer.lessons.open("ruler", True)
    settle(explorer)
    card = explorer.window.lesson_card
    card.real.click()
    settle(explorer)
    opened, view = explorer.session.session, explorer.session.view
    assert opened is not None
    assert opened.model.identity.name == smollm2
    assert view is not None
    assert view.state.prompt.text == "My favourite colour is"
    assert view.state.settings.stopping.max_new_tokens == 20
    assert view.distribution is not None
    assert "SmolLM2" in card.notice.text()
    card.next.click()
    settle(explorer)
    assert explorer.session.session is not None
    assert explorer.session.session.model.identity.source == "lesson:ruler"
    assert explorer.lessons.playing is not None
    assert explorer.lessons.playing[1] == 1
