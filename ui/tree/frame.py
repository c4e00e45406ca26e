"""What the painters of the canvas share: one picture's worth of state, and the questions they ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from PySide6.QtCore import QPointF, QRectF

from explorer.caching import cached_property
from ui.format import LogUnit
from ui.theme import Colours
from ui.tree.arrays import FloatArray, Ids
from ui.tree.boxes import Segment
from ui.tree.camera import Camera
from ui.tree.colours import NodeColours
from ui.tree.geometry import Plan
from ui.tree.labels import TokenLabels
from ui.tree.mirror import NO_NODE, TreeMirror
from ui.tree.options import TreeViewOptions
from ui.tree.outline import Outline
from ui.tree.overlay import Mark, TreeOverlay
from ui.tree.reading import Reading
from ui.tree.sight import Sight

MOST_EDGES = 700
MOST_LABELS = 500
MOST_FIGURES = 350
LEAST_DOT_SCALE = 0.2  # where nothing else limits what is shown
LEAST_LABEL_SCALE = 0.6
LEAST_FIGURE_SCALE = 0.7
REACH = 4.0  # px beside a node that still count as on it


class Level(IntEnum):
    """How much of a node is shown: the more, the nearer."""

    DOTS = 0
    BOXES = 1
    LABELS = 2
    FIGURES = 3


@dataclass(eq=False)
class Frame:
    """One picture of the tree. Boxes below are indices into ``plan``.

    ``limited``: whether what is shown of a node hangs on how many are in sight, as on a screen, or on the scale alone;
    ``least_level`` and ``most_level`` bound it.
    """

    mirror: TreeMirror
    outline: Outline
    sight: Sight
    segments_of: Callable[[int], list[Segment]]
    options: TreeViewOptions
    reading: Reading
    node_colours: NodeColours
    colours: Colours
    labels: TokenLabels
    current: int
    hovered: int
    stop_of: Callable[[int], str | None]
    overlay: TreeOverlay
    annotations: Mapping[int, tuple[bool, str]]
    unit: LogUnit
    limited: bool = True
    least_level: Level = Level.DOTS
    most_level: Level = Level.FIGURES

    @property
    def prompt_label(self) -> str:
        return self.labels.prompt

    def label_of(self, token_id: int) -> str:
        """The label of a token."""
        return self.labels.of(token_id)

    # --- places on the screen ----------------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        return self.sight.plan

    @property
    def camera(self) -> Camera:
        return self.sight.camera

    @property
    def down(self) -> bool:
        """Whether the tree grows downwards; else to the right."""
        return self.sight.down

    @property
    def edges(self) -> Ids:
        """Boxes of which the edge or the box itself may be in sight."""
        return self.sight.edges

    @property
    def boxes(self) -> Ids:
        """Boxes that may be in sight."""
        return self.sight.boxes

    def along(self, values: FloatArray) -> FloatArray:
        """Places along the tree on the screen."""
        return self.sight.along(values)

    def across(self, values: FloatArray) -> FloatArray:
        return self.sight.across(values)

    def point(self, along: float, across: float) -> QPointF:
        """A place on the screen from its two coordinates there."""
        return self.sight.point(along, across)

    @cached_property
    def level(self) -> Level:
        """How much of each node is shown: by scale, and by how many are in sight."""
        scale = self.camera.scale
        edges, boxes = (len(self.edges), len(self.boxes)) if self.limited else (0, 0)
        level = Level.FIGURES
        if edges > MOST_EDGES or (not self.limited and scale < LEAST_DOT_SCALE):
            level = Level.DOTS
        elif scale < LEAST_LABEL_SCALE or boxes > MOST_LABELS:
            level = Level.BOXES
        elif scale < LEAST_FIGURE_SCALE or boxes > MOST_FIGURES:
            level = Level.LABELS
        level = min(self.most_level, max(self.least_level, level))
        return level if self.options.labels else min(level, Level.BOXES)

    @property
    def with_text(self) -> bool:
        return self.level >= Level.LABELS

    @property
    def text_scale(self) -> float:
        """The scale of boxes that carry text, equal in both directions."""
        return self.camera.scale

    def rects(self, boxes: Ids) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Left, top, width and height of boxes on the screen."""
        plan = self.plan
        along, across = self.along(plan.along[boxes]), self.across(plan.across[boxes])
        if self.with_text:
            length, breadth = plan.length[boxes] * self.text_scale, plan.breadth[boxes] * self.text_scale
        else:
            length = np.maximum(3.0, plan.length[boxes] * self.sight.along_scale)
            breadth = np.maximum(3.0, plan.breadth[boxes] * self.sight.across_scale * 0.8)
        if self.down:
            return across - breadth / 2, along, breadth, length
        return along, across - breadth / 2, length, breadth

    def rect_of_box(self, head: int) -> QRectF:
        box = int(self.plan.index[head])
        left, top, width, height = (float(v[0]) for v in self.rects(np.array([box], dtype=np.int64)))
        return QRectF(left, top, width, height)

    def rect_of(self, node_id: int) -> QRectF:
        """Where a node is on the screen: its box, or its part of a phrase's box. What is not shown is where its nearest
        shown ancestor is; nowhere (a null rectangle) outside the picture."""
        shown = self.outline.shown_ancestor(node_id)
        if shown is None:
            return QRectF()
        head = int(self.outline.head[shown])
        rect = self.rect_of_box(head)
        if self.outline.tail[head] == head:
            return rect
        segment = next(segment for segment in self.segments_of(head) if shown in segment.nodes)
        return self.part_of(head, rect, segment, segment.nodes.index(shown))

    def tokens_in(self, heads: list[int]) -> Ids:
        """The tokens that stand in some boxes, but for those that an ellipsis stands for."""
        tails = self.outline.tail
        single = [head for head in heads if tails[head] == head]
        phrases = [self.segments_of(head) for head in heads if tails[head] != head]
        written = [segment.nodes[0] for segments in phrases for segment in segments if not segment.elided]
        return np.array(single + written, dtype=np.int64)

    def part_of(self, head: int, rect: QRectF, segment: Segment, place: int | None = None) -> QRectF:
        """Where a segment of a box is on the screen, ``rect`` being where the box is. ``place`` narrows it down to one
        of the nodes that an ellipsis stands for."""
        return self._part(rect, self._shrunk(head, rect), segment, place)

    def _part(self, rect: QRectF, scales: tuple[float, float], segment: Segment, place: int | None) -> QRectF:
        across, along = scales
        part = QRectF(
            rect.left() + segment.left * across,
            rect.top() + segment.top * along,
            segment.width * across,
            segment.height * along,
        )
        if place is None or not segment.elided:
            return part
        share = 1 / len(segment.nodes)
        if self.down:
            return QRectF(part.left(), part.top() + place * share * part.height(), part.width(), share * part.height())
        return QRectF(part.left() + place * share * part.width(), part.top(), share * part.width(), part.height())

    def _shrunk(self, head: int, rect: QRectF) -> tuple[float, float]:
        """The scales of a box on the screen, left to right and top to bottom."""
        box = int(self.plan.index[head])
        length, breadth = float(self.plan.length[box]), float(self.plan.breadth[box])
        width, height = (breadth, length) if self.down else (length, breadth)
        return rect.width() / width, rect.height() / height

    def node_at(self, position: QPointF) -> int:
        """The node at a place on the screen, -1 where there is none; small nodes are easier to hit than they look."""
        boxes = self.boxes
        left, top, width, height = self.rects(boxes)
        slack = max(0.0, (2 * REACH - (float(height.min()) if len(boxes) else 0.0)) / 2)
        off_x = np.maximum(0.0, np.maximum(left - position.x(), position.x() - left - width))
        off_y = np.maximum(0.0, np.maximum(top - position.y(), position.y() - top - height))
        near = np.flatnonzero((off_y <= slack + 1) & (off_x <= REACH))
        if not len(near):
            return NO_NODE
        middle = np.abs(top + height / 2 - position.y())
        best = near[np.lexsort((middle[near], off_x[near] + off_y[near]))[0]]
        head = int(self.plan.heads[boxes[best]])
        rect = QRectF(float(left[best]), float(top[best]), float(width[best]), float(height[best]))
        return self._token_at(head, rect, position)

    def _token_at(self, head: int, rect: QRectF, position: QPointF) -> int:
        """The token of a phrase under the pointer; in the ellipsis of a long one, about as far in as the pointer is."""
        if self.outline.tail[head] == head:
            return head
        across, along = self._shrunk(head, rect)
        at = (position.y() - rect.top()) / along if self.down else (position.x() - rect.left()) / across
        segments = self.segments_of(head)
        for segment in segments:
            start, size = (segment.top, segment.height) if self.down else (segment.left, segment.width)
            if at < start + size:
                place = int(max(0.0, at - start) / size * len(segment.nodes))
                return segment.nodes[min(place, len(segment.nodes) - 1)]
        return segments[-1].nodes[-1]

    def node_count(self, boxes: Ids) -> int:
        """How many nodes stand in some boxes."""
        heads, depth = self.plan.heads[boxes], self.mirror.depth
        return int((depth[self.outline.tail[heads]] - depth[heads] + 1).sum())

    def node_places(self, boxes: Ids) -> Iterator[tuple[int, float, float, float, float]]:
        """Every node of some boxes with its left, top, width and height on the screen."""
        heads = self.plan.heads[boxes]
        columns = (heads, self.outline.tail[heads], *self.rects(boxes))
        for head, tail, *sides in zip(*(values.tolist() for values in columns), strict=True):
            if tail == head:
                yield (head, *sides)
                continue
            rect = QRectF(*sides)
            scales = self._shrunk(head, rect)
            for segment in self.segments_of(head):
                for place, node_id in enumerate(segment.nodes):
                    part = self._part(rect, scales, segment, place)
                    yield node_id, part.x(), part.y(), part.width(), part.height()

    # --- what stands out ---------------------------------------------------------------------------------------------

    @cached_property
    def current_path(self) -> list[int]:
        """Shown nodes from the top to the current node, or as far as they are shown."""
        return self._path(self.current)

    @cached_property
    def hovered_path(self) -> list[int]:
        return self._path(self.hovered) if self.hovered != NO_NODE else []

    def _path(self, node_id: int) -> list[int]:
        shown = self.outline.shown_ancestor(node_id) if node_id in self.mirror else None
        if shown is None:
            return []
        path = [shown]
        while shown != self.outline.top:
            shown = int(self.mirror.parent[shown])
            path.append(shown)
        path.reverse()
        return path

    @cached_property
    def current_heads(self) -> frozenset[int]:
        """The boxes of the current path."""
        return frozenset(self.outline.head[self.current_path].tolist())

    def mark_of(self, head: int) -> Mark | None:
        """The mark of a box: all its nodes have the same."""
        return self.overlay.marks.get(head)
