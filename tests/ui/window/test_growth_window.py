"""Expanding and sampling through the real window, by keys and clicks, on the lesson's table."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot
from window_fakes import OPENER, Gate

from explorer.tree import ROOT
from ui.app import Explorer
from ui.growth.expand_form import ExpandForm
from ui.growth.runs_model import Column
from ui.growth.sample_form import SampleForm

Start = Callable[..., Explorer]
Settle = Callable[[Explorer], None]
Press = Callable[..., None]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
PATIENCE_MS = 60_000


def expand_form(explorer: Explorer) -> ExpandForm:
    (form,) = explorer.window.findChildren(ExpandForm)
    return form


def sample_form(explorer: Explorer) -> SampleForm:
    (form,) = explorer.window.findChildren(SampleForm)
    return form


def shown_nodes(explorer: Explorer) -> int:
    return explorer.window.tree.scene.mirror.count


def run_ends(explorer: Explorer) -> list[int]:
    return [row.run.end for row in explorer.window.runs.rows()]


def cell(explorer: Explorer, row: int) -> QPoint:
    table = explorer.window.runs.table
    return table.visualRect(table.model().index(row, Column.RUN)).center()


# --- expanding --------------------------------------------------------------------------------------------------------


def test_e_asks_and_enter_expands(lesson: Explorer, press: Press) -> None:
    press(lesson, Qt.Key.Key_E)
    form = expand_form(lesson)
    assert form.isVisible()
    assert form.isAncestorOf(lesson.window.focusWidget())
    press(lesson, Qt.Key.Key_2, Qt.Key.Key_Return)  # two children a node, typed over the five
    assert not form.isVisible()
    assert shown_nodes(lesson) == 2 + 4
    assert lesson.session.current == ROOT
    text = lesson.growth.strip.text
    assert text.startswith("Expanded: 6 nodes, unseen from here ")
    assert text.endswith("; the depth asked for is reached")
    press(lesson, Qt.Key.Key_Z, modifier=CONTROL)
    assert shown_nodes(lesson) == 0
    assert not lesson.growth.strip.isVisible()  # it speaks of what is gone
    press(lesson, Qt.Key.Key_Z, modifier=CONTROL | SHIFT)
    assert shown_nodes(lesson) == 6


def test_the_keys_of_the_form_are_its_own(lesson: Explorer, press: Press) -> None:
    """Enter picks a candidate, Escape leaves an editor, digits pick, letters step: not while they are typed here."""
    press(lesson, Qt.Key.Key_E)
    press(lesson, Qt.Key.Key_3, Qt.Key.Key_S, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_Escape)
    assert not expand_form(lesson).isVisible()
    assert lesson.window.tree.hasFocus()
    assert lesson.session.last is None
    press(lesson, Qt.Key.Key_R)
    assert sample_form(lesson).isVisible()
    lesson.window.actions_["expand"].trigger()
    assert not sample_form(lesson).isVisible()  # one form at a time
    assert expand_form(lesson).isVisible()
    press(lesson, Qt.Key.Key_Escape)


def test_best_first_until_the_mass_is_shown(lesson: Explorer, press: Press) -> None:
    press(lesson, Qt.Key.Key_E)
    form = expand_form(lesson)
    form._best_first.setChecked(True)
    form._mass.setValue(60)
    press(lesson, Qt.Key.Key_Return)
    assert "the probability mass asked for is shown" in lesson.growth.strip.text
    assert shown_nodes(lesson) > 3
    commands = {change.command for change in [lesson.session.last] if change is not None}
    assert commands == {"expand"}
    form._by_level.setChecked(True)


def test_where_a_stop_holds_the_form_says_so(lesson: Explorer, press: Press) -> None:
    press(lesson, Qt.Key.Key_Return, modifier=CONTROL)  # to the end token
    nodes = shown_nodes(lesson)
    press(lesson, Qt.Key.Key_E)
    assert "ended its text itself" in expand_form(lesson)._refusal.text()
    press(lesson, Qt.Key.Key_Return)
    assert expand_form(lesson).isVisible()
    assert shown_nodes(lesson) == nodes
    lesson.session.root()
    press(lesson)  # the form follows the current node
    assert not expand_form(lesson)._refusal.isVisible()
    press(lesson, Qt.Key.Key_Escape)


def test_values_are_remembered_from_start_to_start(start: Start, settle: Settle, press: Press) -> None:
    first = start()
    settle(first)
    press(first, Qt.Key.Key_E)
    expand_form(first)._depth.setValue(1)
    press(first, Qt.Key.Key_3, Qt.Key.Key_Return)
    press(first, Qt.Key.Key_R)
    press(first, Qt.Key.Key_4, Qt.Key.Key_Return)
    first.window.close()
    first.close()
    second = start()
    settle(second)
    assert (expand_form(second)._top_k.value(), expand_form(second)._depth.value()) == (3, 1)
    assert sample_form(second).plan().runs == 4
    assert len(second.window.runs.rows()) == 4  # listed again, from the library
    assert second.window.docks["runs"].isVisible()  # as it was left


def test_a_nodes_menu_grows_that_node(lesson: Explorer, press: Press) -> None:
    press(lesson, Qt.Key.Key_2)
    node = lesson.session.current
    press(lesson, Qt.Key.Key_Home)
    menu = QMenu()
    lesson.views.node_menu_opening.emit(menu, node)
    entries = {entry.text(): entry for entry in menu.actions() if entry.text()}
    assert all(entries[text].isEnabled() for text in ("Expand here…", "Sample runs…"))
    entries["Expand here…"].trigger()
    press(lesson)
    assert lesson.session.current == node
    assert expand_form(lesson).isVisible()
    assert "咖啡" in expand_form(lesson)._where.text()
    press(lesson, Qt.Key.Key_Return)
    assert all(node in lesson.window.tree.scene.mirror.path(n) for n in range(node + 1, node + 3))
    menu.deleteLater()


# --- sampling ---------------------------------------------------------------------------------------------------------


def sample(explorer: Explorer, press: Press, runs: int, seed: int = 0, length: int = 50) -> None:
    press(explorer, Qt.Key.Key_R)
    sample_form(explorer).set_values({"runs": runs, "seed": seed, "length": length})
    press(explorer, Qt.Key.Key_Return)


def test_r_samples_and_the_table_shows_the_runs(lesson: Explorer, press: Press, qtbot: QtBot) -> None:
    window = lesson.window
    sample(lesson, press, 12, seed=5)
    assert window.docks["runs"].isVisible()
    rows = window.runs.rows()
    assert [row.run.seed for row in rows] == list(range(5, 17))
    assert all(row.run.finished for row in rows)
    assert window.runs.summary.startswith("12 runs: ")
    assert lesson.session.current == ROOT
    action = window.actions_["draw"]
    assert action.iconText() == "Draw (seed 0 #0)"  # the session's own draws are not used up
    press(lesson, Qt.Key.Key_Z, modifier=CONTROL)
    assert shown_nodes(lesson) == 0
    assert window.runs.rows() == []
    press(lesson, Qt.Key.Key_Z, modifier=CONTROL | SHIFT)
    assert [row.run for row in window.runs.rows()] == [row.run for row in rows]


def test_a_run_can_be_drawn_again_alone(lesson: Explorer, press: Press, settle: Settle) -> None:
    sample(lesson, press, 3, seed=40)
    row = lesson.window.runs.rows()[2]
    nodes = shown_nodes(lesson)
    lesson.session.set_seed(42, 0)
    lesson.session.run("sample")
    settle(lesson)
    assert lesson.session.current == row.run.end
    assert shown_nodes(lesson) == nodes


def test_rows_lead_into_the_tree(lesson: Explorer, press: Press, settle: Settle, qtbot: QtBot) -> None:
    sample(lesson, press, 5)
    window = lesson.window
    table = window.runs.table
    qtbot.mouseMove(table.viewport(), cell(lesson, 1))
    qtbot.mouseMove(table.viewport(), cell(lesson, 0))
    ends = run_ends(lesson)
    assert window.tree.scene.hovered == ends[0]
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=cell(lesson, 1))
    settle(lesson)
    assert lesson.session.current == ends[1]
    table.setFocus()
    press(lesson, Qt.Key.Key_Down, Qt.Key.Key_Return)
    assert lesson.session.current == ends[2]
    window.runs.copy_csv()
    assert len(QGuiApplication.clipboard().text().splitlines()) == 6


def test_counts_lie_on_the_tree_while_the_table_is_in_sight(lesson: Explorer, press: Press, qtbot: QtBot) -> None:
    sample(lesson, press, 8)
    window = lesson.window
    scene = window.tree.scene
    assert scene.overlay is not None
    assert set(scene.overlay.marks) == {node for end in run_ends(lesson) for node in scene.mirror.path(end)} - {ROOT}
    first = [node for node in scene.overlay.badges if scene.mirror.parent[node] == ROOT]
    assert sum(int(scene.overlay.badges[node].removeprefix("×")) for node in first) == 8
    window.runs._counts.click()
    assert scene.overlay is None
    window.runs._counts.click()
    assert scene.overlay is not None
    window.show_dock("path")
    qtbot.waitUntil(lambda: scene.overlay is None)
    window.show_dock("runs")
    qtbot.waitUntil(lambda: scene.overlay is not None)


def test_a_deleted_branch_is_told_in_the_table(lesson: Explorer, press: Press, settle: Settle) -> None:
    sample(lesson, press, 6)
    end = run_ends(lesson)[0]
    top = lesson.window.tree.scene.mirror.path(end)[1]
    lesson.session.delete_branch(top)
    settle(lesson)
    model = lesson.window.runs._model
    gone = [row for row in lesson.window.runs.rows() if not model.is_here(row)]
    assert gone
    assert len(gone) < 6 or shown_nodes(lesson) == 0
    press(lesson, Qt.Key.Key_Z, modifier=CONTROL)
    assert all(model.is_here(row) for row in lesson.window.runs.rows())


def test_batches_of_a_session_are_its_own(lesson: Explorer, press: Press, settle: Settle) -> None:
    sample(lesson, press, 2)
    press(lesson, Qt.Key.Key_2)
    sample(lesson, press, 3, seed=9)
    panel = lesson.window.runs
    assert panel._batches.count() == 2
    assert [row.run.seed for row in panel.rows()] == [9, 10, 11]
    panel.batch_chosen.emit(panel._batches.itemData(0))
    settle(lesson)
    assert [row.run.seed for row in panel.rows()] == [0, 1]
    thread = lesson.session_thread
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session()))
    settle(lesson)
    assert panel.rows() == []
    assert lesson.window.tree.overlay is None


# --- while it goes on -------------------------------------------------------------------------------------------------


def test_escape_stops_what_grows_and_keeps_what_is_finished(
    start: Start, settle: Settle, press: Press, gate: Gate, qtbot: QtBot
) -> None:
    """C30: through the window."""
    explorer = start(opener=OPENER)
    settle(explorer)
    window = explorer.window
    window.activateWindow()
    qtbot.waitActive(window)
    gate.allow(gate.begun + 1)  # the first step needs none, the second this one, the third has to wait
    qtbot.keyClick(window.tree, Qt.Key.Key_R)
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: {row.run.tokens for row in window.runs.rows()} == {2}, timeout=PATIENCE_MS)
    assert explorer.session.running
    assert explorer.growth.strip._stop.isVisible()
    for name in ("expand", "sample_runs", "greedy", "undo", "delete_branch"):
        assert not window.actions_[name].isEnabled(), name
    mirror = window.tree.scene.mirror  # the canvas follows a turn of the event loop after the table
    qtbot.waitUntil(lambda: all(end in mirror for end in run_ends(explorer)), timeout=PATIENCE_MS)
    nodes = shown_nodes(explorer)
    qtbot.keyClick(window.tree, Qt.Key.Key_Escape)
    gate.allow(1_000_000)
    settle(explorer)
    assert not explorer.session.running
    assert shown_nodes(explorer) == nodes
    assert all(row.run.stop is not None and row.run.stop.kind == "cancelled" for row in window.runs.rows())
    assert "stopped" in explorer.growth.strip.text
    assert window.actions_["expand"].isEnabled()
    press(explorer, Qt.Key.Key_Z, modifier=CONTROL)
    assert shown_nodes(explorer) == 0


def test_without_a_session_nothing_grows(start: Start) -> None:
    explorer = start()
    explorer.session.session = None
    explorer.actions.refresh()
    for name in ("expand", "sample_runs"):
        assert not explorer.window.actions_[name].isEnabled()
    explorer.growth.open_expand()
    assert not expand_form(explorer).isVisible()


def test_the_model_ends_while_runs_are_drawn(start: Start, settle: Settle, gate: Gate, qtbot: QtBot) -> None:
    explorer = start(opener=OPENER)
    settle(explorer)
    window = explorer.window
    window.activateWindow()
    qtbot.waitActive(window)
    gate.allow(gate.begun + 2)
    qtbot.keyClick(window.tree, Qt.Key.Key_R)
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: shown_nodes(explorer) > 0, timeout=PATIENCE_MS)
    explorer.engine.kill()
    qtbot.waitUntil(lambda: not explorer.session.running, timeout=PATIENCE_MS)
    settle(explorer)
    assert any(message.code.startswith("engine.") for message in window.messages.messages)
    assert {row.run.stop.kind for row in window.runs.rows() if row.run.stop is not None} <= {"error", "eos"}
    assert shown_nodes(explorer) > 0


def test_runs_end_where_another_session_is_opened(start: Start, settle: Settle, gate: Gate, qtbot: QtBot) -> None:
    """What was drawn is kept in its own session, and nothing of it reaches the new one."""
    explorer = start(opener=OPENER)
    settle(explorer)
    window, first = explorer.window, explorer.session.session
    assert first is not None
    window.activateWindow()
    qtbot.waitActive(window)
    gate.allow(gate.begun + 1)
    qtbot.keyClick(window.tree, Qt.Key.Key_R)
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: shown_nodes(explorer) > 0, timeout=PATIENCE_MS)
    thread = explorer.session_thread
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session()))
    gate.allow(1_000_000)
    settle(explorer)
    assert not explorer.session.running
    assert shown_nodes(explorer) == 0
    assert window.runs.rows() == []
    assert not explorer.growth.strip.isVisible()
    explorer.library.open(first.id or 0)
    settle(explorer)
    kinds = {row.run.stop.kind for row in window.runs.rows() if row.run.stop is not None}
    assert "cancelled" in kinds
    assert shown_nodes(explorer) > 0


def test_where_nothing_can_be_drawn_the_message_says_why(start: Start, settle: Settle, press: Press) -> None:
    explorer = start()
    settle(explorer)
    explorer.engine.kill()
    settle(explorer)
    for key in (Qt.Key.Key_E, Qt.Key.Key_R):
        explorer.window.messages.dismiss("engine.")
        press(explorer, key, Qt.Key.Key_Return)
        assert any(message.code.startswith("engine.") for message in explorer.window.messages.messages)
        assert not explorer.growth.strip.isVisible()
    assert not explorer.window.docks["runs"].isVisible()
    assert explorer.window.runs.rows() == []


def test_a_session_closed_in_between_reads_back_its_runs(lesson: Explorer, press: Press, settle: Settle) -> None:
    sample(lesson, press, 4, seed=3)
    first = lesson.session.session
    assert first is not None
    ends = run_ends(lesson)
    thread = lesson.session_thread
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session()))
    settle(lesson)
    lesson.library.open(first.id or 0)
    settle(lesson)
    assert run_ends(lesson) == ends
