"""Figures set as glyphs look as Qt would have set them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter
from pytestqt.qtbot import QtBot

from ui.text.text_line import TextLine
from ui.theme import figures_font

TEXTS = ["0%", "12.3%", ">99.9%", "1.23×10⁻⁷", "−0.0123%", "262\u202f144", "–", "…", "∞", "你好", "🙂", "abc 你", ""]


def painted(line: TextLine, text: str, *, as_qt: bool) -> QImage:
    image = QImage(160, 32, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(QColor("white"))
    painter = QPainter(image)
    painter.setFont(line.font)
    painter.setPen(QColor("black"))
    if as_qt:
        drop = (line.metrics.ascent() - line.metrics.descent()) / 2
        painter.drawText(QPointF(150.25 - line.width(text), 16 + drop), text)
    else:
        line.right(painter, 150.25, 16, text)
    painter.end()
    return image


@pytest.mark.parametrize("text", TEXTS)
def test_as_qt_sets_it(qtbot: QtBot, text: str) -> None:
    line = TextLine(figures_font(QGuiApplication.font()))
    expected = painted(line, text, as_qt=True)
    assert painted(line, text, as_qt=False) == expected
    assert painted(line, text, as_qt=False) == expected, "the second time from what was remembered"
    assert not text or expected != painted(line, "", as_qt=True)
