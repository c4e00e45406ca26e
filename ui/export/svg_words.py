"""Numbers, texts and shapes in the words of SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QPainterPath, QPolygonF

# What XML 1.0 has no way to write, halves of surrogate pairs, and carriage returns, which it reads as line feeds.
_UNWRITABLE = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@lru_cache(maxsize=8192)  # within a box the same few coordinates come again and again
def number(value: float) -> str:
    """A coordinate with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


@lru_cache(maxsize=4096)
def xml_text(text: str) -> str:
    """``text`` as XML can hold it: markup escaped, unwritable characters visible as ``\\x07``."""
    return escape(_UNWRITABLE.sub(_visible, text))


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"


def alpha(name: str, value: float) -> str:
    """The attribute of an opacity; none where nothing shines through."""
    return "" if value >= 1 else f' {name}="{value:.3g}"'


def box(rect: QRectF | QRect) -> str:
    """The attributes of a rectangle's place and size."""
    sides: tuple[float, float, float, float] = rect.getRect()  # type: ignore[assignment]  # one call for four
    x, y, width, height = sides
    return f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'


def points_of(points: QPolygonF | Sequence[QPointF]) -> str:
    """What a polygon's ``points`` are."""
    return " ".join(f"{number(point.x())},{number(point.y())}" for point in points)  # type: ignore[union-attr]


def family(name: str) -> str:
    """A font's name in quotation marks."""
    return "'" + name.replace("'", "") + "'"


def path_data(path: QPainterPath) -> str:
    """The path in SVG's words: M, L and C with absolute coordinates."""
    parts: list[str] = []
    data = 0  # what is left of a curve: its second control point, and its end
    for place in range(path.elementCount()):
        element = path.elementAt(place)  # asked one by one: its type would be made an enum of Python's
        if data:
            data -= 1
            word = " "
        elif element.isLineTo():
            word = "L"
        elif element.isCurveTo():
            word, data = "C", 2
        else:
            word = "M"
        parts.append(f"{word}{element.x:.2f} {element.y:.2f}")
    return "".join(parts)
