"""The library in the window, by clicks and keys: found, changed and taken back, shared, thrown away for good."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QMimeData, QPoint, QPointF, QProcess, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QInputDialog, QLineEdit, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from explorer.store import SessionStore
from explorer.store.library import LibraryQuery
from ui.app import Explorer
from ui.library.note_dialog import NoteDialog
from ui.library.panel import LibraryPanel
from ui.library.query import ListFilter

Settle = Callable[[Explorer], None]
Press = Callable[..., None]
Start = Callable[..., Explorer]
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
PATIENCE_SECONDS = 30.0


def listed(explorer: Explorer, settle: Settle) -> LibraryPanel:
    """The panel, once it shows what it is asked for."""
    panel, bridge = explorer.window.sessions, explorer.bridge
    deadline = time.monotonic() + PATIENCE_SECONDS
    settle(explorer)
    while (
        panel.listing is None
        or panel.listing.filter != panel.filter
        or panel.bar._timer.isActive()
        or explorer.sessions._timer.isActive()
        or bridge.busy
        or bridge.pending
    ):
        assert time.monotonic() < deadline, "the list does not come"
        QTest.qWait(1)
    return panel


@pytest.fixture
def library(lesson: Explorer, settle: Settle, press: Press) -> Explorer:
    """Two sessions of the lesson, the second with 豆浆。 open; the list has the focus, the cursor on the open one."""
    panel = lesson.window.sessions
    panel.strip.hide()
    press(lesson, Qt.Key.Key_Right, Qt.Key.Key_Right)
    number = opened_id(lesson)
    lesson.library_thread.post("another", lambda shelf, job: shelf.store.duplicate(number, "First"))
    lesson.session.rename("Second")
    lesson.window.show_dock("sessions")
    panel.bar.set_filter(ListFilter())
    listed(lesson, settle)
    panel.choose([number])
    panel.list.setFocus()
    return lesson


def opened_id(explorer: Explorer) -> int:
    opened = explorer.session.session
    assert opened is not None
    assert opened.id is not None
    return opened.id


def stored(explorer: Explorer) -> dict[int, str]:
    """Titles outside the trash, as somebody else reads them."""
    with SessionStore.open(explorer.library_path) as store:
        return {summary.id: summary.title for summary in store.library.sessions()}


def row(explorer: Explorer, title: str) -> int:
    panel = explorer.window.sessions
    return next(n for n in panel.model.ids if (s := panel.model.summary(n)) is not None and s.title == title)


def key(
    explorer: Explorer, qtbot: QtBot, settle: Settle, *keys: Qt.Key, modifier: Qt.KeyboardModifier | None = None
) -> None:
    for one in keys:
        qtbot.keyClick(explorer.window.sessions.list, one, modifier or Qt.KeyboardModifier.NoModifier)
    listed(explorer, settle)


def answer(explorer: Explorer, button: str, said: list[str]) -> None:
    """Click a button of the question that comes."""

    def look() -> None:
        boxes = [w for w in QApplication.topLevelWidgets() if isinstance(w, QMessageBox) and w.isVisible()]
        if not boxes:
            QTimer.singleShot(2, explorer.window, look)
            return
        said.append(f"{boxes[0].text()} {boxes[0].informativeText()}")
        next(b for b in boxes[0].buttons() if b.text() == button).click()

    QTimer.singleShot(0, explorer.window, look)


def type_into_dialog(explorer: Explorer, text: str) -> None:
    """Answer the next question for a line."""

    def look() -> None:
        dialogs = [w for w in QApplication.topLevelWidgets() if isinstance(w, QInputDialog) and w.isVisible()]
        if not dialogs:
            QTimer.singleShot(2, explorer.window, look)
            return
        dialogs[0].setTextValue(text)
        dialogs[0].accept()

    QTimer.singleShot(0, explorer.window, look)


# --- finding and opening ----------------------------------------------------------------------------------------------


def test_a_session_is_found_by_a_text_it_generated_and_opened_by_keys(
    library: Explorer, qtbot: QtBot, press: Press, settle: Settle
) -> None:
    second = opened_id(library)
    first = row(library, "First")
    library.library.open(first)
    settle(library)
    press(library, Qt.Key.Key_O, modifier=CONTROL)
    edit = library.window.focusWidget()
    assert isinstance(edit, QLineEdit)
    edit.insert('second "豆浆。"')  # keyClicks types Latin letters only
    panel = listed(library, settle)
    assert panel.model.ids == (second,)
    line = panel.model.summary(second)
    assert line is not None
    assert "豆浆。" in line.excerpt
    assert panel.model.terms == ("second", "豆浆。")
    qtbot.keyClick(edit, Qt.Key.Key_Down)
    key(library, qtbot, settle, Qt.Key.Key_Return)
    assert opened_id(library) == second
    assert panel.model.open_id == second
    edit.clear()
    listed(library, settle)
    assert len(panel.model.ids) >= 2


def test_pictures_of_trees_come_for_what_is_in_sight(library: Explorer, qtbot: QtBot, settle: Settle) -> None:
    panel = listed(library, settle)
    qtbot.waitUntil(lambda: panel.model.picture(opened_id(library)) is not None)


def test_another_windows_changes_are_noticed(library: Explorer, qtbot: QtBot, settle: Settle) -> None:
    panel = listed(library, settle)
    second = opened_id(library)
    with SessionStore.open(library.library_path) as elsewhere:
        elsewhere.library.add_tag([second], "from elsewhere")

    def shown() -> bool:
        line = panel.model.summary(second)
        return line is not None and line.tags == ("from elsewhere",)

    qtbot.waitUntil(shown)
    assert panel.listing is not None
    assert "from elsewhere" in panel.listing.tags


# --- changing and taking back -----------------------------------------------------------------------------------------


def test_any_session_is_renamed_and_undo_takes_it_back(library: Explorer, qtbot: QtBot, settle: Settle) -> None:
    panel, second = library.window.sessions, opened_id(library)
    for title in ("Second", "First"):  # the open one, and one that is not
        number = row(library, title)
        panel.choose([number])
        key(library, qtbot, settle, Qt.Key.Key_F2)
        editor = panel.list.findChild(QLineEdit)
        assert editor is not None
        qtbot.keyClicks(editor, f"{title} by another name")
        qtbot.keyClick(editor, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: not panel.list.editing)
        listed(library, settle)
        assert stored(library)[number] == f"{title} by another name"
        panel.list.setFocus()
        key(library, qtbot, settle, Qt.Key.Key_Z, modifier=CONTROL)
        assert stored(library)[number] == title
    assert opened_id(library) == second
    last = library.session.last
    assert last is not None
    assert last.state.title == "Second"


def test_delete_moves_to_the_trash_at_once_and_undo_is_at_hand(library: Explorer, qtbot: QtBot, settle: Settle) -> None:
    panel = library.window.sessions
    second, first = opened_id(library), row(library, "First")
    panel.choose([first])
    key(library, qtbot, settle, Qt.Key.Key_Delete)
    assert first not in stored(library)
    assert first not in panel.model.ids
    assert panel.chosen()  # the next takes its place
    assert "1 session" in panel.strip.text
    undo = next(b for b in panel.strip.findChildren(QPushButton) if b.text() == "Undo")
    qtbot.mouseClick(undo, Qt.MouseButton.LeftButton)
    listed(library, settle)
    assert first in panel.model.ids
    assert panel.chosen() == [first]
    assert opened_id(library) == second
    panel.list.setFocus()
    key(library, qtbot, settle, Qt.Key.Key_Z, modifier=CONTROL | SHIFT)
    assert first not in panel.model.ids
    key(library, qtbot, settle, Qt.Key.Key_Z, modifier=CONTROL)
    assert first in panel.model.ids


def test_deleting_the_open_session_opens_another(library: Explorer, qtbot: QtBot, settle: Settle) -> None:
    second = opened_id(library)
    key(library, qtbot, settle, Qt.Key.Key_Delete)
    assert second not in stored(library)
    assert opened_id(library) != second
    key(library, qtbot, settle, Qt.Key.Key_Z, modifier=CONTROL)
    assert second in stored(library)


def test_the_trash_gives_back_and_is_emptied_after_a_question(library: Explorer, qtbot: QtBot, settle: Settle) -> None:
    panel = library.window.sessions
    first = row(library, "First")
    panel.choose([first])
    key(library, qtbot, settle, Qt.Key.Key_Delete)
    panel.bar.trash.click()
    listed(library, settle)
    panel.choose([first])
    panel.list.setFocus()
    key(library, qtbot, settle, Qt.Key.Key_Return)
    assert first in stored(library)
    panel.bar.trash.click()
    listed(library, settle)
    panel.choose([first])
    panel.list.setFocus()
    key(library, qtbot, settle, Qt.Key.Key_Delete)
    panel.bar.trash.click()
    listed(library, settle)
    said: list[str] = []
    for button, gone in (("Keep", False), ("Delete for good", True)):
        answer(library, button, said)
        qtbot.mouseClick(panel.trash_banner.button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: len(said) == 1 + gone)  # noqa: B023 - called at once
        listed(library, settle)
        with SessionStore.open(library.library_path) as store:
            assert (first in store.library.trashed()) is not gone
    assert "2 steps" in said[0]
    assert "cannot be taken back" in said[0]
    assert "trash is empty" in panel.empty.text
    panel.bar.trash.click()
    panel.list.setFocus()
    key(library, qtbot, settle, Qt.Key.Key_Z, modifier=CONTROL)  # undo does not pretend
    assert first not in stored(library)


def test_several_sessions_are_starred_tagged_and_filtered_together(
    library: Explorer, qtbot: QtBot, settle: Settle
) -> None:
    panel = library.window.sessions
    both = {row(library, "First"), row(library, "Second")}
    panel.choose(list(both))
    key(library, qtbot, settle, Qt.Key.Key_Asterisk, modifier=SHIFT)
    type_into_dialog(library, "  home   work ")
    key(library, qtbot, settle, Qt.Key.Key_T)
    panel.bar.starred.click()
    listed(library, settle)
    assert set(panel.model.ids) == both
    assert all(line.tags == ("home work",) for line in panel.list.chosen_lines())
    type_into_dialog(library, "exam")
    panel.bar.rename_tag_requested.emit("home work")
    listed(library, settle)
    assert panel.listing is not None
    assert panel.listing.tags["exam"] == 2
    panel.bar.starred.click()
    panel.list.setFocus()
    key(library, qtbot, settle, Qt.Key.Key_Z, Qt.Key.Key_Z, Qt.Key.Key_Z, modifier=CONTROL)
    with SessionStore.open(library.library_path) as store:
        assert store.library.ids(LibraryQuery(starred=True)) == []
        assert not {"exam", "home work"} & store.library.tags().keys()


def test_a_note_is_written_and_found(library: Explorer, qtbot: QtBot, settle: Settle) -> None:
    panel = library.window.sessions
    first = row(library, "First")
    panel.choose([first])
    qtbot.keyClick(panel.list, Qt.Key.Key_N)
    dialog = library.window.findChild(NoteDialog)
    assert dialog is not None
    qtbot.keyClicks(dialog.focusWidget(), "remember the zebra")
    qtbot.keyClick(dialog.focusWidget(), Qt.Key.Key_Return, CONTROL)
    listed(library, settle)
    panel.bar.edit.setText("zebra")
    listed(library, settle)
    assert panel.model.ids == (first,)
    panel.bar.edit.clear()
    listed(library, settle)


def test_a_copy_is_made_and_chosen(library: Explorer, qtbot: QtBot, settle: Settle) -> None:
    panel = library.window.sessions
    key(library, qtbot, settle, Qt.Key.Key_D, modifier=CONTROL)
    (copied,) = panel.chosen()
    assert stored(library)[copied] == "Second (copy)"
    assert opened_id(library) != copied
    key(library, qtbot, settle, Qt.Key.Key_Z, modifier=CONTROL)
    assert copied not in stored(library)


# --- sharing ----------------------------------------------------------------------------------------------------------


def drop(explorer: Explorer, *paths: Path) -> bool:
    """Drop files on the window; whether it takes them."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(9, 9), copy, data, left, none)
    enter.ignore()
    QCoreApplication.sendEvent(explorer.window, enter)
    if enter.isAccepted():
        QCoreApplication.sendEvent(explorer.window, QDropEvent(QPointF(9, 9), copy, data, left, none))
    return enter.isAccepted()


def test_a_session_goes_out_as_a_file_and_comes_in_by_dropping_it(
    library: Explorer, qtbot: QtBot, settle: Settle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel, second = library.window.sessions, opened_id(library)
    file, broken, other = tmp_path / "one.ttsession", tmp_path / "broken.ttsession", tmp_path / "text.txt"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(file), ""))
    key(library, qtbot, settle, Qt.Key.Key_E, modifier=CONTROL)
    assert file.stat().st_size > 0
    assert str(file) in panel.strip.text
    broken.write_bytes(file.read_bytes()[:-9])
    other.write_text("nothing")
    assert not drop(library, other)
    before = stored(library)
    assert drop(library, file, broken, other)
    listed(library, settle)
    assert stored(library) == before
    messages = {message.code: message.text() for message in library.window.messages.messages}
    assert "Second" in messages["library.known"]
    assert "broken.ttsession" in messages["library.refused"]
    copying = next(b for b in library.window.messages.findChildren(QPushButton) if b.text() == "Import as a copy")
    qtbot.mouseClick(copying, Qt.MouseButton.LeftButton)
    listed(library, settle)
    (copied,) = panel.chosen()
    assert copied not in before
    assert copied != second
    panel.list.setFocus()
    key(library, qtbot, settle, Qt.Key.Key_Z, modifier=CONTROL)
    assert stored(library) == before


def test_several_go_out_to_a_folder_and_none_takes_the_place_of_another(
    library: Explorer, qtbot: QtBot, settle: Settle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = library.window.sessions
    (tmp_path / "First.ttsession").write_text("here before")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    panel.choose([row(library, "First"), row(library, "Second")])
    key(library, qtbot, settle, Qt.Key.Key_E, modifier=CONTROL)
    assert {file.name for file in tmp_path.glob("*.ttsession")} == {
        "First.ttsession",
        "First-2.ttsession",
        "Second.ttsession",
    }
    assert (tmp_path / "First.ttsession").read_text() == "here before"


# --- libraries --------------------------------------------------------------------------------------------------------


def test_a_library_is_checked_and_backed_up(library: Explorer, settle: Settle, qtbot: QtBot) -> None:
    strip = library.window.sessions.strip
    library.window.actions_["check_library"].trigger()
    qtbot.waitUntil(lambda: "sound" in strip.text)
    library.window.actions_["back_up_library"].trigger()
    qtbot.waitUntil(lambda: "backup is" in strip.text)
    settle(library)
    assert list(library.library_path.parent.glob("library.sqlite.backup-*"))


def test_another_library_and_back(
    start: Start, settle: Settle, press: Press, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = start()
    settle(explorer)
    press(explorer, Qt.Key.Key_Right)
    explorer.window.show_dock("sessions")
    listed(explorer, settle)
    here, before, first = explorer.library_path, stored(explorer), opened_id(explorer)
    for path in (tmp_path / "other", here):
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, path=path, **__: (str(path), ""))
        explorer.window.actions_["open_library"].trigger()
        panel = listed(explorer, settle)
        assert explorer.library_path == (path if path == here else path.with_suffix(".sqlite"))
        if path != here:  # a new one begins with the lesson
            press(explorer, Qt.Key.Key_Right, Qt.Key.Key_Right)
            assert list(stored(explorer)) == [opened_id(explorer)]
            listed(explorer, settle)
            assert panel.model.ids == (opened_id(explorer),)
    assert stored(explorer) == before
    assert opened_id(explorer) == first
    explorer.sessions._turn_to(tmp_path / "nowhere.sqlite")
    assert explorer.window.sessions.listing is not None
    while explorer.bridge.busy or explorer.bridge.pending:
        QTest.qWait(1)
    assert "no library" in explorer.window.sessions.empty.text


def test_a_new_window_opens_the_same_library(library: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(QProcess, "startDetached", lambda program, arguments: (started.append(arguments) or True, 1))
    library.window.actions_["new_window"].trigger()
    assert started == [["-m", "ui", "--library", str(library.library_path)]]
    monkeypatch.setattr(QProcess, "startDetached", lambda program, arguments: (False, 0))
    library.window.actions_["new_window"].trigger()
    assert any(message.code == "window.start" for message in library.window.messages.messages)
