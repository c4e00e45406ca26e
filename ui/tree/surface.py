"""A tree on a widget, and from where it is seen. What is shown of it is the affair of the view, what mouse and keys do
that of the canvas."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.tree import ROOT
from ui.theme import colours_of
from ui.tree.backing import Backing
from ui.tree.camera import MARGIN
from ui.tree.camera_control import CameraControl
from ui.tree.corners import Corners
from ui.tree.frame import Frame, Level
from ui.tree.hint import paint_caption, paint_hint
from ui.tree.hover import paint_hovered
from ui.tree.mirror import NO_NODE
from ui.tree.motion import Motion
from ui.tree.overview import OverviewPainter
from ui.tree.rearrangement import Rearrangement
from ui.tree.scene import TreeScene

REST_MS = 160
"""How long the view must be at rest before a picture that was moved along is painted anew."""


class TreeSurface(QWidget):
    """Paints a `TreeScene` as a `CameraControl` sees it. For pictures on other devices see `ui.tree.painting`."""

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
        self._motion.moved.connect(self._refresh)
        self._corners = Corners(self)
        self.look.moved.connect(self._look_elsewhere)
        self._corners.buttons.zoom_in.clicked.connect(self.zoom_in)
        self._corners.buttons.zoom_out.clicked.connect(self.zoom_out)
        self._corners.buttons.fit.clicked.connect(self.fit)
        self._corners.minimap.moved_to.connect(self._go_to)

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

    @Slot(QPointF)
    def _go_to(self, place: QPointF) -> None:
        self.look.center_on(place, glide=False)

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

    # --- frames ------------------------------------------------------------------------------------------------------

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
        self._backing.doubt()
        self._shown_frame = None
        self._corners.follow(self._frame(), self.scene.is_open)
        self.update()
