"""Lessons of one's own: written, tried, kept, given to others and taken from them."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QMessageBox

from explorer.i18n import N_, tr
from explorer.lessons import Lesson, LessonError
from explorer.lessons.shelf import keep, lesson, remove, take_in, text_of
from explorer.messages import UserMessage
from ui.bridge import Bridge
from ui.controllers.lesson_controller import LessonController
from ui.lessons.draft import copied, new_lesson
from ui.lessons.editor import LessonEditor
from ui.main_window import MainWindow
from ui.preferences import Preferences

_DRAFT = "lesson_draft"


class LessonWriting(QObject):
    """One editor at a time. What is previewed is played without being kept."""

    def __init__(self, window: MainWindow, preferences: Preferences, bridge: Bridge, lessons: LessonController) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self._bridge = bridge
        self._lessons = lessons
        self._tables: tempfile.TemporaryDirectory[str] | None = None  # of previews
        self._previews = 0
        self._of = ""  # the lesson the editor was opened on; empty for a new one
        self._kept = ""  # the lesson of one's own that saving replaces without asking
        self.editor: LessonEditor | None = None
        panel = window.lessons
        panel.write_requested.connect(self.write)
        panel.export_requested.connect(self._ask_export)
        panel.import_requested.connect(self._ask_import)
        panel.remove_requested.connect(self._ask_remove)

    @Slot(str)
    def write(self, lesson_id: str) -> None:
        """Open the editor: on a lesson of one's own, on a copy of the program's, or on a new one.

        What was written there before and not saved is taken up again.
        """
        self._of, self._kept = lesson_id, ""
        data: dict[str, Any] = new_lesson()
        if lesson_id:
            try:
                data = json.loads(text_of(lesson_id))
                own = lesson(lesson_id).own
            except (KeyError, ValueError, LessonError):
                own = True  # it is one's own, and is to be mended
            self._kept = lesson_id if own else ""
            data = data if own else copied(data)
        if self.editor is not None:
            self.editor.close()
            self.editor.deleteLater()
        editor = self.editor = LessonEditor(self._window, data)
        draft = self._preferences.form(_DRAFT)
        if draft.get("of") == lesson_id and isinstance(draft.get("text"), str):
            editor.go_on_with(draft["text"])
        editor.preview_requested.connect(self._preview)
        editor.save_requested.connect(self._save)
        editor.drafted.connect(self._draft)
        editor.discard_requested.connect(self._discard)
        editor.show()

    @Slot(str)
    def _draft(self, text: str) -> None:
        self._preferences.set_form(_DRAFT, {"of": self._of, "text": text})

    @Slot()
    def _discard(self) -> None:
        self._preferences.set_form(_DRAFT, {})
        self.write(self._of)

    @Slot(object)
    def _preview(self, written: Lesson) -> None:
        """Play a lesson that is not kept: its table lies in a file of its own."""
        assert self.editor is not None
        self._previews += 1
        try:
            file = self._folder() / f"{written.id}-{self._previews}.json"
            file.write_text(json.dumps(self.editor.data["model"], ensure_ascii=False), "utf-8")
        except OSError as error:
            self._bridge.failed.emit(_not_written(error))
            return
        self._lessons.play(replace(written, source=f"table:{file}"))

    def _folder(self) -> Path:
        """Where the tables of previews lie, gone with the window."""
        if self._tables is None:
            tables = self._tables = tempfile.TemporaryDirectory(prefix="token-tree-lesson-")
            self.destroyed.connect(lambda: tables.cleanup())
        return Path(self._tables.name)

    @Slot(str, str)
    def _save(self, lesson_id: str, text: str) -> None:
        editor = self.editor
        assert editor is not None
        if lesson_id != self._kept and not self._may_replace(lesson_id):
            return
        try:
            keep(lesson_id, text)
        except LessonError as error:
            editor.tell(error.message.text())
            return
        except OSError as error:
            editor.tell(_not_written(error).text())
            return
        self._of = self._kept = lesson_id
        self._preferences.set_form(_DRAFT, {})
        editor.saved()
        self._lessons.refresh()

    # --- files -------------------------------------------------------------------------------------------------------

    @Slot(str)
    def _ask_export(self, lesson_id: str) -> None:
        chosen, _ = QFileDialog.getSaveFileName(
            self._window, tr("Export a lesson"), f"{lesson_id}.json", tr("Lessons (*.json)")
        )
        if chosen:
            self.export(lesson_id, Path(chosen))

    def export(self, lesson_id: str, file: Path) -> None:
        """Write a lesson to a file."""
        try:
            file.write_text(text_of(lesson_id), "utf-8")
        except OSError as error:
            self._bridge.failed.emit(_not_written(error))

    @Slot()
    def _ask_import(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(self._window, tr("Import a lesson"), "", tr("Lessons (*.json)"))
        if chosen and self._may_replace(Path(chosen).stem):
            self.take(Path(chosen))

    def take(self, file: Path) -> None:
        """Add a lesson somebody gave; what is wrong with it is said with its line."""
        try:
            take_in(file)
        except LessonError as error:
            self._bridge.failed.emit(error.message)
        except OSError as error:
            self._bridge.failed.emit(_not_read(error))
        self._lessons.refresh()

    def _may_replace(self, lesson_id: str) -> bool:
        try:
            known = lesson(lesson_id)
        except (KeyError, LessonError):
            return True
        return not known.own or self._sure(
            tr("You have a lesson {name} already. It would be replaced for good.").format(name=lesson_id), tr("Replace")
        )

    @Slot(str)
    def _ask_remove(self, lesson_id: str) -> None:
        if self._sure(tr("The lesson {name} would be deleted for good.").format(name=lesson_id), tr("Remove")):
            remove(lesson_id)
            self._lessons.refresh()

    def _sure(self, text: str, button: str) -> bool:
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setTextFormat(box.textFormat().PlainText)
        box.setText(text)
        yes = box.addButton(button, QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole))
        box.exec()
        sure = box.clickedButton() is yes
        box.deleteLater()
        return sure


def _not_written(error: OSError) -> UserMessage:
    return UserMessage(
        "lesson.write",
        N_("The lesson could not be written: {problem}."),
        N_("Nothing was changed."),
        N_("Choose another place, or free some space."),
        {"problem": error.strerror or str(error)},
    )


def _not_read(error: OSError) -> UserMessage:
    return UserMessage(
        "lesson.read",
        N_("The lesson could not be read: {problem}."),
        N_("Nothing was added."),
        N_("Choose another file."),
        {"problem": error.strerror or str(error)},
    )
