"""What goes into the library comes out again, exactly."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import store_samples as samples

from explorer.messages import StoreError
from explorer.store import SessionStore
from explorer.store.records import SessionState
from explorer.text import Prompt
from explorer.tree import ROOT, Edge, Node


@pytest.fixture
def session_id(store: SessionStore) -> int:
    return store.create_session(samples.state(), samples.model(), samples.vocabulary(), samples.START)


def rows(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def test_a_new_session_comes_back(store: SessionStore, session_id: int) -> None:
    stored = store.load(session_id)
    assert stored.id == session_id
    assert stored.created == samples.START
    assert stored.model == samples.model()
    assert stored.state == samples.state()
    assert (stored.nodes, stored.hidden, stored.commands) == ((), frozenset(), ())
    vocabulary = store.vocabulary(stored.vocabulary_sha256)
    assert vocabulary.sha256 == samples.vocabulary().sha256
    assert vocabulary.piece(3) == b" t3"


def test_commands_come_back_with_all_they_recorded(store: SessionStore, session_id: int) -> None:
    first, second = samples.chain(2)
    forced = Node(3, ROOT, 9, 1, Edge(-2.5, -9.0, None, 40, "manual"))
    third = samples.command(
        3,
        second.after,
        replace(second.after, current=3),
        "pick",
        group=2,
        origin="menu",
        added=(forced,),
        hidden=frozenset({1, 2}),
        steps=(samples.step(forced, samples.settings(2.0), None), samples.step(first.added[0], samples.settings(0.1))),
        stops=(samples.stop(3, text="αβ"), samples.stop(ROOT, "cancelled")),
        details={"why": ["π", 1, 2.5, None, True]},
    )
    commands = (first, second, third)
    for command in commands:
        store.append(session_id, command)

    stored = store.load(session_id)
    assert stored.commands == samples.without_observations(commands)
    assert stored.nodes == (first.added[0], second.added[0], forced)
    assert stored.nodes[2].edge.forced
    assert stored.hidden == {1, 2}
    assert stored.state == third.after
    assert stored.commands[0].after is stored.commands[1].before  # one object for equal states: memory


def test_observations_come_back_a_node_at_a_time_and_the_first_stays(store: SessionStore, session_id: int) -> None:
    store.append(session_id, samples.chain(1)[0])
    store.save_observation(session_id, 1, samples.observation(5))
    store.save_observation(session_id, 1, samples.observation(6))
    at_root, at_one = store.observation(session_id, ROOT), store.observation(session_id, 1)
    assert at_root is not None
    assert at_one is not None
    assert at_root.to_bytes() == samples.observation(1).to_bytes()
    assert at_one.to_bytes() == samples.observation(5).to_bytes()
    assert store.observation(session_id, 2) is None


def test_undo_and_redo_change_states_visibility_and_counts(store: SessionStore, session_id: int) -> None:
    commands = samples.chain(3)
    for command in commands:
        store.append(session_id, command)
    undone = samples.state(next_draw_index=1, current=1)
    store.set_command_states(session_id, {2: "undone", 3: "undone"}, frozenset({2, 3}), frozenset(), undone)
    stored, summary = store.load(session_id), store.summaries()[0]
    assert [c.state for c in stored.commands] == ["done", "undone", "undone"]
    assert stored.hidden == {2, 3}
    assert stored.state == undone
    assert (summary.nodes, summary.steps) == (1, 1)

    store.set_command_states(session_id, {2: "done"}, frozenset(), frozenset({2}), commands[1].after)
    stored, summary = store.load(session_id), store.summaries()[0]
    assert [c.state for c in stored.commands] == ["done", "done", "undone"]
    assert stored.hidden == {3}
    assert (summary.nodes, summary.steps) == (2, 2)


def test_a_node_that_is_added_hidden(store: SessionStore, session_id: int) -> None:
    """As when another session's undone commands are copied."""
    first, second = samples.chain(2)
    store.append(session_id, replace(first, hidden=frozenset({1}), state="undone"))
    assert store.load(session_id).hidden == {1}
    assert (store.summaries()[0].nodes, store.summaries()[0].steps) == (0, 0)
    store.append(session_id, replace(second, revealed=frozenset({1})))
    assert (store.summaries()[0].nodes, store.summaries()[0].steps) == (2, 1)


def test_what_is_both_revealed_and_hidden_ends_hidden(store: SessionStore, session_id: int) -> None:
    store.append(session_id, samples.chain(1)[0])
    both = frozenset({1})
    store.set_command_states(session_id, {1: "undone"}, both, both, samples.state())
    assert store.load(session_id).hidden == both


def test_unknown_nodes_and_commands_are_refused(store: SessionStore, session_id: int) -> None:
    store.append(session_id, samples.chain(1)[0])
    nothing: frozenset[int] = frozenset()
    stray = frozenset({7})
    orphan = Node(2, 7, 5, 2, samples.edge())
    for code, change in (
        ("store.value", lambda: store.set_command_states(session_id, {7: "undone"}, nothing, nothing, samples.state())),
        ("store.value", lambda: store.set_command_states(session_id, {1: "undone"}, stray, nothing, samples.state())),
        ("store.value", lambda: store.append(session_id, replace(samples.chain(2)[1], hidden=stray))),
        ("store.invalid", lambda: store.save_observation(session_id, 7, samples.observation())),
        ("store.invalid", lambda: store.append(session_id, replace(samples.chain(2)[1], added=(orphan,)))),
        ("store.invalid", lambda: store.append(session_id, replace(samples.chain(2)[1], stops=(samples.stop(7),)))),
    ):
        with pytest.raises(StoreError) as caught:
            change()
        assert caught.value.message.code == code
        assert all(caught.value.message.sentences())
    assert [c.state for c in store.load(session_id).commands] == ["done"]


def test_the_position_is_remembered_and_is_no_change(store: SessionStore, session_id: int) -> None:
    store.append(session_id, samples.chain(1)[0])
    before = store.summaries()[0]
    store.save_position(session_id, ROOT)
    assert store.load(session_id).state.current == ROOT
    assert store.summaries()[0] == before


def test_summaries_list_the_last_changed_first(store: SessionStore) -> None:
    ids = []
    for n in range(3):
        state = samples.state(title=f"Title {n}", prompt=samples.prompt("long " * 100))
        created = samples.START + timedelta(days=n)
        ids.append(store.create_session(state, samples.model(), samples.vocabulary(), created))
    first = samples.chain(1)[0]
    renamed = replace(first.after, title="新しい題")
    stops = (samples.stop(1, "eos"), samples.stop(1, "max_new_tokens"), samples.stop(1, "eos"))
    store.append(ids[0], replace(first, after=renamed, stops=stops, at=samples.START + timedelta(days=9)))

    listed = store.summaries()
    assert [summary.id for summary in listed] == [ids[0], ids[2], ids[1]]
    assert [summary.id for summary in store.summaries(2)] == [ids[0], ids[2]]
    top = listed[0]
    assert (top.title, top.model_name, top.nodes, top.steps) == ("新しい題", "toy", 1, 1)
    assert top.stops == ("eos", "max_new_tokens")
    assert (top.created, top.updated) == (samples.START, samples.START + timedelta(days=9))
    assert listed[1].prompt_text == ("long " * 100)[:200]

    store.set_command_states(ids[0], {1: "undone"}, frozenset({1}), frozenset(), samples.state())
    undone = store.summaries()[0]
    assert (undone.nodes, undone.steps, undone.stops) == (0, 0, ())


def test_equal_values_are_stored_once(store: SessionStore, library: Path) -> None:
    other = samples.model(context_length=4096)
    for model in (samples.model(), samples.model(), other):
        session_id = store.create_session(samples.state(), model, samples.vocabulary(), samples.START)
        for command in samples.chain(3):
            store.append(session_id, command)
    assert rows(library, "SELECT count(*) FROM models") == [(2,)]
    assert rows(library, "SELECT count(*) FROM vocabularies") == [(1,)]
    assert rows(library, "SELECT count(*), count(DISTINCT session_id) FROM settings") == [(3, 3)]
    assert rows(library, "SELECT count(*), count(DISTINCT session_id) FROM prompts") == [(3, 3)]
    assert rows(library, "SELECT count(DISTINCT digest) FROM settings") == [(1,)]


@pytest.mark.parametrize(
    "change",
    [
        lambda s: replace(s, title=""),
        lambda s: replace(s, prompt=Prompt("ids", "", (), ())),
        lambda s: replace(s, seed=2**63 - 1, next_draw_index=2**63 - 1),
        lambda s: replace(s, settings=samples.settings(1e-300)),
    ],
)
def test_states_at_the_edges(store: SessionStore, change: Callable[[SessionState], SessionState]) -> None:
    state = change(samples.state())
    session_id = store.create_session(state, samples.model(), samples.vocabulary(), samples.START)
    assert store.load(session_id).state == state


def test_times_are_instants_in_utc_to_the_microsecond(store: SessionStore, session_id: int) -> None:
    tokyo = datetime(2026, 7, 1, 9, 30, 0, 1, tzinfo=timezone(timedelta(hours=9)))
    store.append(session_id, replace(samples.chain(1)[0], at=tokyo))
    read = store.load(session_id).commands[0].at
    assert read == tokyo
    assert read.tzinfo is UTC
    with pytest.raises(StoreError, match=r"command\.at"):
        store.append(session_id, replace(samples.chain(2)[1], at=datetime(2026, 1, 1)))


def test_float_values_come_back_to_the_last_bit(store: SessionStore, session_id: int) -> None:
    for n, value in enumerate((0.1, math.pi, 5e-324, -1.7976931348623157e308, math.nextafter(1, 2)), start=1):
        node = Node(n, ROOT, n, 1, samples.edge(logit=value, model_logprob=value, sampling_logprob=value, u=value))
        store.append(session_id, samples.command(n, samples.state(), samples.state(), added=(node,)))
        read = store.load(session_id).nodes[-1].edge
        assert (read.logit, read.model_logprob, read.sampling_logprob, read.u) == (value,) * 4


def test_a_session_that_does_not_exist(store: SessionStore) -> None:
    for use in (
        lambda: store.load(7),
        lambda: store.append(7, samples.chain(1)[0]),
        lambda: store.save_position(7, ROOT),
        lambda: store.save_observation(7, ROOT, samples.observation()),
        lambda: store.delete_session(7),
    ):
        with pytest.raises(StoreError) as caught:
            use()
        assert caught.value.message.code == "store.missing"
    assert store.observation(7, ROOT) is None


def test_a_deep_chain_needs_no_recursion(store: SessionStore, session_id: int) -> None:
    nodes = tuple(Node(n, n - 1, 1, n, samples.edge()) for n in range(1, 5001))
    store.append(session_id, samples.command(1, samples.state(), samples.state(current=5000), added=nodes))
    assert len(store.load(session_id).nodes) == 5000
    store.delete_session(session_id)
    assert store.summaries() == []
