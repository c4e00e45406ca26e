"""The chain as a table: what every stage kept and removed, and what it made of the marked token."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from explorer.i18n import tr
from ui.format import MINUS, tooltip
from ui.panels.chain_list import ROW_HEIGHT, ChainDelegate, ChainList
from ui.panels.common import GRID
from ui.text.text_line import TextLine
from ui.theme import Colours, colours_of, figures_font, ink
from ui.why.cells import StageCells

_SAMPLES = ("262 144", f"{MINUS}0.0123%", "10.00", f"{MINUS}10.00", "9×10⁻¹⁰")
_SCALE = 0.92  # of the font: five figures a row in a narrow dock


class Columns:
    """Titles and right edges of the five figures, measured in one font."""

    def __init__(self, font: QFont) -> None:
        self.titles = (tr("Kept"), tr("Removed"), tr("Entropy"), tr("Score"), tr("Chance"))
        self.line = TextLine(figures_font(font, _SCALE))
        self.widths = [
            max(self.line.width(sample), self.line.metrics.horizontalAdvance(title)) + 1.5 * GRID
            for sample, title in zip(_SAMPLES, self.titles, strict=True)
        ]

    @property
    def width(self) -> float:
        return sum(self.widths)

    def edges(self, rect: QRectF) -> tuple[float, list[float]]:
        """Where the five cells begin, and where each ends; they stand at the right end of ``rect``."""
        ends, right = [], rect.right() - GRID
        for width in reversed(self.widths):
            ends.append(right)
            right -= width
        return right, ends[::-1]


def paint_cells(painter: QPainter, rect: QRectF, cells: StageCells, columns: Columns, colours: Colours) -> None:
    """The figures of one row."""
    line, middle = columns.line, rect.center().y()
    left, (kept, removed, entropy, score, probability) = columns.edges(rect)
    painter.setFont(line.font)
    if cells.note:
        painter.setPen(ink(colours.quiet))
        end = entropy if cells.score else probability
        line.right(painter, end, middle, line.elided(cells.note, end - left))
    else:
        painter.setPen(ink(colours.text))
        line.right(painter, kept, middle, cells.kept)
        line.right(painter, removed, middle, cells.removed)
        painter.setPen(ink(colours.quiet))
        line.right(painter, entropy, middle, cells.entropy)
    if cells.gone:
        painter.setPen(ink(colours.warning))
        line.right(painter, probability, middle, f"✕ {cells.score}")
        return
    painter.setPen(ink(colours.quiet))
    line.right(painter, score, middle, cells.score)
    painter.setPen(ink(colours.sampling_text))
    line.right(painter, probability, middle, cells.probability)


class WhyDelegate(ChainDelegate):
    """Figures at the right of every stage that is on."""

    def __init__(self, view: ChainList) -> None:
        super().__init__(view)
        self.cells: Mapping[str, StageCells] = {}

    def take_font(self) -> None:
        super().take_font()
        self.columns = Columns(self.view.font())
        self.more_width = round(self.columns.width) + GRID

    def paint_more(self, painter: QPainter, rect: QRectF, name: str) -> None:
        cells = self.cells.get(name)
        if cells is not None:
            paint_cells(painter, rect, cells, self.columns, self.view.colours)


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
        painter.setFont(columns.line.font)
        painter.setPen(ink(colours.quiet))
        for end, title in zip(columns.edges(top)[1], columns.titles, strict=True):
            columns.line.right(painter, end, top.center().y(), title)
        row = QRectF(0, top.bottom(), width, ROW_HEIGHT)
        painter.setFont(figures_font(self.font()))
        painter.setPen(ink(colours.text))
        painter.drawText(row.adjusted(2 * GRID, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), tr("Model"))
        paint_cells(painter, row, self._cells, columns, colours)
        painter.setPen(ink(colours.grid))
        painter.drawLine(row.bottomLeft(), row.bottomRight())
        painter.end()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._resize()

    def _resize(self) -> None:
        self.setFixedHeight(round(self._delegate.columns.line.metrics.height()) + GRID + ROW_HEIGHT)
