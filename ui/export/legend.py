"""The legend of a picture: what the colours and the signs in it mean."""

from __future__ import annotations

from PySide6.QtCore import QPointF
from PySide6.QtGui import QFont, QPainter

from ui.theme import Colours
from ui.tree.frame import Frame
from ui.tree.key import legend_entries
from ui.tree.legend import LegendLayout


class PictureLegend:
    """The legend of the canvas, in as many rows as it needs."""

    def __init__(self, frame: Frame, font: QFont, width: float) -> None:
        self._layout = LegendLayout(legend_entries(frame), font, width, padding=0.0)
        self.height = self._layout.size.height()

    def paint(self, painter: QPainter, colours: Colours) -> None:
        """Paint it at the origin."""
        self._layout.paint(painter, QPointF(0, 0), colours, ground=False)
