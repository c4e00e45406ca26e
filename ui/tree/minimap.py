"""The whole tree in small, with a frame around what is in sight; clicking or dragging in it moves the view."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from explorer.i18n import tr
from ui.theme import blend, colours_of
from ui.tree.camera import Camera
from ui.tree.frame import Frame, Level
from ui.tree.mirror import NO_NODE
from ui.tree.raster import Raster
from ui.tree.sight import Sight

LEAST_WIDTH, MOST_WIDTH = 128, 200
_SHARE, _ASPECT = 0.22, 0.66  # of the canvas's width; height to width
_INSIDE = 6.0
REFRESH_MS = 120  # a large tree is drawn anew at most that often
_AT_ONCE = 3000  # boxes of a tree that is not large
_HANDLE = 8.0  # px: the frame never becomes smaller


class Minimap(QWidget):
    """Shows itself only while the tree does not fit into the view. ``moved_to`` names the place of the picture, px at
    scale 1, that should come into the middle."""

    moved_to = Signal(QPointF)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.resize(MOST_WIDTH, round(MOST_WIDTH * _ASPECT))
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # else the canvas would be painted with every change
        self.setAccessibleName(tr("Map of the tree"))
        self.setToolTip(tr("The whole tree. The frame shows what is in sight: click or drag to look elsewhere."))
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._frame: Frame | None = None
        self._camera: Camera | None = None
        self._raster = Raster()
        self._image = QImage()
        self._unpainted: Frame | None = None
        self._key: object = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._draw)
        self._grabbed: QPointF | None = None
        self._marked: tuple[QRectF, QPointF | None] = QRectF(), None
        self.hide()

    def fit_beside(self, canvas_width: int) -> None:
        """Take a size that goes with that of the canvas."""
        width = round(max(LEAST_WIDTH, min(MOST_WIDTH, _SHARE * canvas_width)))
        if width != self.width():
            self.resize(width, round(width * _ASPECT))
            self._draw()

    def show_view(self, frame: Frame, *, needed: bool) -> None:
        """Follow what the canvas shows; ``needed``: there is a tree, and room for a map of it."""
        visible = needed and not frame.camera.shows_all
        self._frame = frame
        self.setVisible(visible)
        if not visible:
            return
        key = (frame.plan, frame.node_colours, self.devicePixelRatioF())
        if key != self._key and not self._timer.isActive():
            if self._key is None or len(frame.plan.heads) <= _AT_ONCE:
                self._draw()
            else:
                self._timer.start()
        marked = self.seen_rect(), self._current_place(frame)
        if marked != self._marked:
            self._marked = marked
            self.update()

    def _draw(self) -> None:
        """Show the map of the tree as it is now, from the next paint on."""
        frame = self._frame
        if frame is None:
            return
        self._key = (frame.plan, frame.node_colours, self.devicePixelRatioF())
        self._unpainted = _small_frame(frame, QSizeF(self.size()))
        self._camera = self._unpainted.camera
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._unpainted is not None:  # only here: a step of the tree arrives as several changes
            self._image = self._raster.paint(self._unpainted, self.devicePixelRatioF())
            self._unpainted = None
        frame = self._frame
        painter = QPainter(self)
        colours = colours_of(self)
        painter.fillRect(self.rect(), QColor(colours.surface))
        if frame is not None and self._camera is not None:
            painter.drawImage(QPointF(0, 0), self._image)
            place = self._current_place(frame)
            if place is not None:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(frame.colours.accent))
                painter.drawEllipse(place, 2.5, 2.5)
            self._paint_seen(painter, frame)
        painter.setPen(QPen(QColor(colours.border), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _current_place(self, frame: Frame) -> QPointF | None:
        """Where the current node is on the map."""
        path = frame.current_path
        if not path or self._camera is None:
            return None
        return self._camera.screen(frame.camera.world(frame.rect_of(path[-1]).center()))

    def _paint_seen(self, painter: QPainter, frame: Frame) -> None:
        seen = self.seen_rect()
        shade = blend(QColor(frame.colours.accent), QColor(frame.colours.surface), 0.5)
        shade.setAlpha(40)
        painter.setPen(QPen(QColor(frame.colours.accent), 1))
        painter.setBrush(shade)
        painter.drawRect(seen.adjusted(0.5, 0.5, -0.5, -0.5))

    def seen_rect(self) -> QRectF:
        """The frame around what is in sight, on this widget."""
        if self._frame is None or self._camera is None:
            return QRectF()
        seen = self._frame.camera.seen
        rect = QRectF(self._camera.screen(seen.topLeft()), self._camera.screen(seen.bottomRight()))
        rect = rect.intersected(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        grow_x, grow_y = max(0.0, _HANDLE - rect.width()) / 2, max(0.0, _HANDLE - rect.height()) / 2
        return rect.adjusted(-grow_x, -grow_y, grow_x, grow_y)

    # --- mouse -------------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        seen = self.seen_rect()
        # Taken by the frame, the frame keeps its place under the pointer; elsewhere its middle jumps there.
        inside = seen.contains(event.position())
        self._grabbed = event.position() - seen.center() if inside else QPointF(0, 0)
        if not inside:
            self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grabbed is not None:
            self._go(event.position() - self._grabbed)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grabbed = None

    def _go(self, place: QPointF) -> None:
        if self._camera is not None:
            self.moved_to.emit(self._camera.world(place))


def _small_frame(frame: Frame, size: QSizeF) -> Frame:
    """The whole picture in a view of that size. Both directions fill it: a tree is often a hundred times as long as it
    is wide."""
    extent = frame.camera.extent
    across = min(1.0, (size.width() - 2 * _INSIDE) / max(1.0, extent.width()))
    down = min(1.0, (size.height() - 2 * _INSIDE) / max(1.0, extent.height()))
    left = (size.width() - extent.width() * across) / 2
    top = (size.height() - extent.height() * down) / 2
    camera = Camera(1.0, QPointF(left, top), size, extent, fixed=(across, down))
    sight = Sight(frame.plan, camera, frame.down)
    return replace(frame, sight=sight, hovered=NO_NODE, most_level=Level.DOTS)
