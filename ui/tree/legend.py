"""The legend of the tree: what the colours stand for, from where to where, and the signs that occur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from explorer.i18n import listed, tr
from explorer.tree import HowChosen
from ui.text.colouring import HOW_NAMES, how_colour
from ui.text.legend import GRADIENT_WIDTH, paint_gradient
from ui.theme import Colours, MapName, blend, colours_of, figures_font
from ui.tree.marks import STYLES, mark_pen, paint_note, paint_sign, paint_star
from ui.tree.overlay import Mark
from ui.tree.shapes import DASHES, paint_how

_GAP = 6.0
_SIGN = 8.0
_MARK = 12.0
_DASH = 18.0
_PADDING = 6.0
MOST_WIDTH = 720.0


@dataclass(frozen=True, slots=True)
class ScaleEntry:
    """A colour map with the name of its quantity and what its ends stand for (translated)."""

    name: str
    low: str
    high: str
    map_name: MapName


@dataclass(frozen=True, slots=True)
class HowEntry:
    """A way of choosing; ``coloured`` where colours tell it, too."""

    how: HowChosen
    coloured: bool = False


@dataclass(frozen=True, slots=True)
class MarkEntry:
    """A mark of an overlay."""

    mark: Mark


@dataclass(frozen=True, slots=True)
class PlainEntry:
    """Another sign that occurs."""

    kind: Literal["width", "forced", "excluded", "unknown", "unseen", "star", "note"]
    name: str


LegendEntry = ScaleEntry | HowEntry | MarkEntry | PlainEntry


def entry_name(entry: LegendEntry) -> str:
    """What an entry says."""
    if isinstance(entry, HowEntry):
        return tr(HOW_NAMES[entry.how])
    if isinstance(entry, MarkEntry):
        return tr(STYLES[entry.mark].name)
    if isinstance(entry, ScaleEntry):
        return f"{entry.name} {entry.low} – {entry.high}"
    return entry.name


class LegendLayout:
    """Entries in rows of a limited width; to be measured, and painted anywhere."""

    def __init__(
        self, entries: Sequence[LegendEntry], font: QFont, most_width: float = MOST_WIDTH, padding: float = _PADDING
    ) -> None:
        self._font = font
        self._metrics = QFontMetricsF(self._font)
        self._row = self._metrics.height() + 4
        self._places: list[tuple[LegendEntry, float, float]] = []
        left, top, widest = padding, 3.0, 0.0
        for entry in entries:
            width = self._width(entry)
            alone = isinstance(entry, ScaleEntry)
            if left > padding and (left + width > most_width or alone):
                left, top = padding, top + self._row
            self._places.append((entry, left, top))
            left += width + 2 * _GAP
            widest = max(widest, left - 2 * _GAP)
            if alone:
                left, top = padding, top + self._row
        rows_end = top if left == padding else top + self._row
        self.size = QSizeF(widest + padding, rows_end + 3.0) if entries else QSizeF(0, 0)

    def paint(self, painter: QPainter, left_top: QPointF, colours: Colours, *, ground: bool = True) -> None:
        """Paint the legend with its corner at ``left_top``, on a quiet ground of its own if wanted."""
        painter.save()
        painter.translate(left_top)
        painter.setFont(self._font)
        if ground:
            background = QColor(colours.surface)
            background.setAlpha(232)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(background)
            painter.drawRoundedRect(QRectF(QPointF(0, 0), self.size), 4, 4)
        for entry, left, top in self._places:
            if isinstance(entry, ScaleEntry):
                self._paint_scale(painter, entry, left, top, colours)
            else:
                after = self._paint_sign(painter, entry, QPointF(left, top + self._row / 2), colours)
                self._write(painter, after, top, entry_name(entry), colours)
        painter.restore()

    def _width(self, entry: LegendEntry) -> float:
        advance = self._metrics.horizontalAdvance
        if isinstance(entry, ScaleEntry):
            return float(advance(entry.name + entry.low + entry.high) + GRADIENT_WIDTH + 3 * _GAP)
        return float(_sign_width(entry) + advance(entry_name(entry)))

    def _paint_scale(self, painter: QPainter, entry: ScaleEntry, left: float, top: float, colours: Colours) -> None:
        left = self._write(painter, left, top, entry.name, colours) + _GAP
        left = self._write(painter, left, top, entry.low, colours) + _GAP
        bar = QRectF(left, top + self._row / 2 - 4, GRADIENT_WIDTH, 8)
        paint_gradient(painter, bar, entry.map_name, colours)
        self._write(painter, bar.right() + _GAP, top, entry.high, colours)

    def _paint_sign(self, painter: QPainter, entry: LegendEntry, at: QPointF, colours: Colours) -> float:
        """The sign of an entry; the place behind it."""
        ink, paper = QColor(colours.text), QColor(colours.surface)
        if isinstance(entry, HowEntry):
            colour = how_colour(entry.how, colours) if entry.coloured else ink
            paint_how(painter, at + QPointF(_SIGN / 2, 0), _SIGN, entry.how, colour, paper)
        elif isinstance(entry, MarkEntry):
            painter.setPen(mark_pen(entry.mark, colours, 3.0))
            painter.drawLine(at, at + QPointF(_DASH + _MARK, 0))
            paint_sign(painter, at + QPointF((_DASH + _MARK) / 2, 0), _MARK, entry.mark, colours)
        elif isinstance(entry, PlainEntry):
            _paint_plain(painter, entry, at, colours)
        return at.x() + _sign_width(entry)

    def _write(self, painter: QPainter, left: float, top: float, text: str, colours: Colours) -> float:
        """Write a word; its right edge."""
        painter.setPen(QColor(colours.quiet))
        width = self._metrics.horizontalAdvance(text)
        painter.drawText(QRectF(left, top, width + 2, self._row), int(Qt.AlignmentFlag.AlignVCenter), text)
        return float(left + width)


def _sign_width(entry: LegendEntry) -> float:
    """From the beginning of an entry to its name."""
    if isinstance(entry, HowEntry):
        return _SIGN + _GAP / 2
    if isinstance(entry, MarkEntry):
        return _DASH + _MARK + _GAP
    if isinstance(entry, PlainEntry):
        return {"width": 24.0, "unseen": 9.0, "star": 15.0, "note": 15.0}.get(entry.kind, _DASH + 4)
    return 0.0


def _paint_plain(painter: QPainter, entry: PlainEntry, at: QPointF, colours: Colours) -> None:
    quiet = QColor(colours.quiet)
    if entry.kind == "width":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(quiet)
        painter.drawPolygon(
            QPolygonF([at + QPointF(0, -0.5), at + QPointF(18, -2.5), at + QPointF(18, 2.5), at + QPointF(0, 0.5)])
        )
    elif entry.kind in ("forced", "excluded"):
        colour = QColor(colours.text) if entry.kind == "forced" else blend(quiet, QColor(colours.surface), 0.5)
        pen = QPen(colour, 1.5)
        pen.setDashPattern(DASHES)
        painter.setPen(pen)
        painter.drawLine(at, at + QPointF(_DASH, 0))
    elif entry.kind == "unknown":
        painter.setPen(QPen(quiet, 1.5))
        painter.drawLine(at, at + QPointF(_DASH, 0))
    elif entry.kind == "unseen":
        painter.fillRect(QRectF(at.x(), at.y() - 6, 4, 12), QColor(colours.border))
        painter.fillRect(QRectF(at.x(), at.y(), 4, 6), QColor(colours.model_text))
    elif entry.kind == "star":
        paint_star(painter, at + QPointF(6, 0), 12, colours)
    elif entry.kind == "note":
        paint_note(painter, at + QPointF(6, 0), 10, colours)


class TreeLegend(QWidget):
    """The legend in the corner of the canvas. Takes no mouse events, so that the tree below can be reached."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._entries: tuple[LegendEntry, ...] = ()
        self._most_width = MOST_WIDTH
        self._layout = self._laid_out()
        self._picture: QPixmap | None = None  # painted with every frame of the canvas below, and seldom another one

    @property
    def entries(self) -> tuple[LegendEntry, ...]:
        return self._entries

    def explain(self, entries: Sequence[LegendEntry]) -> None:
        """Show these entries."""
        if tuple(entries) == self._entries:
            return
        self._entries = tuple(entries)
        names = [entry_name(entry) for entry in entries]
        self.setAccessibleName(tr("Legend: {scale}").format(scale=listed(names)) if names else tr("No legend"))
        self._lay_out()

    def set_most_width(self, width: float) -> None:
        """Break rows that would become longer."""
        width = max(160.0, min(MOST_WIDTH, width))
        if width != self._most_width:
            self._most_width = width
            self._lay_out()

    def _lay_out(self) -> None:
        self._layout = self._laid_out()
        self._picture = None
        self.resize(self.sizeHint())
        self.update()

    def _laid_out(self) -> LegendLayout:
        return LegendLayout(self._entries, figures_font(self.font(), 0.85), self._most_width)

    def sizeHint(self) -> QSize:
        return self._layout.size.toSize()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self._picture = None
        if event.type() == QEvent.Type.FontChange:
            self._lay_out()

    def paintEvent(self, event: QPaintEvent) -> None:
        ratio = self.devicePixelRatioF()
        if self._picture is None or self._picture.devicePixelRatio() != ratio:
            self._picture = self._painted(ratio)
        painter = QPainter(self)
        painter.drawPixmap(QPointF(0, 0), self._picture)
        painter.end()

    def _painted(self, ratio: float) -> QPixmap:
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._layout.paint(painter, QPointF(0, 0), colours_of(self))
        painter.end()
        return picture
