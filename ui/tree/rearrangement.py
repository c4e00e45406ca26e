"""A change of the picture that the eye can follow: what was looked at stays where it is, the rest slides."""

from __future__ import annotations

from types import TracebackType

from PySide6.QtCore import QPointF, QRectF, QSizeF

from ui.tree.camera_control import CameraControl
from ui.tree.motion import MOST_MOVING, Motion
from ui.tree.scene import TreeScene


class Rearrangement:
    """Surrounds a change of a scene. The ``anchor`` keeps its place on the screen, unless the whole tree was in sight:
    then the picture keeps its place, or is fitted again. With ``moving`` off nothing slides."""

    def __init__(
        self, scene: TreeScene, look: CameraControl, motion: Motion, view: QSizeF, anchor: int, moving: bool = True
    ) -> None:
        self._scene, self._look, self._motion, self._view = scene, look, motion, view
        self._anchor, self._moving = anchor, moving

    def __enter__(self) -> None:
        scene = self._scene
        self._plan = scene.geometry.plan
        self._places = self._motion.places(scene.mirror, scene.geometry) if self._moving else None
        self._place = self._anchored()
        self._fits = self._look.goal.shows_all
        self._motion.drop()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        scene = self._scene
        if kind is not None:
            return
        if scene.geometry.plan is self._plan:
            self._motion.start(self._places, scene.mirror, scene.geometry)
            return
        self._look.resize(self._view, scene.geometry.extent())
        place = scene.place_of(self._anchor)
        kept = self._look.refit(glide=scene.mirror.size <= MOST_MOVING)
        if not (kept or self._fits or place.isNull() or self._place.isNull()):
            self._hold(place.center() - self._place.center())
        self._motion.start(self._places, scene.mirror, scene.geometry)
        if not scene.shows_anything(self._look.goal):
            self._look.follow(scene.place_of(scene.current))

    def _anchored(self) -> QRectF:
        """Where the anchor is, or else the current node, if it is in sight; what is not seen need not be held."""
        seen = self._look.goal.seen
        for node_id in (self._anchor, self._scene.current):
            place = self._scene.place_of(node_id)
            if seen.intersects(place):
                self._anchor = node_id
                return place
        return QRectF()

    def _hold(self, by: QPointF) -> None:
        """Move the view along with the anchor, and what will slide against it."""
        self._look.shift(-by)
        if self._places is not None:
            along, across = (by.y(), by.x()) if self._scene.down else (by.x(), by.y())
            self._places = self._places[0] + along, self._places[1] + across
