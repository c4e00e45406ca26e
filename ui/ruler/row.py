"""One ruler with its name, what the number hits on it, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.decoding.ruler import LARGEST_U, Hit, Ruler
from explorer.i18n import listed, tr
from explorer.messages import UserMessage
from ui.format import tooltip
from ui.panels.common import GRID, tool_button
from ui.ruler.header import HeaderPainter
from ui.ruler.name_edit import NameEdit
from ui.ruler.rows import RowSpec
from ui.ruler.sight import Sight
from ui.ruler.strip import STRIP, LabelOf, Marks, StripPainter, pieces_in, rect_of
from ui.ruler.words import hit_text, piece_tooltip
from ui.theme import colours_of, figures_font, monospace_font

MARGIN = 2 * GRID
TOP = 2
_WHEEL_STEP = 120.0
_CLOSER = 0.8
_STEP_PIXELS = 1.0
_KEYS = frozenset(
    {
        Qt.Key.Key_Left,
        Qt.Key.Key_Right,
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_Plus,
        Qt.Key.Key_Equal,
        Qt.Key.Key_Minus,
        Qt.Key.Key_0,
        Qt.Key.Key_F2,
        Qt.Key.Key_Delete,
    }
)


class RulerRow(QWidget):
    """Dragging or the arrow keys move u; nothing here changes the session."""

    u_moved = Signal(float)
    sight_changed = Signal(object)
    """`Sight`."""
    hovered = Signal(int)
    """Token under the pointer, -1 for none."""
    menu_wanted = Signal(object)
    """Where on the screen, `QPoint`."""
    removal_wanted = Signal()
    renamed = Signal(str)
    stepped = Signal(int, bool)
    """Up (-1) or down (1) among the rulers; True: move this ruler there."""

    def __init__(self, label_of: LabelOf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spec: RowSpec | None = None
        self.ruler: Ruler | None = None
        self.trouble: UserMessage | None = None
        self.sight = Sight()
        self.marks = Marks()
        self.label_of = label_of
        self._hovered = -1
        self._edit: NameEdit | None = None
        self._dragging = False
        self._make_painters()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.menu_button = tool_button("⋯", tr("What can be done with this ruler."), self._open_menu)
        self.menu_button.setParent(self)
        self.menu_button.setFixedSize(QSize(6 * GRID, 5 * GRID))
        self.menu_button.show()

    # --- contents ----------------------------------------------------------------------------------------------------

    def show_row(self, spec: RowSpec, ruler: Ruler | UserMessage | None) -> None:
        """Show a ruler; None while it is being laid out, a message where it cannot be."""
        laid_out, trouble = (None, ruler) if isinstance(ruler, UserMessage) else (ruler, None)
        if spec == self.spec and laid_out is self.ruler and trouble is self.trouble:
            return  # a slider moves only one of the rulers
        self.spec, self.ruler, self.trouble = spec, laid_out, trouble
        self._tell()

    def set_sight(self, sight: Sight) -> None:
        if sight != self.sight:
            self.sight = sight
            self.update()

    def set_marks(self, marks: Marks) -> None:
        """Point at a number and at tokens."""
        if marks == self.marks:
            return
        moved = marks.u != self.marks.u
        self.marks = marks
        if moved:
            self._tell()
        self.update()

    @property
    def hit(self) -> Hit | None:
        """What the number hits here."""
        return None if self.ruler is None or self.marks.u is None else self.ruler.hit(self.marks.u)

    @property
    def strip(self) -> QRectF:
        """Where the intervals are drawn."""
        return QRectF(MARGIN, TOP + self._header.height + 4, max(1, self.width() - 2 * MARGIN), STRIP)

    def rename(self) -> None:
        """Let the user type another name in place."""
        if self.spec is None or self.spec.kind != "kept" or self._edit is not None:
            return
        edit = self._edit = NameEdit(self.spec.title, self)
        edit.setGeometry(MARGIN - 4, 0, self.menu_button.x() - MARGIN, self._header.height + 4)
        edit.done.connect(self._renamed)
        edit.show()
        edit.setFocus()

    def _renamed(self, name: str | None) -> None:
        edit, self._edit = self._edit, None
        if edit is None:
            return
        if edit.hasFocus():
            self.setFocus()
        edit.deleteLater()
        if name is not None:
            self.renamed.emit(name)

    def _tell(self) -> None:
        """What a screen reader says of this row."""
        if self.spec is None:
            return
        self.setAccessibleName(tr("Ruler, {name}").format(name=self.spec.title))
        told = "" if self.trouble is None else self.trouble.text()
        if self.ruler is not None and self.marks.u is not None:
            told = hit_text(self.ruler, self.hit, self.label_of)
        self.setAccessibleDescription(told)
        self.menu_button.setAccessibleName(listed((tr("What can be done with this ruler"), self.spec.title)))
        self.update()

    # --- painting ----------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(10 * STRIP, TOP + self._header.height + 4 + STRIP + 8)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        found: tuple[Ruler, Hit | None] | str | None = None
        if self.ruler is not None and self.marks.u is not None:
            found = self.ruler, self.hit
        elif self.trouble is not None:
            found = tr("cannot be used here")
        title, bold = ("", False) if self.spec is None else (self.spec.title, self.spec.kind == "now")
        room = QRectF(MARGIN, TOP, self.menu_button.x() - MARGIN - 4, self._header.height)
        self._header.paint(painter, room, title, found, colours_of(self), bold=bold)
        self._painter.paint(painter, self.strip, self.ruler, self.sight, self.marks, colours_of(self))
        if self.hasFocus():
            painter.setPen(QColor(colours_of(self).accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1.5, 0.5, -1.5, -0.5), 3, 3)
        painter.end()

    def _make_painters(self) -> None:
        font = self.font()
        self._header = HeaderPainter(font, self.label_of)
        self._painter = StripPainter(monospace_font(font), figures_font(font, 0.85), self.label_of)

    # --- pointer -----------------------------------------------------------------------------------------------------

    def _u_at(self, position: QPointF) -> float:
        strip = self.strip
        return self.sight.to_u(min(strip.width(), max(0.0, position.x() - strip.left())), strip.width())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._dragging = event.button() == Qt.MouseButton.LeftButton and event.position().y() >= self.strip.top() - 6
        if self._dragging:
            self.u_moved.emit(self._u_at(event.position()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragging:
            self.u_moved.emit(self._u_at(event.position()))
        self._hover(self._token_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragging = False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Zoom to what was hit; on the name, rename."""
        if event.position().y() < self.strip.top() - 6:
            self.rename()
            return
        piece = self._piece_index(event.position())
        if piece is not None and self.ruler is not None:
            low, high = piece
            self.sight_changed.emit(self.sight.near(low, high))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(-1)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """With Ctrl closer or farther, with Shift or sideways to the side; else the list scrolls."""
        steps, sideways = event.angleDelta().y() / _WHEEL_STEP, event.angleDelta().x() / _WHEEL_STEP
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and steps:
            about = self.sight.start + (event.position().x() - MARGIN) / self.strip.width() * self.sight.span
            self.sight_changed.emit(self.sight.zoomed(_CLOSER**steps, about))
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier and (steps or sideways):
            self.sight_changed.emit(self.sight.moved(-0.1 * (steps or sideways)))
        elif sideways and not steps:
            self.sight_changed.emit(self.sight.moved(-0.1 * sideways))
        else:
            event.ignore()
            return
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_wanted.emit(event.globalPos())

    def _token_at(self, position: QPointF) -> int:
        strip = self.strip
        if self.ruler is None or not strip.contains(position):
            return -1
        hit = self.ruler.hit(self._exact_u(position))
        return -1 if hit is None or hit.token_id is None else hit.token_id

    def _exact_u(self, position: QPointF) -> float:
        """The number in the middle of a pixel."""
        u = self.sight.start + (position.x() - self.strip.left()) / self.strip.width() * self.sight.span
        return min(LARGEST_U, max(0.0, u))

    def _piece_index(self, position: QPointF) -> tuple[float, float] | None:
        """Both ends of what is drawn as one at a place."""
        strip = self.strip
        if self.ruler is None:
            return None
        for piece in pieces_in(self.ruler, self.sight, strip.width()):
            if rect_of(piece.low, piece.high, strip, self.sight).contains(position):
                if piece.count > 1:
                    pixel = self.sight.span / strip.width()
                    u = self._exact_u(position)
                    return max(piece.low, u - 20 * pixel), min(piece.high, u + 20 * pixel)
                return piece.low, piece.high
        return None

    def _hover(self, token_id: int) -> None:
        if token_id != self._hovered:
            self._hovered = token_id
            self.hovered.emit(token_id)

    def _open_menu(self) -> None:
        self.menu_wanted.emit(self.menu_button.mapToGlobal(self.menu_button.rect().bottomLeft()))

    # --- keys and other events ---------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers()
        shift = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step(1 if key == Qt.Key.Key_Right else -1, to_next=shift)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            alt = bool(modifiers & Qt.KeyboardModifier.AltModifier)
            self.stepped.emit(1 if key == Qt.Key.Key_Down else -1, alt)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            about = self.marks.u if self.marks.u is not None else self.sight.start + self.sight.span / 2
            self.sight_changed.emit(self.sight.zoomed(1 / 0.64 if key == Qt.Key.Key_Minus else 0.64, about))
        elif key == Qt.Key.Key_0:
            self.sight_changed.emit(Sight())
        elif key == Qt.Key.Key_F2:
            self.rename()
        elif key == Qt.Key.Key_Delete:
            self.removal_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _step(self, direction: int, *, to_next: bool) -> None:
        """A pixel on, or into the next interval."""
        if self.marks.u is None:
            return
        width = self.strip.width()
        if to_next and self.ruler is not None and (hit := self.ruler.hit(self.marks.u)) is not None:
            before = (len(self.ruler) if hit.index is None else hit.index) - 1
            u = hit.high if direction > 0 else float(self.ruler.low[before]) if before >= 0 else 0.0
        else:
            u = self.sight.to_u(self.sight.to_pixel(self.marks.u, width) + direction * _STEP_PIXELS, width)
        self.u_moved.emit(min(LARGEST_U, max(0.0, u)))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _own_key(event):
            event.accept()
            return True
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self._tooltip(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def _tooltip(self, position: QPointF) -> str:
        strip = self.strip
        if self.ruler is None or not strip.contains(position):
            title = "" if self.spec is None else self.spec.title
            return title if self.trouble is None else tooltip(title, self.trouble.text())
        pixel = self.sight.span / strip.width()
        u = self._exact_u(position)
        for piece in pieces_in(self.ruler, self.sight, strip.width()):
            if piece.low <= u < piece.high:
                near = self.ruler.between(u - pixel / 2, u + pixel / 2)
                return piece_tooltip(self.ruler, piece, near, self.label_of)
        return ""

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.menu_button.move(self.width() - MARGIN - self.menu_button.width() + 2, 0)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._make_painters()
            self.updateGeometry()


def _own_key(event: QKeyEvent) -> bool:
    """Whether a key moves something here instead of stepping the model."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    if modifiers == Qt.KeyboardModifier.AltModifier:
        return event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down)
    return modifiers in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier) and event.key() in _KEYS
