"""Draws curves of scores over rank: regions, axes, lines, cuts, single tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from explorer.decoding.statistics import Columns, Cut, ScoreCurves, rank_columns
from explorer.i18n import tr
from ui.curves.scales import place_labels
from ui.format import count
from ui.theme import Colours, blend

INSET = 6.0
CUT_ROWS = 3


@dataclass(frozen=True, slots=True, eq=False)
class ScoresView:
    """What is drawn: curves, the range of their values (and whether some lie below it), the cuts with their names; and
    both curves in as many ``columns`` as the plot has pixels."""

    curves: ScoreCurves
    value_range: tuple[float, float, bool]
    cuts: tuple[tuple[Cut, str], ...]
    columns: int
    raw: Columns
    processed: Columns

    @classmethod
    def of(cls, curves: ScoreCurves, cuts: tuple[tuple[Cut, str], ...], columns: int) -> ScoresView:
        """Curves made ready for a plot ``columns`` pixels wide; some milliseconds at 262 144 tokens."""
        raw = rank_columns(curves.raw, curves.kept, columns)
        return cls(
            curves, curves.value_range(), cuts, columns, raw, rank_columns(curves.processed, curves.kept, columns)
        )

    def at_width(self, columns: int) -> ScoresView:
        """The same for another width."""
        return self if columns == self.columns else ScoresView.of(self.curves, self.cuts, columns)

    @property
    def estimated(self) -> bool:
        return self.curves.listed < len(self.curves)


@dataclass(frozen=True, slots=True)
class ScoreAxes:
    """Ranks on a logarithmic axis, scores on a linear one; what lies outside is drawn at the edge."""

    area: QRectF
    ranks: int
    low: float
    high: float

    @property
    def columns(self) -> int:
        """How many pixels the ranks are spread over."""
        return max(2, round(self.area.width() - 2 * INSET))

    def xs(self, ranks: NDArray[np.floating] | NDArray[np.integer]) -> NDArray[np.float64]:
        inner = self.area.width() - 2 * INSET
        share = np.log(np.maximum(ranks, 1e-3)) / np.log(max(2, self.ranks))
        return np.asarray(np.clip(self.area.left() + INSET + inner * share, self.area.left(), self.area.right()))

    def ys(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        share = (values.astype(np.float64) - self.low) / max(self.high - self.low, 1e-9)
        inner = self.area.height() - 2 * INSET
        return np.asarray(np.clip(self.area.bottom() - INSET - inner * share, self.area.top(), self.area.bottom() - 1))

    def x(self, rank: float) -> float:
        return float(self.xs(np.array([rank]))[0])

    def y(self, value: float) -> float:
        return float(self.ys(np.array([value]))[0])


def paint_regions(painter: QPainter, axes: ScoreAxes, columns: Columns, colours: Colours) -> None:
    """What can be drawn stands on a tint, what cannot is hatched; where both share a pixel, on tint and dots."""
    area = axes.area
    kinds = np.where(columns.kept >= 1, 2, np.where(columns.kept <= 0, 0, 1))
    borders = np.flatnonzero(np.diff(kinds)) + 1
    starts, ends = np.append(0, borders), np.append(borders, len(kinds)) - 1
    lefts, rights = axes.xs(columns.first[starts] + 0.5), axes.xs(columns.last[ends] + 1.5)
    lefts[0], rights[-1] = area.left(), area.right()
    tint = blend(QColor(colours.sampling), QColor(colours.surface), 0.10)
    hatch = blend(QColor(colours.border), QColor(colours.surface), 0.6)
    for kind, left, right in zip(kinds[starts].tolist(), lefts.tolist(), rights.tolist(), strict=True):
        rect = QRectF(left, area.top(), right - left, area.height())
        if kind:
            painter.fillRect(rect, tint)
        if kind < 2:
            painter.fillRect(rect, QBrush(hatch, Qt.BrushStyle.Dense6Pattern if kind else Qt.BrushStyle.BDiagPattern))


def paint_curve(painter: QPainter, axes: ScoreAxes, columns: Columns, listed: int, pen: QPen) -> None:
    """A curve between the highest and lowest value of every column; dotted from the index ``listed`` on."""
    line = _line(axes, columns, columns.low, columns.high)
    split = 2 * int(np.count_nonzero(columns.first < listed))
    painter.setPen(pen)
    painter.drawPolyline(QPolygonF(line[:split]))
    if split < len(line):
        dotted = QPen(pen)
        dotted.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(dotted)
        painter.drawPolyline(QPolygonF(line[max(0, split - 1) :]))


def paint_kept(painter: QPainter, axes: ScoreAxes, columns: Columns, listed: int, pen: QPen) -> None:
    """The part of a curve that can be drawn, heavier; broken where nothing in between is kept."""
    line = _line(axes, columns, columns.kept_low, columns.kept_high)
    has = columns.kept > 0
    kinds = has + 2 * (columns.first >= listed)
    borders = np.flatnonzero(kinds[1:] != kinds[:-1]) + 1
    for part in np.split(np.arange(len(has)), borders):
        if not len(part) or not has[part[0]]:
            continue
        points = line[2 * int(part[0]) : 2 * int(part[-1]) + 2]
        if len(part) == 1:  # a single point would not be seen
            points = [points[0] - QPointF(1.5, 0), *points, points[-1] + QPointF(1.5, 0)]
        own = QPen(pen)
        if columns.first[part[0]] >= listed:
            own.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(own)
        painter.drawPolyline(QPolygonF(points))


def paint_cuts(painter: QPainter, axes: ScoreAxes, cuts: Sequence[Cut], colours: Colours) -> None:
    """Where each filter cut: at a rank, and at a score where it compares scores or probabilities."""
    painter.setPen(QPen(QColor(colours.text), 1, Qt.PenStyle.DashLine))
    for cut in cuts:
        x, area = axes.x(cut.rank + 0.5), axes.area
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        if cut.first_rank > 1:
            first = axes.x(cut.first_rank - 0.5)
            painter.drawLine(QPointF(first, area.top()), QPointF(first, area.bottom()))
        if cut.score is not None and axes.low <= cut.score <= axes.high:
            y = axes.y(cut.score)
            painter.drawLine(QPointF(area.left(), y), QPointF(x, y))


def paint_cut_labels(
    painter: QPainter, axes: ScoreAxes, cuts: Sequence[tuple[Cut, str]], right: float, colours: Colours
) -> None:
    """Above the area, beside their lines; what finds no room up to ``right`` is left out."""
    metrics = QFontMetricsF(painter.font())
    height = metrics.height()
    texts = [tr("{setting}: {kept} left").format(setting=name, kept=count(cut.kept)) for cut, name in cuts]
    points = [
        (axes.x(cut.rank + 0.5), metrics.horizontalAdvance(text) + 2)
        for (cut, _), text in zip(cuts, texts, strict=True)
    ]
    for (x, width), text, place in zip(points, texts, place_labels(points, 2, right, CUT_ROWS), strict=True):
        if place is None:
            continue
        left, row = place
        top = axes.area.top() - 2 - (row + 1) * height
        painter.setPen(QPen(QColor(colours.text), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, top + 3), QPointF(x, axes.area.top()))
        painter.setPen(QColor(colours.text))
        painter.drawText(QRectF(left, top, width, height), Qt.AlignmentFlag.AlignVCenter, text)


def paint_token(
    painter: QPainter, axes: ScoreAxes, curves: ScoreCurves, index: int, label: str | None, colours: Colours
) -> None:
    """A token's raw score as a ring, its processed score as a disc; larger and with its label where there is one."""
    x, size = axes.x(index + 1), 4.0 if label is None else 5.0
    raw, processed = axes.y(float(curves.raw[index])), axes.y(float(curves.processed[index]))
    painter.setPen(QPen(QColor(colours.text), 1))
    painter.drawLine(QPointF(x, raw), QPointF(x, processed))
    painter.setBrush(QColor(colours.surface))
    painter.setPen(QPen(QColor(colours.model_text), 2))
    painter.drawEllipse(QPointF(x, raw), size, size)
    painter.setPen(QPen(QColor(colours.surface), 1))
    painter.setBrush(QColor(colours.sampling))
    painter.drawEllipse(QPointF(x, processed), size - 1, size - 1)
    if label is not None:
        _paint_token_label(painter, axes.area, QPointF(x, (raw + processed) / 2), label, colours)


def _paint_token_label(painter: QPainter, area: QRectF, at: QPointF, label: str, colours: Colours) -> None:
    metrics = QFontMetricsF(painter.font())
    text = metrics.elidedText(label, Qt.TextElideMode.ElideMiddle, area.width() / 3)
    width, height = metrics.horizontalAdvance(text) + 6, metrics.height()
    left = at.x() + 9 if at.x() + 9 + width < area.right() else at.x() - 9 - width
    top = min(area.bottom() - height - 1, max(area.top() + 1, at.y() - height / 2))
    place = QRectF(left, top, width, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.accent_soft))
    painter.drawRoundedRect(place, 3, 3)
    painter.setPen(QColor(colours.text))
    painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)


def _line(axes: ScoreAxes, columns: Columns, low: NDArray[np.float32], high: NDArray[np.float32]) -> list[QPointF]:
    """Two points a column: its highest and its lowest value."""
    xs = np.repeat(axes.xs(columns.first + 1), 2)
    ys = axes.ys(np.stack([high, low], axis=1).ravel())
    return list(map(QPointF, xs.tolist(), ys.tolist()))
