"""The film of a session shows after every command what the session itself showed then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer.annotations import Annotation
from explorer.growth import expand, sample_runs, search_beams
from explorer.history import branch_off
from explorer.past import past_view
from explorer.replay import Film, FilmMaker
from explorer.search.beam_settings import BeamSettings
from explorer.search.plans import BestFirst
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session
from explorer.store.records import CommandRecord, SessionState, StepRecord
from explorer.tree import ROOT, NodeId

from .conftest import WorkspaceMaker

_ACTIONS: dict[str, Callable[[Session, int], object]] = {
    "greedy": lambda session, _: session.step_greedy(),
    "draw": lambda session, _: session.step_draw(),
    "pick": lambda session, n: session.pick(n % 5),
    "run": lambda session, n: list(session.run("sample", max_steps=n % 4)),
    "expand": lambda session, n: list(expand(session, BestFirst(max_nodes=1 + n % 3))),
    "undo": lambda session, _: session.undo(),
    "redo": lambda session, _: session.redo(),
    "select": lambda session, n: session.select(_any_node(session, n)),
    "delete": lambda session, n: session.delete_branch(n) if (n := _any_node(session, n)) != ROOT else None,
    "settings": lambda session, n: session.set_settings(session.state.settings.with_sampling(top_k=n % 3)),
    "seed": lambda session, n: session.set_seed(n),
    "star": lambda session, n: session.annotate(_any_node(session, n), star=n % 2 == 0, note=str(n % 3)),
    "branch": lambda session, n: _branch(session, n),
}
_HISTORIES = st.lists(st.tuples(st.sampled_from(sorted(_ACTIONS)), st.integers(0, 50)), min_size=1, max_size=16)
_QUICK = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _any_node(session: Session, n: int) -> NodeId:
    nodes = [ROOT, *(node.id for node in session.tree.nodes())]
    return nodes[n % len(nodes)]


def _branch(session: Session, n: int) -> None:
    """Off any node that ever was, also one that is hidden now."""
    branch_off(session, n % session.tree.next_id, session.commands[0].before if session.commands else session.state)


@dataclass(frozen=True)
class Seen:
    """What a session showed after a command."""

    commands: int
    state: SessionState
    nodes: frozenset[NodeId]
    annotations: dict[NodeId, Annotation]
    draws: dict[NodeId, tuple[StepRecord, ...]]


def _watch(session: Session) -> dict[int, Seen]:
    """What is shown after every command from here on, by its number."""
    seen: dict[int, Seen] = {}

    def note(_: object) -> None:
        number = len(session.commands)
        if number and number not in seen:  # looking around is no command
            nodes = frozenset(node.id for node in session.tree.nodes())
            draws = {node: session.view(node, compute=False).draws for node in (ROOT, *nodes)}
            seen[number] = Seen(number, session.state, nodes, session.annotations, draws)

    session.subscribe(note)
    return seen


def _do(session: Session, actions: Sequence[tuple[str, int]]) -> None:
    for name, n in actions:
        _ACTIONS[name](session, n)


def _same(film: Film, seen: Seen) -> None:
    number = seen.commands
    assert film.state(number) == seen.state
    assert film.visible(number) == seen.nodes
    assert film.annotations(number) == seen.annotations
    assert {node: film.draws(number, node) for node in (ROOT, *seen.nodes)} == seen.draws


@_QUICK
@given(_HISTORIES)
def test_every_moment_is_what_the_session_showed_then(
    open_workspace: WorkspaceMaker, actions: list[tuple[str, int]]
) -> None:
    workspace = open_workspace()
    session = workspace.new_session(workspace.prompt_of_ids(()), seed=3)
    start, seen = session.state, _watch(session)
    _do(session, actions)
    film = FilmMaker(start).film(session.commands)
    assert len(film) == len(session.commands)
    for moment in seen.values():
        _same(film, moment)
    for one, other in zip([0, *seen], [*reversed(seen), 0], strict=True):
        appeared, gone = film.between(one, other)
        assert (film.visible(one) | appeared) - gone == film.visible(other)
        assert appeared.isdisjoint(film.visible(one))
        assert gone <= film.visible(one)
    assert film.showing(len(film), range(session.tree.next_id)) == [ROOT, *sorted(film.visible(len(film)))]


@_QUICK
@given(_HISTORIES, _HISTORIES)
def test_a_film_that_goes_on_is_the_film_made_anew(
    open_workspace: WorkspaceMaker, first: list[tuple[str, int]], second: list[tuple[str, int]]
) -> None:
    workspace = open_workspace()
    session = workspace.new_session(workspace.prompt_of_ids(()), seed=3)
    maker, seen = FilmMaker(session.state), _watch(session)
    _do(session, first)
    early, so_far = maker.film(session.commands), len(session.commands)
    _do(session, second)
    film = maker.film(session.commands)
    for moment in seen.values():
        _same(film, moment)
        if moment.commands <= so_far:
            _same(early, moment)


def _as_before_undo_was_recorded(commands: Sequence[CommandRecord]) -> tuple[CommandRecord, ...]:
    """The same commands as a session kept them that did not write down when it undid."""
    kept = [command for command in commands if command.kind not in ("undo", "redo")]
    numbers = {command.seq: number for number, command in enumerate(kept, 1)}
    return tuple(replace(c, seq=numbers[c.seq], group=numbers.get(c.group, numbers[c.seq])) for c in kept)


@_QUICK
@given(_HISTORIES)
def test_where_undoing_was_not_recorded_it_is_shown_as_late_as_what_followed_allows(
    open_workspace: WorkspaceMaker, actions: list[tuple[str, int]]
) -> None:
    workspace = open_workspace()
    session = workspace.new_session(workspace.prompt_of_ids(()), seed=3)
    start = session.state
    _do(session, actions)
    commands = _as_before_undo_was_recorded(session.commands)
    film = FilmMaker(start).film(commands)
    assert film.visible(len(film)) == {node.id for node in session.tree.nodes()}
    assert [moment.seq for moment in film.moments if not moment.inferred] == [command.seq for command in commands]
    for command in commands:
        if command.state == "done":  # what it was given in was there: nothing of it had to be guessed
            before = film.visible(film.moment_of(command.seq) - 1)
            made = {node.id for node in command.added}
            assert {step.parent for step in command.steps} - made <= before | {ROOT}
            assert replace(film.state(film.moment_of(command.seq)), current=0) == replace(command.after, current=0)


@pytest.fixture
def session(open_workspace: WorkspaceMaker) -> Session:
    workspace = open_workspace()
    return workspace.new_session(workspace.prompt_of_ids(()), seed=3)


def test_what_was_undone_and_left_behind_is_part_of_the_film(session: Session) -> None:
    start = session.state
    session.step_greedy()
    session.pick(3)
    session.undo()
    session.pick(2)
    film = FilmMaker(start).film(session.commands)
    assert [moment.kind for moment in film.moments] == ["step", "pick", "undo", "pick"]
    assert [sorted(film.visible(number)) for number in range(5)] == [[], [1], [1, 2], [1], [1, 3]]
    assert film.moments[2].turned == (2,)
    assert [moment.mark for moment in film.moments] == ["step", "step", "turn", "step"]


def test_every_step_of_a_search_is_a_moment(session: Session) -> None:
    start = session.state
    list(search_beams(session, BeamSettings(2, 2, 0.0)))
    rounds = len(session.commands)
    list(sample_runs(session, SamplePlan(5, 7)))
    list(expand(session, BestFirst(max_nodes=20)))
    film = FilmMaker(start).film(session.commands)
    assert rounds > 1
    kinds = [moment.kind for moment in film.moments if moment.mark == "growth"]
    assert min(kinds.count("beam"), kinds.count("sample"), kinds.count("expand")) > 1
    places = [moment.place for moment in film.moments[:rounds] if moment.kind == "beam"]
    assert places == list(range(1, len(places) + 1))
    assert film.gesture_after(1) >= len(places)


def test_gestures_are_stepped_over_whole(session: Session) -> None:
    start = session.state
    session.step_greedy()
    list(session.run("sample", max_steps=2))
    session.set_seed(9)
    film = FilmMaker(start).film(session.commands)
    run = [number for number, moment in enumerate(film.moments, 1) if moment.kind in ("run", "stop")]
    assert [film.gesture_before(n) for n in (0, 1, run[0], run[-1])] == [0, 0, 1, 1]
    assert [film.gesture_after(n) for n in (0, 1, run[0])] == [1, run[-1], run[-1]]
    assert film.gesture_after(len(film)) == len(film)
    assert [film.moment_of(command.seq) for command in session.commands] == list(range(1, len(film) + 1))
    assert film.moment_of(99) == 0


def test_a_session_without_commands_is_a_film_without_moments(session: Session) -> None:
    film = FilmMaker(session.state).film(session.commands)
    assert len(film) == 0
    assert film.visible(0) == frozenset()
    assert film.state(0) == session.state
    assert (film.gesture_before(0), film.gesture_after(0)) == (0, 0)


def _comparable(view: Any) -> tuple[object, ...]:
    shown = None if view.distribution is None else view.distribution.sampling_probs.tolist()
    return (
        *(view.node_id, view.path, view.edges, view.pieces, view.text, view.values, view.stop, view.taken),
        *(view.state, view.draws, view.source, shown),
    )


def test_a_past_view_is_the_view_of_then(session: Session) -> None:
    start, seen = session.state, {}
    session.subscribe(lambda _: seen.setdefault(len(session.commands), session.view()))
    session.step_greedy()
    session.set_settings(session.state.settings.with_sampling(temperature=0.5))
    session.step_draw()
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=1))
    session.delete_branch(1)
    film = FilmMaker(start).film(session.commands)
    for number, view in seen.items():
        assert _comparable(past_view(session, film, number)) == _comparable(view)
    aside = past_view(session, film, 3, ROOT)
    assert aside.node_id == ROOT
    assert aside.taken == {0: 1}
    assert session.state.current == ROOT  # the session was only looked at
