"""How large boxes are, and where in a box each of its tokens stands; px at scale 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.tree import ROOT
from ui.tree.arrays import FloatArray, Ids
from ui.tree.options import Orientation
from ui.tree.outline import Outline

BOX_HEIGHT = 24.0
BOX_PADDING = 10.0
LEAST_BOX, MOST_BOX = 36.0, 168.0
MOST_BOX_DOWN = 128.0
MOST_PROMPT = 200.0
SEGMENT_PADDING = 4.0  # on both sides of a token in a phrase
LEAST_SEGMENT = 28.0  # so that its probability has room below it
PHRASE_PADDING = 5.0
MOST_PHRASE = 480.0
ELLIPSIS_WIDTH = 26.0  # what stands for the middle of a long phrase
HEAD_SHARE = 0.6  # of the room in a long phrase, for its beginning
LINE_HEIGHT = 20.0  # of a token in a phrase that runs down
MOST_LINES, HEAD_LINES = 9, 5
COUNT_LINE = 16.0


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of a box that stands for a token, or for the ``nodes`` in the middle of a long phrase: an ellipsis.
    Place and size relative to the left top corner of the box."""

    nodes: tuple[int, ...]
    left: float
    top: float
    width: float
    height: float

    @property
    def elided(self) -> bool:
        return len(self.nodes) > 1


def count_width(count: int) -> float:
    """The room for the number of tokens of a phrase."""
    return 14.0 + 7.0 * len(str(count))


class BoxSizes:
    """``width`` and ``height`` of boxes by head, float64[capacity]; what is no head has sizes that mean nothing.

    ``measure`` gives the width of a token's label in px at scale 1; it is asked once for every token id.
    """

    def __init__(
        self, outline: Outline, measure: Callable[[int], float], prompt_width: float, orientation: Orientation
    ) -> None:
        self._outline = outline
        self._measure = measure
        self._prompt_width = prompt_width
        self._down = orientation == "down"
        self._most_box = MOST_BOX_DOWN if self._down else MOST_BOX
        self.width: FloatArray = np.zeros(0)
        self.height: FloatArray = np.zeros(0)
        self._label: FloatArray = np.zeros(0)  # widths of labels by node id
        self._measured = 0  # ids below have theirs
        self.rebuild()

    def rebuild(self) -> None:
        """Measure everything anew."""
        mirror, outline = self._outline.mirror, self._outline
        size, capacity = mirror.size, len(mirror.parent)
        tokens, places = np.unique(mirror.token[1:size], return_inverse=True)
        measured = np.array([self._measure(int(token)) for token in tokens])
        self._label = np.zeros(capacity)
        self._label[1:size] = measured[places] if size > 1 else 0.0
        self._measured = size
        heads = outline.heads()
        self.width, self.height = np.zeros(capacity), np.full(capacity, BOX_HEIGHT)
        self.width[heads] = self._single_width(self._label[heads])
        counts = mirror.depth[outline.tail[heads]] - mirror.depth[heads] + 1
        long = counts > 1
        self._size_phrases(heads[long], counts[long].astype(np.int64))
        if outline.top == ROOT:
            self.width[ROOT] = self._prompt_box()

    def update(self, changed: Sequence[int]) -> None:
        """Measure only these boxes, and nodes that are new."""
        self._reserve()
        mirror, outline = self._outline.mirror, self._outline
        for node_id in range(self._measured, mirror.size):
            self._label[node_id] = self._measure(int(mirror.token[node_id]))
        self._measured = mirror.size
        for head in changed:
            count = int(mirror.depth[outline.tail[head]] - mirror.depth[head]) + 1
            if count > 1:
                self._size_phrases(np.array([head], dtype=np.int64), np.array([count], dtype=np.int64))
            else:
                self.height[head] = BOX_HEIGHT
                self.width[head] = float(self._single_width(self._label[head : head + 1])[0])
        if outline.top == ROOT:
            self.width[ROOT] = self._prompt_box()

    def segments(self, head: int) -> list[Segment]:
        """What stands in a box, from its beginning to its end."""
        outline = self._outline
        width, height = float(self.width[head]), float(self.height[head])
        if outline.tail[head] == head:
            return [Segment((head,), 0.0, 0.0, width, height)]
        nodes = outline.members(head)
        if self._down:
            return self._lines(nodes, width)
        return self._row(nodes, width - 2 * PHRASE_PADDING - count_width(len(nodes)))

    # --- sizes -------------------------------------------------------------------------------------------------------

    def _prompt_box(self) -> float:
        most = MOST_BOX_DOWN if self._down else MOST_PROMPT
        return max(LEAST_BOX, min(most, self._prompt_width + 2 * BOX_PADDING))

    def _single_width(self, labels: FloatArray) -> FloatArray:
        widths: FloatArray = np.clip(labels + 2 * BOX_PADDING, LEAST_BOX, self._most_box)
        return widths

    def _segment_width(self, labels: FloatArray) -> FloatArray:
        widths: FloatArray = np.clip(labels, LEAST_SEGMENT, self._most_box) + 2 * SEGMENT_PADDING
        return widths

    def _size_phrases(self, heads: Ids, counts: Ids) -> None:
        outline = self._outline
        if not len(heads):
            return
        if self._down:
            lines = np.minimum(counts, MOST_LINES)
            self.height[heads] = lines * LINE_HEIGHT + COUNT_LINE + 2 * PHRASE_PADDING
            widest = np.zeros(len(self.width))
            members = self._members_of(heads)
            np.maximum.at(widest, outline.head[members], self._label[members])
            self.width[heads] = self._single_width(widest[heads])
            return
        members = self._members_of(heads)
        sums = np.bincount(
            outline.head[members], weights=self._segment_width(self._label[members]), minlength=len(self.width)
        )
        room = 14.0 + 7.0 * (np.floor(np.log10(counts)) + 1)
        self.height[heads] = BOX_HEIGHT
        self.width[heads] = np.minimum(MOST_PHRASE, sums[heads] + 2 * PHRASE_PADDING + room)

    def _members_of(self, heads: Ids) -> Ids:
        """The nodes of some boxes; of all of them where they are many."""
        if len(heads) == 1:
            return np.flatnonzero(self._outline.head == heads[0])
        return np.flatnonzero(self._outline.head >= 0)

    # --- segments ----------------------------------------------------------------------------------------------------

    def _row(self, nodes: list[int], room: float) -> list[Segment]:
        widths = self._segment_width(self._label[nodes]).tolist()
        front, back = len(nodes), 0
        if sum(widths) > room + 0.5:
            front = min(_fitting(widths, HEAD_SHARE * (room - ELLIPSIS_WIDTH)), len(nodes) - 2)
            left_over = room - ELLIPSIS_WIDTH - sum(widths[:front])
            back = max(0, min(_fitting(widths[front:][::-1], left_over), len(nodes) - front - 2))
        segments, left = [], PHRASE_PADDING
        for node_id, width in zip(nodes[:front], widths[:front], strict=True):
            segments.append(Segment((node_id,), left, 0.0, width, BOX_HEIGHT))
            left += width
        if front < len(nodes):
            end = PHRASE_PADDING + room - sum(widths[len(nodes) - back :])
            segments.append(Segment(tuple(nodes[front : len(nodes) - back]), left, 0.0, end - left, BOX_HEIGHT))
            left = end
            for node_id, width in zip(nodes[len(nodes) - back :], widths[len(nodes) - back :], strict=True):
                segments.append(Segment((node_id,), left, 0.0, width, BOX_HEIGHT))
                left += width
        return segments

    def _lines(self, nodes: list[int], width: float) -> list[Segment]:
        groups: list[tuple[int, ...]] = [(node_id,) for node_id in nodes]
        if len(nodes) > MOST_LINES:
            back = len(nodes) - (MOST_LINES - HEAD_LINES - 1)
            groups = [*groups[:HEAD_LINES], tuple(nodes[HEAD_LINES:back]), *groups[back:]]
        return [
            Segment(group, 0.0, PHRASE_PADDING + place * LINE_HEIGHT, width, LINE_HEIGHT)
            for place, group in enumerate(groups)
        ]

    def _reserve(self) -> None:
        missing = len(self._outline.mirror.parent) - len(self.width)
        if missing > 0:
            self.width = np.concatenate((self.width, np.zeros(missing)))
            self.height = np.concatenate((self.height, np.full(missing, BOX_HEIGHT)))
            self._label = np.concatenate((self._label, np.zeros(missing)))


def _fitting(widths: list[float], room: float) -> int:
    """How many of these fit one after the other."""
    for place, width in enumerate(widths):
        room -= width
        if room < 0:
            return place
    return len(widths)
