"""Which part of the picture is seen, and how large."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, QRectF, QSizeF

from explorer.caching import cached_property
from ui.tree.arrays import FloatArray

MARGIN = 24.0
FOOT = 64.0  # room for a legend of usual size and the buttons
LEAST_ZOOM, MOST_ZOOM = 1e-5, 2.5


@dataclass(frozen=True)
class Camera:
    """Zoom, the screen place of the picture's origin, the sizes of the view and of the picture at scale 1, and how much
    of the view's ``foot`` is taken by others.

    Zooming out stops, in each direction, where the whole picture fits: so that a tree of a hundred thousand leaves
    does not shrink to a hair. ``fixed`` scales, left to right and top to bottom, hold whatever the zoom and the sizes
    are: for pictures that are not looked at through a window.
    """

    zoom: float
    origin: QPointF
    view: QSizeF
    extent: QSizeF
    fixed: tuple[float, float] | None = None
    foot: float = FOOT

    @cached_property
    def scale_x(self) -> float:
        fitting = min(1.0, (self.view.width() - 2 * MARGIN) / max(1.0, self.extent.width()))
        return self.fixed[0] if self.fixed else max(self.zoom, fitting)

    @cached_property
    def scale_y(self) -> float:
        fitting = min(1.0, (self.view.height() - MARGIN - self.foot) / max(1.0, self.extent.height()))
        return self.fixed[1] if self.fixed else max(self.zoom, fitting)

    @cached_property
    def scale(self) -> float:
        """The smaller scale: what the size of text goes by."""
        return min(self.scale_x, self.scale_y)

    def x(self, across: FloatArray) -> FloatArray:
        return across * self.scale_x + self.origin.x()

    def y(self, down: FloatArray) -> FloatArray:
        return down * self.scale_y + self.origin.y()

    def screen(self, place: QPointF) -> QPointF:
        """Where a place of the picture is on the screen."""
        return QPointF(place.x() * self.scale_x + self.origin.x(), place.y() * self.scale_y + self.origin.y())

    def world(self, place: QPointF) -> QPointF:
        """Which place of the picture is under a place on the screen."""
        return QPointF((place.x() - self.origin.x()) / self.scale_x, (place.y() - self.origin.y()) / self.scale_y)

    @property
    def seen(self) -> QRectF:
        """The part of the picture that is in sight, px at scale 1; may reach past the picture."""
        far = QPointF(self.view.width(), self.view.height())
        return QRectF(self.world(QPointF(0, 0)), self.world(far))

    @property
    def shows_all(self) -> bool:
        """Whether the whole picture is in sight."""
        place = QRectF(self.screen(QPointF(0, 0)), self.screen(QPointF(self.extent.width(), self.extent.height())))
        return QRectF(QPointF(-1, -1), self.view + QSizeF(2, 2)).contains(place)

    def moved(self, by: QPointF) -> Camera:
        return replace(self, origin=self.origin + by)

    def resized(self, view: QSizeF, extent: QSizeF, foot: float = FOOT) -> Camera:
        return replace(self, view=view, extent=extent, foot=foot)

    def zoomed(self, factor: float, anchor: QPointF) -> Camera:
        """Zoom so that what lies under ``anchor`` (screen px) stays there."""
        least = min(1.0, *self._fitting())
        return self._with_zoom(max(least, min(MOST_ZOOM, self.zoom * factor)), self.world(anchor), anchor)

    def looking_at(self, region: QRectF, most: float = 1.0) -> Camera:
        """With a region of the picture in the middle, as large as the view allows and never larger than ``most``."""
        room_x = self.view.width() - 2 * MARGIN
        room_y = self.view.height() - MARGIN - self.foot
        zoom = min(most, room_x / max(1.0, region.width()), room_y / max(1.0, region.height()))
        middle = QPointF(self.view.width() / 2, (self.view.height() + MARGIN - self.foot) / 2)
        return self._with_zoom(max(LEAST_ZOOM, zoom), region.center(), middle)

    def fitted(self) -> Camera:
        """Everything in sight, as large as that allows but never larger than life, standing in the middle."""
        zoom = max(LEAST_ZOOM, min(1.0, *self._fitting()))
        other = replace(self, zoom=zoom, origin=QPointF())
        left = max(MARGIN, (self.view.width() - self.extent.width() * other.scale_x) / 2)
        top = max(MARGIN, (self.view.height() - self.foot + MARGIN - self.extent.height() * other.scale_y) / 2)
        return replace(other, origin=QPointF(left, top))

    def _with_zoom(self, zoom: float, world: QPointF, place: QPointF) -> Camera:
        other = replace(self, zoom=zoom)
        origin = QPointF(place.x() - world.x() * other.scale_x, place.y() - world.y() * other.scale_y)
        return replace(self, zoom=zoom, origin=origin)

    def _fitting(self) -> tuple[float, float]:
        across = (self.view.width() - 2 * MARGIN) / max(1.0, self.extent.width())
        down = (self.view.height() - MARGIN - self.foot) / max(1.0, self.extent.height())
        return max(LEAST_ZOOM, across), max(LEAST_ZOOM, down)


def between(start: Camera, end: Camera, share: float) -> Camera:
    """On the way from one look to another, 0 .. 1; the zoom changes by equal factors in equal times."""
    zoom = start.zoom ** (1 - share) * end.zoom**share
    middle = QPointF(end.view.width() / 2, end.view.height() / 2)
    came, goes = start.world(middle), end.world(middle)
    # Zooming and moving must end together: the centre moves as the view's extent over the picture changes.
    if abs(1 / end.zoom - 1 / start.zoom) > 1e-9 and start.zoom != end.zoom:
        share = (1 / zoom - 1 / start.zoom) / (1 / end.zoom - 1 / start.zoom)
    centre = came + (goes - came) * share
    return end._with_zoom(zoom, centre, middle)


def move_into(rect: QRectF, seen: QRectF) -> QPointF:
    """The least move that brings ``rect`` into ``seen``; its left and top win where it is too large."""
    x = min(0.0, seen.right() - rect.right())
    y = min(0.0, seen.bottom() - rect.bottom())
    if rect.left() + x < seen.left():
        x = seen.left() - rect.left()
    if rect.top() + y < seen.top():
        y = seen.top() - rect.top()
    return QPointF(x, y)
