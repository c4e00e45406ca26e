"""Boxes that slide from where they were to where they belong, so that the eye can follow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation, Signal

from ui.tree.arrays import FloatArray, Ids
from ui.tree.geometry import Plan, TreeGeometry
from ui.tree.mirror import TreeMirror

DURATION_MS = 120
MOST_MOVING = 4000

Places = tuple[FloatArray, FloatArray]
"""Along and across the tree by node id, px at scale 1; NaN for what is not shown."""


class Motion(QObject):
    """Displacements of the nodes that fade to nothing within `DURATION_MS`."""

    moved = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.enabled = True
        self._shift: Places | None = None
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
        return self._shift is not None

    def moved_plan(self, plan: Plan) -> Plan:
        """The plan with every box where it is on its way now."""
        if self._shift is None:
            return plan
        along, across = (shift[plan.heads] * self._left_over for shift in self._shift)
        return replace(plan, along=plan.along + along, across=plan.across + across)

    def places(self, mirror: TreeMirror, geometry: TreeGeometry) -> Places | None:
        """Where every node is shown now, to be handed to `start` after a change; None where it is not worth it."""
        if not self.enabled or mirror.size > MOST_MOVING:
            return None
        along, across = geometry.places(np.arange(mirror.size, dtype=np.int64))
        if self._shift is not None:
            known = min(len(along), len(self._shift[0]))
            along[:known] += self._shift[0][:known] * self._left_over
            across[:known] += self._shift[1][:known] * self._left_over
        return along, across

    def start(self, before: Places | None, mirror: TreeMirror, geometry: TreeGeometry) -> None:
        """Move from ``before`` to where the nodes belong now; nodes that come into sight come from their parents."""
        if before is None:
            self.stop()
            return
        ids: Ids = np.arange(mirror.size, dtype=np.int64)
        along, across = geometry.places(ids)
        from_along, from_across = np.full(len(ids), np.nan), np.full(len(ids), np.nan)
        known = min(len(before[0]), len(ids))
        from_along[:known], from_across[:known] = before[0][:known], before[1][:known]
        for node_id in np.flatnonzero(np.isnan(from_along) & ~np.isnan(along)).tolist():
            parent = int(mirror.parent[node_id])
            from_along[node_id], from_across[node_id] = from_along[parent], from_across[parent]
        shift = np.nan_to_num(from_along - along), np.nan_to_num(from_across - across)
        if not (shift[0].any() or shift[1].any()):
            self.stop()
            return
        self._shift = shift
        self._left_over = 1.0
        self._animation.stop()
        self._animation.start()

    def stop(self) -> None:
        """Everything is where it belongs."""
        self.drop()
        self.moved.emit()

    def drop(self) -> None:
        """Forget a motion under way without a word: the picture it belonged to is about to become another one."""
        self._animation.stop()
        self._shift = None

    def _step(self, left_over: float) -> None:
        self._left_over = left_over
        self.moved.emit()
