"""The legend in the corner: painted once, and again when its words, its font or its colours change."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.theme import DARK, build_palette
from ui.tree.legend import LegendLayout, PlainEntry, ScaleEntry, TreeLegend

SCALE = ScaleEntry("probability", "0%", "100%", "viridis")


@pytest.fixture
def corner(qtbot: QtBot) -> QWidget:
    corner = QWidget()
    qtbot.addWidget(corner)
    corner.show()
    return corner


@pytest.fixture
def legend(corner: QWidget) -> TreeLegend:
    legend = TreeLegend(corner)
    legend.explain([SCALE])
    return legend


def picture(legend: TreeLegend) -> QImage:
    return legend.grab().toImage()


def test_is_painted_once(legend: TreeLegend, monkeypatch: pytest.MonkeyPatch) -> None:
    first = picture(legend)
    monkeypatch.setattr(LegendLayout, "paint", None)
    assert picture(legend) == first


def test_follows_its_entries_its_font_and_its_colours(legend: TreeLegend) -> None:
    pictures = [picture(legend)]
    legend.explain([SCALE, PlainEntry("unknown", "not known")])
    pictures.append(picture(legend))
    font = legend.font()
    font.setPointSizeF(2 * font.pointSizeF())
    legend.setFont(font)
    pictures.append(picture(legend))
    legend.setPalette(build_palette(DARK))
    pictures.append(picture(legend))
    assert all(one != other for one, other in pairwise(pictures))
