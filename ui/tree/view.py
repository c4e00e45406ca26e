"""One tree on a widget: what is shown of it, how, from where. What mouse and keys do is the affair of the canvas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.events import Change
from explorer.text import Vocabulary
from explorer.tree import ROOT, Node
from ui.format import LogUnit
from ui.theme import MapName, colours_of
from ui.tree.backing import Backing
from ui.tree.camera import MARGIN
from ui.tree.camera_control import CameraControl
from ui.tree.corners import Corners
from ui.tree.frame import Frame, Level
from ui.tree.hint import paint_caption, paint_hint
from ui.tree.hover import paint_hovered
from ui.tree.mirror import NO_NODE
from ui.tree.motion import Motion
from ui.tree.options import TreeViewOptions
from ui.tree.overlay import TreeOverlay
from ui.tree.overview import OverviewPainter
from ui.tree.rearrangement import Rearrangement
from ui.tree.scene import TreeScene
from ui.tree.weights import TreeWeights

REST_MS = 160
"""How long the view must be at rest before a picture that was moved along is painted anew."""


class TreeView(QWidget):
    """What is shown is the affair of a `TreeScene`, from where it is seen of a `CameraControl`. For pictures on other
    devices than this widget see `ui.tree.painting`."""

    options_changed = Signal(object)
    """`TreeViewOptions` were set."""
    folds_changed = Signal()
    """Nodes were folded or unfolded; see `folded`."""
    focus_changed = Signal(int)
    """The node whose subtree alone is shown now; -1 for the whole tree."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.scene = TreeScene(self.font(), gradual=True)
        self.look = CameraControl(self)
        self._placed = False
        self._focus_shown = False
        self._shown_frame: Frame | None = None
        self._overview = OverviewPainter()
        self._backing = Backing()
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._complete)
        self._motion = Motion(self)
        self._corners = Corners(self)
        self._connect()
        self._tell()

    def _connect(self) -> None:
        self._motion.moved.connect(self._refresh)
        self.look.moved.connect(self._look_elsewhere)
        self.scene.placement.settled.connect(self._settled)
        corners = self._corners
        corners.buttons.zoom_in.clicked.connect(self.zoom_in)
        corners.buttons.zoom_out.clicked.connect(self.zoom_out)
        corners.buttons.fit.clicked.connect(self.fit)
        corners.breadcrumb.whole_requested.connect(self._leave_focus)
        corners.breadcrumb.up_requested.connect(self._widen_focus)
        corners.minimap.moved_to.connect(self._go_to)

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
        focus, folded = self.focus_node, self.folded
        self.scene.reset(prompt_label, nodes, hidden, current, stops or {}, end_tokens)
        self._place_first()
        self._tell()
        self._announce(focus, folded)

    def apply(self, change: Change) -> None:
        """Take over what one command changed."""
        focus, folded = self.focus_node, self.folded
        with self._rearrangement(self.scene.current):
            self.scene.apply(change)
            self.scene.set_current(change.state.current)
        self._follow()
        self._tell()
        self._announce(focus, folded)

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """The vocabulary behind the tokens; None before a session is open."""
        self.scene.set_vocabulary(vocabulary)
        self._measured()

    def set_current(self, node_id: int) -> None:
        """Mark the current node and bring it into sight, also out of folded branches."""
        if node_id == self.scene.current:
            self._follow()
            return
        focus, folded = self.focus_node, self.folded
        with self._rearrangement(self.scene.current):
            self.scene.set_current(node_id)
        self._follow()
        self._tell()
        self._announce(focus, folded)

    def _announce(self, focus: int | None, folded: frozenset[int]) -> None:
        """Tell if folds and focus are others than they were."""
        if self.folded != folded:
            self.folds_changed.emit()
        if self.focus_node != focus:
            self.focus_changed.emit(NO_NODE if self.focus_node is None else self.focus_node)

    def set_log_unit(self, unit: LogUnit) -> None:
        """Say logarithms in nats or bits."""
        self.scene.unit = unit
        self._tell()

    def set_colour_map(self, name: MapName) -> None:
        """Colour by cividis or by viridis."""
        self.scene.map_name = name
        self._tell()

    def set_animated(self, animated: bool) -> None:
        """Whether nodes slide and the view glides."""
        self._motion.enabled = self.look.animated = animated
        self._motion.stop()

    def highlight_node(self, node_id: int) -> None:
        """Show the path of a node that is hovered elsewhere; -1 for none."""
        self.scene.hovered = node_id if node_id in self.scene.mirror else NO_NODE
        self._look_elsewhere()

    def description(self, node_id: int) -> list[str]:
        """Everything to be said of a node, a line each."""
        return self.scene.description(node_id)

    # --- how it is shown ---------------------------------------------------------------------------------------------

    @property
    def options(self) -> TreeViewOptions:
        return self.scene.options

    def set_options(self, options: TreeViewOptions) -> None:
        """Look at the same tree in another way."""
        if options == self.scene.options:
            return
        turned = options.orientation != self.scene.options.orientation
        with self._rearrangement(self.scene.current, moving=not turned):
            self.scene.set_options(options)
        if turned:
            self._place_first()
        self._tell()
        self.options_changed.emit(options)

    @property
    def overlay(self) -> TreeOverlay | None:
        """What lies over the tree."""
        return self.scene.overlay

    def set_overlay(self, overlay: TreeOverlay | None) -> None:
        """Lay marks, badges and a caption over the tree; None takes them away."""
        with self._rearrangement(self.scene.current):
            self.scene.set_overlay(overlay)
        self._tell()

    def set_matches(self, node_ids: Iterable[int]) -> None:
        """Mark nodes as found, over whatever else lies over the tree; none takes the marks away."""
        with self._rearrangement(self.scene.current):
            self.scene.set_matches(node_ids)
        self._tell()

    def unfold_all(self) -> None:
        """Show everything that was folded again."""
        self._fold((), self.scene.current)

    def set_weights(self, weights: TreeWeights | None) -> None:
        """Show the tree by other numbers; None goes back to the model probabilities recorded with the edges."""
        self.scene.set_weights(weights)
        self._tell()

    def annotate(self, annotations: Mapping[int, tuple[bool, str]]) -> None:
        """Put stars and notes on nodes, by id, in place of those before: ``(star, note)``; the note may be empty."""
        with self._rearrangement(self.scene.current):
            self.scene.annotate(annotations)
        self._tell()

    @property
    def folded(self) -> frozenset[int]:
        """Nodes whose descendants are out of sight."""
        return frozenset(self.scene.outline.folded)

    def fold(self, node_id: int) -> None:
        """Put the descendants of a node out of sight. A leaf cannot be folded."""
        self._fold(self.folded | {node_id}, node_id)

    def unfold(self, node_id: int) -> None:
        """Show the descendants of a node again, apart from those below other folded nodes."""
        self._fold(self.folded - {node_id}, node_id)

    @Slot(int)
    def toggle_fold(self, node_id: int) -> None:
        """Fold a node, or unfold it."""
        self._fold(self.folded ^ {node_id}, node_id)

    def _fold(self, folded: Iterable[int], anchor: int) -> None:
        before = self.folded
        with self._rearrangement(anchor):
            changed = self.scene.set_folded(folded)
        if changed:
            self._tell()
            self._announce(self.focus_node, before)

    @property
    def focus_node(self) -> int | None:
        """The node whose subtree alone is shown; None for the whole tree."""
        return None if self.scene.outline.top == ROOT else self.scene.outline.top

    def focus_on(self, node_id: int | None) -> None:
        """Show the subtree of a node alone; None (or the root) shows the whole tree again."""
        focus = ROOT if node_id is None or node_id not in self.scene.mirror else node_id
        before = self.scene.outline.top
        self._motion.stop()
        if not self.scene.set_focus(focus):
            return
        self._measured()
        self.look.place_first(self.scene.place_of(before if focus == ROOT else focus).center())
        self._tell()
        self._announce(None if before == ROOT else before, self.folded)

    # --- looking around ----------------------------------------------------------------------------------------------

    @Slot()
    def fit(self) -> None:
        """Bring the whole tree into sight."""
        self.look.fit()

    @Slot()
    def zoom_in(self) -> None:
        self.look.zoom(1, self._focus_point(), glide=True)

    @Slot()
    def zoom_out(self) -> None:
        self.look.zoom(-1, self._focus_point(), glide=True)

    def center_on(self, node_id: int) -> None:
        """Bring a node, or what is folded over it, into the middle."""
        place = self.scene.place_of(node_id)
        if not place.isNull():
            self.look.center_on(place.center())

    def zoom_to(self, nodes: Iterable[int]) -> None:
        """Bring these nodes, and as little else as possible, into sight."""
        region = self.scene.bounds_of(nodes)
        if not region.isNull():
            self.look.look_at(region)

    def node_rect(self, node_id: int) -> QRectF:
        """Where a node is on the widget now: its box, or its part of a phrase."""
        return self._frame().rect_of(node_id)

    def node_at(self, position: QPointF) -> int:
        """The node at a place on the widget, -1 where there is none."""
        return self._frame().node_at(position) if self.scene.is_open else NO_NODE

    def nodes_in_sight(self) -> list[int]:
        """The nodes whose boxes may be seen now; of a phrase its first."""
        if not self.scene.is_open:
            return []
        frame = self._frame()
        return [int(node) for node in frame.plan.heads[frame.boxes]]

    def _focus_point(self) -> QPointF:
        """What zooming by key keeps in place: the current node if it is in sight, else the middle."""
        goal, place = self.look.goal, self.scene.place_of(self.scene.current)
        at = goal.screen(place.center())
        return at if not place.isNull() and QRectF(self.rect()).contains(at) else QPointF(self.rect().center())

    def _follow(self) -> None:
        place = self.scene.place_of(self.scene.current)
        if self._placed and not place.isNull():
            self.look.follow(place)

    def _place_first(self) -> None:
        """The first look at a tree, as soon as there is a size to look at it in."""
        self._placed = self.isVisible() and self.width() > 2 * MARGIN
        self._measured()
        self.look.place_first(self.scene.place_of(self.scene.current).center())

    def _measured(self) -> None:
        """The widget or the picture has another size."""
        self.look.resize(QSizeF(self.size()), self.scene.geometry.extent())
        self._refresh()

    def _rearrangement(self, anchor: int, *, moving: bool = True) -> Rearrangement:
        return Rearrangement(self.scene, self.look, self._motion, QSizeF(self.size()), anchor, moving)

    @Slot()
    def _leave_focus(self) -> None:
        self.focus_on(None)

    @Slot()
    def _widen_focus(self) -> None:
        self.focus_on(int(self.scene.mirror.parent[self.scene.outline.top]))

    @Slot(QPointF)
    def _go_to(self, place: QPointF) -> None:
        self.look.center_on(place, glide=False)

    @Slot()
    def _settled(self) -> None:
        """A layout that took its time is there."""
        with self._rearrangement(self.scene.current):
            self.scene.geometry.moved()

    # --- events ------------------------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._placed:
            self._place_first()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._measured()
        if not self._placed:
            self._place_first()
        elif not self.look.refit(glide=False):
            self._follow()
        self._corners.arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.scene.set_font(self.font())
            self._measured()
        self._refresh()

    def sizeHint(self) -> QSize:
        return QSize(640, 400)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            self._paint(painter)
        finally:
            painter.end()  # a painter that outlives an error here would take the program with it

    def _paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = self._frame()
        if not self.scene.is_open:
            painter.fillRect(self.rect(), QColor(frame.colours.surface))
        elif frame.level == Level.DOTS:
            self._overview.paint(painter, frame, self.devicePixelRatioF())
            if self._overview.patched and not self._rest.isActive():
                self._rest.start()  # not put off while more comes in
        else:
            self._backing.paint(painter, frame, self.devicePixelRatioF())
        paint_hovered(painter, frame)
        painter.setFont(self.font())
        if not (self.scene.is_open and self.scene.mirror.count):
            prompt = frame.rect_of(ROOT) if self.scene.is_open else None
            paint_hint(painter, QRectF(self.rect()), prompt, frame.colours)
        paint_caption(painter, self._corners.caption_area(), frame.overlay.caption, frame.colours)
        if self._focus_shown:
            painter.setPen(QPen(QColor(frame.colours.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))

    # --- saying ------------------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        """Bring legend, breadcrumb and description up to date after a change of the tree or of how it is shown."""
        self._refresh()
        self._corners.tell(self.scene, self._frame())
        self._tell_position()

    def _tell_position(self) -> None:
        if self.scene.current not in self.scene.mirror:
            return
        text = "\n".join(self.description(self.scene.current))
        self.setAccessibleDescription(text)
        if QAccessible.isActive() and self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _frame(self) -> Frame:
        if self._shown_frame is None:
            self._shown_frame = self.scene.frame(self.look.camera, colours_of(self), self._motion)
        return self._shown_frame

    @Slot()
    def _complete(self) -> None:
        """The view has come to rest: what was put together from parts is painted as a whole."""
        if self._backing.patched or self._overview.patched:
            self._backing.forget()
            self._overview.forget()
            self.update()

    @Slot()
    def _look_elsewhere(self) -> None:
        """Only the camera or the pointer has moved."""
        self._shown_frame = None
        self._corners.follow(self._frame(), self.scene.is_open)
        self._rest.start()
        self.update()

    @Slot()
    def _refresh(self) -> None:
        """Anything else has changed."""
        self._backing.forget()
        self._shown_frame = None
        self._corners.follow(self._frame(), self.scene.is_open)
        self.update()
