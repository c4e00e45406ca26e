"""What is looked for in the library: words, tags, stars, and whether in the list or in the trash."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QToolButton, QVBoxLayout, QWidget

from explorer.i18n import tr
from ui.actions import OWN_ESCAPE
from ui.format import count, elide_middle
from ui.library.query import ListFilter
from ui.panels.common import GRID, describe, plain_label, tool_button

_AFTER_MS = 60  # of not typing
_LONGEST_TAG = 18


class SearchEdit(QLineEdit):
    """Escape clears it; Down, Enter and Page Down go on into the list."""

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty(OWN_ESCAPE, True)
        self.setClearButtonEnabled(True)
        self.setPlaceholderText(tr("Search prompts, texts, notes, tags"))
        every = tr("Every word must occur: in the title, model, prompt, note, tags, or any text that was generated.")
        phrases = tr("Quotation marks keep words together. Esc clears.")
        describe(self, tr("Search the sessions"), f"{every}\n{phrases}")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_PageDown, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.left.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class FilterBar(QWidget):
    """Two lines: the search, and below it the filters with the number of what fits."""

    changed = Signal()
    """Something else is looked for: see `filter`."""
    rename_tag_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.edit = SearchEdit()
        self.setFocusProxy(self.edit)
        self._tags: Mapping[str, int] = {}
        self._writable = True
        self._chosen: frozenset[str] = frozenset()
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill_menu)
        self._renaming = QMenu(tr("Rename or merge"), self._menu)
        self.tags = QToolButton()
        self.tags.setMenu(self._menu)
        self.tags.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        describe(self.tags, tr("Tags"), tr("Show only sessions with all the tags chosen here; rename or merge tags."))
        self.starred = tool_button("★", tr("Only with a star."), lambda: None)
        self.trash = tool_button(tr("Trash"), tr("Look into the trash."), lambda: None)
        for button in (self.starred, self.trash):
            button.setCheckable(True)
            button.toggled.connect(lambda _: self.changed.emit())
        for button in (self.tags, self.starred, self.trash):
            button.setAutoRaise(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.number = plain_label(wrap=False, quiet=True)
        self.number.setAccessibleName(tr("Number of sessions"))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_AFTER_MS)
        self._timer.timeout.connect(self.changed)
        self.edit.textChanged.connect(lambda _: self._timer.start())
        filters = QHBoxLayout()
        filters.setSpacing(GRID)
        for button in (self.tags, self.starred, self.trash):
            filters.addWidget(button)
        filters.addStretch(1)
        filters.addWidget(self.number)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self.edit)
        layout.addLayout(filters)
        self._word_tags()

    @property
    def filter(self) -> ListFilter:
        return ListFilter(self.edit.text(), self._chosen, self.starred.isChecked(), self.trash.isChecked())

    def set_filter(self, wanted: ListFilter) -> None:
        """Look for something else, at once."""
        for widget in (self.edit, self.starred, self.trash):
            widget.blockSignals(True)
        self.edit.setText(wanted.words)
        self.starred.setChecked(wanted.starred)
        self.trash.setChecked(wanted.trash)
        for widget in (self.edit, self.starred, self.trash):
            widget.blockSignals(False)
        self._chosen = wanted.tags
        self._word_tags()
        self._timer.stop()
        self.changed.emit()

    def set_library(self, tags: Mapping[str, int], trashed: int, shown: int, *, writable: bool) -> None:
        """Which tags there are, how many sessions lie in the trash, and how many fit."""
        self._tags, self._writable = tags, writable
        self.tags.setEnabled(bool(tags or self._chosen))
        self.trash.setText(tr("Trash ({count})").format(count=count(trashed)) if trashed else tr("Trash"))
        self.number.setText(count(shown))
        if not self._chosen <= tags.keys() and not self.trash.isChecked():  # a tag was renamed, or nothing has it now
            self._chosen &= tags.keys()
            self._word_tags()
            self._timer.start()

    def _word_tags(self) -> None:
        names = sorted(self._chosen)
        first = elide_middle(names[0], _LONGEST_TAG) if names else tr("Tags")
        self.tags.setText(f"{first} +{len(names) - 1}" if len(names) > 1 else first)
        font = self.tags.font()
        font.setBold(bool(names))
        self.tags.setFont(font)

    def _fill_menu(self) -> None:
        self._menu.clear()
        for tag in sorted({*self._tags, *self._chosen}, key=str.casefold):
            label = tr("{tag} ({count})").format(tag=tag, count=count(self._tags.get(tag, 0)))
            action = self._menu.addAction(label.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(tag in self._chosen)
            action.toggled.connect(lambda on, tag=tag: self._choose(tag, on))
        if self._chosen:
            self._menu.addSeparator()
            self._menu.addAction(tr("Any tags"), lambda: self._set_chosen(frozenset()))
        self._menu.addSeparator()
        self._renaming.clear()
        self._renaming.setEnabled(bool(self._tags) and self._writable)
        self._menu.addMenu(self._renaming)
        for tag in sorted(self._tags, key=str.casefold):
            action = self._renaming.addAction(tr("{tag}…").format(tag=tag).replace("&", "&&"))
            action.triggered.connect(lambda _=False, tag=tag: self.rename_tag_requested.emit(tag))

    def _choose(self, tag: str, on: bool) -> None:
        self._set_chosen(self._chosen | {tag} if on else self._chosen - {tag})

    def _set_chosen(self, tags: frozenset[str]) -> None:
        self._chosen = tags
        self._word_tags()
        self.changed.emit()
