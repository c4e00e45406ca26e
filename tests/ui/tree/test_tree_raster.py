"""A large tree as pixels: what is kept from one picture to the next never shows in it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from explorer.events import Change
from explorer.tree import Edge, Node
from ui.theme import DARK, LIGHT, Colours
from ui.tree.frame import Frame
from ui.tree.options import LayoutName, Orientation, TreeColour, TreeViewOptions
from ui.tree.raster import Raster
from ui.tree.scene import TreeScene

RandomTree = Callable[[int], list[Node]]
MakeChange = Callable[..., Change]


@pytest.mark.parametrize("layout", ["leaf-slot", "tidy"])
@pytest.mark.parametrize("orientation", ["right", "down"])
def test_a_raster_that_is_kept_paints_what_a_new_one_paints(
    qapp: QApplication,
    random_tree: RandomTree,
    make_change: MakeChange,
    layout: LayoutName,
    orientation: Orientation,
) -> None:
    scene = TreeScene(QFont())
    scene.reset("prompt", random_tree(300), frozenset(), 0, {}, frozenset())
    kept, pictures = Raster(), []

    def look(colours: Colours = LIGHT, scale: float = 0.05, region: QRectF | None = None) -> None:
        frame: Frame = scene.picture(colours, scale, region)
        picture = kept.paint(frame, 1.0).copy()
        assert picture == Raster().paint(frame, 1.0)
        pictures.append(picture)

    def coloured(by: TreeColour) -> None:
        scene.set_options(TreeViewOptions(layout=layout, orientation=orientation, colour_by=by, phrases=False))

    coloured("probability")
    look()
    look(scale=0.1)
    look(region=QRectF(QPointF(500, 900), scene.geometry.extent() / 3))
    look(DARK)
    coloured("how")
    look()
    scene.apply(make_change(0, added=[Node(301, 0, 1, 1, Edge(0.0, -0.1, -0.1, 400, "drawn"))]))
    look()
    for before, after in pairwise(pictures):
        assert before != after
