"""A button that shows by more than a shade that it is the chosen one."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolButton

from ui.panels.common import GRID, describe
from ui.theme import colours_of

_LINE = 3


class Switch(QToolButton):
    """One of several views, to be put into a button group."""

    def __init__(self, text: str, help_text: str) -> None:
        super().__init__()
        self.setText(text)
        self.setCheckable(True)
        describe(self, text, help_text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMinimumHeight(6 * GRID)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.isChecked():
            painter = QPainter(self)
            line = QRect(2, self.height() - _LINE, self.width() - 4, _LINE)
            painter.fillRect(line, QColor(colours_of(self).accent))
            painter.end()
