"""A tidy tree: subtrees slide together as far as their outlines allow, every parent over the middle of its children.

Reingold and Tilford's aesthetic in Buchheim's linear time, for boxes of any length along the tree: A. van der Ploeg,
"Drawing non-layered tidy trees in linear time", Software: Practice and Experience 44(12), 2014. Iterative, over flat
lists; names follow the paper. A hundred thousand boxes take some tenths of a second, so the work is a generator that
may be laid down at any time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ui.tree.arrays import FloatArray, IntArray

_STRIDE = 128  # parents between two chances to lay the work down
_NONE = -1


class TidyLayout:
    """The rows of boxes. Run `steps` to its end; then ``rows`` (float64[n], from 0 on) is there.

    Box 0 is the root; ``parent[i] < i`` for all others. ``order`` names the others, grouped by parent and in order
    among siblings. ``bottom[i]`` is the last level that box i reaches; it begins right below its parent's bottom.
    Boxes that share a level stand at least one row apart.
    """

    def __init__(self, parent: IntArray, order: IntArray, bottom: IntArray) -> None:
        count = len(parent)
        self.rows: FloatArray = np.zeros(count)
        self._order: list[int] = order.tolist()
        self._bottom: list[int] = bottom.tolist()
        sizes = np.bincount(parent[1:], minlength=count)
        first = np.zeros(count, dtype=np.int64)
        grouped = parent[order]
        if count > 1:
            starts = np.flatnonzero(np.concatenate(([True], grouped[1:] != grouped[:-1])))
            first[grouped[starts]] = starts
        self._sizes: list[int] = sizes.tolist()
        self._first: list[int] = first.tolist()
        self._prelim = [0.0] * count
        self._mod = [0.0] * count
        self._shift = [0.0] * count
        self._change = [0.0] * count
        self._threads = [_NONE] * count, [_NONE] * count
        # The lowest boxes on the left and on the right outline of each subtree, and the sums of mod down to them.
        self._extreme = list(range(count)), list(range(count))
        self._extreme_mod = [0.0] * count, [0.0] * count

    def steps(self) -> Iterator[None]:
        """Place all boxes, with a pause now and then."""
        sizes = self._sizes
        for waited, box in enumerate(range(len(sizes) - 1, -1, -1)):
            if sizes[box]:
                self._place_children(box)
            if waited % _STRIDE == 0:
                yield
        yield from self._sum_down()

    def run(self) -> FloatArray:
        """All steps at once."""
        for _ in self.steps():
            pass
        return self.rows

    def _place_children(self, box: int) -> None:
        """The children of a box beside each other, the box over their middle."""
        prelim, mod = self._prelim, self._mod
        first, size = self._first[box], self._sizes[box]
        children = self._order[first : first + size]
        head, last = children[0], children[-1]
        if size > 1:
            lowest = [(self._bottom[self._extreme[0][head]], 0)]
            for place in range(1, size):
                reach = self._bottom[self._extreme[1][children[place]]]
                self._part(children, place, lowest)
                while lowest and reach >= lowest[-1][0]:
                    lowest.pop()
                lowest.append((reach, place))
        prelim[box] = (prelim[head] + mod[head] + mod[last] + prelim[last]) / 2
        for side, child in ((0, head), (1, last)):
            self._extreme[side][box] = self._extreme[side][child]
            self._extreme_mod[side][box] = self._extreme_mod[side][child]

    def _part(self, children: list[int], place: int, lowest: list[tuple[int, int]]) -> None:
        """Move one child to the right until its left outline is clear of the right outline of those before it.

        ``lowest`` tells which sibling an outline belongs to: pairs of the level down to which, and the place of, the
        sibling that is seen from the right there, the nearest last.
        """
        sizes, first, order, bottom = self._sizes, self._first, self._order, self._bottom
        prelim, mod = self._prelim, self._mod
        left_threads, right_threads = self._threads
        right, left = children[place - 1], children[place]
        right_sum, left_sum = mod[right], mod[left]
        right_end, left_end = bottom[right], bottom[left]
        at = len(lowest) - 1
        first_pair = True
        while True:
            gap = right_sum + prelim[right] + 1.0 - left_sum - prelim[left]
            if gap > 0 or first_pair:  # the first pair sets the distance, which may be less than it happens to be
                first_pair = False
                while right_end > lowest[at][0]:
                    at -= 1
                left_sum += gap
                self._move(children, place, lowest[at][1], gap)
            down_right, down_left = right_end <= left_end, right_end >= left_end
            if down_right:
                size = sizes[right]
                right = order[first[right] + size - 1] if size else right_threads[right]
                if right >= 0:
                    right_sum += mod[right]
                    right_end = bottom[right]
            if down_left:
                left = order[first[left]] if sizes[left] else left_threads[left]
                if left >= 0:
                    left_sum += mod[left]
                    left_end = bottom[left]
            if right < 0 or left < 0:
                break
        if left >= 0:
            self._thread(0, children[0], children[place], left, left_sum)
        elif right >= 0:
            self._thread(1, children[place], children[place - 1], right, right_sum)

    def _move(self, children: list[int], place: int, source: int, by: float) -> None:
        """Move the child at ``place`` away from the one at ``source``; those between share the room later."""
        child = children[place]
        self._mod[child] += by
        self._extreme_mod[0][child] += by
        self._extreme_mod[1][child] += by
        between = place - source
        if between > 1:
            self._shift[children[source + 1]] += by / between
            self._shift[child] -= by / between
            self._change[child] -= by - by / between

    def _thread(self, side: int, short: int, long: int, goes_on: int, mod_sum: float) -> None:
        """Let the outline of the shorter subtree go on with that of the longer one."""
        end = self._extreme[side][short]
        self._threads[side][end] = goes_on
        difference = mod_sum - self._mod[goes_on] - self._extreme_mod[side][short]
        self._mod[end] += difference
        self._prelim[end] -= difference
        self._extreme[side][short] = self._extreme[side][long]
        self._extreme_mod[side][short] = self._extreme_mod[side][long]

    def _sum_down(self) -> Iterator[None]:
        sizes, first, order = self._sizes, self._first, self._order
        mod, shift, change = self._mod, self._shift, self._change
        sums = [0.0] * len(sizes)
        sums[0] = mod[0]
        for box, size in enumerate(sizes):
            if size:
                base, moved, delta = sums[box], 0.0, 0.0
                for child in order[first[box] : first[box] + size]:
                    moved += shift[child]
                    delta += moved + change[child]
                    sums[child] = base + mod[child] + delta
            if box % (16 * _STRIDE) == 0:
                yield
        rows = np.array(self._prelim) + np.array(sums)
        self.rows = rows - rows.min()


def tidy_rows(parent: IntArray, order: IntArray, bottom: IntArray) -> FloatArray:
    """The rows of boxes, float64[n]; see `TidyLayout`."""
    return TidyLayout(parent, order, bottom).run()
