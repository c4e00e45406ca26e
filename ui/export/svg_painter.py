"""A painter that writes SVG: text stays text, and every character in it is one that XML can hold.

`QSvgGenerator` writes control characters as they are, which no parser accepts, and names no node. This painter is given
to the same code that paints the canvas. What it does not know it refuses, so that nothing is left out in silence.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NoReturn

from PySide6.QtCore import QBuffer, QIODevice, QLineF, QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QGradient,
    QImage,
    QLinearGradient,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
    QTransform,
)

from ui.export.svg_words import alpha, box, family, number, path_data, points_of, xml_text

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
_CENTRE, _RIGHT = Qt.AlignmentFlag.AlignHCenter.value, Qt.AlignmentFlag.AlignRight.value
_MIDDLE, _BOTTOM = Qt.AlignmentFlag.AlignVCenter.value, Qt.AlignmentFlag.AlignBottom.value


@dataclass(slots=True)
class _State:
    """What `QPainter.save` keeps. Pen and brush are as they were given; most are plain colours."""

    pen: QPen | QColor
    brush: Paint
    font: QFont
    transform: QTransform
    opacity: float


@dataclass(slots=True)
class _Font:
    """A font as attributes, and what was measured in it."""

    font: QFont
    attributes: str
    metrics: QFontMetricsF
    widths: dict[str, float]
    ends: dict[str, str]

    def width(self, text: str) -> float:
        known = self.widths.get(text)
        if known is None:
            known = self.widths[text] = self.metrics.horizontalAdvance(text)
        return known

    def end_of(self, text: str) -> str:
        """A text element from the length it has here on, so that another viewer's font does not run out of its box."""
        known = self.ends.get(text)
        if known is None:
            length = f' textLength="{number(self.width(text))}"' if len(text) > 1 else ""
            space = ' xml:space="preserve"' if "  " in text or text[0] == " " or text[-1] == " " else ""
            known = self.ends[text] = f"{length}{space}>{xml_text(text)}</text>"
        return known


class SvgPainter(QPainter):
    """Takes the calls of a `QPainter` and writes elements. Never active as a `QPainter`: nothing reaches Qt."""

    def __init__(self, write: Write, font: QFont, step: Callable[[], None] = lambda: None) -> None:
        """``step`` is called at every transform, which is where a node begins."""
        super().__init__()
        self._write = write
        self._step = step
        self._state = _State(QColor("black"), Qt.BrushStyle.NoBrush, QFont(font), QTransform(), 1.0)
        self._saved: list[_State] = []
        self._base = QTransform()
        self._group = ""
        self._moved = False
        self._stroke: str | None = None  # None: to be worked out when a shape needs it
        self._fill: str | None = None
        self._colours: dict[tuple[str, int], str] = {}
        self._pens: dict[int, list[tuple[QPen, str]]] = {}
        self._definitions = 0
        self._clipped = False
        self._fonts: list[_Font] = []

    # --- state -------------------------------------------------------------------------------------------------------

    def save(self) -> None:
        self._saved.append(replace(self._state))

    def restore(self) -> None:
        self._state = self._saved.pop()
        self._stroke = self._fill = None
        self._moved = True

    def setRenderHint(self, *_: Any) -> None:
        """How smooth it is, the viewer decides."""

    def setPen(self, pen: QPen | QColor | Qt.PenStyle | Qt.GlobalColor) -> None:  # type: ignore[override]
        self._state.pen = pen if isinstance(pen, QColor) else QPen(pen)
        self._stroke = None

    def setBrush(self, brush: Paint) -> None:  # type: ignore[override]
        self._state.brush = brush
        self._fill = None

    def setFont(self, font: QFont) -> None:  # type: ignore[override]
        self._state.font = font

    def setOpacity(self, opacity: float) -> None:
        self._state.opacity = opacity
        self._moved = True

    def pen(self) -> QPen:
        return QPen(self._state.pen)

    def brush(self) -> QBrush:
        return QBrush(self._state.brush)

    def font(self) -> QFont:
        return self._state.font

    def opacity(self) -> float:
        return self._state.opacity

    def transform(self) -> QTransform:
        return QTransform(self._state.transform)

    def set_base(self, base: QTransform) -> None:
        """Let every transform from now on be on top of ``base``."""
        self._base = QTransform(base)
        self._move(self._base)

    def setTransform(self, transform: QTransform, combine: bool = False) -> None:
        self._step()
        self._move(transform * (self._state.transform if combine else self._base))

    def resetTransform(self) -> None:
        self._move(self._base)

    def translate(self, *by: Any) -> None:
        dx, dy = (by[0].x(), by[0].y()) if len(by) == 1 else by
        self._move(QTransform.fromTranslate(dx, dy) * self._state.transform)

    def scale(self, x: float, y: float) -> None:
        self._move(QTransform.fromScale(x, y) * self._state.transform)

    def rotate(self, degrees: float) -> None:
        self._move(QTransform().rotate(degrees) * self._state.transform)

    def setClipRect(self, rect: QRectF, *_: Any) -> None:  # type: ignore[override]
        """Cut what follows, until `setClipping` with False. One clip at a time."""
        if self._clipped:
            _refuse("a clip within a clip")
        self.close_group()
        self._definitions += 1
        name, area = f"clip{self._definitions}", box(self._state.transform.mapRect(rect))
        self._write(f'<clipPath id="{name}"><rect {area}/></clipPath><g clip-path="url(#{name})">')
        self._clipped = True

    def setClipping(self, enable: bool) -> None:
        if enable:
            _refuse("QPainter.setClipping")
        self.close_group()
        if self._clipped:
            self._write("</g>")
        self._clipped = False

    def _move(self, transform: QTransform) -> None:
        self._state.transform = transform
        self._moved = True

    # --- shapes ------------------------------------------------------------------------------------------------------

    def drawRect(self, *rect: Any) -> None:
        self._shape(f"<rect {box(QRectF(*rect))}")

    def drawRoundedRect(self, rect: QRectF | QRect, x_radius: float, y_radius: float, *_: Any) -> None:  # type: ignore[override]
        self._shape(f'<rect {box(rect)} rx="{number(x_radius)}" ry="{number(y_radius)}"')

    def fillRect(self, rect: QRectF | QRect, brush: Paint) -> None:  # type: ignore[override]
        self._element(f"<rect {box(rect)}{self._fill_attributes(brush)}/>")

    def drawEllipse(self, *where: Any) -> None:
        if len(where) == 3:
            centre, across, down = where
        else:
            rect = QRectF(*where)
            centre, across, down = rect.center(), rect.width() / 2, rect.height() / 2
        place = f'cx="{number(centre.x())}" cy="{number(centre.y())}"'
        self._shape(f'<ellipse {place} rx="{number(across)}" ry="{number(down)}"')

    def drawPath(self, path: QPainterPath) -> None:
        if not path.isEmpty():
            rule = ' fill-rule="evenodd"' if path.fillRule() == Qt.FillRule.OddEvenFill else ""
            self._shape(f'<path d="{path_data(path)}"{rule}')

    def drawPolygon(self, points: QPolygonF | Sequence[QPointF], *_: Any) -> None:  # type: ignore[override]
        self._shape(f'<polygon points="{points_of(points)}"')

    def drawPolyline(self, points: QPolygonF | Sequence[QPointF], *_: Any) -> None:  # type: ignore[override]
        self._element(f'<polyline points="{points_of(points)}" fill="none"{self._stroke_attributes()}/>')

    def drawLine(self, *ends: Any) -> None:
        line = ends[0] if len(ends) == 1 else QLineF(*ends)
        self.drawLines([QLineF(line.p1(), line.p2())])

    def drawLines(self, lines: Sequence[QLineF], *_: Any) -> None:  # type: ignore[override]
        data = "".join(
            f"M{number(line.x1())} {number(line.y1())}L{number(line.x2())} {number(line.y2())}" for line in lines
        )
        self._element(f'<path d="{data}" fill="none"{self._stroke_attributes()}/>')

    def drawImage(self, where: QRectF | QPointF | QRect, image: QImage, *_: Any) -> None:  # type: ignore[override]
        size = image.deviceIndependentSize()
        rect = QRectF(where, size) if isinstance(where, QPointF) else QRectF(where)
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(buffer, "PNG")  # type: ignore[call-overload]
        data = b64encode(buffer.data().data()).decode("ascii")
        self._element(f'<image {box(rect)} preserveAspectRatio="none" href="data:image/png;base64,{data}"/>')

    # --- text --------------------------------------------------------------------------------------------------------

    def drawText(self, *arguments: Any) -> None:  # type: ignore[override]
        where, text = arguments[0], arguments[-1]
        font = self._font_of(self._state.font)
        if isinstance(where, (QPointF, QPoint)):
            self._text(where.x(), where.y(), text, font)
            return
        if len(arguments) != 3 or not isinstance(where, (QRectF, QRect)):
            _refuse("this way of QPainter.drawText")
        flags, left, top, height = int(arguments[1]), where.x(), where.y(), font.metrics.height()
        if flags & _CENTRE:
            left += (where.width() - font.width(text)) / 2
        elif flags & _RIGHT:
            left += where.width() - font.width(text)
        if flags & _MIDDLE:
            top += (where.height() - height) / 2
        elif flags & _BOTTOM:
            top += where.height() - height
        self._text(left, top + font.metrics.ascent(), text, font)

    def _text(self, x: float, y: float, text: str, font: _Font) -> None:
        if not text:
            return
        pen = self._state.pen
        ink = self._colour("fill", pen if isinstance(pen, QColor) else pen.color())
        self._element(f'<text x="{number(x)}" y="{number(y)}"{font.attributes}{ink}{font.end_of(text)}')

    def _font_of(self, font: QFont) -> _Font:
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
        self._fonts.append(_Font(QFont(font), attributes, QFontMetricsF(font), {}, {}))
        return self._fonts[-1]

    # --- elements ----------------------------------------------------------------------------------------------------

    def raw(self, element: str) -> None:
        """Write an element as it is, in the coordinates of the picture."""
        self.close_group()
        self._write(element)

    def close_group(self) -> None:
        """End what was begun; called once more after the last element."""
        if self._group:
            self._write("</g>")
        self._group = ""
        self._moved = True

    def _shape(self, begun: str) -> None:
        if self._fill is None:
            self._fill = self._fill_attributes(self._state.brush) or ' fill="none"'
        self._element(f"{begun}{self._fill}{self._stroke_attributes()}/>")

    def _element(self, element: str) -> None:
        if self._moved:
            group = self._group_attributes()
            if group != self._group:
                self.close_group()
                if group:
                    self._write(f"<g{group}>")
                self._group = group
            self._moved = False
        self._write(element)

    def _group_attributes(self) -> str:
        matrix, opacity = self._state.transform, alpha("opacity", self._state.opacity)
        x_scale, y_scale = matrix.m11(), matrix.m22()
        dx, dy = f"{matrix.dx():.2f}", f"{matrix.dy():.2f}"
        if matrix.m12() or matrix.m21() or x_scale != y_scale:
            parts = (f"{value:.5g}" for value in (x_scale, matrix.m12(), matrix.m21(), y_scale))
            return f' transform="matrix({" ".join(parts)} {dx} {dy})"{opacity}'
        if x_scale == 1:
            return f' transform="translate({dx} {dy})"{opacity}' if matrix.dx() or matrix.dy() else opacity
        return f' transform="translate({dx} {dy}) scale({x_scale:.5g})"{opacity}'

    def _colour(self, role: str, colour: QColor) -> str:
        key = role, colour.rgba()
        known = self._colours.get(key)
        if known is None:
            opacity = alpha("opacity" if role == "stop" else f"{role}-opacity", colour.alphaF())
            known = self._colours[key] = f' {role}="{colour.name()}"{opacity}'
        return known

    def _stroke_attributes(self) -> str:
        if self._stroke is None:
            pen = self._state.pen
            self._stroke = self._stroke_of(QPen(pen) if isinstance(pen, QColor) else pen)
        return self._stroke

    def _stroke_of(self, pen: QPen) -> str:
        """What a pen is in SVG; asked for as often as there are shapes, but there are few pens."""
        alike = self._pens.setdefault(pen.color().rgba(), [])
        for known, text in alike:
            if known == pen:
                return text
        text = self._written_pen(pen)
        alike.append((QPen(pen), text))
        return text

    def _written_pen(self, pen: QPen) -> str:
        style, cap, join = pen.style(), pen.capStyle(), pen.joinStyle()
        if style == Qt.PenStyle.NoPen:
            return ""
        width = pen.widthF() or 1.0
        text = self._colour("stroke", pen.color())
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

    def _fill_attributes(self, brush: Paint) -> str:
        if isinstance(brush, QColor):
            return self._colour("fill", brush)
        brush = QBrush(brush)
        style = brush.style()
        if style == Qt.BrushStyle.NoBrush:
            return ""
        if style == Qt.BrushStyle.SolidPattern:
            return self._colour("fill", brush.color())
        gradient = brush.gradient()
        if not isinstance(gradient, QLinearGradient):
            _refuse(f"brush {style.name}")
        return f' fill="url(#{self._define(gradient)})"'

    def _define(self, gradient: QLinearGradient) -> str:
        """Write a gradient and return its name."""
        self._definitions += 1
        name = f"gradient{self._definitions}"
        start, end = gradient.start(), gradient.finalStop()
        line = f'x1="{number(start.x())}" y1="{number(start.y())}" x2="{number(end.x())}" y2="{number(end.y())}"'
        stops = "".join(
            f'<stop offset="{place:.4g}" stop-color="{QColor(colour).name()}"/>' for place, colour in gradient.stops()
        )
        self._write(f'<linearGradient id="{name}" gradientUnits="userSpaceOnUse" {line}>{stops}</linearGradient>')
        return name


def _refuse(what: str) -> NoReturn:
    raise NotImplementedError(f"{what} in an SVG picture")


def _refusing(name: str) -> Callable[..., NoReturn]:
    def method(*_: Any) -> NoReturn:
        _refuse(f"QPainter.{name}")

    return method


# A call that would do nothing here is an error, not a gap in the picture.
for _name in dir(QPainter):
    if _name.startswith(("draw", "fill", "stroke", "set", "erase", "save", "shear")) and _name not in vars(SvgPainter):
        setattr(SvgPainter, _name, _refusing(_name))
