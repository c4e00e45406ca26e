"""What of a plan is in sight: places on the screen, and which boxes and edges meet the view."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF

from explorer.caching import cached_property
from ui.tree.arrays import BoolArray, FloatArray, Ids
from ui.tree.camera import Camera
from ui.tree.geometry import Plan

BEHIND = 170.0  # px behind a box that may carry its values
BESIDE = 20.0


class Sight:
    """A `Plan` through a `Camera`. ``down``: whether the tree grows downwards; else to the right.

    Boxes are indices into the plan.
    """

    def __init__(self, plan: Plan, camera: Camera, down: bool, window: QRectF | None = None) -> None:
        """``window``: the part of the screen that is asked about, px; all of the view unless given."""
        self.plan = plan
        self.camera = camera
        self.down = down
        self._window = QRectF(QPointF(0, 0), camera.view) if window is None else window

    def along(self, values: FloatArray) -> FloatArray:
        """Places along the tree on the screen."""
        return self.camera.y(values) if self.down else self.camera.x(values)

    def across(self, values: FloatArray) -> FloatArray:
        return self.camera.x(values) if self.down else self.camera.y(values)

    @property
    def along_scale(self) -> float:
        return self.camera.scale_y if self.down else self.camera.scale_x

    @property
    def across_scale(self) -> float:
        return self.camera.scale_x if self.down else self.camera.scale_y

    def point(self, along: float, across: float) -> QPointF:
        """A place on the screen from its two coordinates there."""
        return QPointF(across, along) if self.down else QPointF(along, across)

    @cached_property
    def edges(self) -> Ids:
        """Boxes of which the edge or the box itself may be in sight, values beside it included."""
        plan = self.plan
        return np.flatnonzero(self._meets(plan.parent_end, plan.end, *plan.span))

    @cached_property
    def boxes(self) -> Ids:
        """Boxes that may be in sight, values beside them included."""
        plan, edges = self.plan, self.edges
        across, half = plan.across[edges], plan.breadth[edges] / 2
        return edges[self._meets(plan.along[edges], plan.end[edges], across - half, across + half)]

    def _meets(self, near: FloatArray, far: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
        """Whether areas (px at scale 1) and what is written beside them meet the view."""
        seen = QRectF(self.camera.world(self._window.topLeft()), self.camera.world(self._window.bottomRight()))
        begin, end, bottom, top = seen.left(), seen.right(), seen.top(), seen.bottom()
        if self.down:
            begin, end, bottom, top = bottom, top, begin, end
        beside, behind = BESIDE / self.across_scale, BEHIND / self.along_scale
        inside: BoolArray = (near < end) & (far > begin - behind) & (high > bottom - beside) & (low < top + beside)
        return inside
