"""The engine hears what a search will ask next, so that it goes on while a round is saved and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from explorer.growth import expand, search_beams
from explorer.models.base import TokenIds
from explorer.search import expand as algorithm
from explorer.search.beam_settings import BeamSettings
from explorer.search.plans import BestFirst, ByLevel
from explorer.session import Session
from explorer.workspace import Workspace

Told = list[tuple[str, tuple[TokenIds, ...]]]


@pytest.fixture
def told(workspace: Workspace, engine: Any, monkeypatch: pytest.MonkeyPatch) -> Told:
    """What the engine was asked and told, and when the library wrote, in order."""
    told: Told = []
    ask, append = engine.next_token_logits, workspace.store.append

    def next_token_logits(prefixes: Any, **options: Any) -> Any:
        told.append(("ask", tuple(prefixes)))
        return ask(prefixes, **options)

    def expect_all(prefixes: Any, **options: Any) -> None:
        told.append(("expect", tuple(prefixes)))

    monkeypatch.setattr(engine, "next_token_logits", next_token_logits)
    monkeypatch.setattr(engine, "expect_all", expect_all)
    monkeypatch.setattr(workspace.store, "append", lambda *rest: (told.append(("save", ())), append(*rest)))
    return told


@pytest.mark.parametrize(
    "search",
    [
        lambda session: expand(session, BestFirst(12)),
        lambda session: search_beams(session, BeamSettings(2)),
    ],
)
def test_the_next_call_is_announced_before_the_round_is_saved(
    search: Callable[[Session], Iterable[Any]], session: Session, told: Told
) -> None:
    list(search(session))
    asked = [prefixes for what, prefixes in told if what == "ask"]
    expected = [prefixes for what, prefixes in told if what == "expect"]
    assert len(asked) > 2
    assert [set(prefixes) for prefixes in expected] == [set(prefixes) for prefixes in asked[1:]]
    order = [what for what, _ in told]
    assert order[:6] == ["ask", "expect", "save", "ask", "expect", "save"]
    assert order[-2:] == ["ask", "save"]


def test_the_rest_of_a_level_is_announced_before_its_first_part_is_worked_out(
    session: Session, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(algorithm, "_ROUND", 2)
    list(expand(session, ByLevel(2, 3)))
    assert [(what, len(prefixes)) for what, prefixes in told] == [
        ("ask", 1),
        ("save", 0),
        ("ask", 2),
        ("save", 0),
        ("ask", 2),
        ("expect", 2),
        ("save", 0),
        ("ask", 2),
        ("save", 0),
    ]
    assert told[5][1] == told[7][1]
