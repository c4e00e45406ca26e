"""What the mouse does over the tree: hovering, clicking, dragging."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

from ui.tree.mirror import NO_NODE


class Pointer(QObject):
    """Turns mouse events of a canvas into what is meant by them."""

    clicked = Signal(int)
    """A node, or -1 for the ground."""
    double_clicked = Signal(int)
    hovered = Signal(int)
    """The node under the pointer, -1 for none; also when it stays the same."""
    dragged = Signal(QPointF)
    """By how many px of the screen."""

    def __init__(self, canvas: QWidget, node_at: Callable[[QPointF], int]) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._node_at = node_at
        self._pressed_at: QPointF | None = None
        self._dragging = False

    def press(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed_at = event.position()
            self._dragging = False

    def move(self, event: QMouseEvent) -> None:
        if self._pressed_at is None:
            self._hover(self._node_at(event.position()))
            return
        by = event.position() - self._pressed_at
        if self._dragging or by.manhattanLength() >= QApplication.startDragDistance():
            self._dragging = True
            self._canvas.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._pressed_at = event.position()
            self.dragged.emit(by)

    def release(self, event: QMouseEvent) -> None:
        click = self._pressed_at is not None and not self._dragging and event.button() == Qt.MouseButton.LeftButton
        self._pressed_at = None
        node_id = self._node_at(event.position())
        if click:
            self.clicked.emit(node_id)
        self._hover(node_id)

    def double_click(self, event: QMouseEvent) -> None:
        node_id = self._node_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and node_id != NO_NODE:
            self.double_clicked.emit(node_id)

    def leave(self) -> None:
        self._hover(NO_NODE)

    def _hover(self, node_id: int) -> None:
        shape = Qt.CursorShape.ArrowCursor if node_id == NO_NODE else Qt.CursorShape.PointingHandCursor
        if self._canvas.cursor().shape() != shape:
            self._canvas.setCursor(shape)
        self.hovered.emit(node_id)
