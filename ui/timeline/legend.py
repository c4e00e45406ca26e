"""What the marks of a timeline mean; only those that occur."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from explorer.i18n import tr
from explorer.replay import Mark
from ui.panels.common import GRID, plain_label
from ui.theme import colours_of
from ui.timeline.marks import MARK_LABELS, SIZE, paint_mark


class MarkLegend(QWidget):
    """A row of shapes with their words."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[Mark, QWidget] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3 * GRID)
        for mark, label in MARK_LABELS.items():
            entry = self._entries[mark] = QWidget()
            row = QHBoxLayout(entry)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(GRID)
            row.addWidget(_Shape(mark))
            row.addWidget(plain_label(tr(label), wrap=False, quiet=True))
            layout.addWidget(entry)
        layout.addStretch(1)
        self.set_marks(())

    def set_marks(self, marks: Iterable[Mark]) -> None:
        """Which marks there are."""
        present = set(marks)
        for mark, entry in self._entries.items():
            entry.setVisible(mark in present)


class _Shape(QWidget):
    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self._mark: Mark = mark
        self.setFixedSize(QSize(int(SIZE) + 2, int(SIZE) + 2))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_mark(painter, self._mark, QPointF(self.width() / 2, self.height() / 2), colours_of(self))
