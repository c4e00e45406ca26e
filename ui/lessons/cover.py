"""What a lesson lays over the window: a cover for numbers that are to be guessed, a frame around what it speaks of."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from explorer.i18n import tr
from ui.panels.common import GRID
from ui.theme import colours_of

_FRAME = 3.0


class _Over(QWidget):
    """A child that keeps the size of the widget it lies over."""

    def __init__(self, below: QWidget) -> None:
        super().__init__(below)
        self._below = below
        below.installEventFilter(self)
        self._follow()
        self.raise_()
        self.show()

    def leave(self) -> None:
        """Take it away."""
        self._below.removeEventFilter(self)
        self.hide()
        self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._below and event.type() in (QEvent.Type.Resize, QEvent.Type.ChildAdded):
            self._follow()
            self.raise_()
        return False

    def _follow(self) -> None:
        self.setGeometry(QRect(0, 0, self._below.width(), self._below.height()))


class Cover(_Over):
    """Hides a panel until the question of a lesson is answered."""

    def __init__(self, below: QWidget) -> None:
        super().__init__(below)
        self.setAccessibleName(tr("Covered"))
        self.setAccessibleDescription(tr("Covered until you have answered the question of the lesson."))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = colours_of(self)
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.surface_alt))
        painter.setPen(QColor(colours.quiet))
        inside = self.rect().adjusted(4 * GRID, 4 * GRID, -4 * GRID, -4 * GRID)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(inside, flags, tr("Covered until you have answered the question of the lesson."))
        painter.end()


class Spot(_Over):
    """Frames what a step speaks of; clicks go through it."""

    def __init__(self, below: QWidget) -> None:
        super().__init__(below)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(QColor(colours_of(self).accent), _FRAME))
        half = int(_FRAME / 2)
        painter.drawRect(self.rect().adjusted(half, half, -half - 1, -half - 1))
        painter.end()
