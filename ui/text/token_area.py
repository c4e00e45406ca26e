"""A scrolling area of token cells: laid out once, painted only where visible, walked by mouse and keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextOption,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QSizePolicy, QToolTip, QWidget

from explorer.text import PathPiece
from ui.text.flow import Flow, flow
from ui.text.token_label import Inks, LabelPainter
from ui.theme import Colours, colours_of, monospace_font

MARGIN = 8
CELL_PADDING = 3
CELL_GAP = 2
ROW_GAP = 4
BAR_HEIGHT = 3
GLYPH_WIDTH = 10
LONGEST_CELL = 320
NOTHING = -1

_WALKING_KEYS = frozenset(
    {
        Qt.Key.Key_Left,
        Qt.Key.Key_Right,
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_Return,
        Qt.Key.Key_Enter,
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class CellStyle:
    """How a cell is drawn: a tint with a bar of the full colour below, inks, and what is not said by colour."""

    inks: Inks
    tint: QColor | None = None
    bar: QColor | None = None
    glyph: str = ""
    dashed: bool = False
    struck: bool = False


class TokenArea(QAbstractScrollArea):
    """Base of the widgets that show one cell a token. Subclasses say what a cell looks like and what it is."""

    cell_activated = Signal(int)
    """A cell was clicked, or Enter pressed on it."""
    cell_hovered = Signal(int)
    """The pointer came to a cell; -1 when it left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        # By Tab only: a click shall leave the keys that step the model where they are.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.viewport().setMouseTracking(True)
        self._pieces: tuple[PathPiece, ...] = ()
        self._first_glyph: int | None = None
        self._painter = LabelPainter(monospace_font(self.font()))
        self._flow = Flow((), (), (), (), ())
        self._cursor = NOTHING
        self._hovered = NOTHING
        self._highlighted = NOTHING
        self._hint = ""
        self._follows_end = False

    # --- what subclasses say -----------------------------------------------------------------------------------------

    def cell_style(self, cell: int, colours: Colours) -> CellStyle:
        """How to draw a cell."""
        raise NotImplementedError

    def cell_tooltip(self, cell: int) -> str:
        """The tooltip of a cell, as escaped rich text."""
        raise NotImplementedError

    def cell_description(self, cell: int) -> str:
        """What a screen reader says of a cell."""
        raise NotImplementedError

    # --- contents ----------------------------------------------------------------------------------------------------

    @property
    def pieces(self) -> tuple[PathPiece, ...]:
        return self._pieces

    @property
    def cursor_cell(self) -> int:
        """The cell the keyboard is at, -1 for none."""
        return self._cursor

    def show_pieces(self, pieces: Sequence[PathPiece], *, hint: str = "", follow_end: bool = False) -> None:
        """Show other tokens. ``hint`` stands behind the last one, or alone; ``follow_end`` scrolls to it."""
        self._pieces = tuple(pieces)
        self._hint = hint
        self._follows_end = self._follows_end or follow_end
        self._hovered = self._highlighted = NOTHING
        self._cursor = len(self._pieces) - 1
        self._lay_out()
        if follow_end:
            self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def show_glyphs(self, first_cell: int | None) -> None:
        """Leave room for a small sign before every label from a cell on; None for no signs."""
        if first_cell != self._first_glyph:
            self._first_glyph = first_cell
            self._lay_out()

    def highlight(self, cell: int) -> None:
        """Outline a cell that is hovered somewhere else; -1 for none."""
        if cell != self._highlighted:
            self._highlighted = cell
            self.viewport().update()

    def set_cursor(self, cell: int, *, scroll: bool = False) -> None:
        """Put the keyboard's place on a cell, -1 for none, and bring it into sight where ``scroll`` says so."""
        self._cursor = cell
        if scroll and cell != NOTHING:
            self._scroll_to(cell)
        self.viewport().update()

    def cell_rect(self, cell: int) -> QRect:
        """Where a cell stands in the viewport now."""
        top = MARGIN + self._flow.line[cell] * self._row_height - self.verticalScrollBar().value()
        left, width = self._flow.left[cell], self._flow.width[cell]
        return QRectF(MARGIN + left, top, width, self._row_height - ROW_GAP).toAlignedRect()

    def cell_at(self, position: QPoint) -> int:
        """The cell under a viewport position, -1 beside them."""
        y = position.y() - MARGIN + self.verticalScrollBar().value()
        row = int(y // self._row_height)
        if y < 0 or y % self._row_height > self._row_height - ROW_GAP:
            return NOTHING
        cell = self._flow.cell_at(position.x() - MARGIN, row)
        return NOTHING if cell is None else cell

    def sizeHint(self) -> QSize:
        rows = min(8, max(2, self._flow.line_count))
        return QSize(320, round(2 * MARGIN + rows * self._row_height))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, round(2 * MARGIN + self._row_height))

    # --- layout ------------------------------------------------------------------------------------------------------

    @property
    def _row_height(self) -> float:
        content = self._painter.height + BAR_HEIGHT + 3
        return 4 * math.ceil((content + ROW_GAP) / 4)

    def _lay_out(self) -> None:
        measure = self._painter.width
        available = max(40, self.viewport().width() - 2 * MARGIN)
        widths = [min(LONGEST_CELL, measure(piece.label, piece.special) + 2 * CELL_PADDING) for piece in self._pieces]
        if self._first_glyph is not None:
            for cell in range(self._first_glyph, len(widths)):
                widths[cell] += GLYPH_WIDTH
        newlines = [piece.text.count("\n") for piece in self._pieces]
        old_lines = self._flow.line_count
        self._flow = flow(widths, newlines, available, CELL_GAP)
        self._update_scroll_range()
        if self._flow.line_count != old_lines:
            self.updateGeometry()
        self.viewport().update()

    def _update_scroll_range(self) -> None:
        height = 2 * MARGIN + self._flow.line_count * self._row_height
        bar = self.verticalScrollBar()
        bar.setSingleStep(round(self._row_height))
        bar.setPageStep(self.viewport().height())
        bar.setRange(0, max(0, round(height) - self.viewport().height()))

    def _scroll_to(self, cell: int) -> None:
        rect = self.cell_rect(cell)
        bar = self.verticalScrollBar()
        if rect.top() < MARGIN:
            bar.setValue(bar.value() + rect.top() - MARGIN)
        elif rect.bottom() > self.viewport().height() - MARGIN:
            bar.setValue(bar.value() + rect.bottom() - self.viewport().height() + MARGIN)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        bar = self.verticalScrollBar()
        was_at_end = bar.value() == bar.maximum()
        self._lay_out()
        if self._follows_end and was_at_end:  # a banner below it must not push the newest tokens out of sight
            bar.setValue(bar.maximum())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._painter = LabelPainter(monospace_font(self.font()))
            self._lay_out()
        elif event.type() == QEvent.Type.PaletteChange:
            self.viewport().update()

    # --- painting ----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = colours_of(self)
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(event.rect(), QColor(colours.surface))
        offset = self.verticalScrollBar().value() - MARGIN
        first = int((event.rect().top() + offset) // self._row_height)
        last = int((event.rect().bottom() + offset) // self._row_height)
        for cell in self._flow.cells_between(first, last):
            self._paint_cell(painter, cell, colours)
        self._paint_hint(painter, colours)
        painter.end()

    def _paint_cell(self, painter: QPainter, cell: int, colours: Colours) -> None:
        style = self.cell_style(cell, colours)
        rect = QRectF(self.cell_rect(cell))
        label_rect = rect.adjusted(CELL_PADDING, 0, -CELL_PADDING, -BAR_HEIGHT)
        painter.setPen(Qt.PenStyle.NoPen)
        if style.tint is not None:
            painter.setBrush(style.tint)
            painter.drawRoundedRect(rect, 3, 3)
        if style.bar is not None:
            painter.setBrush(style.bar)
            painter.drawRect(QRectF(rect.left(), rect.bottom() - BAR_HEIGHT, rect.width(), BAR_HEIGHT))
        if style.glyph:
            painter.setPen(style.inks.strong)
            painter.setFont(self._painter.font)
            glyph_rect = QRectF(label_rect.left(), label_rect.top(), GLYPH_WIDTH, label_rect.height())
            painter.drawText(glyph_rect, Qt.AlignmentFlag.AlignCenter, style.glyph)
            label_rect.setLeft(label_rect.left() + GLYPH_WIDTH)
        piece = self._pieces[cell]
        self._painter.paint(painter, label_rect, piece.label, piece.special, style.inks)
        if style.struck:
            painter.setPen(QPen(style.inks.strong, 1.5))
            middle = label_rect.center().y()
            painter.drawLine(QPointF(rect.left(), middle), QPointF(rect.right(), middle))
        self._paint_outline(painter, cell, rect, style, colours)

    def _paint_outline(self, painter: QPainter, cell: int, rect: QRectF, style: CellStyle, colours: Colours) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inner = rect.adjusted(0.75, 0.75, -0.75, -0.75)
        if style.dashed:
            pen = QPen(QColor(colours.text), 1.2, Qt.PenStyle.CustomDashLine)
            pen.setDashPattern([3, 2])
            painter.setPen(pen)
            painter.drawRoundedRect(inner, 3, 3)
        if cell in (self._hovered, self._highlighted):
            painter.setPen(QPen(QColor(colours.accent), 1.5))
            painter.drawRoundedRect(inner, 3, 3)
        if cell == self._cursor and self.hasFocus():
            painter.setPen(QPen(QColor(colours.accent), 2.5))
            painter.drawRoundedRect(inner, 3, 3)

    def _paint_hint(self, painter: QPainter, colours: Colours) -> None:
        if not self._hint:
            return
        painter.setPen(QColor(colours.quiet))
        painter.setFont(self.font())
        area = QRectF(self.viewport().rect()).adjusted(2 * MARGIN, MARGIN, -2 * MARGIN, -MARGIN)
        option = QTextOption(Qt.AlignmentFlag.AlignCenter)
        if self._pieces:
            last = self.cell_rect(len(self._pieces) - 1)
            area.setTop(last.bottom() + ROW_GAP)
            area.setLeft(MARGIN)
            option.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        option.setWrapMode(QTextOption.WrapMode.WordWrap)
        painter.drawText(area, self._hint, option)

    # --- mouse -------------------------------------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.cell_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(NOTHING)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and cell != NOTHING:
            self._cursor = cell
            self.viewport().update()
            self.cell_activated.emit(cell)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            cell = self.cell_at(event.pos())
            if cell == NOTHING:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), self.cell_tooltip(cell), self, self.cell_rect(cell))
            return True
        if event.type() == QEvent.Type.Leave:
            self._hover(NOTHING)
        return super().viewportEvent(event)

    def _hover(self, cell: int) -> None:
        if cell != self._hovered:
            self._hovered = cell
            self.viewport().setCursor(
                Qt.CursorShape.ArrowCursor if cell == NOTHING else Qt.CursorShape.PointingHandCursor
            )
            self.viewport().update()
            self.cell_hovered.emit(cell)

    # --- keys --------------------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        # While the cells have the focus, the arrows walk along them instead of stepping the model.
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and self._pieces
            and event.key() in _WALKING_KEYS
            and event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        target = self._walk(event.key()) if self._pieces else None
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._cursor != NOTHING:
            self.cell_activated.emit(self._cursor)
        elif target is None:
            super().keyPressEvent(event)
        else:
            self._cursor = target
            self._scroll_to(target)
            self.viewport().update()
            self._announce(target)

    def _walk(self, key: int) -> int | None:
        last = len(self._pieces) - 1
        page = max(1, int(self.viewport().height() // self._row_height) - 1)
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            return max(0, min(last, self._cursor + (1 if key == Qt.Key.Key_Right else -1)))
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            return self._flow.vertical_neighbour(self._cursor, 1 if key == Qt.Key.Key_Down else -1)
        if key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            cell = self._cursor
            for _ in range(page):
                cell = self._flow.vertical_neighbour(cell, 1 if key == Qt.Key.Key_PageDown else -1)
            return cell
        return {Qt.Key.Key_Home: 0, Qt.Key.Key_End: last}.get(Qt.Key(key))

    def _announce(self, cell: int) -> None:
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.cell_description(cell)))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()
