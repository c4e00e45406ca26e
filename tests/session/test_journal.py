"""The journal says what undo and redo do; it applies nothing itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from explorer.decoding.params import Settings
from explorer.journal import Journal
from explorer.store.records import CommandRecord, SessionState
from explorer.text import Prompt
from explorer.tree import ROOT, Edge, Node

START = SessionState("t", Prompt("ids", "", (0,)), Settings(), seed=0, next_draw_index=0, current=ROOT)


def node(node_id: int, parent: int = ROOT) -> Node:
    return Node(node_id, parent, node_id, 1, Edge(0.0, -1.0, -1.0, 1, "greedy"))


def command(
    seq: int, before: SessionState, after: SessionState, *, group: int | None = None, **parts: object
) -> CommandRecord:
    record = CommandRecord(seq, group or seq, "step", "user", datetime.now(UTC), before, after)
    return replace(record, **parts)


def test_undo_and_redo_are_inverse() -> None:
    journal = Journal()
    at_one = replace(START, current=1, next_draw_index=1)
    journal.append(command(1, START, at_one, added=(node(1),)))
    undone = journal.undo(at_one)
    assert undone is not None
    assert undone.state == START
    assert undone.hide == {1}
    assert journal.undo_kind is None
    redone = journal.redo(undone.state)
    assert redone is not None
    assert redone.state == at_one
    assert redone.reveal == {1}


def test_a_run_is_one_gesture() -> None:
    journal = Journal()
    one, two = replace(START, current=1), replace(START, current=2)
    journal.append(command(1, START, one, added=(node(1),)))
    journal.append(command(2, one, two, group=1, added=(node(2, 1),)))
    undone = journal.undo(two)
    assert undone is not None
    assert undone.seqs == (1, 2)
    assert undone.hide == {1, 2}
    assert undone.state == START


def test_a_new_command_abandons_what_was_undone_but_keeps_it() -> None:
    journal = Journal()
    journal.append(command(1, START, replace(START, current=1), added=(node(1),)))
    journal.undo(replace(START, current=1))
    assert journal.append(command(2, START, replace(START, current=2), added=(node(2),))) == (1,)
    assert journal.redo_kind is None
    assert [c.state for c in journal.commands] == ["abandoned", "done"]


def test_a_stop_is_kept_but_not_undone() -> None:
    journal = Journal()
    journal.append(command(1, START, replace(START, current=1), added=(node(1),)))
    journal.append(command(2, START, START, kind="stop"))
    assert journal.undo_kind == "step"
    assert len(journal.commands) == 2


def test_undo_leaves_later_changes_of_other_fields_alone() -> None:
    """Looking around (the current node) between commands is not an edit; a field the gesture did not touch stays."""
    journal = Journal()
    renamed = replace(START, title="new")
    journal.append(command(1, START, renamed, kind="rename"))
    undone = journal.undo(replace(renamed, next_draw_index=5))
    assert undone is not None
    assert undone.state == replace(START, next_draw_index=5)


def test_a_reopened_journal_redoes_in_the_same_order() -> None:
    first = command(1, START, replace(START, current=1), added=(node(1),))
    second = command(2, first.after, replace(START, current=2), added=(node(2, 1),))
    journal = Journal([replace(first, state="undone"), replace(second, state="undone")])
    redone = journal.redo(START)
    assert redone is not None
    assert redone.seqs == (1,)
    assert journal.redo_kind == "step"
