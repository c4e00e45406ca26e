"""Moves the camera: fits, zooms, centres, follows a node, at once or in a short glide."""

from __future__ import annotations

import math
from dataclasses import replace

from PySide6.QtCore import QEasingCurve, QObject, QPointF, QRectF, QSizeF, QVariantAnimation, Signal

from ui.tree.camera import FOOT, MARGIN, Camera, between, move_into

ZOOM_STEP = 1.25
GLIDE_MS = 180
READABLE = 0.7  # scale down to which a whole tree is better than a part of it
_AHEAD = (-40.0, -20.0, 110.0, 20.0)  # px around a followed node that should be in sight, too


class CameraControl(QObject):
    """Holds the `Camera` of one view. Gestures move it at once; commands let it glide unless ``animated`` is off.

    After `fit` the whole picture stays in sight while it grows, until somebody looks elsewhere; after `place_first`
    only as long as it can be read. `refit` is to be called when the picture or the view has changed.
    """

    moved = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.animated = True
        self.foot = FOOT
        self._least_fit: float | None = None  # the scale down to which the picture is kept in sight; None: it is not
        self._camera = Camera(1.0, QPointF(MARGIN, MARGIN), QSizeF(1, 1), QSizeF(1, 1))
        self._start = self._goal = self._camera
        self._glide = QVariantAnimation(self)
        self._glide.setDuration(GLIDE_MS)
        self._glide.setStartValue(0.0)
        self._glide.setEndValue(1.0)
        self._glide.setEasingCurve(QEasingCurve.Type.InOutCubic)
        self._glide.valueChanged.connect(self._step)

    @property
    def camera(self) -> Camera:
        """How the picture is seen now."""
        return self._camera

    @property
    def goal(self) -> Camera:
        """How it will be seen when a glide has ended."""
        return self._goal if self.gliding else self._camera

    @property
    def gliding(self) -> bool:
        return self._glide.state() == QVariantAnimation.State.Running

    def resize(self, view: QSizeF, extent: QSizeF) -> None:
        """The widget or the picture has another size."""
        self._camera = self._camera.resized(view, extent, self.foot)
        self._start = self._start.resized(view, extent, self.foot)
        self._goal = self._goal.resized(view, extent, self.foot)

    def look(self, camera: Camera, *, glide: bool = False) -> None:
        """See the picture in another way."""
        self._least_fit = None
        self._go(camera, glide)

    def _go(self, camera: Camera, glide: bool) -> None:
        if glide and self.animated:
            self._start, self._goal = self._camera, camera
            self._glide.stop()
            self._glide.start()
            return
        self.stop()
        self._camera = camera
        self.moved.emit()

    def stop(self) -> None:
        """End a glide where it is."""
        self._glide.stop()

    def fit(self, *, glide: bool = True) -> None:
        """Bring everything into sight, and keep it there."""
        self.look(self._camera.fitted(), glide=glide)
        self._least_fit = 0.0

    def refit(self, *, glide: bool = True) -> bool:
        """Bring everything into sight again if it was to be kept there. Whether it is."""
        if self._least_fit is None:
            return False
        fitted = self._camera.fitted()
        if fitted.scale < self._least_fit:
            self._least_fit = None
            return False
        if not self.goal.shows_all or (self.goal.zoom < 1 and fitted.zoom > self.goal.zoom):
            self._go(fitted, glide)
        return True

    def look_at(self, region: QRectF) -> None:
        """Bring a region of the picture (px at scale 1) into sight, as large as possible."""
        self.look(self._camera.looking_at(region), glide=True)

    def zoom(self, steps: float, anchor: QPointF, *, glide: bool = False) -> None:
        """Zoom by steps of a quarter; what lies under ``anchor`` (screen px) stays there."""
        self.look(self.goal.zoomed(math.pow(ZOOM_STEP, steps), anchor), glide=glide)

    def drag(self, by: QPointF) -> None:
        """Move the picture by px of the screen."""
        self.look(self._camera.moved(by))

    def shift(self, by: QPointF) -> None:
        """Move the picture by px at scale 1, a glide under way included."""
        shifted = []
        for camera in (self._camera, self._start, self._goal):
            shifted.append(camera.moved(QPointF(by.x() * camera.scale_x, by.y() * camera.scale_y)))
        self._camera, self._start, self._goal = shifted
        self.moved.emit()

    def center_on(self, place: QPointF, *, glide: bool = True) -> None:
        """Bring a place of the picture (px at scale 1) into the middle."""
        goal = self.goal
        middle = QPointF(goal.view.width() / 2, goal.view.height() / 2)
        self.look(goal.moved(middle - goal.screen(place)), glide=glide)

    def follow(self, place: QRectF) -> None:
        """Bring a place (px at scale 1) into sight with as little movement as possible. Where everything is kept in
        sight, that is done already."""
        if self._least_fit is not None:
            return
        goal = self.goal
        left_top, right_bottom = goal.screen(place.topLeft()), goal.screen(place.bottomRight())
        rect = QRectF(left_top, right_bottom).adjusted(*_AHEAD)
        seen = QRectF(QPointF(0, 0), goal.view).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        by = move_into(rect, seen)
        if not by.isNull():
            self._go(goal.moved(by), True)

    def place_first(self, current: QPointF) -> None:
        """The first look at a tree: all of it where it can be read at that size, else the current place, life-size."""
        fitted = self._camera.fitted()
        if fitted.scale >= READABLE:
            self.look(fitted)
            self._least_fit = READABLE
            return
        close = replace(fitted, zoom=1.0, origin=QPointF(MARGIN, MARGIN))
        middle = QPointF(fitted.view.width() / 2, fitted.view.height() / 2)
        self.look(close.moved(middle - close.screen(current)))

    def _step(self, share: float) -> None:
        self._camera = self._goal if share >= 1 else between(self._start, self._goal, share)
        self.moved.emit()
