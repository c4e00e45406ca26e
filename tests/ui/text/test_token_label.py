"""Labels show what a token is made of, and always fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QImage, QPainter
from PySide6.QtWidgets import QApplication

from explorer.text import Vocabulary
from ui.text.token_label import Inks, LabelPainter, Run, label_runs

SIZE = (160, 24)
PAPER = QColor("white")


@pytest.fixture
def labels(qapp: QApplication) -> LabelPainter:
    font = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    font.setPixelSize(13)
    return LabelPainter(font)


def painted(labels: LabelPainter, label: str, width: float, special: bool = False) -> QImage:
    image = QImage(*SIZE, QImage.Format.Format_RGB32)
    image.fill(PAPER)
    painter = QPainter(image)
    labels.paint(painter, QRectF(2, 0, width, SIZE[1]), label, special, Inks.on(PAPER))
    painter.end()
    return image


def inked_columns(image: QImage) -> list[int]:
    return [x for x in range(image.width()) if any(image.pixelColor(x, y) != PAPER for y in range(image.height()))]


@pytest.mark.parametrize(
    ("piece", "runs"),
    [
        (b" Paris", [Run("·", "mark"), Run("Paris", "text")]),
        (b"\n\n\t", [Run("⏎⏎→", "mark")]),
        (b"\xe4\xbd", [Run("E4 BD", "hex")]),
        (b"a\xe4", [Run("a", "text"), Run("E4", "hex")]),
        (b"a\x00", [Run("a", "text"), Run("\\x00", "mark")]),
        ("你好".encode(), [Run("你好", "text")]),
    ],
)
def test_labels_come_apart_into_text_marks_and_bytes(piece: bytes, runs: list[Run]) -> None:
    assert list(label_runs(Vocabulary([piece]).label(0))) == runs


@given(st.text("ab·⏎<>0xE4 \\u你🙂", max_size=30))
def test_runs_lose_nothing_but_the_marks_of_bytes(label: str) -> None:
    plain = [run.text for run in label_runs(label) if run.kind != "hex"]
    if all(run.kind != "hex" for run in label_runs(label)):
        assert "".join(plain) == label


def test_a_long_label_keeps_both_ends(labels: LabelPainter) -> None:
    columns = inked_columns(painted(labels, "a" * 60, 100))
    assert max(columns) <= 103
    assert painted(labels, "a" * 60 + "XYZ", 100) != painted(labels, "a" * 63, 100)
    assert painted(labels, "XYZ" + "a" * 60, 100) != painted(labels, "a" * 63, 100)


def test_special_tokens_stand_in_a_pill(labels: LabelPainter) -> None:
    assert labels.width("<|end|>", special=True) > labels.width("<|end|>")
    assert painted(labels, "<|end|>", 140, special=True) != painted(labels, "<|end|>", 140)


@pytest.mark.parametrize("width", [1.0, 8.0, 20.0])
def test_hardly_any_room_is_no_trouble(labels: LabelPainter, width: float) -> None:
    painted(labels, "<0xE4 0xBD> something", width)
    painted(labels, "<|endoftext|>", width, special=True)


def test_widths_add_up(labels: LabelPainter) -> None:
    assert labels.width("abab") == pytest.approx(2 * labels.width("ab"))
    assert labels.width("") == 0


def test_marks_are_quieter_than_text() -> None:
    inks = Inks.on(QColor("white"))
    assert inks.quiet.lightness() > inks.strong.lightness()
    assert Inks.on(QColor("white"), QColor(Qt.GlobalColor.darkBlue)).strong == QColor(Qt.GlobalColor.darkBlue)
