"""What the painters of the canvas share: one frame's worth of state, and the questions they ask of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont

from explorer.tree import ROOT
from ui.text.token_label import LabelPainter
from ui.theme import Colours, MapName, map_colour
from ui.tree.geometry import BOX_HEIGHT, Camera, Ids, TreeGeometry
from ui.tree.layout import FloatArray
from ui.tree.mirror import NO_NODE, TreeMirror

MOST_DETAILED = 1500
LEAST_TEXT_SCALE = 0.5
LEAST_BOX_SCALE = 0.2
REACH = 4.0  # px beside a node that still count as on it


@dataclass(eq=False)
class Frame:
    """One picture of the tree."""

    mirror: TreeMirror
    geometry: TreeGeometry
    camera: Camera
    colours: Colours
    map_name: MapName
    font: QFont
    labels: LabelPainter
    label_of: Callable[[int], str]
    is_special: Callable[[int], bool]
    prompt_label: str
    current: int
    hovered: int
    stop_of: Callable[[int], str | None]
    shift_x: FloatArray | None = None
    shift_y: FloatArray | None = None

    def x(self, ids: Ids) -> FloatArray:
        """Left edges on the screen, moving nodes where they are now."""
        left = self.geometry.left(ids)
        return self.camera.x(left if self.shift_x is None else left + self.shift_x[ids])

    def y(self, ids: Ids) -> FloatArray:
        """Middles on the screen."""
        middle = self.geometry.middle(ids)
        return self.camera.y(middle if self.shift_y is None else middle + self.shift_y[ids])

    def right(self, ids: Ids) -> FloatArray:
        return self.x(ids) + self.geometry.width(ids) * self.camera.scale_x

    @cached_property
    def edge_ids(self) -> Ids:
        """Nodes whose edge, or whose box, may be in sight; the root only if its box is."""
        ids = self.mirror.ids()
        parents = self.mirror.parent[ids].astype(np.int64)
        top, bottom = self.y(ids), self.y(parents)
        top, bottom = np.minimum(top, bottom), np.maximum(top, bottom)
        half = BOX_HEIGHT * self.camera.scale_y + 20
        width, height = self.camera.view.width(), self.camera.view.height()
        seen = (bottom > -half) & (top < height + half)
        seen &= (self.x(parents) < width) & (self.right(ids) + 160 > 0)
        return ids[seen]

    @cached_property
    def box_ids(self) -> Ids:
        """Nodes whose box may be in sight."""
        ids = self.edge_ids
        x, y = self.x(ids), self.y(ids)
        half = BOX_HEIGHT * self.camera.scale_y + 20
        width, height = self.camera.view.width(), self.camera.view.height()
        return ids[(y > -half) & (y < height + half) & (x < width) & (self.right(ids) + 160 > 0)]

    @cached_property
    def detailed(self) -> bool:
        """Whether nodes are drawn as boxes; else as the pixels of an overview."""
        return self.camera.scale >= LEAST_BOX_SCALE and len(self.edge_ids) <= MOST_DETAILED

    @cached_property
    def with_text(self) -> bool:
        return self.detailed and self.camera.scale >= LEAST_TEXT_SCALE

    @cached_property
    def current_path(self) -> list[int]:
        return self.mirror.path(self.current) if self.current in self.mirror else [ROOT]

    @cached_property
    def hovered_path(self) -> list[int]:
        return self.mirror.path(self.hovered) if self.hovered != NO_NODE and self.hovered in self.mirror else []

    @cached_property
    def current_set(self) -> frozenset[int]:
        return frozenset(self.current_path)

    @cached_property
    def hovered_set(self) -> frozenset[int]:
        return frozenset(self.hovered_path)

    def colour_at(self, probability: float) -> QColor:
        """The colour of a model probability."""
        return map_colour(self.map_name, self.colours, probability)

    def colour_of(self, node_id: int) -> QColor:
        """The colour of a node and its edge."""
        return self.colour_at(float(self.mirror.model_prob[node_id]))

    def rect_of(self, node_id: int) -> QRectF:
        """Where a node's box is on the screen."""
        ids = np.array([node_id], dtype=np.int64)
        left, middle, right = float(self.x(ids)[0]), float(self.y(ids)[0]), float(self.right(ids)[0])
        height = BOX_HEIGHT * (self.camera.scale if self.with_text else self.camera.scale_y)
        return QRectF(left, middle - height / 2, right - left, height)

    def node_at(self, position: QPointF) -> int:
        """The node at a place on the screen, -1 where there is none; small nodes are easier to hit than they look."""
        ids = self.box_ids
        reach = max(REACH, BOX_HEIGHT * self.camera.scale_y / 2)
        off_y = np.abs(self.y(ids) - position.y())
        left, right = self.x(ids), self.right(ids)
        off_x = np.maximum(0.0, np.maximum(left - position.x(), position.x() - right))
        near = np.flatnonzero((off_y <= reach) & (off_x <= REACH))
        return int(ids[near[np.lexsort((off_x[near], off_y[near]))[0]]]) if len(near) else NO_NODE
