"""A painter that writes SVG: text stays text, and every character in it is one that XML can hold.

`QSvgGenerator` writes control characters as they are, which no parser accepts, and names no node. This painter is given
to the same code that paints the canvas. What it does not know it refuses, so that nothing is left out in silence.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from PySide6.QtCore import QBuffer, QIODevice, QLineF, QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QImage, QPainter, QPainterPath, QPen, QPolygonF, QTransform

from ui.export.svg_style import Paint, SvgFont, SvgStyles, Write
from ui.export.svg_words import alpha, box, number, path_data, points_of

_CENTRE, _RIGHT = Qt.AlignmentFlag.AlignHCenter.value, Qt.AlignmentFlag.AlignRight.value
_MIDDLE, _BOTTOM = Qt.AlignmentFlag.AlignVCenter.value, Qt.AlignmentFlag.AlignBottom.value


@dataclass(slots=True)
class _State:
    """What `QPainter.save` keeps. Pen and brush are as they were given; most are plain colours. The attributes that
    they make are None until something needs them."""

    pen: QPen | QColor
    brush: Paint
    font: QFont
    transform: QTransform
    opacity: float
    stroke: str | None = None
    fill: str | None = None
    letters: str | None = None
    written: SvgFont | None = None


class SvgPainter(QPainter):
    """Takes the calls of a `QPainter` and writes elements. Never active as a `QPainter`: nothing reaches Qt."""

    def __init__(self, write: Write, font: QFont, step: Callable[[], None] = lambda: None) -> None:
        """``step`` is called at every text."""
        super().__init__()
        self._write = write
        self._step = step
        self._styles = SvgStyles(write)
        self._state = _State(QColor("black"), Qt.BrushStyle.NoBrush, QFont(font), QTransform(), 1.0)
        self._saved: list[_State] = []
        self._base = QTransform()
        self._group = ""
        self._moved = False
        self._clips = 0
        self._clipped = False

    # --- state -------------------------------------------------------------------------------------------------------

    def save(self) -> None:
        self._saved.append(replace(self._state))

    def restore(self) -> None:
        self._state = self._saved.pop()
        self._moved = True

    def setRenderHint(self, *_: Any) -> None:
        """How smooth it is, the viewer decides."""

    def setPen(self, pen: QPen | QColor | Qt.PenStyle | Qt.GlobalColor) -> None:  # type: ignore[override]
        state = self._state
        if isinstance(pen, QColor):
            state.pen, state.stroke = pen, None
        else:
            state.pen, state.stroke = self._styles.pen(pen if isinstance(pen, QPen) else QPen(pen))
        state.letters = None

    def setBrush(self, brush: Paint) -> None:  # type: ignore[override]
        self._state.brush, self._state.fill = brush, None

    def setFont(self, font: QFont) -> None:  # type: ignore[override]
        self._state.font, self._state.written, self._state.letters = font, None, None

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
        self._clips += 1
        name, area = f"clip{self._clips}", box(self._state.transform.mapRect(rect))
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
        self._element(f"<rect {box(rect)}{self._styles.brush(brush)}/>")

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
        self._element(f'<polyline points="{points_of(points)}" fill="none"{self._stroke()}/>')

    def drawLine(self, *ends: Any) -> None:
        line = ends[0] if len(ends) == 1 else QLineF(*ends)
        self.drawLines([QLineF(line.p1(), line.p2())])

    def drawLines(self, lines: Sequence[QLineF], *_: Any) -> None:  # type: ignore[override]
        data = "".join(
            f"M{number(line.x1())} {number(line.y1())}L{number(line.x2())} {number(line.y2())}" for line in lines
        )
        self._element(f'<path d="{data}" fill="none"{self._stroke()}/>')

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
        self._step()
        where, text = arguments[0], arguments[-1]
        if not text:
            return
        font, letters = self._letters()
        if isinstance(where, (QPointF, QPoint)):
            x, y = where.x(), where.y()
        elif len(arguments) == 3 and isinstance(where, (QRectF, QRect)):
            x, y = _begun(QRectF(where), int(arguments[1]), font.width(text), font)
        else:
            _refuse("this way of QPainter.drawText")
        self._element(f'<text x="{number(x)}" y="{number(y)}"{letters}{font.end_of(text)}')

    def _letters(self) -> tuple[SvgFont, str]:
        """The font, and the attributes of its letters, colour included."""
        state = self._state
        font = state.written
        if font is None:
            font = state.written = self._styles.font(state.font)
        letters = state.letters
        if letters is None:
            colour = state.pen if isinstance(state.pen, QColor) else state.pen.color()
            letters = state.letters = font.attributes + self._styles.colour("fill", colour)
        return font, letters

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
        state = self._state
        if state.fill is None:
            state.fill = self._styles.brush(state.brush) or ' fill="none"'
        self._element(f"{begun}{state.fill}{self._stroke()}/>")

    def _stroke(self) -> str:
        state = self._state
        if state.stroke is None:
            _, state.stroke = self._styles.pen(QPen(state.pen))
        return state.stroke

    def _element(self, element: str) -> None:
        if self._moved:
            self._regroup()
        self._write(element)

    def _regroup(self) -> None:
        """What follows lies elsewhere."""
        group = self._group_attributes()
        if group != self._group:
            self.close_group()
            if group:
                self._write(f"<g{group}>")
            self._group = group
        self._moved = False

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


def _begun(rect: QRectF, flags: int, width: float, font: SvgFont) -> tuple[float, float]:
    """Where a text that is aligned in a rectangle begins, on its baseline."""
    left, top, height = rect.x(), rect.y(), font.metrics.height()
    if flags & _CENTRE:
        left += (rect.width() - width) / 2
    elif flags & _RIGHT:
        left += rect.width() - width
    if flags & _MIDDLE:
        top += (rect.height() - height) / 2
    elif flags & _BOTTOM:
        top += rect.height() - height
    return left, top + font.metrics.ascent()


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
