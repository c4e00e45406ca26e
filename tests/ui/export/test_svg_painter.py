"""The painter that writes SVG: what it takes, and that nothing is left out in silence."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_samples import SVG, font
from PySide6.QtCore import QLineF, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QLinearGradient, QPainter, QPainterPath, QPen, QPolygonF, QTransform
from pytestqt.qtbot import QtBot

from ui.export.svg_painter import SvgPainter
from ui.export.svg_words import number, xml_text


def drawn(paint: Callable[[SvgPainter], object]) -> ElementTree.Element:
    parts: list[str] = []
    painter = SvgPainter(parts.append, font())
    paint(painter)
    painter.close_group()
    return ElementTree.fromstring(f'<svg xmlns="{SVG[1:-1]}">{"".join(parts)}</svg>')


@given(text=st.text())
def test_any_text_is_well_formed_xml_and_reads_as_it_was(text: str) -> None:
    """What XML has no way to hold becomes visible; all else stays."""

    def shown(character: str) -> str:
        code = ord(character)
        if character in "\t\n" or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF:
            return character
        return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"

    read = ElementTree.fromstring(f"<a>{xml_text(text)}</a>").text or ""
    assert read == "".join(map(shown, text))


@pytest.mark.parametrize(
    ("text", "shown"), [("a\x00b", "a\\x00b"), ("\x1b[1m", "\\x1b[1m"), ("\ud83d", "\\ud83d"), ("\uffff", "\\uffff")]
)
def test_what_xml_cannot_hold_is_shown_by_its_number(text: str, shown: str) -> None:
    assert ElementTree.fromstring(f"<a>{xml_text(text)}</a>").text == shown


def test_numbers_are_short_and_never_minus_zero() -> None:
    assert [number(value) for value in (1.0, 0.125, -0.001, 123456.78, 1e7)] == [
        "1",
        "0.12",
        "0",
        "123456.78",
        "10000000",
    ]


def test_a_text_keeps_its_place_font_colour_and_length(qtbot: QtBot) -> None:
    def paint(painter: SvgPainter) -> None:
        bold = QFont(font())
        bold.setPixelSize(20)
        bold.setBold(True)
        bold.setItalic(True)
        painter.setFont(bold)
        painter.setPen(QColor(1, 2, 3, 128))
        painter.drawText(QPointF(10, 20), '<b>&"你好 🙂')
        painter.drawText(QRectF(0, 0, 100, 50), int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom), "x")
        painter.drawText(QPoint(1, 2), "  two  ")

    first, second, third = drawn(paint).iter(SVG + "text")
    assert first.text == '<b>&"你好 🙂'
    assert (first.attrib["x"], first.attrib["y"], first.attrib["font-size"]) == ("10", "20", "20")
    assert (first.attrib["font-weight"], first.attrib["font-style"]) == ("700", "italic")
    assert (first.attrib["fill"], first.attrib["fill-opacity"]) == ("#010203", "0.502")
    assert float(first.attrib["textLength"]) > 50
    assert 80 < float(second.attrib["x"]) < 100
    assert 40 < float(second.attrib["y"]) < 50
    assert third.text == "  two  "
    assert third.attrib["{http://www.w3.org/XML/1998/namespace}space"] == "preserve"


def test_every_shape(qtbot: QtBot) -> None:
    def paint(painter: SvgPainter) -> None:
        path = QPainterPath(QPointF(0, 0))
        path.cubicTo(1, 2, 3, 4, 5, 6)
        path.lineTo(7, 8)
        gradient = QLinearGradient(QPointF(0, 0), QPointF(10, 0))
        gradient.setColorAt(0, QColor("red"))
        gradient.setColorAt(1, QColor("blue"))
        painter.drawPath(path)
        painter.setBrush(gradient)
        painter.drawRect(QRectF(1, 2, 3, 4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(1, 2, 3, 4), 1, 2)
        painter.drawEllipse(QPointF(5, 5), 2, 3)
        painter.drawEllipse(QRectF(0, 0, 4, 4))
        painter.drawPolygon(QPolygonF([QPointF(0, 0), QPointF(1, 0), QPointF(0, 1)]))
        painter.drawPolyline(QPolygonF([QPointF(0, 0), QPointF(1, 0)]))
        painter.drawLine(QPointF(0, 0), QPointF(3, 3))
        painter.drawLines([QLineF(0, 0, 1, 1)])
        painter.fillRect(QRectF(0, 0, 1, 1), QColor(9, 9, 9))
        painter.drawImage(QRectF(0, 0, 2, 2), QImage(2, 2, QImage.Format.Format_ARGB32))

    found = drawn(paint)
    names = [element.tag.removeprefix(SVG) for element in found]
    assert names == [
        *(
            "path",
            "linearGradient",
            "rect",
            "rect",
            "ellipse",
            "ellipse",
            "polygon",
            "polyline",
            "path",
            "path",
            "rect",
        ),
        "image",
    ]
    assert found[0].attrib["d"] == "M0.00 0.00C1.00 2.00 3.00 4.00 5.00 6.00L7.00 8.00"
    assert found[2].attrib["fill"] == f"url(#{found[1].attrib['id']})"
    assert found[3].attrib["fill"] == "none"
    assert found[11].attrib["href"].startswith("data:image/png;base64,")


def test_a_pen_is_written_as_it_is(qtbot: QtBot) -> None:
    def paint(painter: SvgPainter) -> None:
        pen = QPen(QColor("#123456"), 2.0)
        pen.setDashPattern([3.0, 2.5])
        painter.setPen(pen)
        painter.drawLine(QPointF(0, 0), QPointF(9, 0))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRect(QRectF(0, 0, 1, 1))

    line, bare = drawn(paint)
    assert (line.attrib["stroke"], line.attrib["stroke-width"]) == ("#123456", "2")
    assert line.attrib["stroke-dasharray"] == "6 5"
    assert line.attrib["stroke-linecap"] == "square"
    assert "stroke" not in bare.attrib


def test_transforms_stand_on_a_base_and_can_be_saved(qtbot: QtBot) -> None:
    def paint(painter: SvgPainter) -> None:
        painter.set_base(QTransform.fromTranslate(100, 0))
        painter.setTransform(QTransform.fromTranslate(5, 7))
        painter.drawRect(QRectF(0, 0, 1, 1))
        painter.save()
        painter.scale(2, 2)
        painter.setBrush(QColor("red"))
        painter.drawRect(QRectF(0, 0, 1, 1))
        painter.rotate(90)
        painter.drawRect(QRectF(0, 0, 1, 1))
        painter.restore()
        painter.drawRect(QRectF(0, 0, 1, 1))
        painter.resetTransform()
        painter.drawRect(QRectF(0, 0, 1, 1))

    groups = list(drawn(paint))
    assert [group.attrib["transform"] for group in groups] == [
        "translate(105.00 7.00)",
        "translate(105.00 7.00) scale(2)",
        "matrix(0 2 -2 0 105.00 7.00)",
        "translate(105.00 7.00)",
        "translate(100.00 0.00)",
    ]
    assert [group[0].attrib["fill"] for group in groups] == ["none", "#ff0000", "#ff0000", "none", "none"]


def test_a_clip_encloses_what_it_cuts(qtbot: QtBot) -> None:
    def paint(painter: SvgPainter) -> None:
        painter.set_base(QTransform.fromTranslate(10, 0))
        painter.setClipRect(QRectF(0, 0, 5, 5))
        painter.setTransform(QTransform.fromTranslate(1, 1))
        painter.drawRect(QRectF(0, 0, 9, 9))
        painter.setClipping(False)
        painter.drawRect(QRectF(0, 0, 9, 9))

    clip, cut, free = drawn(paint)
    assert clip[0].attrib["x"] == "10"
    assert cut.attrib["clip-path"] == f"url(#{clip.attrib['id']})"
    assert (cut[0].attrib["transform"], free.attrib["transform"]) == ("translate(11.00 1.00)",) * 2


def test_what_it_does_not_know_it_refuses(qtbot: QtBot) -> None:
    """A call that did nothing would be a gap in somebody's picture."""
    painter = SvgPainter(lambda _: None, font())
    with pytest.raises(NotImplementedError):
        painter.drawArc(QRectF(0, 0, 1, 1), 0, 16)
    with pytest.raises(NotImplementedError):
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Xor)
    with pytest.raises(NotImplementedError):
        painter.fillRect(QRectF(0, 0, 1, 1), Qt.BrushStyle.CrossPattern)
    with pytest.raises(NotImplementedError):
        painter.drawText(QRectF(0, 0, 1, 1), "no flags")
