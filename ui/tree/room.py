"""Who stands where in a picture, so that no text is written over another."""

from __future__ import annotations

from bisect import bisect_left

from PySide6.QtCore import QRectF

_BAND = 2.0

Spans = dict[int, list[tuple[float, float]]]
"""By band: what is taken, in order and without overlaps."""


class Room:
    """Claimed areas, kept in bands of a few px: a picture of any size costs only what stands in it.

    Wide areas are kept by rows, tall ones by columns, so that neither takes many bands.
    """

    def __init__(self) -> None:
        self._rows: Spans = {}
        self._columns: Spans = {}

    def claim(self, left: float, top: float, right: float, bottom: float) -> None:
        """Take an area, whoever is there."""
        if right - left >= bottom - top:
            _keep(self._rows, top, bottom, (left, right))
        else:
            _keep(self._columns, left, right, (top, bottom))

    def is_free(self, left: float, top: float, right: float, bottom: float) -> bool:
        """Whether nobody stands in an area. Areas are rounded up to whole bands, so close neighbours count as in it."""
        return not (_meets(self._rows, top, bottom, left, right) or _meets(self._columns, left, right, top, bottom))

    def take(self, area: QRectF) -> bool:
        """Claim an area if it is free."""
        edges = area.left(), area.top(), area.right(), area.bottom()
        if not self.is_free(*edges):
            return False
        self.claim(*edges)
        return True


def _bands(start: float, stop: float) -> range:
    return range(int(start // _BAND), int(stop // _BAND) + 1)


def _keep(spans: Spans, start: float, stop: float, span: tuple[float, float]) -> None:
    for band in _bands(start, stop):
        found = spans.setdefault(band, [])
        low, high = span
        first = bisect_left(found, (low, low))
        if first and found[first - 1][1] >= low:
            first -= 1
        last = first
        while last < len(found) and found[last][0] <= high:
            low, high = min(low, found[last][0]), max(high, found[last][1])
            last += 1
        found[first:last] = [(low, high)]


def _meets(spans: Spans, start: float, stop: float, low: float, high: float) -> bool:
    """Whether a span in the bands of ``start`` .. ``stop`` meets ``low`` .. ``high``."""
    if not spans:
        return False
    for band in _bands(start, stop):
        found = spans.get(band)
        if found:
            before = bisect_left(found, (high, high)) - 1
            if before >= 0 and found[before][1] > low:
                return True
    return False
