"""Every command by name, in both languages: type a part of it, press Enter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from explorer.i18n import tr
from ui.panels.common import GRID, describe

_ACTION = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True, eq=False)
class PaletteEntry:
    """A command, and every name it can be found by."""

    action: QAction
    names: tuple[str, ...]

    def rank(self, words: list[str]) -> int | None:
        """How well ``words`` fit: 0 they begin a name, 1 they occur in the names, 2 in the help; None: not at all."""
        names = "\n".join(self.names).casefold()
        if any(name.casefold().startswith(" ".join(words)) for name in self.names):
            return 0
        if all(word in names for word in words):
            return 1
        help_text = self.action.whatsThis().casefold()
        return 2 if all(word in names or word in help_text for word in words) else None


class CommandPalette(QDialog):
    """Closes by itself when a command is chosen; disabled commands are shown but cannot be chosen."""

    def __init__(self, parent: QWidget, entries: Iterable[PaletteEntry]) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("All commands"))
        self.setWindowFlag(Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._entries = list(entries)
        self._edit = QLineEdit()
        self._edit.setPlaceholderText(tr("Type a command, in English or 中文…"))
        describe(self._edit, tr("Search for a command"), tr("Words of the command's name, in English or Chinese."))
        self._list = QListWidget()
        describe(self._list, tr("Commands"), tr("Enter runs the marked command."))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self._edit)
        layout.addWidget(self._list)
        self.resize(130 * GRID, 100 * GRID)
        self._edit.textChanged.connect(self._filter)
        self._edit.returnPressed.connect(self._run)
        self._list.itemActivated.connect(lambda _item: self._run())
        self._edit.installEventFilter(self)
        self._filter("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up and Down in the line move in the list."""
        if watched is self._edit and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
            if step is not None and self._list.count():
                self._list.setCurrentRow((self._list.currentRow() + step) % self._list.count())
                return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        self._list.clear()
        found = [(rank, entry) for entry in self._entries if (rank := entry.rank(words)) is not None]
        for _, entry in sorted(found, key=lambda pair: pair[0]):
            action = entry.action
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            item = QListWidgetItem("   ".join(part for part in (" · ".join(entry.names), keys) if part))
            item.setToolTip(action.toolTip())
            item.setData(_ACTION, action)
            if not action.isEnabled():
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
            self._list.addItem(item)
        self._list.setCurrentRow(0)

    def _run(self) -> None:
        item = self._list.currentItem()
        action = item.data(_ACTION) if item is not None else None
        if isinstance(action, QAction) and action.isEnabled():
            self.accept()
            action.trigger()
