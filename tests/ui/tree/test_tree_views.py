"""Looking at one tree in many ways: options, folds, focus, overlays, readings, notes."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from explorer.decoding.stopping import StopEvent
from explorer.events import Change
from explorer.tree import Node
from ui.theme import DARK, LIGHT, build_palette
from ui.tree.canvas import TreeCanvas
from ui.tree.frame import Level
from ui.tree.key import legend_entries
from ui.tree.legend import HowEntry, MarkEntry, PlainEntry, ScaleEntry, entry_name
from ui.tree.marks import STYLES
from ui.tree.options import TreeColour, TreeViewOptions
from ui.tree.overlay import MARKS, TreeOverlay
from ui.tree.weights import TreeWeights

MakeNode = Callable[..., Node]
MakeChange = Callable[..., Change]
RandomTree = Callable[[int], list[Node]]
COLOURS: tuple[TreeColour, ...] = ("probability", "surprisal", "entropy", "how", "share", "none")


def picture(canvas: TreeCanvas) -> QImage:
    return canvas.grab().toImage()


def centre(canvas: TreeCanvas, node_id: int) -> QPoint:
    return canvas.node_rect(node_id).center().toPoint()


def legend(canvas: TreeCanvas) -> list[str]:
    return [entry_name(entry) for entry in canvas._corners.legend.entries]


def own_children(canvas: TreeCanvas) -> int:
    """Qt's tooltip is a child, too, while it is shown."""
    return sum(child.objectName() != "qtooltip_label" for child in canvas.children())


def shown(canvas: TreeCanvas) -> list[int]:
    return np.flatnonzero(canvas.scene.outline.shown).tolist()


@pytest.fixture
def small(canvas: TreeCanvas, eos_tree: list[Node]) -> TreeCanvas:
    canvas.reset("prompt", eos_tree, frozenset(), 2, end_tokens=frozenset({4}))
    return canvas


@pytest.fixture
def chain(canvas: TreeCanvas, make_node: MakeNode) -> TreeCanvas:
    """Prompt, then A .. twelve tokens without branching, then two branches; the current node is one of these."""
    nodes = [make_node(i, i - 1, i % 4, i, 0.5) for i in range(1, 13)]
    nodes += [make_node(13, 12, 0, 13, 0.6), make_node(14, 12, 1, 13, 0.3, rank=2)]
    canvas.reset("prompt", nodes, frozenset(), 14)
    return canvas


# --- phrases ----------------------------------------------------------------------------------------------------------


def test_a_chain_is_one_box_and_each_token_in_it_can_be_clicked(qtbot: QtBot, chain: TreeCanvas) -> None:
    outline = chain.scene.outline
    assert outline.heads().tolist() == [0, 1, 13, 14]
    rects = [chain.node_rect(node_id) for node_id in range(1, 13)]
    assert all(after.left() >= before.right() - 0.1 for before, after in pairwise(rects))
    for node_id in (1, 2, 7, 12):
        with qtbot.waitSignal(chain.node_activated) as activated:
            qtbot.mouseClick(chain, Qt.MouseButton.LeftButton, pos=centre(chain, node_id))
        assert activated.args == [node_id]


def test_the_current_node_leaves_its_phrase_and_returns_to_it(chain: TreeCanvas) -> None:
    outline = chain.scene.outline
    chain.set_current(5)
    assert outline.heads().tolist() == [0, 1, 5, 6, 13, 14]
    chain.set_current(6)
    assert outline.heads().tolist() == [0, 1, 6, 7, 13, 14]
    chain.set_current(0)
    assert outline.heads().tolist() == [0, 1, 13, 14]


def test_stops_stars_notes_and_badges_break_a_phrase(chain: TreeCanvas, make_change: MakeChange) -> None:
    outline = chain.scene.outline
    chain.annotate({3: (True, ""), 9: (False, "look")})
    chain.set_overlay(TreeOverlay(badges={6: "×2"}))
    chain.apply(make_change(14, stop=(11, StopEvent("stop_string", {}))))
    assert outline.heads().tolist() == [0, 1, 3, 4, 6, 7, 9, 10, 11, 12, 13, 14]
    chain.annotate({})
    chain.set_overlay(None)
    assert outline.heads().tolist() == [0, 1, 11, 12, 13, 14]


def test_phrases_can_be_switched_off(chain: TreeCanvas) -> None:
    chain.set_options(TreeViewOptions(phrases=False))
    assert len(chain.scene.outline.heads()) == 15
    chain.set_options(TreeViewOptions())
    assert len(chain.scene.outline.heads()) == 4


def test_a_long_phrase_keeps_its_ends_and_what_is_between_can_be_reached(
    qtbot: QtBot, canvas: TreeCanvas, make_node: MakeNode
) -> None:
    canvas.reset("prompt", [make_node(i, i - 1, i % 4, i, 0.5) for i in range(1, 201)], frozenset(), 0)
    box = canvas.node_rect(1).united(canvas.node_rect(200))
    assert box.width() <= 480 * canvas.look.camera.scale
    parts = canvas.scene.geometry.segments(1)
    assert [node for part in parts for node in part.nodes] == list(range(1, 201))
    elided = next(part for part in parts if part.elided)
    assert len(elided.nodes) > 100
    middle = elided.nodes[len(elided.nodes) // 2]
    with qtbot.waitSignal(canvas.node_activated) as activated:
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=centre(canvas, middle))
    assert abs(activated.args[0] - middle) < 12  # a px stands for several of them
    canvas.set_current(middle)
    assert canvas.scene.outline.tail[middle] == middle


# --- layouts, directions, colours -------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["leaf-slot", "tidy"])
@pytest.mark.parametrize("orientation", ["right", "down"])
def test_boxes_never_overlap_and_are_found_where_they_stand(
    canvas: TreeCanvas, random_tree: RandomTree, layout: str, orientation: str
) -> None:
    canvas.reset("prompt", random_tree(150), frozenset(), 75, end_tokens=frozenset({4}))
    canvas.set_options(TreeViewOptions(layout=layout, orientation=orientation))  # type: ignore[arg-type]
    frame = canvas.scene.picture(LIGHT)
    assert frame.level == Level.FIGURES
    boxes = frame.rects(np.arange(len(frame.plan.heads)))
    left, top, width, height = boxes
    for number in range(len(left)):
        apart = (left >= left[number] + width[number] - 0.1) | (left + width <= left[number] + 0.1)
        apart |= (top >= top[number] + height[number] - 0.1) | (top + height <= top[number] + 0.1)
        apart[number] = True
        assert apart.all()
    for node_id, *sides in frame.node_places(np.arange(len(frame.plan.heads))):
        rect = QRectF(*sides)
        assert frame.rect_of(node_id) == rect
        assert frame.node_at(rect.center()) == node_id


def test_children_stand_behind_their_parents_in_either_direction(small: TreeCanvas) -> None:
    for orientation, edge in (("right", "left"), ("down", "top")):
        small.set_options(TreeViewOptions(orientation=orientation))  # type: ignore[arg-type]
        for parent, child in ((0, 1), (1, 2), (4, 7)):
            assert getattr(small.node_rect(child), edge)() > getattr(small.node_rect(parent), edge)()
        across = "center"
        first, second = getattr(small.node_rect(1), across)(), getattr(small.node_rect(4), across)()
        assert (first.y() < second.y()) if orientation == "right" else (first.x() < second.x())


def test_arrows_follow_the_picture(qtbot: QtBot, small: TreeCanvas) -> None:
    small.set_options(TreeViewOptions(orientation="down"))
    for key, start, end in (
        (Qt.Key.Key_Up, 2, 1),
        (Qt.Key.Key_Right, 1, 4),
        (Qt.Key.Key_Left, 4, 1),
        (Qt.Key.Key_Down, 4, 5),
    ):
        small.set_current(start)
        with qtbot.waitSignal(small.node_activated) as activated:
            qtbot.keyClick(small, key)
        assert activated.args == [end]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_every_way_to_colour_looks_different_and_says_what_it_shows(small: TreeCanvas, colours) -> None:  # type: ignore[no-untyped-def]
    small.setPalette(build_palette(colours))
    entropy = np.array([0.7, 0.7, 0.3, np.nan, 0.3, 0.3, np.nan, np.nan, 1.0])
    edge = small.scene.mirror.model_prob[:9].copy()
    weights = TreeWeights(edge, small.scene.mirror.path_logprob[:9].copy(), entropy, np.zeros(9), "what-if probability")
    small.set_weights(weights)
    seen = []
    for by in COLOURS:
        small.set_options(TreeViewOptions(colour_by=by))
        image = picture(small)
        assert image not in seen
        seen.append(image)
    expected = {
        "probability": "what-if probability 0% – 100%",
        "surprisal": "surprisal by what-if probability 0 – ≥ 8.00\u202fnats",
        "entropy": "entropy of the next token 0 – ≥ 8.00\u202fnats",
        "share": "sampling probability when taken 0% – 100%",
    }
    for by in COLOURS:
        small.set_options(TreeViewOptions(colour_by=by))
        scales = [entry for entry in small._corners.legend.entries if isinstance(entry, ScaleEntry)]
        assert [entry_name(entry) for entry in scales] == ([expected[by]] if by in expected else [])
    small.set_options(TreeViewOptions(colour_by="entropy"))
    assert "not known" in legend(small)
    small.set_log_unit("bits")
    assert any("bits" in name for name in legend(small))
    small.set_options(TreeViewOptions(colour_by="how"))
    assert all(entry.coloured for entry in small._corners.legend.entries if isinstance(entry, HowEntry))


def test_widths_of_edges_can_be_all_the_same(small: TreeCanvas) -> None:
    wide = picture(small)
    small.set_options(TreeViewOptions(width_by_probability=False))
    assert picture(small) != wide
    assert "probable" not in legend(small)


def test_labels_can_be_switched_off(small: TreeCanvas) -> None:
    assert small._frame().level == Level.FIGURES
    small.set_options(TreeViewOptions(labels=False))
    assert small._frame().level == Level.BOXES
    assert small.node_at(QPointF(centre(small, 3))) == 3


def test_options_are_told_once(qtbot: QtBot, small: TreeCanvas) -> None:
    other = TreeViewOptions(layout="tidy")
    with qtbot.waitSignal(small.options_changed) as told:
        small.set_options(other)
    assert told.args == [other] == [small.options]
    with qtbot.assertNotEmitted(small.options_changed):
        small.set_options(replace(other))


# --- folds and focus --------------------------------------------------------------------------------------------------


def test_folding_hides_a_branch_and_says_what_it_hides(qtbot: QtBot, small: TreeCanvas) -> None:
    plain = picture(small)
    with qtbot.waitSignal(small.folds_changed):
        small.fold(4)
    assert shown(small) == [0, 1, 2, 3, 4, 8]
    assert small.folded == {4}
    assert any("3 nodes below are out of sight" in line for line in small.description(4))
    assert picture(small) != plain
    assert small.walk.child_of(4) is None
    assert small.node_rect(6) == small.node_rect(4)  # what is folded away is where its fold is
    with qtbot.assertNotEmitted(small.folds_changed):
        small.fold(4)
        small.fold(3)  # a leaf
        small.fold(4711)
    small.toggle_fold(4)
    assert small.folded == frozenset()
    assert picture(small) == plain


def test_a_double_click_folds_and_unfolds(qtbot: QtBot, small: TreeCanvas) -> None:
    qtbot.mouseDClick(small, Qt.MouseButton.LeftButton, pos=centre(small, 4))
    assert small.folded == {4}
    qtbot.mouseDClick(small, Qt.MouseButton.LeftButton, pos=centre(small, 4))
    assert small.folded == frozenset()


def test_a_folded_branch_opens_for_the_current_node_and_stays_shut_for_others(
    small: TreeCanvas, make_node: MakeNode, make_change: MakeChange
) -> None:
    small.fold(1)
    small.fold(4)
    small.apply(make_change(2, added=[make_node(9, 5, 0, 3, 0.1, rank=2)]))
    assert small.folded == {1, 4}
    assert any("4 nodes below" in line for line in small.description(4))
    small.set_current(9)
    assert small.folded == {1}
    assert small.rect().contains(centre(small, 9))
    small.fold(4)  # above the current node: the path then ends there
    assert small._frame().current_path == [0, 4]


def test_the_fold_of_the_place_that_is_folded_stays_under_the_pointer(
    canvas: TreeCanvas, random_tree: RandomTree
) -> None:
    canvas.reset("prompt", random_tree(800), frozenset(), 400)
    node_id = max(canvas.nodes_in_sight(), key=lambda n: int(canvas.scene.mirror.children[n]))
    before = canvas.node_rect(node_id).center()
    canvas.fold(node_id)
    assert (canvas.node_rect(node_id).center() - before).manhattanLength() < 3
    canvas.unfold(node_id)
    assert (canvas.node_rect(node_id).center() - before).manhattanLength() < 3


def test_a_branch_alone_and_the_way_back(qtbot: QtBot, small: TreeCanvas) -> None:
    breadcrumb = small._corners.breadcrumb
    assert breadcrumb.isHidden()
    with qtbot.waitSignal(small.focus_changed) as told:
        small.focus_on(5)
    assert told.args == [5]
    assert shown(small) == [5, 6]
    assert not breadcrumb.isHidden()
    assert "BD" in breadcrumb._text.text()
    assert all(small.rect().contains(small.node_rect(node).toRect()) for node in (5, 6))
    qtbot.mouseClick(breadcrumb.up, Qt.MouseButton.LeftButton)
    assert small.focus_node == 4
    with qtbot.waitSignal(small.focus_changed) as told:
        qtbot.mouseClick(breadcrumb.whole, Qt.MouseButton.LeftButton)
    assert told.args == [-1]
    assert small.focus_node is None
    assert breadcrumb.isHidden()
    assert len(shown(small)) == 9


def test_going_elsewhere_or_losing_the_branch_leaves_the_focus(
    qtbot: QtBot, small: TreeCanvas, make_change: MakeChange
) -> None:
    small.set_current(6)
    small.focus_on(5)
    with qtbot.waitSignal(small.focus_changed) as told:
        small.set_current(2)
    assert told.args == [-1]
    assert len(shown(small)) == 9
    small.focus_on(4)
    with qtbot.waitSignal(small.focus_changed):
        small.apply(make_change(2, hidden=[4, 5, 6, 7]))
    assert shown(small) == [0, 1, 2, 3, 8]
    assert small._corners.breadcrumb.isHidden()


def test_another_tree_starts_whole_and_unfolded(qtbot: QtBot, small: TreeCanvas, eos_tree: list[Node]) -> None:
    small.set_overlay(TreeOverlay({1: "beam"}))
    small.focus_on(4)
    small.fold(5)
    small.reset("prompt", eos_tree, frozenset(), 2)
    assert (small.focus_node, small.folded, small.overlay) == (None, frozenset(), None)
    assert len(shown(small)) == 9


def test_c47_folding_a_hundred_times_under_the_pointer_leaves_nothing_behind(
    qtbot: QtBot, canvas: TreeCanvas, random_tree: RandomTree
) -> None:
    """C47: 200 nodes; fold and unfold what the pointer is over a hundred times, then move on: no error, nothing new."""
    canvas.reset("prompt", random_tree(200), frozenset(), 0)
    node_id = next(n for n in range(40, 200) if canvas.scene.mirror.children[n] > 1)
    canvas.center_on(node_id)
    qtbot.mouseMove(canvas, centre(canvas, node_id))
    children = own_children(canvas)
    for _ in range(100):
        canvas.fold(node_id)
        canvas.grab()
        canvas.unfold(node_id)
    canvas.fold(node_id)
    below = set(canvas.scene.outline.below(node_id).tolist())
    assert below
    gc.collect()
    canvas.grab()
    qtbot.mouseMove(canvas, QPoint(300, 200))
    qtbot.mouseMove(canvas, QPoint(301, 201))
    assert own_children(canvas) == children
    assert all(canvas.node_at(QPointF(x, y)) not in below for x in range(0, 900, 10) for y in range(0, 500, 20))


# --- what is laid over the tree ---------------------------------------------------------------------------------------


def test_marks_differ_by_colour_and_by_dash_or_sign() -> None:
    for colours in (LIGHT, DARK):
        assert len({STYLES[mark].colour(colours).name() for mark in MARKS}) == len(MARKS)
    assert len({STYLES[mark].sign for mark in MARKS}) == len(MARKS)
    assert len({STYLES[mark].dash for mark in MARKS}) == len(MARKS)
    assert set(STYLES) == set(MARKS)


def test_an_overlay_is_drawn_explained_and_taken_away(small: TreeCanvas) -> None:
    plain, names = picture(small), legend(small)
    overlay = TreeOverlay(
        marks={1: "greedy", 2: "best", 4: "beam", 5: "finished", 7: "fallen", 8: "run", 4711: "match"},
        badges={4: "×3"},
        caption="Step 2 of 5",
        notes={7: "fell to B D"},
    )
    small.set_overlay(overlay)
    marked = picture(small)
    assert marked != plain
    marks = {entry.mark for entry in small._corners.legend.entries if isinstance(entry, MarkEntry)}
    assert marks == {"greedy", "best", "beam", "finished", "fallen", "run"}
    assert "Marked: fallen out" in small.description(7)
    assert "fell to B D" in small.description(7)
    for _ in range(7):
        small.zoom_out()  # without words, too
    small.set_options(TreeViewOptions(labels=False))
    far = picture(small)
    small.set_overlay(None)
    assert picture(small) != far
    small.set_options(TreeViewOptions())
    small.fit()
    assert legend(small) == names
    assert picture(small) == plain


def test_each_mark_and_the_badge_change_the_picture(small: TreeCanvas) -> None:
    seen = [picture(small)]
    for mark in MARKS:
        small.set_overlay(TreeOverlay({5: mark}))
        assert picture(small) not in seen
        seen.append(picture(small))
    small.set_overlay(TreeOverlay(badges={5: "12"}))
    assert picture(small) not in seen


def test_stars_and_notes_are_drawn_and_said(small: TreeCanvas) -> None:
    plain = picture(small)
    small.annotate({5: (True, ""), 8: (False, "compare with B"), 2: (True, "both")})
    assert picture(small) != plain
    assert "Starred" in small.description(5)
    assert "Note: compare with B" in small.description(8)
    assert {"starred", "note"} <= set(legend(small))
    small.annotate({})
    assert picture(small) == plain
    assert not {"starred", "note"} & set(legend(small))


# --- other numbers ----------------------------------------------------------------------------------------------------


def weights_of(canvas: TreeCanvas, changed: dict[int, float]) -> TreeWeights:
    """The recorded numbers with other probabilities for some steps."""
    mirror = canvas.scene.mirror
    edge = mirror.model_prob[: mirror.size].copy()
    for node_id, probability in changed.items():
        edge[node_id] = probability
    path = np.zeros(mirror.size)
    for node_id in range(1, mirror.size):
        step = math.log(edge[node_id]) if edge[node_id] > 0 else (-math.inf if edge[node_id] == 0 else math.nan)
        path[node_id] = path[mirror.parent[node_id]] + step
    return TreeWeights(edge, path, np.full(mirror.size, 1.5), np.full(mirror.size, 0.25), "sampling at 0.7")


def test_weights_change_figures_and_colours_and_nothing_that_is_stored(small: TreeCanvas) -> None:
    plain, lines = picture(small), small.description(6)
    small.set_weights(weights_of(small, {4: 0.7, 5: 0.2}))
    assert picture(small) != plain
    said = small.description(6)
    assert set(lines) <= set(said)
    assert any("sampling at 0.7: step 90.0%, path 12.6%" in line for line in said)
    assert any("Entropy of the next token: 1.50" in line for line in said)
    assert any("sampling at 0.7: unseen 25.0%" in line for line in small.description(4))
    assert any(name.startswith("sampling at 0.7") for name in legend(small))
    small.set_weights(None)
    assert picture(small) == plain
    assert small.description(6) == lines


def test_what_a_reading_excludes_fades_and_what_it_does_not_know_is_said_to_be_unknown(small: TreeCanvas) -> None:
    small.set_weights(weights_of(small, {4: 0.0, 8: math.nan}))
    frame = small._frame()
    assert frame.reading.excluded(np.array([4, 5, 6, 7])).all()
    assert not frame.reading.excluded(np.array([1, 2, 8])).any()
    assert {"excluded", "not known"} <= set(legend(small))
    assert any("step excluded" in line for line in small.description(4))
    assert any("step 90.0%, path excluded" in line for line in small.description(5))
    assert any("not known here" in line for line in small.description(8))
    # Faded is nearer to the ground than it was.
    for colours in (LIGHT, DARK):
        small.setPalette(build_palette(colours))
        near = small._frame().node_colours.colour_of(5).lightness()
        small.set_weights(None)
        full = small._frame().node_colours.colour_of(5).lightness()
        assert (near > full) == (colours is LIGHT)
        small.set_weights(weights_of(small, {4: 0.0}))


def test_nodes_that_came_after_the_weights_are_unknown(
    small: TreeCanvas, make_node: MakeNode, make_change: MakeChange
) -> None:
    small.set_weights(weights_of(small, {}))
    small.apply(make_change(9, added=[make_node(9, 2, 5, 3, 0.05, rank=2)]))
    assert any("not known here" in line for line in small.description(9))
    small.grab()
    assert "not known" in legend(small)


def test_the_legend_of_a_picture_is_that_of_the_canvas(small: TreeCanvas) -> None:
    small.set_overlay(TreeOverlay({1: "beam"}))
    assert legend_entries(small.scene.picture(LIGHT)) == list(small._corners.legend.entries)
    assert any(isinstance(entry, PlainEntry) for entry in small._corners.legend.entries)
