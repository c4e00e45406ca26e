"""Colours, pens, brushes and fonts as attributes of SVG elements, each worked out once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontInfo, QFontMetricsF, QGradient, QLinearGradient, QPen

from ui.export.svg_words import alpha, family, number, xml_text

Write = Callable[[str], None]
Paint = QBrush | QColor | QGradient | Qt.BrushStyle | Qt.GlobalColor

_CAPS = {
    Qt.PenCapStyle.FlatCap: "butt",
    Qt.PenCapStyle.SquareCap: "square",
    Qt.PenCapStyle.RoundCap: "round",
}
_JOINS = {
    Qt.PenJoinStyle.BevelJoin: "bevel",
    Qt.PenJoinStyle.RoundJoin: "round",
}
_GENERIC = {True: "monospace", False: "sans-serif"}


@dataclass(slots=True)
class SvgFont:
    """A font as attributes, and what was measured in it."""

    font: QFont
    attributes: str
    metrics: QFontMetricsF
    _widths: dict[str, float] = field(default_factory=dict)
    _ends: dict[str, str] = field(default_factory=dict)

    def width(self, text: str) -> float:
        """px at the font's own size."""
        known = self._widths.get(text)
        if known is None:
            known = self._widths[text] = self.metrics.horizontalAdvance(text)
        return known

    def end_of(self, text: str) -> str:
        """A text element from the length it has here on, so that another viewer's font does not run out of its box."""
        known = self._ends.get(text)
        if known is None:
            length = f' textLength="{number(self.width(text))}"' if len(text) > 1 else ""
            space = ' xml:space="preserve"' if "  " in text or text[0] == " " or text[-1] == " " else ""
            known = self._ends[text] = f"{length}{space}>{xml_text(text)}</text>"
        return known


class SvgStyles:
    """Attributes begin with a space; empty for what SVG does unless told otherwise."""

    def __init__(self, write: Write) -> None:
        """``write`` takes definitions that attributes refer to."""
        self._write = write
        self._colours: dict[str, dict[int, str]] = {"fill": {}, "stroke": {}}
        self._pens: dict[int, list[tuple[QPen, str]]] = {}
        self._fonts: list[SvgFont] = []
        self._gradients = 0

    def colour(self, role: str, colour: QColor) -> str:
        """``role``: fill or stroke."""
        known, rgba = self._colours[role], colour.rgba()
        text = known.get(rgba)
        if text is None:
            text = known[rgba] = f' {role}="{colour.name()}"{alpha(f"{role}-opacity", colour.alphaF())}'
        return text

    def pen(self, pen: QPen) -> tuple[QPen, str]:
        """A pen like this one that nobody will change, and its attributes. Asked for as often as there are shapes, but
        there are few pens."""
        alike = self._pens.setdefault(pen.color().rgba(), [])
        for known in alike:
            if known[0] == pen:
                return known
        alike.append((QPen(pen), self._written_pen(pen)))
        return alike[-1]

    def _written_pen(self, pen: QPen) -> str:
        style, cap, join = pen.style(), pen.capStyle(), pen.joinStyle()
        if style == Qt.PenStyle.NoPen:
            return ""
        width = pen.widthF() or 1.0
        text = self.colour("stroke", pen.color())
        if width != 1:
            text += f' stroke-width="{number(width)}"'
        if style != Qt.PenStyle.SolidLine:
            text += f' stroke-dasharray="{" ".join(number(part * width) for part in pen.dashPattern())}"'
        # SVG's own are butt and miter. A closed line without dashes has no ends.
        if cap != Qt.PenCapStyle.FlatCap:
            text += f' stroke-linecap="{_CAPS[cap]}"'
        if join in _JOINS:
            text += f' stroke-linejoin="{_JOINS[join]}"'
        return text

    def brush(self, brush: Paint) -> str:
        """Empty for no brush. Raises `NotImplementedError` for patterns, and for gradients that are not linear."""
        if isinstance(brush, QColor):
            return self.colour("fill", brush)
        brush = QBrush(brush)
        style = brush.style()
        if style == Qt.BrushStyle.NoBrush:
            return ""
        if style == Qt.BrushStyle.SolidPattern:
            return self.colour("fill", brush.color())
        gradient = brush.gradient()
        if not isinstance(gradient, QLinearGradient):
            raise NotImplementedError(f"brush {style.name} in an SVG picture")
        return f' fill="url(#{self._define(gradient)})"'

    def _define(self, gradient: QLinearGradient) -> str:
        """Write a gradient and return its name."""
        self._gradients += 1
        name = f"gradient{self._gradients}"
        start, end = gradient.start(), gradient.finalStop()
        line = f'x1="{number(start.x())}" y1="{number(start.y())}" x2="{number(end.x())}" y2="{number(end.y())}"'
        stops = "".join(
            f'<stop offset="{place:.4g}" stop-color="{QColor(colour).name()}"/>' for place, colour in gradient.stops()
        )
        self._write(f'<linearGradient id="{name}" gradientUnits="userSpaceOnUse" {line}>{stops}</linearGradient>')
        return name

    def font(self, font: QFont) -> SvgFont:
        """The font with its attributes."""
        for known in self._fonts:
            if known.font == font:
                return known
        info = QFontInfo(font)
        families = f"{family(info.family())}, {_GENERIC[info.fixedPitch()]}"
        attributes = f' font-family="{escape(families)}" font-size="{number(info.pixelSize())}"'
        if font.weight() != QFont.Weight.Normal:
            attributes += f' font-weight="{int(font.weight())}"'
        if font.italic():
            attributes += ' font-style="italic"'
        if any(tag.toString() == "tnum" for tag in font.featureTags()):
            attributes += ' font-variant-numeric="tabular-nums"'
        self._fonts.append(SvgFont(QFont(font), attributes, QFontMetricsF(font)))
        return self._fonts[-1]
