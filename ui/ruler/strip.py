"""Paints one ruler: its intervals with their tokens, the number u, and what is marked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF

from explorer.decoding.ruler import Piece, Ruler
from explorer.i18n import tr
from ui.format import count
from ui.ruler.fills import Fill, fill_of_many, fill_of_rank, fill_of_unseen
from ui.ruler.sight import Sight
from ui.text.token_label import Inks, LabelPainter
from ui.theme import Colours

LabelOf = Callable[[int], tuple[str, bool]]
"""The label of a token id, and whether it is a special token."""

STRIP = 20
_LEAST_LABEL = 14.0
_PADDING = 3.0
_BORDERED = 3.0
_LEAST_MARK = 3.0


@dataclass(frozen=True, slots=True)
class Marks:
    """What is pointed at: the number ``u``, the token ``hovered`` here or elsewhere, the token ``marked`` among the
    candidates; None for none."""

    u: float | None = None
    hovered: int | None = None
    marked: int | None = None


class StripPainter:
    """Paints rulers in one font; ``label_of`` names the tokens."""

    def __init__(self, label_font: QFont, small_font: QFont, label_of: LabelOf) -> None:
        self.labels = LabelPainter(label_font)
        self.label_of = label_of
        self._small = small_font
        self._metrics = QFontMetricsF(small_font)

    def paint(
        self, painter: QPainter, area: QRectF, ruler: Ruler | None, sight: Sight, marks: Marks, colours: Colours
    ) -> None:
        """Paint into ``area``, the strip alone; a ruler that is not there yet leaves an empty frame."""
        painter.save()
        painter.setClipRect(area.adjusted(-1, -4, 1, 5))
        painter.fillRect(area, QColor(colours.surface_alt))
        if ruler is not None:
            for piece in pieces_in(ruler, sight, area.width()):
                self._paint_piece(painter, area, ruler, piece, sight, colours)
            self._paint_marks(painter, area, ruler, sight, marks, colours)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.drawRect(area.adjusted(-0.5, -0.5, 0.5, 0.5))
        if marks.u is not None and sight.start <= marks.u < sight.end:
            _paint_u(painter, area, area.left() + sight.to_pixel(marks.u, area.width()), colours)
        elif marks.u is not None:
            _paint_where_u_is(painter, area, -1 if marks.u < sight.start else 1, colours)
        painter.restore()

    def _paint_piece(
        self, painter: QPainter, area: QRectF, ruler: Ruler, piece: Piece, sight: Sight, colours: Colours
    ) -> None:
        rect = rect_of(piece.low, piece.high, area, sight)
        if rect.width() <= 0:
            return
        if piece.first is None:
            fill_of_unseen(colours).paint(painter, rect)
            self._paint_text(painter, rect, _unseen_text(ruler, rect.width(), self._metrics), fill_of_unseen(colours))
        elif piece.count > 1:
            fill_of_many(colours).paint(painter, rect)
            self._paint_text(painter, rect, "×" + count(piece.count), fill_of_many(colours))
        else:
            fill = fill_of_rank(int(ruler.ranks[piece.first]), colours)
            fill.paint(painter, rect)
            self._paint_label(painter, rect, int(ruler.token_ids[piece.first]), fill)
        if rect.width() >= _BORDERED:
            painter.fillRect(QRectF(rect.right() - 1, rect.top(), 1, rect.height()), QColor(colours.surface))

    def _paint_label(self, painter: QPainter, rect: QRectF, token_id: int, fill: Fill) -> None:
        """The token's label where there is room for it or for enough of it."""
        label, special = self.label_of(token_id)
        inside = rect.adjusted(_PADDING, 0, -_PADDING, 0)
        width = self.labels.width(label, special)
        if inside.width() < min(width, 3 * _LEAST_LABEL) or rect.width() < _LEAST_LABEL:
            return
        if width < inside.width():
            inside.setLeft(inside.left() + (inside.width() - width) / 2)
        self._behind(painter, QRectF(inside.left(), rect.top(), min(width, inside.width()), rect.height()), fill)
        self.labels.paint(painter, inside, label, special, Inks.on(fill.tint, fill.ink))

    def _paint_text(self, painter: QPainter, rect: QRectF, text: str, fill: Fill) -> None:
        width = self._metrics.horizontalAdvance(text)
        if not text or rect.width() < width + 2 * _PADDING:
            return
        middle = rect.center().x()
        self._behind(painter, QRectF(middle - width / 2, rect.top(), width, rect.height()), fill)
        painter.setFont(self._small)
        painter.setPen(fill.ink)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)

    def _behind(self, painter: QPainter, text: QRectF, fill: Fill) -> None:
        """Plain tint behind letters: a pattern would run through them."""
        if fill.pattern != Qt.BrushStyle.SolidPattern:
            painter.fillRect(text.adjusted(-2, 2, 2, -2), fill.tint)

    def _paint_marks(
        self, painter: QPainter, area: QRectF, ruler: Ruler, sight: Sight, marks: Marks, colours: Colours
    ) -> None:
        if marks.marked is not None:
            rect = _token_rect(ruler, marks.marked, area, sight)
            if rect is not None:
                painter.fillRect(QRectF(rect.left(), area.bottom() + 2, rect.width(), 2), QColor(colours.text))
        hit = None if marks.u is None else ruler.hit(marks.u)
        if hit is not None:
            rect = _at_least(rect_of(hit.low, hit.high, area, sight))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.accent), 2))
            painter.drawRect(rect.adjusted(1, 1, -1, -1))
        if marks.hovered is not None:
            rect = _token_rect(ruler, marks.hovered, area, sight)
            if rect is not None:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(QColor(colours.text), 2, Qt.PenStyle.DotLine))
                painter.drawRect(rect.adjusted(1, 1, -1, -1))


def pieces_in(ruler: Ruler, sight: Sight, width: float) -> list[Piece]:
    """What is drawn as one: intervals narrower than a pixel are taken together."""
    return ruler.pieces(sight.start, sight.end, sight.span / max(1.0, width), max(1, round(width)) + 2)


def rect_of(low: float, high: float, area: QRectF, sight: Sight) -> QRectF:
    """The part of an interval that is in sight."""
    left = max(area.left(), area.left() + sight.to_pixel(low, area.width()))
    right = min(area.right(), area.left() + sight.to_pixel(high, area.width()))
    return QRectF(left, area.top(), right - left, area.height())


def _token_rect(ruler: Ruler, token_id: int, area: QRectF, sight: Sight) -> QRectF | None:
    index = ruler.index_of(token_id)
    if index is None:
        return None
    low, high = float(ruler.low[index]), float(ruler.high[index])
    in_sight = high > sight.start and low < sight.end
    return _at_least(rect_of(low, high, area, sight)) if in_sight else None


def _at_least(rect: QRectF) -> QRectF:
    """Wide enough to be seen, around the same middle."""
    missing = max(0.0, _LEAST_MARK - rect.width()) / 2
    return rect.adjusted(-missing, 0, missing, 0)


def _paint_u(painter: QPainter, area: QRectF, x: float, colours: Colours) -> None:
    painter.fillRect(QRectF(x - 1, area.top() - 4, 2, area.height() + 8), QColor(colours.accent))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.accent))
    top = area.top() - 4
    painter.drawPolygon(QPolygonF([QPointF(x - 4, top), QPointF(x + 4, top), QPointF(x, top + 5)]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_where_u_is(painter: QPainter, area: QRectF, side: int, colours: Colours) -> None:
    """An arrow at the end beyond which u lies."""
    middle, x = area.center().y(), area.left() + 8 if side < 0 else area.right() - 8
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(colours.surface), 1))
    painter.setBrush(QColor(colours.accent))
    painter.drawPolygon(QPolygonF([QPointF(x, middle - 6), QPointF(x, middle + 6), QPointF(x + side * 7, middle)]))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _unseen_text(ruler: Ruler, width: float, metrics: QFontMetricsF) -> str:
    """How many tokens are not stored, in as many words as there is room for."""
    texts = (tr("about {count} tokens, not stored").format(count=count(ruler.unseen_kept)), tr("not stored"), "?")
    return next((text for text in texts if metrics.horizontalAdvance(text) + 2 * _PADDING <= width), "")
