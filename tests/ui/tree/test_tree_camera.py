"""From where the tree is seen: fitting, following, gliding, zooming to a selection, and the map."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.decoding.stopping import StopEvent
from explorer.events import Change
from explorer.tree import Node
from ui.theme import DARK, build_palette
from ui.tree.camera import Camera, between
from ui.tree.canvas import TreeCanvas
from ui.tree.frame import Frame, Level
from ui.tree.options import TreeViewOptions
from ui.tree.overlay import MARKS, TreeOverlay

MakeNode = Callable[..., Node]
MakeChange = Callable[..., Change]
RandomTree = Callable[[int], list[Node]]

cameras = st.builds(
    lambda zoom, x, y: Camera(zoom, QPointF(x, y), QSizeF(900, 500), QSizeF(40_000, 30_000)),
    st.floats(0.05, 2.5),
    st.floats(-5000, 5000),
    st.floats(-5000, 5000),
)


def inside(canvas: TreeCanvas, *node_ids: int) -> bool:
    return all(QRectF(canvas.rect()).contains(canvas.node_rect(node_id)) for node_id in node_ids)


# --- the camera -------------------------------------------------------------------------------------------------------


@given(cameras, st.floats(0.1, 10), st.floats(0, 900), st.floats(0, 500))
def test_zooming_keeps_what_is_under_the_pointer(camera: Camera, factor: float, x: float, y: float) -> None:
    at = QPointF(x, y)
    moved = camera.zoomed(factor, at).screen(camera.world(at)) - at
    assert moved.manhattanLength() < 0.01


@given(cameras, cameras, st.floats(0, 1))
def test_a_glide_begins_and_ends_where_it_should(start: Camera, end: Camera, share: float) -> None:
    for part, camera in ((0.0, start), (1.0, end)):
        reached = between(start, end, part)
        assert reached.zoom == pytest.approx(camera.zoom)
        assert (reached.origin - camera.origin).manhattanLength() == pytest.approx(0, abs=0.05)
    on_the_way = between(start, end, share).zoom
    assert min(start.zoom, end.zoom) - 1e-9 <= on_the_way <= max(start.zoom, end.zoom) + 1e-9


@given(cameras, st.floats(0, 20_000), st.floats(0, 20_000), st.floats(1, 9000), st.floats(1, 9000))
def test_looking_at_a_region_shows_all_of_it(camera: Camera, x: float, y: float, width: float, height: float) -> None:
    region = QRectF(x, y, width, height)
    found = camera.looking_at(region)
    assert found.seen.adjusted(-1, -1, 1, 1).contains(region)
    assert found.zoom <= 1


# --- fitting and following --------------------------------------------------------------------------------------------


def test_a_tree_that_fits_is_kept_in_sight_while_it_grows_until_it_could_not_be_read(
    canvas: TreeCanvas, make_node: MakeNode, make_change: MakeChange
) -> None:
    canvas.reset("prompt", [], frozenset(), 0)
    canvas.set_options(TreeViewOptions(phrases=False))
    for node_id in range(1, 30):
        canvas.apply(make_change(node_id, added=[make_node(node_id, node_id - 1, 0, node_id, 0.5)]))
        assert inside(canvas, node_id)
        if inside(canvas, 0):
            assert canvas.look.camera.scale >= 0.7
            assert inside(canvas, *range(node_id + 1))
    assert not inside(canvas, 0)


def test_whoever_looked_elsewhere_is_left_alone(
    canvas: TreeCanvas, make_node: MakeNode, make_change: MakeChange
) -> None:
    nodes = [make_node(1, 0, 0, 1, 0.6), make_node(2, 1, 2, 2, 0.5)]
    canvas.reset("prompt", nodes, frozenset(), 0)
    canvas.look.drag(QPointF(40, 30))
    before = canvas.look.camera.origin
    canvas.apply(make_change(0, added=[make_node(n, n - 1, 0, n, 0.5) for n in range(3, 9)]))
    assert canvas.look.camera.origin == before


def test_a_fitted_tree_stands_above_its_legend(canvas: TreeCanvas, make_node: MakeNode) -> None:
    nodes = [make_node(n, 0, n % 9, 1, 0.1, rank=n) for n in range(1, 31)]
    canvas.reset("prompt", nodes, frozenset(), 0)
    canvas.fit()
    canvas.annotate({1: (True, "note")})
    canvas.set_overlay(TreeOverlay({n: MARKS[n % len(MARKS)] for n in range(1, 31)}))
    legend = QRectF(canvas._corners.legend.geometry())
    assert legend.height() > 50
    assert inside(canvas, *range(31))
    assert all(canvas.node_rect(n).bottom() <= legend.top() for n in range(31))


def test_after_fitting_a_large_tree_the_whole_of_it_stays_in_sight(
    canvas: TreeCanvas, random_tree: RandomTree, make_node: MakeNode, make_change: MakeChange
) -> None:
    canvas.reset("prompt", random_tree(3000), frozenset(), 0)
    assert not canvas.look.camera.shows_all
    canvas.fit()
    assert canvas.look.camera.shows_all
    deepest = max(canvas.scene.mirror.nodes.values(), key=lambda node: node.depth)
    new = make_node(3001, deepest.id, 0, deepest.depth + 1, 0.5)
    canvas.apply(make_change(0, added=[new, make_node(3002, 3001, 8, deepest.depth + 2, 0.5)]))
    assert canvas.look.camera.shows_all
    canvas.resize(700, 420)
    assert canvas.look.camera.shows_all


def test_the_current_node_stays_where_it_is_while_others_make_room(
    canvas: TreeCanvas, random_tree: RandomTree, make_node: MakeNode, make_change: MakeChange
) -> None:
    canvas.reset("prompt", random_tree(500), frozenset(), 400)
    before = canvas.node_rect(400).center()
    root_children = canvas.scene.mirror.children_of(0)
    assert root_children
    canvas.apply(make_change(400, added=[make_node(n, 0, n % 9, 1, 0.001, rank=0) for n in range(501, 509)]))
    assert (canvas.node_rect(400).center() - before).manhattanLength() < 2


def test_folding_what_is_out_of_sight_never_leaves_an_empty_view(canvas: TreeCanvas, random_tree: RandomTree) -> None:
    canvas.reset("prompt", random_tree(500), frozenset(), 400)
    path = canvas.scene.mirror.path(400)
    for node_id in range(1, 500):
        if node_id not in path and node_id in canvas.scene.outline and canvas.scene.outline.kids[node_id]:
            canvas.fold(node_id)
            assert canvas.nodes_in_sight()
    canvas.fold(path[1])
    assert canvas.nodes_in_sight()


def test_zooming_to_a_selection_shows_it_and_little_else(canvas: TreeCanvas, random_tree: RandomTree) -> None:
    canvas.reset("prompt", random_tree(400), frozenset(), 0)
    canvas.fit()
    chosen = [120, *canvas.scene.outline.below(120).tolist()[:6]]
    canvas.zoom_to(chosen)
    assert inside(canvas, *chosen)
    canvas.fold(120)
    canvas.zoom_to(chosen)  # what is folded away is where its fold is
    assert inside(canvas, 120)
    before = canvas.look.camera
    canvas.zoom_to([4711])
    canvas.zoom_to([])
    assert canvas.look.camera == before


def test_commands_glide_and_gestures_do_not(qtbot: QtBot, canvas: TreeCanvas, random_tree: RandomTree) -> None:
    canvas.reset("prompt", random_tree(400), frozenset(), 200)
    canvas.set_animated(True)
    before = canvas.look.camera
    canvas.fit()
    assert canvas.look.gliding
    assert canvas.look.camera == before
    qtbot.waitUntil(lambda: not canvas.look.gliding)
    assert canvas.look.camera.shows_all
    canvas.look.drag(QPointF(10, 0))
    assert not canvas.look.gliding
    canvas.zoom_in()
    canvas.zoom_in()  # the second continues what the first began
    goal = canvas.look.goal
    qtbot.waitUntil(lambda: not canvas.look.gliding)
    assert canvas.look.camera.zoom == pytest.approx(goal.zoom)
    canvas.fit()
    canvas.look.drag(QPointF(5, 5))  # a hand on it ends a glide
    assert not canvas.look.gliding


# --- levels -----------------------------------------------------------------------------------------------------------


def test_the_nearer_the_more_is_shown(canvas: TreeCanvas, random_tree: RandomTree) -> None:
    canvas.reset("prompt", random_tree(3000), frozenset(), 1500)
    canvas.fit()
    levels = [canvas._frame().level]
    for _ in range(40):
        canvas.zoom_in()
        levels.append(canvas._frame().level)
        canvas.grab()
    assert levels == sorted(levels)
    assert set(levels) == set(Level)


# --- the map ----------------------------------------------------------------------------------------------------------


def test_the_map_is_there_while_the_tree_does_not_fit(canvas: TreeCanvas, random_tree: RandomTree) -> None:
    minimap = canvas._corners.minimap
    canvas.reset("prompt", random_tree(3), frozenset(), 0)
    assert minimap.isHidden()
    canvas.reset("prompt", random_tree(300), frozenset(), 150)
    assert not minimap.isHidden()
    assert canvas.rect().contains(minimap.geometry())
    canvas.fit()
    assert minimap.isHidden()
    canvas.zoom_in()
    canvas.zoom_in()
    assert not minimap.isHidden()
    wide = minimap.width()
    canvas.resize(600, 400)
    assert minimap.width() < wide
    assert canvas.rect().contains(minimap.geometry())
    canvas.resize(300, 200)  # no room for it
    assert minimap.isHidden()


def test_a_click_on_the_map_goes_there_and_dragging_its_frame_moves_the_view(
    qtbot: QtBot, canvas: TreeCanvas, random_tree: RandomTree
) -> None:
    canvas.reset("prompt", random_tree(600), frozenset(), 10)
    minimap = canvas._corners.minimap
    place = QPoint(minimap.width() * 3 // 5, minimap.height() * 3 // 5)
    qtbot.mouseClick(minimap, Qt.MouseButton.LeftButton, pos=place)
    assert (minimap.seen_rect().center() - QPointF(place)).manhattanLength() < 4
    start = minimap.seen_rect().center().toPoint()
    before = canvas.look.camera.seen.center()
    qtbot.mousePress(minimap, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(minimap, start + QPoint(-60, -30))
    qtbot.mouseRelease(minimap, Qt.MouseButton.LeftButton, pos=start + QPoint(-60, -30))
    assert canvas.look.camera.seen.center().x() < before.x()
    assert canvas.look.camera.seen.center().y() < before.y()
    assert (minimap.seen_rect().center() - QPointF(start + QPoint(-60, -30))).manhattanLength() < 4
    qtbot.mouseMove(minimap, QPoint(10, 10))  # nothing is held any more
    assert (minimap.seen_rect().center() - QPointF(start + QPoint(-60, -30))).manhattanLength() < 4


def test_the_map_follows_the_tree(
    qtbot: QtBot, canvas: TreeCanvas, random_tree: RandomTree, make_node: MakeNode, make_change: MakeChange
) -> None:
    for size in (600, 9000):  # with the next paint, or when there is time
        canvas.reset("prompt", random_tree(size), frozenset(), 10)
        minimap = canvas._corners.minimap
        minimap._draw()
        before = minimap.grab().toImage()
        canvas.apply(make_change(10, added=[make_node(size + n, 0, n % 9, 1, 0.9, rank=0) for n in range(1, 700)]))
        assert (minimap._unpainted is None) == (size == 9000)
        qtbot.waitUntil(lambda before=before, minimap=minimap: minimap.grab().toImage() != before)


def test_the_map_is_drawn_once_a_paint(
    qtbot: QtBot,
    canvas: TreeCanvas,
    random_tree: RandomTree,
    make_node: MakeNode,
    make_change: MakeChange,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    canvas.reset("prompt", random_tree(600), frozenset(), 10)
    minimap = canvas._corners.minimap
    minimap.grab()
    paints: list[Frame] = []
    paint = minimap._raster.paint

    def counted(frame: Frame, ratio: float) -> QImage:
        paints.append(frame)
        return paint(frame, ratio)

    monkeypatch.setattr(minimap._raster, "paint", counted)
    for number in range(601, 606):
        canvas.apply(make_change(10, added=[make_node(number, 0, number % 9, 1, 0.9, rank=0)]))
    assert not paints
    minimap.grab()
    minimap.grab()
    assert len(paints) == 1


# --- what is painted while the view moves -----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [TreeViewOptions(), TreeViewOptions(layout="tidy", orientation="down")])
def test_a_picture_put_together_from_strips_is_that_of_one_piece(
    qtbot: QtBot, canvas: TreeCanvas, random_tree: RandomTree, options: TreeViewOptions
) -> None:
    canvas.reset("prompt", random_tree(400), frozenset(), 200)
    canvas.set_options(options)
    QApplication.processEvents()
    for by in ((-7, 0), (0, 11), (-13, -9), (120, 40), (-120, 30), (3, 2)):
        canvas.look.drag(QPointF(*by))
        moved = canvas.grab().toImage()
        assert canvas._backing.patched
        canvas._complete()
        assert not canvas._backing._shown
        whole = canvas.grab().toImage()
        assert not canvas._backing.patched
        differing = sum(moved.pixel(x, y) != whole.pixel(x, y) for x in range(0, 900, 2) for y in range(0, 500, 2))
        assert differing < 0.002 * 450 * 250  # a figure at the border of a strip, at most


def test_from_afar_a_node_more_is_painted_when_there_is_time(
    qtbot: QtBot, canvas: TreeCanvas, random_tree: RandomTree, make_node: MakeNode, make_change: MakeChange
) -> None:
    canvas.reset("prompt", random_tree(20_000), frozenset(), 10)
    canvas.fit()
    canvas.grab()
    assert not canvas._overview.patched
    kept = canvas._overview._image.cacheKey()
    canvas.apply(make_change(20_001, added=[make_node(20_001, 19_000, 3, 100, 0.5, rank=99)]))
    canvas.grab()
    assert canvas._overview.patched
    assert canvas._overview._image.cacheKey() == kept
    qtbot.waitUntil(lambda: not canvas._overview.patched)
    assert canvas._overview._image.cacheKey() != kept


def test_only_what_is_in_sight_makes_another_picture(
    canvas: TreeCanvas, random_tree: RandomTree, make_node: MakeNode, make_change: MakeChange
) -> None:
    canvas.reset("prompt", random_tree(5000), frozenset(), 2500, end_tokens=frozenset({4}))
    canvas.grab()
    seen = set(canvas._frame().plan.heads[canvas._frame().edges].tolist())
    far = next(n for n in range(4900, 0, -1) if n not in seen and not canvas.scene.mirror.children[n])
    near = next(n for n in canvas.nodes_in_sight() if n and not canvas.scene.mirror.children[n] and n != 2500)

    def painted_anew(act: Callable[[], object]) -> bool:
        before = canvas._backing._pixmap.cacheKey()
        act()
        canvas.grab()
        return canvas._backing._pixmap.cacheKey() != before

    def add(node_id: int, parent: int) -> Change:
        depth = canvas.scene.mirror.nodes[parent].depth + 1
        return make_change(2500, added=[make_node(node_id, parent, 0, depth, 0.5)])

    assert not painted_anew(lambda: canvas.apply(add(5001, far)))
    assert painted_anew(lambda: canvas.apply(add(5002, near)))
    assert painted_anew(lambda: canvas.apply(make_change(2500, stop=(5002, StopEvent("stop_string", {})))))
    assert not painted_anew(lambda: canvas.apply(make_change(2500, stop=(5001, StopEvent("stop_string", {})))))
    assert painted_anew(lambda: canvas.annotate({near: (True, "")}))
    assert painted_anew(lambda: canvas.set_overlay(TreeOverlay({near: "beam"})))
    assert painted_anew(lambda: canvas.set_colour_map("viridis"))
    assert painted_anew(lambda: canvas.setPalette(build_palette(DARK)))
    assert painted_anew(lambda: canvas.set_options(TreeViewOptions(width_by_probability=False)))
    assert painted_anew(lambda: canvas.set_current(near))
    assert not painted_anew(lambda: canvas.set_current(near))


def test_a_view_at_rest_is_painted_in_one_piece(qtbot: QtBot, canvas: TreeCanvas, random_tree: RandomTree) -> None:
    canvas.reset("prompt", random_tree(400), frozenset(), 200)
    QApplication.processEvents()
    canvas.look.drag(QPointF(-20, 5))
    canvas.grab()
    assert canvas._backing.patched
    qtbot.waitUntil(lambda: not canvas._backing.patched)
