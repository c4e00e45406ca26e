"""The chain as a table: what every stage kept and removed, and what it made of the marked token."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from explorer.i18n import tr
from ui.format import MINUS, tooltip
from ui.panels.chain_list import ROW_HEIGHT, ChainDelegate, ChainList
from ui.panels.common import GRID
from ui.theme import Colours, colours_of, figures_font
from ui.why.cells import StageCells

_SAMPLES = ("262 144", f"{MINUS}99.9%", "10.00", f"{MINUS}10.00", "0.0123%")
_LEAST_STAGE = 128


class Columns:
    """Titles and right edges of the five figures, measured in one font."""

    def __init__(self, font: QFont) -> None:
        self.titles = (tr("Kept"), tr("Removed"), tr("Entropy"), tr("Score"), tr("Chance"))
        figures, small = QFontMetricsF(figures_font(font)), QFontMetricsF(figures_font(font, 0.9))
        self.widths = [
            max(figures.horizontalAdvance(sample), small.horizontalAdvance(title)) + 2 * GRID
            for sample, title in zip(_SAMPLES, self.titles, strict=True)
        ]

    @property
    def width(self) -> float:
        return sum(self.widths)

    def rects(self, rect: QRectF) -> list[QRectF]:
        """The five cells of a row, at its right end."""
        cells, right = [], rect.right() - GRID
        for width in reversed(self.widths):
            cells.append(QRectF(right - width, rect.top(), width, rect.height()))
            right -= width
        return cells[::-1]


def paint_cells(painter: QPainter, rect: QRectF, cells: StageCells, columns: Columns, colours: Colours) -> None:
    """The figures of one row; the painter's font is that of figures."""
    kept, removed, entropy, score, probability = columns.rects(rect)
    flags = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    if cells.note:
        painter.setPen(QColor(colours.quiet))
        span = QRectF(kept.left(), kept.top(), entropy.right() - kept.left(), kept.height())
        text = QFontMetricsF(painter.font()).elidedText(cells.note, Qt.TextElideMode.ElideRight, span.width())
        painter.drawText(span, flags, text)
    else:
        texts = ((kept, cells.kept, colours.text), (removed, cells.removed, colours.text))
        for cell, text, ink in (*texts, (entropy, cells.entropy, colours.quiet)):
            painter.setPen(QColor(ink))
            painter.drawText(cell, flags, text)
    if cells.gone:
        painter.setPen(QColor(colours.warning))
        painter.drawText(score.united(probability), flags, f"✕ {cells.score}")
        return
    painter.setPen(QColor(colours.quiet))
    painter.drawText(score, flags, cells.score)
    painter.setPen(QColor(colours.sampling_text))
    painter.drawText(probability, flags, cells.probability)


class WhyDelegate(ChainDelegate):
    """Figures at the right of every stage that is on."""

    def __init__(self, view: ChainList) -> None:
        super().__init__(view)
        self.cells: Mapping[str, StageCells] = {}
        self.measure()

    def measure(self) -> None:
        """Take the view's font over."""
        self.columns = Columns(self.view.font())
        self.more_width = round(self.columns.width) + GRID

    def paint_more(self, painter: QPainter, rect: QRectF, name: str, on: bool) -> None:
        cells = self.cells.get(name)
        if on and cells is not None:
            paint_cells(painter, rect, cells, self.columns, colours_of(self.view))


class ChainHeader(QWidget):
    """The titles of the figures, and the row from which the chain begins."""

    def __init__(self, delegate: WhyDelegate) -> None:
        super().__init__()
        self._delegate = delegate
        self._cells = StageCells()
        self.setToolTip(
            tooltip(
                tr("After each stage, from the model's own scores on:"),
                tr("Kept: how many tokens can still be drawn. Removed: their share of the probability it was given."),
                tr("Entropy: how undecided a draw would be if the chain ended there."),
                tr("Score and chance: those of the marked token."),
            )
        )
        self.setAccessibleName(tr("What each stage did"))
        self._resize()

    def show_cells(self, cells: StageCells) -> None:
        """What the model gave."""
        if cells != self._cells:
            self._cells = cells
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, columns = colours_of(self), self._delegate.columns
        painter = QPainter(self)
        bar = self._delegate.view.verticalScrollBar()
        width = self.width() - (bar.width() if bar.isVisible() else 0)
        top = QRectF(0, 0, width, self.height() - ROW_HEIGHT)
        painter.setFont(figures_font(self.font(), 0.9))
        painter.setPen(QColor(colours.quiet))
        for cell, title in zip(columns.rects(top), columns.titles, strict=True):
            painter.drawText(cell, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), title)
        row = QRectF(0, top.bottom(), width, ROW_HEIGHT)
        painter.setFont(figures_font(self.font()))
        painter.setPen(QColor(colours.text))
        painter.drawText(row.adjusted(2 * GRID, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), tr("Model"))
        paint_cells(painter, row, self._cells, columns, colours)
        painter.setPen(QColor(colours.grid))
        painter.drawLine(row.bottomLeft(), row.bottomRight())
        painter.end()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._delegate.measure()
            self._resize()

    def _resize(self) -> None:
        self.setFixedHeight(round(QFontMetricsF(figures_font(self.font(), 0.9)).height()) + GRID + ROW_HEIGHT)
        self.setMinimumWidth(_LEAST_STAGE)
