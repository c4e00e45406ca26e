"""Nodes that slide from where they were to where they belong, so that the eye can follow."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation, Signal

from ui.tree.geometry import Ids, TreeGeometry
from ui.tree.layout import FloatArray
from ui.tree.mirror import TreeMirror

DURATION_MS = 120
MOST_MOVING = 4000


class Motion(QObject):
    """Displacements of the nodes, in px at scale 1, that fade to nothing within `DURATION_MS`."""

    moved = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.enabled = True
        self._shift_x: FloatArray | None = None
        self._shift_y: FloatArray | None = None
        self._left_over = 0.0
        self._animation = QVariantAnimation(self)
        self._animation.setDuration(DURATION_MS)
        self._animation.setStartValue(1.0)
        self._animation.setEndValue(0.0)
        self._animation.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._animation.valueChanged.connect(self._step)
        self._animation.finished.connect(self.stop)

    @property
    def running(self) -> bool:
        return self._shift_x is not None

    def shifts(self) -> tuple[FloatArray | None, FloatArray | None]:
        """Present displacements by node id."""
        if self._shift_x is None or self._shift_y is None:
            return None, None
        return self._shift_x * self._left_over, self._shift_y * self._left_over

    def places(self, mirror: TreeMirror, geometry: TreeGeometry) -> tuple[FloatArray, FloatArray] | None:
        """Where every node is shown now, to be handed to `start` after a change; None where it is not worth it."""
        if not self.enabled or mirror.size > MOST_MOVING:
            return None
        ids: Ids = np.arange(mirror.size, dtype=np.int64)
        left, middle = geometry.left(ids), geometry.middle(ids)
        x, y = self.shifts()
        if x is not None and y is not None:
            left, middle = left + x[: len(ids)], middle + y[: len(ids)]
        return left, middle

    def start(
        self,
        before: tuple[FloatArray, FloatArray] | None,
        mirror: TreeMirror,
        geometry: TreeGeometry,
        appeared: frozenset[int],
    ) -> None:
        """Move from ``before`` to where the nodes belong now; nodes that ``appeared`` come from their parents."""
        if before is None:
            self.stop()
            return
        ids: Ids = np.arange(mirror.size, dtype=np.int64)
        left, middle = geometry.left(ids), geometry.middle(ids)
        from_x, from_y = left.copy(), middle.copy()
        known = min(len(before[0]), len(ids))
        from_x[:known], from_y[:known] = before[0][:known], before[1][:known]
        for node_id in sorted(appeared):
            parent = int(mirror.parent[node_id])
            from_x[node_id], from_y[node_id] = from_x[parent], from_y[parent]
        self._shift_x, self._shift_y = from_x - left, from_y - middle
        self._left_over = 1.0
        self._animation.stop()
        self._animation.start()

    def stop(self) -> None:
        """Everything is where it belongs."""
        self._animation.stop()
        self._shift_x = self._shift_y = None
        self.moved.emit()

    def _step(self, left_over: float) -> None:
        self._left_over = left_over
        self.moved.emit()
