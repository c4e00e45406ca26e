"""The strip of a timeline: where moments are, and what hands and keys make of it."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from explorer.replay import Mark
from ui.timeline.marks import MARK_LABELS, ROWS
from ui.timeline.strip import TimelineStrip

KEY = Qt.Key
MARKS: tuple[Mark, ...] = ("step", "growth", "settings", "note", "stop", "turn", "edit", "step", "step", "other")


@pytest.fixture
def strip(qtbot: QtBot) -> TimelineStrip:
    strip = TimelineStrip()
    qtbot.addWidget(strip)
    strip.resize(520, 90)
    strip.show()
    strip.set_moments(MARKS, np.arange(len(MARKS) + 1, dtype=np.int32))
    return strip


def picture(strip: TimelineStrip) -> QImage:
    return strip.grab().toImage()


def test_every_moment_is_found_where_it_stands(strip: TimelineStrip) -> None:
    assert (strip.minimum(), strip.maximum()) == (0, len(MARKS))
    assert [strip.moment_at(strip.place_of(number)) for number in range(len(MARKS) + 1)] == list(range(11))
    assert (strip.moment_at(-50), strip.moment_at(5000)) == (0, len(MARKS))


def test_it_is_scrubbed_by_the_mouse(strip: TimelineStrip, qtbot: QtBot) -> None:
    def at(number: int) -> QPoint:
        return QPoint(round(strip.place_of(number)), 40)

    seen: list[int] = []
    strip.valueChanged.connect(seen.append)
    qtbot.mousePress(strip, Qt.MouseButton.LeftButton, pos=at(3))
    qtbot.mouseMove(strip, at(7))
    qtbot.mouseRelease(strip, Qt.MouseButton.LeftButton, pos=at(7))
    qtbot.mouseMove(strip, at(1))
    assert seen == [3, 7]


def test_it_is_walked_by_key(strip: TimelineStrip, qtbot: QtBot) -> None:
    gestures: list[int] = []
    strip.gesture_requested.connect(gestures.append)
    found = []
    for key in (KEY.Key_End, KEY.Key_Left, KEY.Key_Left, KEY.Key_Right, KEY.Key_Home, KEY.Key_Left):
        qtbot.keyClick(strip, key)
        found.append(strip.value())
    assert found == [10, 9, 8, 9, 0, 0]
    with qtbot.waitSignal(strip.play_requested):
        qtbot.keyClick(strip, KEY.Key_Space)
    qtbot.keyClick(strip, KEY.Key_PageUp)
    qtbot.keyClick(strip, KEY.Key_PageDown)
    assert gestures == [-1, 1]


def test_what_was_is_told_from_what_comes(strip: TimelineStrip) -> None:
    def drawn(number: int) -> QImage:
        strip.setValue(number)
        return picture(strip)

    assert drawn(0) != drawn(5)
    assert drawn(5) == drawn(5)


def test_every_mark_has_a_shape_of_its_own(strip: TimelineStrip) -> None:
    """Never colour alone: also without colours no two look the same."""
    assert MARK_LABELS.keys() == ROWS.keys()
    shapes = []
    for mark in MARK_LABELS:
        strip.set_moments((mark,) * 2, np.zeros(3, np.int32))
        strip.setValue(0)
        shapes.append(picture(strip).convertToFormat(QImage.Format.Format_Grayscale8))
    assert all(one != other for place, one in enumerate(shapes) for other in shapes[:place])


def test_ten_thousand_moments_share_pixels(strip: TimelineStrip) -> None:
    depths = np.zeros(10_001, np.int32)
    depths[5_000] = 7
    strip.set_moments(("step",) * 10_000, depths)
    bars = list(strip._bars())
    assert len(bars) <= strip.width()
    assert max(depth for _, _, depth in bars) == 7  # the one deep moment is not lost among its neighbours
    strip.setValue(10_000)
    assert not picture(strip).isNull()
