"""The small picture of a tree in the list: its shape alone, painted outside the GUI thread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

SIDE = 44
"""Width and height in logical pixels."""
MOST_NODES = 400
_MARGIN = 3.0
_FEW = 40  # up to so many nodes are dots as well


def places(parents: Sequence[int] | NDArray[np.int32]) -> NDArray[np.float64]:
    """Where nodes lie, float64[n, 2] in 0..1: depth to the right, ends one below the other in order of their parents.

    ``parents`` as `Library.outline` gives them: the place of each node's parent, before its own.
    """
    parent_of = [int(parent) for parent in parents]
    count = len(parent_of)
    depth = [0] * count
    children: list[list[int]] = [[] for _ in range(count)]
    for node in range(1, count):
        depth[node] = depth[parent_of[node]] + 1
        children[parent_of[node]].append(node)
    height = [0.0] * count
    ends = 0
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if children[node]:
            waiting.extend(reversed(children[node]))
        else:
            height[node] = float(ends)
            ends += 1
    for node in range(count - 1, -1, -1):
        if children[node]:
            height[node] = (height[children[node][0]] + height[children[node][-1]]) / 2
    found = np.empty((count, 2))
    found[:, 0] = np.array(depth) / max(1, max(depth))
    found[:, 1] = np.array(height) / (ends - 1) if ends > 1 else 0.5
    return found


def paint_outline(parents: NDArray[np.int32], ink: str, ratio: float) -> QImage:
    """A picture of `SIDE` logical pixels at a device pixel ratio, on nothing; ``ink`` is ``#rrggbb``."""
    pixels = round(SIDE * ratio)
    image = QImage(pixels, pixels, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    if len(parents) < 2:
        return image
    points = [QPointF(x, y) for x, y in _MARGIN + places(parents) * (SIDE - 2 * _MARGIN)]
    lines = [QLineF(points[int(parents[node])], points[node]) for node in range(1, len(points))]
    few = len(points) <= _FEW
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    colour = QColor(ink)
    colour.setAlphaF(0.9 if few else 0.55)
    painter.setPen(QPen(colour, 1.2 if few else 0.8))
    painter.drawLines(lines)
    if few:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ink))
        for point in points:
            painter.drawEllipse(point, 1.8, 1.8)
    painter.end()
    return image
