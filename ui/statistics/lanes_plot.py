"""What both plots of statistics have in common: a lane for every configuration, with its sign and name beside it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen

from explorer.studies.report import StudyReport
from ui.curves.plot import Plot
from ui.curves.scales import linear_ticks
from ui.format import LogUnit
from ui.statistics.marks import paint_sign
from ui.statistics.words import Line, value_text
from ui.theme import Colours

SIGN = 5.0  # the radius of a sign
_NAME_SHARE = 0.3  # of the width, for names at most
_LEAST_LANE = 34.0
_TICK_ROOM = 90.0
_DECIMAL = ".0"
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class LanesPlot(Plot):
    """Subclasses say which lanes there are, what the axis goes from and to, and paint a lane."""

    def __init__(self) -> None:
        super().__init__()
        self.report: StudyReport | None = None
        self.line: Line | None = None
        self.unit: LogUnit = "nats"

    # --- for subclasses ----------------------------------------------------------------------------------------------

    def lanes(self) -> list[tuple[int, str]]:
        """The place and the name of the configuration of every lane."""
        return []

    def ends(self) -> tuple[float, float]:
        """What the axis goes from and to."""
        return 0.0, 1.0

    def title(self) -> str:
        return ""

    def signed(self) -> bool:
        """Whether the axis says + before what is more than nothing."""
        return False

    def by_lane(self) -> bool:
        """Whether the cursor goes from lane to lane."""
        return True

    def paint_lane(self, painter: QPainter, area: QRectF, row: int, colours: Colours) -> None:
        """What stands in a lane besides its name."""

    # --- geometry ----------------------------------------------------------------------------------------------------

    def show_line(self, report: StudyReport | None, line: Line | None, unit: LogUnit) -> None:
        """Another figure, or more runs."""
        self.report, self.line, self.unit = report, line, unit
        self.renew()
        self.setMinimumHeight(round(self.top() + len(self.lanes()) * _LEAST_LANE + 2 * self.line_height + 6))

    def left(self) -> float:
        widest = max((self.metrics.horizontalAdvance(name) for _, name in self.lanes()), default=0.0)
        return 4 * SIGN + min(widest, _NAME_SHARE * self.width()) + 8

    def top(self) -> float:
        return self.line_height + 8

    def x_of(self, area: QRectF, value: float) -> float:
        low, high = self.ends()
        return area.left() + (value - low) / (high - low) * area.width()

    def lane(self, area: QRectF, row: int) -> QRectF:
        height = area.height() / max(1, len(self.lanes()))
        return QRectF(area.left(), area.top() + row * height, area.width(), height)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self.by_lane():
            super().mouseMoveEvent(event)
            return
        count, y = len(self.lanes()), event.position().y() - self.area.top()
        inside = count and 0 <= y < self.area.height()
        self.set_cursor(int(count * y / self.area.height()) if inside else None)

    # --- painting ----------------------------------------------------------------------------------------------------

    def paint_data(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.report is None or self.line is None or not self.lanes():
            return
        painter.setPen(QColor(colours.text))
        painter.drawText(QRectF(8, 2, self.width() - 16, self.line_height), _LEFT, self.title())
        ticks = [value for value, _ in linear_ticks(*self.ends(), max(2, int(area.width() / _TICK_ROOM)))]
        texts = [self.value(value) for value in ticks]
        if all(_DECIMAL in text for text in texts):  # all of them are round
            texts = [text.replace(_DECIMAL, "") for text in texts]
        for value, text in zip(ticks, texts, strict=True):
            x = self.x_of(area, value)
            painter.setPen(QColor(colours.grid))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            self.paint_x_label(painter, area, x, text, colours)
        for row, (place, name) in enumerate(self.lanes()):
            self._paint_name(painter, area, row, place, name, colours)
            self.paint_lane(painter, area, row, colours)

    def value(self, value: float) -> str:
        """A value of the axis in words."""
        if self.line is None:
            return ""
        return value_text(value, self.line.unit, self.unit, signed=self.signed())

    def paint_words(self, painter: QPainter, lane: QRectF, text: str, colours: Colours) -> None:
        """What a lane says of itself, at its upper right."""
        painter.setPen(QColor(colours.text))
        room = QRectF(lane.left() + 4, lane.top() + 1, lane.width() - 8, self.line_height)
        painter.drawText(room, _RIGHT, text)

    def _paint_name(self, painter: QPainter, area: QRectF, row: int, place: int, name: str, colours: Colours) -> None:
        lane = self.lane(area, row)
        if row:
            painter.setPen(QColor(colours.border))
            painter.drawLine(QPointF(4, lane.top()), QPointF(lane.right(), lane.top()))
        middle = lane.center().y()
        paint_sign(painter, QPointF(3 + 2 * SIGN, middle), SIGN, place, colours)
        painter.setPen(QColor(colours.text))
        left = 4 * SIGN + 4
        room = QRectF(left, middle - self.line_height / 2, lane.left() - left - 4, self.line_height)
        painter.drawText(room, _LEFT, self.metrics.elidedText(name, Qt.TextElideMode.ElideRight, room.width()))

    def paint_marks(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        if self.cursor_at is not None and self.cursor_at < self.steps:
            painter.setPen(QPen(QColor(colours.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.cursor_rect(area, self.cursor_at))

    def cursor_rect(self, area: QRectF, place: int) -> QRectF:
        """What the cursor stands on."""
        return self.lane(area, place).adjusted(1, 1, -1, -1)
