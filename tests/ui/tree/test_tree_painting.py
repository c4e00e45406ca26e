"""What the painters put on paper: no text over another, everything on pictures of any size, chains of any depth."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter
from pytestqt.qtbot import QtBot

from explorer.decoding.stopping import StopEvent
from explorer.events import Change
from explorer.text import Vocabulary
from explorer.tree import Node
from ui.theme import DARK, LIGHT
from ui.tree.canvas import TreeCanvas
from ui.tree.frame import Frame, Level
from ui.tree.key import legend_entries
from ui.tree.legend import LegendLayout
from ui.tree.options import TreeViewOptions
from ui.tree.overlay import MARKS, TreeOverlay
from ui.tree.painting import paint_tree
from ui.tree.room import Room
from ui.tree.scene import TreeScene

MakeNode = Callable[..., Node]
MakeChange = Callable[..., Change]
RandomTree = Callable[[int], list[Node]]


class TextPainter(QPainter):
    """Notes the ink of every text in the coordinates of the picture."""

    def __init__(self, image: QImage) -> None:
        super().__init__(image)
        self.texts: list[tuple[str, QRectF]] = []

    def drawText(self, *arguments: Any) -> None:  # noqa: N802 - Qt's name
        where, text = arguments[0], arguments[-1]
        metrics = QFontMetricsF(self.font())
        ink = metrics.tightBoundingRect(text)
        if isinstance(where, QPointF):
            ink.translate(where)
        else:
            ink.moveCenter(where.center())
        self.texts.append((text, self.transform().mapRect(ink)))


def image_of(frame: Frame) -> QImage:
    size = frame.camera.view.toSize()
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(QColor(frame.colours.surface))
    return image


def texts_of(frame: Frame) -> list[tuple[str, QRectF]]:
    image = image_of(frame)
    painter = TextPainter(image)
    try:
        paint_tree(painter, frame)
    finally:
        painter.end()
    return painter.texts


def painted(frame: Frame) -> QImage:
    image = image_of(frame)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    try:
        paint_tree(painter, frame)
    finally:
        painter.end()
    return image


def colours_in(image: QImage, step: int = 1) -> int:
    """How many colours there are."""
    places = ((x, y) for x in range(0, image.width(), step) for y in range(0, image.height(), step))
    return len({image.pixel(x, y) for x, y in places})


@pytest.fixture
def busy(canvas: TreeCanvas, random_tree: RandomTree, make_change: MakeChange) -> TreeCanvas:
    """A tree with everything on it: stops, folds, stars, notes, marks and badges."""
    canvas.reset("prompt", random_tree(160), frozenset(), 90, stops={159: "max_new_tokens"}, end_tokens=frozenset({4}))
    canvas.apply(make_change(90, stop=(160, StopEvent("stop_string", {}))))
    path = set(canvas.scene.mirror.path(90))
    for node_id in range(150, 30, -1):
        if len(canvas.folded) < 4 and canvas.scene.outline.kids[node_id] and node_id not in path:
            canvas.fold(node_id)
    canvas.annotate({n: (n % 2 == 0, "note" if n % 3 else "") for n in range(5, 160, 9)})
    marks = {n: MARKS[n % len(MARKS)] for n in range(1, 160, 4)}
    canvas.set_overlay(TreeOverlay(marks, {n: f"−{n}.25" for n in range(3, 160, 6)}, "caption"))
    return canvas


@pytest.mark.parametrize("layout", ["leaf-slot", "tidy"])
@pytest.mark.parametrize("orientation", ["right", "down"])
@pytest.mark.parametrize("scale", [0.62, 0.8, 1.0])
def test_no_text_is_written_over_another(busy: TreeCanvas, layout: str, orientation: str, scale: float) -> None:
    busy.set_options(TreeViewOptions(layout=layout, orientation=orientation))  # type: ignore[arg-type]
    frame = busy.scene.picture(LIGHT, scale)
    assert frame.level == (Level.LABELS if scale < 0.7 else Level.FIGURES)
    texts = texts_of(frame)
    assert len(texts) > 150
    slack = 0.6  # px: smoothing at the edges of letters
    edges = np.array([[r.left() + slack, r.top() + slack, r.right() - slack, r.bottom() - slack] for _, r in texts])
    for number, (text, _) in enumerate(texts):
        left, top, right, bottom = edges[number]
        over = (edges[:, 0] < right) & (edges[:, 2] > left) & (edges[:, 1] < bottom) & (edges[:, 3] > top)
        over[number] = False
        assert not over.any(), (text, texts[int(np.flatnonzero(over)[0])][0])


def test_figures_come_with_the_scale_and_say_what_the_nodes_have(busy: TreeCanvas) -> None:
    words = [text for text, _ in texts_of(busy.scene.picture(LIGHT))]
    assert any(text.endswith("%") for text in words)
    assert any(text.startswith("prefix") for text in words)
    assert any(text.startswith("complete") for text in words)
    assert sum(text.startswith("+") for text in words) >= 2  # folds
    assert {"limit", "end"} <= set(words)
    assert any(text.startswith("−") for text in words)  # badges
    small = [text for text, _ in texts_of(busy.scene.picture(LIGHT, 0.65))]
    assert not any(text.endswith("%") and not text.startswith(("+", "prefix", "complete")) for text in small)
    assert texts_of(busy.scene.picture(LIGHT, 0.4)) == []


def test_a_picture_of_all_shows_every_token_and_no_more_at_the_border(
    canvas: TreeCanvas, random_tree: RandomTree, vocabulary: Vocabulary
) -> None:
    canvas.reset("prompt", random_tree(900), frozenset(), 5)
    canvas.set_options(TreeViewOptions(phrases=False))
    frame = canvas.scene.picture(LIGHT)
    assert frame.level == Level.FIGURES
    words = [text for text, _ in texts_of(frame)]
    for token in ("A", "B", "C", "D", "Paris"):
        nodes = sum(vocabulary.label(node.token_id).strip("·") == token for node in canvas.scene.mirror.nodes.values())
        assert words.count(token) == nodes
    view = QRectF(QPointF(0, 0), frame.camera.view)
    assert all(view.contains(QRectF(*sides)) for _, *sides in frame.node_places(np.arange(len(frame.plan.heads))))
    border = painted(frame).copy(0, 0, int(view.width()), 3)
    assert {border.pixelColor(x, y).name() for x in range(border.width()) for y in range(3)} == {LIGHT.surface}


def test_a_part_of_the_tree_is_painted_as_in_the_whole(canvas: TreeCanvas, random_tree: RandomTree) -> None:
    canvas.reset("prompt", random_tree(300), frozenset(), 5)
    region = canvas.scene.bounds_of([150]).adjusted(-200, -150, 200, 150)
    part = painted(canvas.scene.picture(LIGHT, 1.0, region))
    whole_frame = canvas.scene.picture(LIGHT)
    whole = painted(whole_frame)
    left_top = whole_frame.camera.screen(region.topLeft()).toPoint()
    assert (part.width(), part.height()) == (region.size().toSize().width(), region.size().toSize().height())
    inner = part.copy(60, 30, part.width() - 120, part.height() - 60)
    same = whole.copy(left_top.x() + 60, left_top.y() + 30, inner.width(), inner.height())
    differing = sum(
        abs(inner.pixelColor(x, y).lightness() - same.pixelColor(x, y).lightness()) > 60
        for x in range(0, inner.width(), 2)
        for y in range(0, inner.height(), 2)
    )
    assert differing < 0.01 * inner.width() * inner.height() / 4


def test_pictures_need_no_widget_and_have_twice_the_pixels_at_twice_the_scale(
    qapp: Any, eos_tree: list[Node], vocabulary: Vocabulary
) -> None:
    scene = TreeScene(QFont())
    scene.set_vocabulary(vocabulary)
    scene.set_options(TreeViewOptions(layout="tidy", orientation="down"))
    scene.reset("prompt", eos_tree, frozenset(), 2, {}, frozenset({4}))
    once, twice = scene.picture(DARK), scene.picture(DARK, 2.0)
    assert twice.camera.view == once.camera.view * 2
    assert [text for text, _ in texts_of(once)] == [text for text, _ in texts_of(twice)]
    seen = painted(twice)
    assert (
        len({seen.pixelColor(x, y).name() for x in range(0, seen.width(), 3) for y in range(0, seen.height(), 3)}) > 9
    )
    legend = LegendLayout(legend_entries(once), QFont(), 300)
    assert 0 < legend.size.width() <= 320


def test_from_afar_a_picture_shows_shapes_and_can_be_made_to_show_words(busy: TreeCanvas) -> None:
    for scale, level in ((0.1, Level.DOTS), (0.4, Level.BOXES)):
        frame = busy.scene.picture(LIGHT, scale)
        assert frame.level == level
        assert colours_in(painted(frame)) > 5
    forced = busy.scene.picture(LIGHT, 0.4, least_level=Level.LABELS)
    assert texts_of(forced)


def test_a_chain_of_five_thousand_works_everywhere(
    qtbot: QtBot, canvas: TreeCanvas, make_node: MakeNode, make_change: MakeChange
) -> None:
    nodes = [make_node(n, n - 1, n % 9, n, 0.5) for n in range(1, 5001)]
    canvas.reset("prompt", nodes, frozenset(), 2500)
    for options in (
        TreeViewOptions(),
        TreeViewOptions(orientation="down", layout="tidy"),
        TreeViewOptions(phrases=False),
        TreeViewOptions(phrases=False, orientation="down"),
    ):
        canvas.set_options(options)
        assert canvas.rect().contains(canvas.node_rect(2500).toRect())
        canvas.fit()
        canvas.grab()
        canvas.center_on(2500)
        canvas.grab()
        canvas.fold(4000)
        assert canvas.walk.child_of(4000) is None
        canvas.set_current(5000)
        canvas.focus_on(1000)
        canvas.grab()
        canvas.focus_on(None)
        canvas.set_current(2500)
    canvas.set_options(TreeViewOptions())
    canvas.apply(make_change(2500, added=[make_node(5001, 2499, 3, 2500, 0.1, rank=2)]))
    assert canvas.scene.outline.tail[5001] == 5001
    assert "×10⁻⁷⁵³" in "".join(canvas.description(2500))
    frame = canvas.scene.picture(LIGHT, 0.5)
    assert frame.node_count(np.arange(len(frame.plan.heads))) == 5002
    painted(frame)
    with qtbot.waitSignal(canvas.node_activated):
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=canvas.node_rect(2500).center().toPoint())


# --- room -------------------------------------------------------------------------------------------------------------

areas = st.tuples(st.floats(-500, 500), st.floats(-500, 500), st.floats(1, 900), st.floats(1, 900)).map(
    lambda a: QRectF(*a)
)


@given(st.lists(areas, max_size=12))
def test_only_free_room_is_given_away(wanted: list[QRectF]) -> None:
    room = Room()
    taken: list[QRectF] = []
    for area in wanted:
        free = not any(area.intersects(other) for other in taken)
        assert room.take(area.left(), area.top(), area.right(), area.bottom()) == free
        if free:
            taken.append(area)


def test_neighbours_may_touch() -> None:
    room = Room()
    for left, right in pairwise(range(0, 200, 20)):
        assert room.take(left, 0, right, 13)
    assert not room.take(90, 12, 100, 15)
    assert room.take(90, 13, 100, 16)
