"""By how much the configurations differ from the reference in one figure, and whether the intervals show it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from explorer.i18n import tr
from explorer.studies.report import Difference, StudyReport
from explorer.studies.wording import verdict_word
from ui.curves.plot import Entry
from ui.format import LogUnit
from ui.statistics.lanes_plot import SIGN, LanesPlot
from ui.statistics.marks import colour_of, paint_sign
from ui.statistics.words import Line, interval_text
from ui.theme import Colours, colours_of

_MARGIN = 0.06  # of the axis, beyond what it must hold


class DifferencesPlot(LanesPlot):
    """A lane for every configuration but the reference; the line at 0 is “no difference”."""

    def __init__(self) -> None:
        super().__init__()
        self._differences: list[tuple[int, str, Difference]] = []
        self.setAccessibleName(tr("Differences from the reference"))

    def show_line(self, report: StudyReport | None, line: Line | None, unit: LogUnit) -> None:
        self._differences = []
        if report is not None and line is not None:
            self._differences = [
                (place, one.name, difference)
                for place, one in enumerate(report.configurations)
                for difference in one.differences
                if difference.measure == line.name
            ]
        super().show_line(report, line, unit)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def lanes(self) -> list[tuple[int, str]]:
        return [(place, name) for place, name, _ in self._differences]

    def ends(self) -> tuple[float, float]:
        values = [0.0]
        for _, _, difference in self._differences:
            values.append(difference.value)
            for interval in (difference.interval, difference.wide):
                values += [] if interval is None else [interval.low, interval.high]
        low, high = min(values), max(values)
        room = _MARGIN * (high - low) or 1.0
        return low - room, high + room

    def title(self) -> str:
        if self.report is None:
            return ""
        reference = self.report.configurations[self.report.reference].name
        return tr("Difference from “{name}”").format(name=reference)

    def signed(self) -> bool:
        return True

    # --- reading out -------------------------------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        return len(self._differences)

    def read_out(self) -> str:
        if self.cursor_at is None or self.line is None:
            return ""
        _, name, difference = self._differences[self.cursor_at]
        return tr("{name}: {value} {interval}, allowing for all comparisons {wide}; {verdict}; {count} pairs").format(
            name=name,
            value=self.value(difference.value),
            interval=interval_text(difference.interval, self.line.unit, self.unit),
            wide=interval_text(difference.wide, self.line.unit, self.unit),
            verdict=verdict_word(difference),
            count=difference.count,
        )

    def legend(self) -> list[Entry]:
        report, colours = self.report, colours_of(self)
        if report is None or not self._differences:
            return []
        return [
            Entry(tr("{level} interval").format(level=f"{report.level:.0%}"), colours.text, 4),
            Entry(tr("allowing for {count} comparisons").format(count=report.comparisons), colours.text, 1.5),
        ]

    # --- painting ----------------------------------------------------------------------------------------------------

    def paint_data(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        super().paint_data(painter, area, colours)
        if self._differences:
            zero = self.x_of(area, 0.0)
            painter.setPen(QPen(QColor(colours.text), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(zero, area.top()), QPointF(zero, area.bottom()))

    def paint_lane(self, painter: QPainter, area: QRectF, row: int, colours: Colours) -> None:
        place, _, difference = self._differences[row]
        lane = self.lane(area, row)
        y = lane.bottom() - 9
        for interval, width in ((difference.wide, 1.5), (difference.interval, 4.0)):
            if interval is not None:
                painter.setPen(QPen(colour_of(place, colours), width))
                painter.drawLine(QPointF(self.x_of(area, interval.low), y), QPointF(self.x_of(area, interval.high), y))
        paint_sign(painter, QPointF(self.x_of(area, difference.value), y), SIGN, place, colours)
        self.paint_words(painter, lane, f"{self.value(difference.value)}  {verdict_word(difference)}", colours)
