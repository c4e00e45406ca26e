"""One figure of every configuration: how its values are spread, its mean, and the interval it is to be taken within."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from explorer.i18n import listed, tr
from explorer.studies.histograms import Histogram, shared_histogram
from explorer.studies.intervals import Estimate
from explorer.studies.report import StudyReport
from ui.format import LogUnit, count
from ui.statistics.lanes_plot import SIGN, LanesPlot
from ui.statistics.marks import colour_of, paint_sign
from ui.statistics.words import Line, estimate_text, value_text
from ui.theme import Colours, blend

_NOTHING = Histogram((0.0, 1.0), ())
_BELOW = 0.24  # of a lane, for the mean below its bars, ...
_LEAST_BELOW = 12.0  # ... and at least so many pixels


class FiguresPlot(LanesPlot):
    """The spread of a measure in bins, or of a yes or no its share. The cursor goes from bin to bin."""

    def __init__(self) -> None:
        super().__init__()
        self._histogram = _NOTHING
        self.setAccessibleName(tr("How the runs are spread"))

    def show_line(self, report: StudyReport | None, line: Line | None, unit: LogUnit) -> None:
        self._histogram = _NOTHING
        if report is not None and line is not None and line.measure is not None and not line.yes_or_no:
            of = line.measure.of
            values = [[value for run in one.runs if (value := of(run)) is not None] for one in report.configurations]
            self._histogram = shared_histogram(values)
        super().show_line(report, line, unit)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def lanes(self) -> list[tuple[int, str]]:
        return [] if self.report is None else [(k, one.name) for k, one in enumerate(self.report.configurations)]

    def ends(self) -> tuple[float, float]:
        return (0.0, 1.0) if self.by_lane() else (self._histogram.edges[0], self._histogram.edges[-1])

    def title(self) -> str:
        return "" if self.line is None else self.line.label

    def by_lane(self) -> bool:
        return self.line is None or self.line.yes_or_no

    # --- reading out -------------------------------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        if self.line is None:
            return 0
        return len(self.lanes()) if self.by_lane() else len(self._histogram.edges) - 1

    def step_at(self, x: float) -> int | None:
        if not self.steps:
            return None
        return min(self.steps - 1, max(0, int((x - self.area.left()) / self.area.width() * self.steps)))

    def read_out(self) -> str:
        report, line, place = self.report, self.line, self.cursor_at
        if report is None or line is None or place is None:
            return ""
        if self.by_lane():
            one = report.configurations[place]
            return f"{one.name}: {estimate_text(line.estimate(one), line.unit, self.unit)}"
        numbers = zip(self.lanes(), self._histogram.counts, strict=True)
        runs = listed(tr("{name} {count} runs").format(name=name, count=count(of[place])) for (_, name), of in numbers)
        return tr("{where}: {runs}").format(where=self._where(line, place), runs=runs)

    def _where(self, line: Line, place: int) -> str:
        """A bin in words."""
        low, high = self._histogram.edges[place : place + 2]
        if line.unit == "tokens":
            first, last = round(low + 0.5), round(high - 0.5)
            return tr("{value} tokens").format(value=first if first == last else f"{first}–{last}")
        return tr("{low} to {high}").format(
            low=value_text(low, line.unit, self.unit), high=value_text(high, line.unit, self.unit)
        )

    # --- painting ----------------------------------------------------------------------------------------------------

    def paint_lane(self, painter: QPainter, area: QRectF, row: int, colours: Colours) -> None:
        assert self.report is not None
        assert self.line is not None
        lane, estimate = self.lane(area, row), self.line.estimate(self.report.configurations[row])
        if estimate is None:
            return
        if self.by_lane():
            self._paint_share(painter, area, lane, row, estimate.value, colours)
        else:
            self._paint_bars(painter, area, lane, row, colours)
        self._paint_estimate(painter, area, lane, row, estimate, colours)
        self.paint_words(painter, lane, estimate_text(estimate, self.line.unit, self.unit), colours)

    @staticmethod
    def _floor(lane: QRectF) -> float:
        """Where bars stand: below it the mean has its place."""
        return lane.bottom() - max(_LEAST_BELOW, _BELOW * lane.height())

    def _paint_bars(self, painter: QPainter, area: QRectF, lane: QRectF, row: int, colours: Colours) -> None:
        floor, most = self._floor(lane), max(1, self._histogram.most)
        room = floor - lane.top() - self.line_height - 2
        fill = blend(colour_of(row, colours), QColor(colours.surface), 0.55)
        edges = self._histogram.edges
        for number, low, high in zip(self._histogram.counts[row], edges[:-1], edges[1:], strict=True):
            if number:
                left, right = self.x_of(area, low), self.x_of(area, high)
                height = max(2.0, room * number / most)
                painter.fillRect(QRectF(left + 0.5, floor - height, max(1.0, right - left - 1), height), fill)

    def _paint_share(
        self, painter: QPainter, area: QRectF, lane: QRectF, row: int, share: float, colours: Colours
    ) -> None:
        floor = self._floor(lane)
        height = max(2.0, floor - lane.top() - self.line_height - 4)
        fill = blend(colour_of(row, colours), QColor(colours.surface), 0.4)
        painter.fillRect(QRectF(area.left(), floor - height, share * area.width(), height), fill)

    def _paint_estimate(
        self, painter: QPainter, area: QRectF, lane: QRectF, row: int, estimate: Estimate, colours: Colours
    ) -> None:
        y = (self._floor(lane) + lane.bottom()) / 2
        if estimate.interval is not None:
            painter.setPen(QPen(colour_of(row, colours), 2))
            left, right = (self.x_of(area, end) for end in (estimate.interval.low, estimate.interval.high))
            painter.drawLine(QPointF(left, y), QPointF(right, y))
            for x in (left, right):
                painter.drawLine(QPointF(x, y - 4), QPointF(x, y + 4))
        paint_sign(painter, QPointF(self.x_of(area, estimate.value), y), SIGN, row, colours)

    def cursor_rect(self, area: QRectF, place: int) -> QRectF:
        if self.by_lane():
            return super().cursor_rect(area, place)
        left, right = (self.x_of(area, edge) for edge in self._histogram.edges[place : place + 2])
        return QRectF(left, area.top() + 1, right - left, area.height() - 2)
