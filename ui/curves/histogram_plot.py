"""The model's distribution over the whole vocabulary: how many tokens have which probability, and what they hold."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from explorer.decoding.statistics import LEAST_EXPONENT, Histogram
from explorer.i18n import listed, tr
from ui.curves.plot import Entry, Plot
from ui.curves.scales import linear_ticks, log_ticks
from ui.format import count, percent, power_of_ten
from ui.theme import Colours, colours_of

_BELOW = 0.46  # the share of the area that the masses take


class HistogramPlot(Plot):
    """Numbers of tokens upwards on a logarithmic axis, their probability together downwards on a linear one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._histogram: Histogram | None = None
        self._marked: tuple[float, str] | None = None
        self.setAccessibleName(tr("Histogram of the model's probabilities"))

    def show_histogram(self, histogram: Histogram | None) -> None:
        """Another distribution."""
        self._histogram = histogram
        self.renew()

    def set_mark(self, marked: tuple[float, str] | None) -> None:
        """The token to point at: its model probability and its label."""
        if marked != self._marked:
            self._marked = marked
            self.update()

    # --- geometry ----------------------------------------------------------------------------------------------------

    def left(self) -> float:
        metrics = self.metrics
        counts = [text for _, text in self._count_ticks()]
        return 12 + max(metrics.horizontalAdvance(text) for text in [*counts, "100%"])

    def _count_ticks(self) -> list[tuple[int, str]]:
        return log_ticks(self._most_tokens())

    def _most_tokens(self) -> int:
        return 1 if self._histogram is None else int(self._histogram.counts.max())

    def _most_mass(self) -> float:
        """The end of the lower axis: a round number that holds the largest mass."""
        most = 1.0 if self._histogram is None else float(self._histogram.masses.max())
        return next((end for end in (0.1, 0.2, 0.5) if most <= end), 1.0)

    def _middle(self, area: QRectF) -> float:
        return area.bottom() - _BELOW * area.height()

    def _up(self, area: QRectF, number: float) -> float:
        """The top of a bar for so many tokens: one token is seen, none is not."""
        if number <= 0:
            return self._middle(area)
        share = (math.log10(number) + 0.25) / (math.log10(max(1, self._most_tokens())) + 0.35)
        return self._middle(area) - share * (self._middle(area) - area.top())

    def _down(self, area: QRectF, mass: float) -> float:
        return self._middle(area) + mass / self._most_mass() * 0.94 * (area.bottom() - self._middle(area))

    def _x(self, area: QRectF, exponent: float) -> float:
        lowest = -1.0 if self._histogram is None else float(self._histogram.edges[0])
        return area.left() + 4 + (exponent - lowest) / -lowest * (area.width() - 8)

    # --- reading out -------------------------------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        return 0 if self._histogram is None else len(self._histogram.counts)

    def step_at(self, x: float) -> int | None:
        if self._histogram is None:
            return None
        edges = [self._x(self.area, edge) for edge in self._histogram.edges.tolist()]
        return min(len(edges) - 2, max(0, int(np.searchsorted(edges, x)) - 1))

    def read_out(self) -> str:
        histogram, place = self._histogram, self.cursor_at
        if histogram is None or place is None:
            return ""
        low, high = (power_of_ten(float(edge) * math.log(10)) for edge in histogram.edges[place : place + 2])
        guessed = histogram.counts[place] > histogram.listed_counts[place]
        below = place == 0 and histogram.edges[0] == LEAST_EXPONENT
        text = tr("Probability {low} to {high}: tokens {count}, together {mass}").format(
            low="0" if below else low,
            high=high,
            count=count(int(histogram.counts[place])),
            mass=percent(float(histogram.masses[place])),
        )
        return listed((text, tr("estimated") if guessed else ""))

    def legend(self) -> list[Entry]:
        colours, histogram = colours_of(self), self._histogram
        entries = [
            Entry(tr("number of tokens"), colours.quiet),
            Entry(tr("their probability together"), colours.model),
        ]
        if histogram is not None and histogram.estimated:
            entries.append(Entry(tr("not stored: estimated"), colours.quiet, pattern=Qt.BrushStyle.BDiagPattern))
        if histogram is not None and histogram.impossible:
            text = tr("{count} more have probability 0").format(count=count(histogram.impossible))
            entries.append(Entry(text, colours.surface))
        return entries

    # --- painting ----------------------------------------------------------------------------------------------------

    def paint_data(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        histogram = self._histogram
        if histogram is None:
            return
        self._paint_axes(painter, area, histogram, colours)
        middle = self._middle(area)
        lefts = [self._x(area, edge) for edge in histogram.edges.tolist()]
        for place in range(len(histogram.counts)):
            left, width = lefts[place] + 1, lefts[place + 1] - lefts[place] - 1
            tops = [self._up(area, float(n)) for n in (histogram.listed_counts[place], histogram.counts[place])]
            ends = [self._down(area, float(m)) for m in (histogram.listed_masses[place], histogram.masses[place])]
            _paint_bar(painter, left, width, middle, tops[0], tops[1], QColor(colours.quiet))
            _paint_bar(painter, left, width, middle, ends[0], ends[1], QColor(colours.model))
        painter.setPen(QPen(QColor(colours.text), 1))
        painter.drawLine(QPointF(area.left(), middle), QPointF(area.right(), middle))
        title = tr("by the probability of one token (logarithmic)")
        width = self.metrics.horizontalAdvance(title)
        strip = QRectF(area.left() + 4, area.bottom() - self.line_height - 2, width + 4, self.line_height)
        painter.fillRect(strip, QColor(colours.surface))  # a bar may reach down to it
        painter.setPen(QColor(colours.quiet))
        painter.drawText(strip, Qt.AlignmentFlag.AlignCenter, title)

    def _paint_axes(self, painter: QPainter, area: QRectF, histogram: Histogram, colours: Colours) -> None:
        metrics = self.metrics
        room = self._middle(area) - area.top()
        ticks = self._count_ticks()
        every = max(1, math.ceil(len(ticks) * self.line_height / max(1.0, room)))
        for number, text in ticks[::every]:
            self.paint_y_label(painter, area, self._up(area, number), text, colours)
        for mass, _ in linear_ticks(0, self._most_mass(), 3)[1:]:
            self.paint_y_label(painter, area, self._down(area, mass), f"{100 * mass:g}%", colours)
        lowest = int(histogram.edges[0])
        widest = metrics.horizontalAdvance(_power(lowest)) + 10
        step = max(1, math.ceil(widest / max(1.0, (area.width() - 8) / -lowest)))
        for exponent in range(0, lowest - 1, -step):
            text = "1" if exponent == 0 else _power(exponent)
            self.paint_x_label(painter, area, self._x(area, exponent), text, colours)

    def paint_marks(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        histogram = self._histogram
        if histogram is None:
            return
        if self.cursor_at is not None and self.cursor_at < len(histogram.counts):
            left, right = (self._x(area, float(e)) for e in histogram.edges[self.cursor_at : self.cursor_at + 2])
            painter.setPen(QPen(QColor(colours.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(left, area.top() + 1, right - left, area.height() - 3))
        if self._marked is not None and self._marked[0] > 0:
            exponent = max(float(histogram.edges[0]), math.log10(self._marked[0]))
            self._paint_mark(painter, area, self._x(area, exponent), self._marked[1], colours)

    def _paint_mark(self, painter: QPainter, area: QRectF, x: float, label: str, colours: Colours) -> None:
        """A token's own probability: a triangle on the line between both halves, its label beside it."""
        middle, metrics = self._middle(area), self.metrics
        text = metrics.elidedText(label, Qt.TextElideMode.ElideMiddle, area.width() / 3)
        width = metrics.horizontalAdvance(text) + 6
        left = x + 8 if x + 8 + width < area.right() else x - 8 - width
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.surface), 1))
        painter.setBrush(QColor(colours.accent))
        painter.drawPolygon(QPolygonF([QPointF(x - 5, middle - 9), QPointF(x + 5, middle - 9), QPointF(x, middle)]))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.accent_soft))
        place = QRectF(left, middle - self.line_height - 3, width, self.line_height)
        painter.drawRoundedRect(place, 3, 3)
        painter.setPen(QColor(colours.text))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_bar(
    painter: QPainter, left: float, width: float, middle: float, listed: float, end: float, colour: QColor
) -> None:
    """From the middle up or down: solid as far as what is stored goes, hatched beyond."""
    if listed != middle:
        painter.fillRect(QRectF(left, min(middle, listed), width, max(1.0, abs(listed - middle))), colour)
    if end != listed:
        rest = QRectF(left, min(listed, end), width, max(1.0, abs(end - listed)))
        painter.fillRect(rest, QBrush(colour, Qt.BrushStyle.BDiagPattern))


def _power(exponent: int) -> str:
    return power_of_ten(exponent * math.log(10)).partition("×")[2]
