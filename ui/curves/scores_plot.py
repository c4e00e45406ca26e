"""Raw and processed scores over rank: what the model gave, what the settings made of it, where each filter cut."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from explorer.i18n import listed, tr
from ui.curves.plot import Entry, Plot
from ui.curves.scales import linear_ticks, log_ticks
from ui.curves.scores_painter import (
    CUT_ROWS,
    ScoreAxes,
    ScoresView,
    paint_curve,
    paint_cut_labels,
    paint_cuts,
    paint_kept,
    paint_regions,
    paint_token,
)
from ui.format import count, decimal
from ui.theme import Colours, colours_of

Mark = tuple[int, str]
"""The index of a token among the curves, and its label."""


class ScoresPlot(Plot):
    """The ranks are the model's own, so that a token stands at one place in both curves.

    ``label_of`` names the token at an index.
    """

    def __init__(self, label_of: Callable[[int], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view: ScoresView | None = None
        self._marked: Mark | None = None
        self._hovered: Mark | None = None
        self._label_of = label_of
        self.setAccessibleName(tr("Scores over rank"))

    def show_view(self, view: ScoresView | None) -> None:
        """Other curves."""
        self._view = view
        self.renew()

    def set_marks(self, marked: Mark | None, hovered: Mark | None) -> None:
        """The token to point at, and one that is hovered elsewhere."""
        if (marked, hovered) != (self._marked, self._hovered):
            self._marked, self._hovered = marked, hovered
            self.update()

    def renew(self) -> None:
        if self._view is not None:
            self._view = self._view.at_width(self.axes.columns)
        super().renew()

    @property
    def axes(self) -> ScoreAxes:
        """Where ranks and scores lie."""
        if self._view is None:
            return ScoreAxes(self.area, 2, 0.0, 1.0)
        low, high, _ = self._view.value_range
        return ScoreAxes(self.area, len(self._view.curves), low, high)

    def top(self) -> float:
        rows = 0 if self._view is None else min(CUT_ROWS, len(self._view.cuts))
        return 6 + rows * self.line_height

    def left(self) -> float:
        metrics = self.metrics
        return 12 + max((metrics.horizontalAdvance(text) for _, text in self._y_ticks()), default=20)

    def _y_ticks(self) -> list[tuple[float, str]]:
        low, high, _ = (0.0, 1.0, False) if self._view is None else self._view.value_range
        return linear_ticks(low, high, max(2, int(self.height() / (3 * self.line_height))))

    # --- reading out -------------------------------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        return 0 if self._view is None else len(self._view.raw.column)

    def step_at(self, x: float) -> int | None:
        if self._view is None or not self.steps:
            return None
        return int(np.argmin(np.abs(self.axes.xs(self._view.raw.first + 1) - x)))

    def read_out(self) -> str:
        view, place = self._view, self.cursor_at
        if view is None or place is None:
            return ""
        raw, processed, curves = view.raw, view.processed, view.curves
        first, last = int(raw.first[place]), int(raw.last[place])
        guessed = tr("estimated") if last >= curves.listed else ""
        if first == last:
            return tr("Rank {rank}, {label}: {raw} → {processed}, {fate}").format(
                rank=count(first + 1),
                label=self._label_of(first),
                raw=decimal(float(curves.raw[first])),
                processed=decimal(float(curves.processed[first])),
                fate=listed((tr("kept") if curves.kept[first] else tr("removed"), guessed)),
            )
        kept = tr("{kept} of {count} kept").format(
            kept=count(round(float(raw.kept[place]) * (last - first + 1))), count=count(last - first + 1)
        )
        return tr("Ranks {first} to {last}: {raw} → {processed}, {fate}").format(
            first=count(first + 1),
            last=count(last + 1),
            raw=_span(float(raw.high[place]), float(raw.low[place])),
            processed=_span(float(processed.high[place]), float(processed.low[place])),
            fate=listed((kept, guessed)),
        )

    def legend(self) -> list[Entry]:
        colours = colours_of(self)
        entries = [Entry(tr("model"), colours.model, 2), Entry(tr("after the settings"), colours.sampling, 4)]
        if self._view is not None and not self._view.curves.kept.all():
            entries.append(Entry(tr("removed"), colours.quiet, pattern=Qt.BrushStyle.BDiagPattern))
        if self._view is not None and self._view.estimated:
            entries.append(Entry(tr("not stored: estimated"), colours.quiet, 2, Qt.PenStyle.DotLine))
        return entries

    # --- painting ----------------------------------------------------------------------------------------------------

    def paint_data(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        view = self._view
        if view is None or not len(view.curves):
            return
        raw, processed, axes, stored = view.raw, view.processed, self.axes, view.curves.listed
        paint_regions(painter, axes, raw, colours)
        self._paint_axes(painter, view, axes, colours)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.save()
        painter.setClipRect(area)
        paint_cuts(painter, axes, [cut for cut, _ in view.cuts], colours)
        paint_curve(painter, axes, processed, stored, QPen(QColor(colours.sampling), 1, Qt.PenStyle.DashLine))
        # Broader than the model's, which stays to be seen on it where no setting changes anything.
        paint_kept(painter, axes, processed, stored, QPen(QColor(colours.sampling), 4))
        paint_curve(painter, axes, raw, stored, QPen(QColor(colours.model), 1.8))
        painter.restore()
        paint_cut_labels(painter, axes, view.cuts, self.width() - 2, colours)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_axes(self, painter: QPainter, view: ScoresView, axes: ScoreAxes, colours: Colours) -> None:
        for value, text in self._y_ticks():
            self.paint_y_label(painter, axes.area, axes.y(value), text, colours)
        metrics, title = self.metrics, tr("rank")
        end = axes.area.right() - metrics.horizontalAdvance(title)
        for rank, text in log_ticks(len(view.curves)):
            x = axes.x(rank)
            if x + metrics.horizontalAdvance(text) / 2 + 8 < end:
                self.paint_x_label(painter, axes.area, x, text, colours)
        painter.setPen(QColor(colours.quiet))
        place = QRectF(end - 1, axes.area.bottom() + 3, axes.area.right() - end + 2, self.line_height)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, title)
        corner = tr("logit (nats)")
        inside = QRectF(axes.area.right() - metrics.horizontalAdvance(corner) - 6, axes.area.top() + 3, 0, 0)
        inside.setSize(QRectF(0, 0, axes.area.right() - inside.left(), self.line_height).size())
        painter.drawText(inside, Qt.AlignmentFlag.AlignVCenter, corner)

    def paint_marks(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        view = self._view
        if view is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._hovered is not None and self._hovered[0] < len(view.curves):
            paint_token(painter, self.axes, view.curves, self._hovered[0], None, colours)
        if self._marked is not None and self._marked[0] < len(view.curves):
            paint_token(painter, self.axes, view.curves, *self._marked, colours)
        if self.cursor_at is not None and self.cursor_at < self.steps:
            x = self.axes.x(float(view.raw.first[self.cursor_at]) + 1)
            painter.setPen(QPen(QColor(colours.accent), 1))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _span(high: float, low: float) -> str:
    return decimal(high) if decimal(high) == decimal(low) else f"{decimal(high)} … {decimal(low)}"
