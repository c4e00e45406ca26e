"""The tree of everything that was tried, to be walked by mouse and by key."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal, Slot
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QToolTip, QWidget

from explorer.i18n import tr
from ui.format import tooltip
from ui.tree.mirror import NO_NODE
from ui.tree.pointer import Pointer
from ui.tree.view import TreeView
from ui.tree.walk import TreeWalk

# A frame shows where the keys go, but only to those who came by key.
_KEY_REASONS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class TreeCanvas(TreeView):
    """Pan by dragging, zoom with the wheel, click a node to go there, double-click it to fold it; arrows walk."""

    node_activated = Signal(int)
    """A node was clicked or reached by key."""
    node_hovered = Signal(int)
    """Id of the node under the pointer, -1 when it left."""
    context_menu_requested = Signal(int, QPoint)
    """A node, -1 for the ground beside them, and the global place for a menu."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Tree of continuations"))
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.walk = TreeWalk(self.scene)
        self._pointer = Pointer(self, self.node_at)
        self._pointer.clicked.connect(self._clicked)
        self._pointer.double_clicked.connect(self.toggle_fold)
        self._pointer.hovered.connect(self._hover)
        self._pointer.dragged.connect(self.look.drag)

    def sibling_of(self, node_id: int, delta: int) -> int | None:
        """The sibling ``delta`` places less probable, more probable where negative; None where there is none."""
        return self.walk.sibling_of(node_id, delta)

    # --- keys and mouse ----------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        looks = {Qt.Key.Key_F: self.fit, Qt.Key.Key_Plus: self.zoom_in, Qt.Key.Key_Minus: self.zoom_out}
        target = self.walk.target(key)
        if key in looks:
            looks[key]()
        elif target is not None:
            self.node_activated.emit(target)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pointer.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pointer.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._pointer.double_click(event)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pointer.leave()

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y() / 120
        if steps:
            self.look.zoom(steps, event.position())
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            place = self.node_rect(self.scene.current).center().toPoint()
            self.context_menu_requested.emit(self.scene.current, self.mapToGlobal(place))
            return
        self.context_menu_requested.emit(self.node_at(QPointF(event.pos())), event.globalPos())

    @Slot(int)
    def _clicked(self, node_id: int) -> None:
        if node_id != NO_NODE:
            self.node_activated.emit(node_id)

    @Slot(int)
    def _hover(self, node_id: int) -> None:
        if node_id != self.scene.hovered:
            self.scene.hovered = node_id
            self._look_elsewhere()
            self.node_hovered.emit(node_id)

    # --- events ------------------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            node_id = self.node_at(QPointF(event.pos()))
            if node_id == NO_NODE:
                QToolTip.hideText()
            else:
                area = self.node_rect(node_id).toAlignedRect()
                QToolTip.showText(event.globalPos(), tooltip(*self.description(node_id)), self, area)
            return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._focus_shown = event.reason() in _KEY_REASONS
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._focus_shown = False
        self.update()
