"""The tree of everything that was tried, drawn by one widget from arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from explorer.events import Change
from explorer.i18n import tr
from explorer.text import Vocabulary
from explorer.tree import ROOT, Node
from ui.format import LogUnit, tooltip
from ui.theme import MapName, colours_of
from ui.tree.detail import DetailPainter
from ui.tree.frame import Frame
from ui.tree.geometry import MARGIN, Camera, move_into
from ui.tree.hint import paint_hint
from ui.tree.legend import TreeLegend
from ui.tree.mirror import NO_NODE
from ui.tree.motion import Motion
from ui.tree.options import TreeViewOptions
from ui.tree.overlay import TreeOverlay
from ui.tree.overview import OverviewPainter
from ui.tree.scene import TreeScene
from ui.tree.weights import TreeWeights
from ui.tree.zoom_buttons import ZoomButtons

ZOOM_STEP = 1.25
# A frame shows where the keys go, but only to those who came by key.
_KEY_REASONS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class TreeCanvas(QWidget):
    """Pan by dragging, zoom with the wheel, click a node to go there."""

    node_activated = Signal(int)
    """A node was clicked or reached by key."""
    node_hovered = Signal(int)
    """Id of the node under the pointer, -1 when it left."""
    context_menu_requested = Signal(int, QPoint)
    """A node, and the global place for a menu."""
    options_changed = Signal(object)
    """`TreeViewOptions` were set."""
    folds_changed = Signal()
    """Nodes were folded or unfolded; see `folded`."""
    focus_changed = Signal(int)
    """The node whose subtree alone is shown now; -1 for the whole tree."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Tree of continuations"))
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._scene = TreeScene(self.font())
        self._camera = Camera(1.0, QPointF(MARGIN, MARGIN), QSizeF(self.size()), self._scene.geometry.extent())
        self._placed = False
        self._pressed_at: QPointF | None = None
        self._dragged = False
        self._focus_shown = False
        self._overview = OverviewPainter()
        self._motion = Motion(self)
        self._motion.moved.connect(self._repaint)
        self._legend = TreeLegend(self)
        self._buttons = ZoomButtons(self)
        self._buttons.zoom_in.clicked.connect(self.zoom_in)
        self._buttons.zoom_out.clicked.connect(self.zoom_out)
        self._buttons.fit.clicked.connect(self.fit)
        self._explain()

    # --- contents ----------------------------------------------------------------------------------------------------

    def reset(
        self,
        prompt_label: str,
        nodes: Sequence[Node],
        hidden: frozenset[int],
        current: int,
        *,
        stops: Mapping[int, str] | None = None,
        end_tokens: frozenset[int] = frozenset(),
    ) -> None:
        """Show another tree: its nodes in order of creation, and which of them are hidden.

        ``stops`` gives the kinds of stop events by node, ``end_tokens`` the ids that end a text.
        """
        self._motion.stop()
        self._scene.reset(prompt_label, nodes, hidden, current, stops or {}, end_tokens)
        self._place_first()
        self._tell()

    def apply(self, change: Change) -> None:
        """Take over what one command changed."""
        scene = self._scene
        before = self._motion.places(scene.mirror, scene.geometry)
        scene.apply(change)
        if change.added or change.revealed or change.hidden:
            appeared = frozenset(node.id for node in change.added) | change.revealed
            self._motion.start(before, scene.mirror, scene.geometry, appeared)
        self._camera = self._camera.resized(QSizeF(self.size()), scene.geometry.extent())
        self.set_current(change.state.current)
        self._tell()

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """The vocabulary behind the tokens; None before a session is open."""
        self._scene.set_vocabulary(vocabulary)
        self._camera = self._camera.resized(QSizeF(self.size()), self._scene.geometry.extent())
        self.update()

    def set_current(self, node_id: int) -> None:
        """Mark the current node and bring it into sight."""
        moved = node_id != self._scene.current
        self._scene.current = node_id
        if moved:
            self._tell_position()
        self._show_node(node_id)
        self.update()

    def set_log_unit(self, unit: LogUnit) -> None:
        """Say logarithms in nats or bits."""
        self._scene.unit = unit

    def set_colour_map(self, name: MapName) -> None:
        """Colour by cividis or by viridis."""
        self._scene.map_name = name
        self._explain()
        self.update()

    def set_animated(self, animated: bool) -> None:
        """Whether new nodes slide in."""
        self._motion.enabled = animated
        self._motion.stop()

    def highlight_node(self, node_id: int) -> None:
        """Show the path of a node that is hovered elsewhere; -1 for none."""
        self._scene.hovered = node_id if node_id in self._scene.mirror else NO_NODE
        self.update()

    def description(self, node_id: int) -> list[str]:
        """Everything to be said of a node, a line each."""
        return self._scene.description(node_id)

    # --- how it is shown ---------------------------------------------------------------------------------------------

    @property
    def options(self) -> TreeViewOptions:
        return self._scene.options

    def set_options(self, options: TreeViewOptions) -> None:
        """Look at the same tree in another way."""
        if options != self._scene.options:
            self._scene.options = options
            self.update()
            self.options_changed.emit(options)

    def set_overlay(self, overlay: TreeOverlay | None) -> None:
        """Lay marks, badges and a caption over the tree; None takes them away."""
        self._scene.overlay = overlay
        self.update()

    def set_weights(self, weights: TreeWeights | None) -> None:
        """Show the tree by other numbers; None goes back to the model probabilities recorded with the edges."""
        self._scene.weights = weights
        self.update()

    def annotate(self, annotations: Mapping[int, tuple[bool, str]]) -> None:
        """Put stars and notes on nodes, by id, in place of those before: ``(star, note)``; the note may be empty."""
        self._scene.annotations = dict(annotations)
        self.update()

    @property
    def folded(self) -> frozenset[int]:
        """Nodes whose descendants are out of sight."""
        return frozenset(self._scene.folded)

    def fold(self, node_id: int) -> None:
        """Put the descendants of a node out of sight. A leaf cannot be folded."""
        if node_id in self._scene.mirror and self._scene.mirror.children[node_id] and node_id not in self._scene.folded:
            self._scene.folded.add(node_id)
            self.update()
            self.folds_changed.emit()

    def unfold(self, node_id: int) -> None:
        """Show the descendants of a node again, apart from those below other folded nodes."""
        if node_id in self._scene.folded:
            self._scene.folded.discard(node_id)
            self.update()
            self.folds_changed.emit()

    def toggle_fold(self, node_id: int) -> None:
        """Fold a node, or unfold it."""
        if node_id in self._scene.folded:
            self.unfold(node_id)
        else:
            self.fold(node_id)

    @property
    def focus_node(self) -> int | None:
        """The node whose subtree alone is shown; None for the whole tree."""
        return self._scene.focus

    def focus_on(self, node_id: int | None) -> None:
        """Show the subtree of a node alone; None (or the root) shows the whole tree again."""
        focus = None if node_id in (None, ROOT) or node_id not in self._scene.mirror else node_id
        if focus != self._scene.focus:
            self._scene.focus = focus
            self.fit()
            self.focus_changed.emit(NO_NODE if focus is None else focus)

    def zoom_to(self, nodes: Iterable[int]) -> None:
        """Bring these nodes, and as little else as possible, into sight."""
        shown = [node_id for node_id in nodes if node_id in self._scene.mirror]
        if shown:
            self.center_on(shown[0])

    # --- looking around ----------------------------------------------------------------------------------------------

    @Slot()
    def fit(self) -> None:
        """Bring the whole tree into sight."""
        self._look(self._camera.fitted())

    @Slot()
    def zoom_in(self) -> None:
        self._look(self._camera.zoomed(ZOOM_STEP, self._focus_point()))

    @Slot()
    def zoom_out(self) -> None:
        self._look(self._camera.zoomed(1 / ZOOM_STEP, self._focus_point()))

    def center_on(self, node_id: int) -> None:
        """Bring a node into the middle."""
        if node_id in self._scene.mirror:
            place = self.node_rect(node_id).center()
            self._look(self._camera.moved(QPointF(self.rect().center()) - place))

    def node_rect(self, node_id: int) -> QRectF:
        """Where a node's box is on the widget now."""
        return self._frame().rect_of(node_id)

    def node_at(self, position: QPointF) -> int:
        """The node at a place on the widget, -1 where there is none."""
        return self._frame().node_at(position)

    def _look(self, camera: Camera) -> None:
        self._camera = camera
        self.update()

    def _focus_point(self) -> QPointF:
        """What zooming by key keeps in place: the current node if it is in sight, else the middle."""
        if self._scene.current in self._scene.mirror:
            centre = self.node_rect(self._scene.current).center()
            if QRectF(self.rect()).contains(centre):
                return centre
        return QPointF(self.rect().center())

    def _show_node(self, node_id: int) -> None:
        if node_id not in self._scene.mirror or not self._placed:
            return
        motion = self._motion.shifts()  # where it will stand, not where it is on its way
        rect = self.node_rect(node_id)
        if motion[0] is not None and motion[1] is not None and node_id < len(motion[0]):
            rect.translate(-motion[0][node_id] * self._camera.scale_x, -motion[1][node_id] * self._camera.scale_y)
        seen = QRectF(self.rect()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        self._look(self._camera.moved(move_into(rect.adjusted(-40, -20, 110, 20), seen)))

    def _place_first(self) -> None:
        """The first look at a tree: all of it where it can be read at that size, else the current node."""
        self._placed = self.isVisible() and self.width() > 2 * MARGIN
        self._camera = self._camera.resized(QSizeF(self.size()), self._scene.geometry.extent()).fitted()
        if self._placed and self._camera.scale < 0.7:
            self._look(Camera(1.0, QPointF(MARGIN, MARGIN), QSizeF(self.size()), self._scene.geometry.extent()))
            self.center_on(self._scene.current)
        self.update()

    # --- walking by key ----------------------------------------------------------------------------------------------

    def parent_of(self, node_id: int) -> int | None:
        """The parent; None for the root and for nodes that are not shown."""
        return None if node_id == ROOT or node_id not in self._scene.mirror else int(self._scene.mirror.parent[node_id])

    def child_of(self, node_id: int) -> int | None:
        """The likeliest child; None for a leaf."""
        children = self._scene.mirror.children_of(node_id)
        return children[0] if children else None

    def sibling_of(self, node_id: int, delta: int) -> int | None:
        """The sibling ``delta`` places below, above where negative; None where there is none."""
        return self._scene.mirror.sibling_of(node_id, delta) if node_id in self._scene.mirror else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        current = self._scene.current
        steps: dict[Qt.Key, Callable[[], int | None]] = {
            Qt.Key.Key_Left: lambda: self.parent_of(current),
            Qt.Key.Key_Right: lambda: self.child_of(current),
            Qt.Key.Key_Up: lambda: self.sibling_of(current, -1),
            Qt.Key.Key_Down: lambda: self.sibling_of(current, 1),
            Qt.Key.Key_Home: lambda: ROOT,
        }
        looks: dict[Qt.Key, Callable[[], None]] = {
            Qt.Key.Key_F: self.fit,
            Qt.Key.Key_Plus: self.zoom_in,
            Qt.Key.Key_Minus: self.zoom_out,
        }
        key = Qt.Key(event.key())
        if key in looks:
            looks[key]()
        elif key in steps:
            target = steps[key]()
            if target is not None:
                self.node_activated.emit(target)
        else:
            super().keyPressEvent(event)

    # --- mouse -------------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._pressed_at = event.position()
            self._dragged = False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed_at is None:
            self._hover(self.node_at(event.position()))
            return
        by = event.position() - self._pressed_at
        if self._dragged or by.manhattanLength() >= QApplication.startDragDistance():
            self._dragged = True
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._pressed_at = event.position()
            self._look(self._camera.moved(by))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        clicked = self._pressed_at is not None and not self._dragged and event.button() == Qt.MouseButton.LeftButton
        self._pressed_at = None
        self.unsetCursor()
        node_id = self.node_at(event.position())
        if clicked and node_id != NO_NODE:
            self.node_activated.emit(node_id)
        self._hover(node_id)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(NO_NODE)

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y() / 120
        self._look(self._camera.zoomed(math.pow(ZOOM_STEP, steps), event.position()))
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            place = self.node_rect(self._scene.current).center().toPoint()
            self.context_menu_requested.emit(self._scene.current, self.mapToGlobal(place))
            return
        node_id = self.node_at(QPointF(event.pos()))
        if node_id != NO_NODE:
            self.context_menu_requested.emit(node_id, event.globalPos())

    def _hover(self, node_id: int) -> None:
        if node_id != self._scene.hovered:
            self._scene.hovered = node_id
            self.setCursor(Qt.CursorShape.ArrowCursor if node_id == NO_NODE else Qt.CursorShape.PointingHandCursor)
            self.update()
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

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._placed:
            self._place_first()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._camera = self._camera.resized(QSizeF(self.size()), self._scene.geometry.extent())
        if not self._placed:
            self._place_first()
        else:
            self._show_node(self._scene.current)
        self._buttons.move(self.width() - self._buttons.width() - 8, self.height() - self._buttons.height() - 8)
        self._legend.move(8, self.height() - self._legend.height() - 8)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._scene.set_font(self.font())
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._focus_shown = event.reason() in _KEY_REASONS
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._focus_shown = False
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(640, 400)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = self._frame()
        painter.fillRect(self.rect(), QColor(frame.colours.surface))
        if self._scene.is_open and frame.detailed:
            DetailPainter(painter, frame).paint()
        elif self._scene.is_open:
            self._overview.paint(painter, frame, self.devicePixelRatioF())
        if not (self._scene.is_open and self._scene.mirror.count):
            painter.setFont(self.font())
            prompt = frame.rect_of(ROOT) if self._scene.is_open else None
            paint_hint(painter, QRectF(self.rect()), prompt, frame.colours)
        if self._focus_shown:
            painter.setPen(QPen(QColor(frame.colours.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    # --- saying ------------------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        """Bring legend and description up to date after a change of the tree."""
        self._explain()
        self._tell_position()
        self.update()

    def _tell_position(self) -> None:
        if self._scene.current not in self._scene.mirror:
            return
        text = "\n".join(self.description(self._scene.current))
        self.setAccessibleDescription(text)
        if QAccessible.isActive() and self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _explain(self) -> None:
        ids = self._scene.mirror.ids()
        self._legend.explain(
            self._scene.map_name, self._scene.mirror.hows(), bool(self._scene.mirror.forced[ids].any())
        )
        self._legend.move(8, self.height() - self._legend.height() - 8)

    def _frame(self) -> Frame:
        return self._scene.frame(self._camera, colours_of(self), self._motion)

    @Slot()
    def _repaint(self) -> None:
        self.update()
