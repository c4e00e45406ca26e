"""What a row of the list looks like; readable from 240 px on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPalette, QPen, QPixmap

from explorer.store.records import SessionSummary
from ui.library.picture import SIDE
from ui.library.words import excerpt_pieces, facts_of, title_of, when
from ui.theme import blend, colours_of, figures_font

_ACROSS, _DOWN = 8, 6
_BAR = 3
_STAR = 18
_PILL_PADDING, _PILL_GAP = 6, 4
_SMALL = 0.86
_LEAST_PILL = 28.0


@dataclass(frozen=True, slots=True)
class RowLook:
    """What a row is at the moment."""

    selected: bool = False
    focused: bool = False
    hovered: bool = False
    current: bool = False
    opened: bool = False
    starrable: bool = True


class _Line:
    """A font and where its lines stand."""

    def __init__(self, font: QFont) -> None:
        self.font = font
        self.metrics = QFontMetricsF(font)
        self.height = self.metrics.height() + 2

    def draw(self, painter: QPainter, left: float, top: float, text: str) -> None:
        """``text`` in a line that begins at ``top``; the painter has the font."""
        painter.drawText(QPointF(left, top + 1 + self.metrics.ascent()), text)

    def cut(self, text: str, width: float) -> str:
        return self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, width))


class RowPainter:
    """Paints rows in the fonts and colours of one widget; made anew when those change."""

    def __init__(self, font: QFont, palette: QPalette) -> None:
        self._colours = colours_of(palette)
        title = figures_font(font)
        title.setWeight(QFont.Weight.DemiBold)
        self._title = _Line(title)
        self._text = _Line(QFont(font))
        self._small = _Line(figures_font(font, _SMALL))
        soft, surface = QColor(self._colours.accent_soft), QColor(self._colours.surface)
        self._grounds = {"selected": soft, "left": blend(soft, surface, 0.7), "hovered": blend(soft, surface, 0.4)}

    @property
    def ink(self) -> str:
        """What pictures are painted in."""
        return self._colours.model_text

    def height(self, *, tagged: bool) -> int:
        """Of every row; ``tagged``: with a line for tags."""
        lines = self._title.height + self._text.height + self._small.height * (2 if tagged else 1)
        return max(SIDE + 2 * _DOWN, round(lines + 2 * _DOWN)) + 1

    def title_rect(self, row: QRect) -> QRect:
        """Where the title stands, and is edited."""
        left = row.left() + _BAR + _ACROSS + SIDE + _ACROSS
        return QRect(left - 3, row.top() + _DOWN - 3, row.right() - left - _ACROSS + 4, round(self._title.height) + 6)

    def star_rect(self, row: QRect) -> QRect:
        """Where a click changes the star."""
        return QRect(row.right() - _STAR - 4, row.top() + 1, _STAR + 4, _DOWN + round(self._title.height) + 2)

    def paint(
        self,
        painter: QPainter,
        row: QRect,
        summary: SessionSummary | None,
        picture: QPixmap | None,
        look: RowLook,
        terms: Sequence[str],
        today: date,
    ) -> None:
        """One row; ``summary`` None while it is not read yet."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, row, look)
        frame = QRectF(row.left() + _BAR + _ACROSS, row.top() + _DOWN, SIDE, SIDE)
        self._paint_picture(painter, frame, picture)
        if summary is not None:
            left, right = frame.right() + _ACROSS, float(row.right() - _ACROSS + 1)
            top = row.top() + float(_DOWN)
            self._paint_title(painter, left, right, top, summary, look)
            top += self._title.height
            self._paint_excerpt(painter, left, right, top, summary, terms)
            top += self._text.height
            self._paint_facts(painter, left, right, top, summary, today)
            if summary.tags:
                self._paint_tags(painter, left, right, top + self._small.height, summary.tags)
        painter.restore()

    # --- parts -------------------------------------------------------------------------------------------------------

    def _paint_ground(self, painter: QPainter, row: QRect, look: RowLook) -> None:
        name = "selected" if look.focused else "left"
        if look.selected or look.hovered:
            painter.fillRect(row, self._grounds[name if look.selected else "hovered"])
        if look.opened:
            painter.fillRect(QRect(row.left(), row.top(), _BAR, row.height()), QColor(self._colours.accent))
        painter.setPen(QColor(self._colours.grid))
        painter.drawLine(row.bottomLeft(), row.bottomRight())
        if look.current and look.focused:
            painter.setPen(QPen(QColor(self._colours.accent), 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(row).adjusted(0.5, 0.5, -0.5, -1.5))

    def _paint_picture(self, painter: QPainter, frame: QRectF, picture: QPixmap | None) -> None:
        painter.setPen(QColor(self._colours.grid))
        painter.setBrush(QColor(self._colours.surface))
        painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        if picture is not None:
            painter.drawPixmap(frame.topLeft(), picture)

    def _paint_title(
        self, painter: QPainter, left: float, right: float, top: float, summary: SessionSummary, look: RowLook
    ) -> None:
        painter.setFont(self._title.font)
        if summary.starred or (look.starrable and (look.hovered or look.current)):
            painter.setPen(QColor(self._colours.accent if summary.starred else self._colours.quiet))
            star = "★" if summary.starred else "☆"
            self._title.draw(painter, right - self._title.metrics.horizontalAdvance(star), top, star)
            right -= _STAR
        painter.setPen(QColor(self._colours.text))
        self._title.draw(painter, left, top, self._title.cut(title_of(summary), right - left))

    def _paint_excerpt(
        self,
        painter: QPainter,
        left: float,
        right: float,
        top: float,
        summary: SessionSummary,
        terms: Sequence[str],
    ) -> None:
        painter.setFont(self._text.font)
        painter.setPen(QColor(self._colours.text))
        if not summary.excerpt or not terms:
            begin = " ".join(summary.prompt_text.split())
            self._text.draw(painter, left, top, self._text.cut(begin, right - left))
            return
        mark = QColor(self._colours.warning_soft)
        for text, matches in excerpt_pieces(summary.excerpt, terms):
            shown = self._text.cut(text, right - left)
            width = self._text.metrics.horizontalAdvance(shown)
            if matches:
                painter.fillRect(QRectF(left, top + 1, width, self._text.height - 2), mark)
                painter.setPen(QPen(QColor(self._colours.warning), 1.0))
                under = top + self._text.height - 1.5
                painter.drawLine(QPointF(left, under), QPointF(left + width, under))
                painter.setPen(QColor(self._colours.text))
            self._text.draw(painter, left, top, shown)
            left += width
            if shown != text or left >= right:
                return

    def _paint_facts(
        self, painter: QPainter, left: float, right: float, top: float, summary: SessionSummary, today: date
    ) -> None:
        painter.setFont(self._small.font)
        painter.setPen(QColor(self._colours.quiet))
        for text in (when(summary.updated, today), "✎" if summary.note else ""):
            width = self._small.metrics.horizontalAdvance(text)
            self._small.draw(painter, right - width, top, text)
            right -= width + _ACROSS if text else 0
        self._small.draw(painter, left, top, self._small.cut(facts_of(summary), right - left))

    def _paint_tags(self, painter: QPainter, left: float, right: float, top: float, tags: Sequence[str]) -> None:
        """Pills, as many as there is room for; the number of those that are left out."""
        painter.setFont(self._small.font)
        for place, tag in enumerate(tags):
            rest = len(tags) - place
            reserve = 0.0 if rest == 1 else self._small.metrics.horizontalAdvance(f"+{rest - 1}") + _PILL_GAP
            room = right - left - reserve - 2 * _PILL_PADDING
            whole = self._small.metrics.horizontalAdvance(tag)
            if room < min(whole, _LEAST_PILL):
                painter.setPen(QColor(self._colours.quiet))
                self._small.draw(painter, left, top, f"+{rest}")
                return
            shown = self._small.cut(tag, room)
            width = self._small.metrics.horizontalAdvance(shown) + 2 * _PILL_PADDING
            painter.setPen(QColor(self._colours.border))
            painter.setBrush(QColor(self._colours.window))
            pill = QRectF(left + 0.5, top + 0.5, width - 1, self._small.height - 1)
            painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2)
            painter.setPen(QColor(self._colours.text))
            self._small.draw(painter, left + _PILL_PADDING, top, shown)
            left += width + _PILL_GAP
