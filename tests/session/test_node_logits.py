"""Where a node's numbers come from, and what the engine is told meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from explorer import reading
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams, Settings, StopParams
from explorer.engine.client import Engine
from explorer.workspace import Workspace


@pytest.fixture
def told(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[int, ...]]]:
    """What the engine was told and asked, in order."""
    told: list[tuple[str, tuple[int, ...]]] = []
    ask = workspace.engine.next_token_logits

    def next_token_logits(prefixes: Any, **options: Any) -> Any:
        told.append(("ask", *prefixes))
        return ask(prefixes, **options)

    monkeypatch.setattr(workspace.engine, "next_token_logits", next_token_logits)
    monkeypatch.setattr(Engine, "pin", lambda _, path: told.append(("pin", path)))

    def expect(_: Engine, prefix: tuple[int, ...], *, prompt_length: int, then_likeliest: bool) -> None:
        told.append(("expect", prefix, then_likeliest))

    monkeypatch.setattr(Engine, "expect", expect)
    return told


def test_a_run_says_what_comes_next_before_it_saves(
    workspace: Workspace, told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = workspace.new_session("")
    append = workspace.store.append
    monkeypatch.setattr(workspace.store, "append", lambda *rest: (told.append(("save", ())), append(*rest)))
    list(session.run("greedy"))
    a, c, end = (session.tree.node(node).token_id for node in session.tree.path(session.state.current))
    # Nothing follows an end of text.
    assert told == [
        ("ask", ()),
        ("expect", (a,), True),
        ("save", ()),
        ("ask", (a,)),
        ("expect", (a, c), True),
        ("save", ()),
        ("ask", (a, c)),
        ("save", ()),
    ]
    assert end in session.eos_token_ids


def test_a_node_whose_numbers_are_at_hand_is_pinned_once_and_not_expected(
    workspace: Workspace, told: list[Any]
) -> None:
    session = workspace.new_session("")
    session.step_greedy()
    step = session.state.current
    session.view()
    told.clear()
    session.select(0)
    for _ in range(2):
        session.view()
    assert told == [("pin", ())]
    session.step_greedy()
    assert session.state.current == step
    session.view()
    assert told == [("pin", ()), ("pin", session.prefix(step))]


@pytest.mark.parametrize(
    ("how", "values"), [("step", {}), ("sample", {}), ("greedy", {"temperature": 0.5}), ("greedy", {"ban": (3,)})]
)
def test_only_a_greedy_run_without_filters_is_sure_of_the_likeliest(
    workspace: Workspace, told: list[Any], how: str, values: dict[str, Any]
) -> None:
    session = workspace.new_session("", settings=Settings(sampling=SamplingParams(values)))
    if how == "step":
        session.step_greedy()
    else:
        next(session.run(how))
    assert [entry[2] for entry in told if entry[0] == "expect"] == [False]


def test_a_draw_is_foreseen_before_the_logits_are_sorted_and_told_once(
    workspace: Workspace, told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sort = SortedLogits.from_raw
    monkeypatch.setattr(SortedLogits, "from_raw", lambda *rest: (told.append(("sort", ())), sort(*rest))[1])
    session = workspace.new_session("", seed=3)
    session.step_draw()
    step = session.tree.node(session.state.current).token_id
    assert [entry[0] for entry in told] == ["ask", "expect", "sort"]
    assert told[1] == ("expect", (step,), False)


def test_a_guess_that_was_wrong_is_followed_by_what_was_taken(
    workspace: Workspace, told: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = workspace.new_session("", seed=3)
    monkeypatch.setattr("explorer.session.foreseen_token", lambda raw, *_: int(raw.argmin()))
    session.step_draw()
    step = session.tree.node(session.state.current).token_id
    expected = [entry[1] for entry in told if entry[0] == "expect"]
    assert len(expected) == 2
    assert expected[0] != expected[1] == (step,)


def test_what_a_limit_cuts_off_is_not_foreseen(workspace: Workspace, told: list[Any]) -> None:
    session = workspace.new_session("", settings=Settings(stopping=StopParams(max_new_tokens=1)), seed=3)
    session.step_draw()
    assert [entry[0] for entry in told] == ["ask"]


def test_a_step_to_a_limit_expects_nothing(workspace: Workspace, told: list[Any]) -> None:
    settings = Settings(stopping=StopParams(max_new_tokens=1), sources={"max_new_tokens": "user"})
    session = workspace.new_session("", settings=settings)
    session.step_greedy()
    assert told == [("ask", ())]


def test_what_a_view_showed_can_be_recorded_later(workspace: Workspace) -> None:
    session = workspace.new_session("")
    seen = session.view(note=False)
    assert seen.source == "model"
    assert not session.observed(0)
    session.note_seen(0)
    assert session.observed(0)
    assert session.id is not None
    assert workspace.store.observation(session.id, 0) is not None
    session.note_seen(0)  # nothing is left to record


def test_a_step_takes_what_the_view_showed_without_working_it_out_again(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluations: list[SamplingParams] = []
    honest = reading.evaluate
    monkeypatch.setattr(
        reading,
        "evaluate",
        lambda logits, sampling, context: (evaluations.append(sampling), honest(logits, sampling, context))[1],
    )
    session = workspace.new_session("")
    shown = session.view().distribution
    assert session.distribution(0) is shown
    session.step_greedy()
    assert len(evaluations) == 1
    session.select(0)
    session.set_settings(session.state.settings.with_sampling(temperature=0.5))
    assert session.distribution(0) is not shown
    assert [sampling.number("temperature") for sampling in evaluations] == [1.0, 0.5]


def test_a_node_that_the_engine_was_asked_for_is_not_pinned_once_more(workspace: Workspace, told: list[Any]) -> None:
    session = workspace.new_session("")
    session.view()
    session.step_greedy()
    assert [what for what, *_ in told] == ["ask", "expect"]
    session.view()
    session.select(0)
    session.view()  # here the engine does not see that the user looks
    assert [what for what, *_ in told] == ["ask", "expect", "ask", "pin"]


def test_the_library_is_asked_only_for_nodes_of_which_it_can_know(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = workspace.new_session("")
    session.step_greedy()
    session.step_greedy()
    assert session.id is not None
    asked: list[int] = []
    honest = workspace.store.observation
    monkeypatch.setattr(workspace.store, "observation", lambda of, node: (asked.append(node), honest(of, node))[1])
    new = session.state.current
    assert session.view(compute=False).source == "none"  # just stepped to: nothing can be recorded there
    assert session.observation(1) is not None
    assert asked == [1]
    again = workspace.open_session(session.id)
    assert again.observation(new) is None
    assert again.observation(1) is not None
    assert asked == [1, new, 1]
