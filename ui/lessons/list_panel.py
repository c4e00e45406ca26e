"""The list of lessons, how far one is in each, and what can be done with one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QMenu, QPushButton, QVBoxLayout, QWidget

from explorer.i18n import tr
from explorer.lessons import Lesson
from explorer.messages import UserMessage
from ui.format import tooltip
from ui.lessons.progress import Progress
from ui.panels.common import GRID, describe, plain_label, push_button

_ID = int(Qt.ItemDataRole.UserRole)


class LessonsPanel(QWidget):
    """Tells what the user wants; shows what it is told."""

    play_requested = Signal(str, bool)
    """The id of a lesson; True: from its first step."""
    write_requested = Signal(str)
    """The id of a lesson to change or to begin from; empty: a new one."""
    export_requested = Signal(str)
    import_requested = Signal()
    remove_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._lessons: dict[str, Lesson] = {}
        self.list = QListWidget()
        self.list.setWordWrap(True)
        self.list.setSpacing(GRID // 2)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        describe(self.list, tr("Lessons"), tr("Enter or a double click opens a lesson where you left it."))
        self.faults = plain_label()
        self.faults.hide()
        self._open = push_button(tr("Open"), tr("Open the chosen lesson where you left it."), self._play)
        self._again = push_button(
            tr("From the start"), tr("Open the chosen lesson at its first step."), lambda: self._play(again=True)
        )
        self._own = self._build_menu()
        row = QHBoxLayout()
        row.setSpacing(GRID)
        for button in (self._open, self._again, self._own):
            row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.faults)
        layout.addLayout(row)
        self.list.itemActivated.connect(lambda _item: self._play())
        self.list.currentRowChanged.connect(lambda _row: self._enable())
        self._enable()

    @property
    def chosen(self) -> str:
        """The id of the marked lesson; empty where none is."""
        item = self.list.currentItem()
        return "" if item is None else str(item.data(_ID))

    def set_lessons(
        self,
        lessons: Sequence[Lesson],
        progress: Mapping[str, Progress],
        language: str,
        faults: Sequence[UserMessage] = (),
    ) -> None:
        """Show these in order, and what is wrong with those that cannot be played."""
        before = self.chosen
        self._lessons = {lesson.id: lesson for lesson in lessons}
        self.list.clear()
        for lesson in lessons:
            item = QListWidgetItem(_line(lesson, progress.get(lesson.id), language))
            item.setData(_ID, lesson.id)
            item.setToolTip(tooltip(lesson.title.in_language(language), _state(lesson, progress.get(lesson.id))))
            self.list.addItem(item)
            if lesson.id == before:
                self.list.setCurrentItem(item)
        if self.list.currentRow() < 0 and self.list.count():
            self.list.setCurrentRow(_next_place(lessons, progress))
        self.faults.setText("\n".join(message.text() for message in faults))
        self.faults.setVisible(bool(faults))
        self._enable()

    def _build_menu(self) -> QPushButton:
        """What can be done with lessons besides playing them."""
        button = push_button(tr("More"), tr("Write lessons of your own, give them to others, and take theirs."), int)
        menu = QMenu(button)
        menu.setToolTipsVisible(True)
        entries: tuple[tuple[str, str, Callable[[], object]], ...] = (
            (tr("New…"), tr("Write a lesson of your own."), lambda: self.write_requested.emit("")),
            (
                tr("Edit…"),
                tr("Change the chosen lesson. One of the program's own opens as a copy, for a lesson of yours."),
                lambda: self.write_requested.emit(self.chosen),
            ),
            (tr("Import…"), tr("Add a lesson somebody gave you, from its file."), self.import_requested.emit),
            (
                tr("Export…"),
                tr("Write the chosen lesson to a file, to give it to others."),
                lambda: self.export_requested.emit(self.chosen),
            ),
            (
                tr("Remove"),
                tr("Delete the chosen lesson of yours for good. The program's own stay."),
                lambda: self.remove_requested.emit(self.chosen),
            ),
        )
        self.entries: list[QAction] = []
        for text, help_text, slot in entries:
            action = menu.addAction(text)
            action.setToolTip(tooltip(help_text))
            action.triggered.connect(lambda _checked=False, slot=slot: slot())
            self.entries.append(action)
        button.setMenu(menu)
        return button

    def _play(self, *, again: bool = False) -> None:
        if self.chosen:
            self.play_requested.emit(self.chosen, again)

    def _enable(self) -> None:
        lesson = self._lessons.get(self.chosen)
        for button in (self._open, self._again):
            button.setEnabled(lesson is not None)
        _, change, _, give, remove = self.entries
        for action in (change, give):
            action.setEnabled(lesson is not None)
        remove.setEnabled(lesson is not None and lesson.own)


def _line(lesson: Lesson, progress: Progress | None, language: str) -> str:
    title = lesson.title.in_language(language)
    mark = "✓ " if progress is not None and progress.finished else ""
    head = f"{lesson.number}. {title}" if lesson.number and not lesson.own else title
    return f"{mark}{head}\n{_state(lesson, progress)}"


def _state(lesson: Lesson, progress: Progress | None) -> str:
    count = len(lesson.steps)
    if progress is None:
        state = tr("{count} steps").format(count=count)
    elif progress.finished and not progress.step:
        state = tr("finished")
    else:
        state = tr("step {place} of {count}").format(place=min(progress.step + 1, count), count=count)
    return tr("{state} · yours").format(state=state) if lesson.own else state


def _next_place(lessons: Sequence[Lesson], progress: Mapping[str, Progress]) -> int:
    """The first lesson that is not finished."""
    for place, lesson in enumerate(lessons):
        if not (known := progress.get(lesson.id)) or not known.finished:
            return place
    return 0
