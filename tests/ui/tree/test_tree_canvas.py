"""The tree on the screen, driven by mouse and keys."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QHelpEvent, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from explorer.decoding.stopping import StopEvent
from explorer.events import Change
from explorer.tree import Node
from ui.theme import DARK, LIGHT, MapName, build_palette, map_colour
from ui.tree.canvas import TreeCanvas
from ui.tree.options import TreeViewOptions

MAPS: tuple[MapName, ...] = ("cividis", "viridis")
MakeNode = Callable[..., Node]
MakeChange = Callable[..., Change]
RandomTree = Callable[[int], list[Node]]


def centre(canvas: TreeCanvas, node_id: int) -> QPoint:
    return canvas.node_rect(node_id).center().toPoint()


def picture(canvas: TreeCanvas) -> QImage:
    return canvas.grab().toImage()


def wheel(canvas: TreeCanvas, at: QPointF, steps: int) -> None:
    event = QWheelEvent(
        at,
        QPointF(canvas.mapToGlobal(at.toPoint())),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, event)


@pytest.fixture
def shown(canvas: TreeCanvas, eos_tree: list[Node]) -> TreeCanvas:
    canvas.reset("prompt", eos_tree, frozenset(), 2, end_tokens=frozenset({4}))
    return canvas


def test_clicking_a_node_activates_it(qtbot: QtBot, shown: TreeCanvas) -> None:
    for node_id in (0, 3, 7):
        with qtbot.waitSignal(shown.node_activated) as activated:
            qtbot.mouseClick(shown, Qt.MouseButton.LeftButton, pos=centre(shown, node_id))
        assert activated.args == [node_id]


def test_clicking_nothing_activates_nothing(qtbot: QtBot, shown: TreeCanvas) -> None:
    with qtbot.assertNotEmitted(shown.node_activated):
        qtbot.mouseClick(shown, Qt.MouseButton.LeftButton, pos=QPoint(2, 2))


def test_dragging_moves_the_picture_and_activates_nothing(qtbot: QtBot, shown: TreeCanvas) -> None:
    before = shown.node_rect(2)
    start = centre(shown, 2)
    with qtbot.assertNotEmitted(shown.node_activated):
        qtbot.mousePress(shown, Qt.MouseButton.LeftButton, pos=start)
        qtbot.mouseMove(shown, start + QPoint(30, 0))
        qtbot.mouseMove(shown, start + QPoint(60, 25))
        qtbot.mouseRelease(shown, Qt.MouseButton.LeftButton, pos=start + QPoint(60, 25))
    assert shown.node_rect(2).topLeft() - before.topLeft() == QPointF(60, 25)


def test_the_wheel_zooms_about_the_pointer(shown: TreeCanvas) -> None:
    place = QPointF(centre(shown, 5))
    width = shown.node_rect(5).width()
    wheel(shown, place, 2)
    assert shown.node_rect(5).width() > width
    assert (shown.node_rect(5).center() - place).manhattanLength() < 2
    wheel(shown, place, -2)
    assert shown.node_rect(5).width() == pytest.approx(width)


def test_hovering_shows_the_path_and_tells_the_node(qtbot: QtBot, shown: TreeCanvas) -> None:
    plain = picture(shown)
    with qtbot.waitSignal(shown.node_hovered) as hovered:
        qtbot.mouseMove(shown, centre(shown, 5))
    assert hovered.args == [5]
    assert picture(shown) != plain
    with qtbot.waitSignal(shown.node_hovered) as hovered:
        qtbot.mouseMove(shown, QPoint(2, 2))
    assert hovered.args == [-1]
    assert picture(shown) == plain


def test_hovering_elsewhere_shows_the_same(qtbot: QtBot, shown: TreeCanvas) -> None:
    plain = picture(shown)
    shown.highlight_node(5)
    assert picture(shown) != plain
    shown.highlight_node(-1)
    assert picture(shown) == plain
    shown.highlight_node(4711)
    assert picture(shown) == plain


def test_lesson_4_paths_and_ends_have_different_words(shown: TreeCanvas) -> None:
    """A C EOS .297 and B D EOS .324 are complete; A C, .33, is the beginning of any text that starts so."""
    assert any("complete 29.7%" in line for line in shown.description(3))
    assert any("complete 32.4%" in line for line in shown.description(6))
    assert any("prefix 33.0%" in line for line in shown.description(2))
    assert any("then ends it" in line for line in shown.description(3))
    assert any("whatever follows" in line for line in shown.description(2))


def test_descriptions_have_the_text_and_what_was_recorded(shown: TreeCanvas) -> None:
    lines = shown.description(7)
    assert lines[0] == "“BC”"
    assert any("excluded by a filter" in line for line in lines)
    assert any("expanded" in line for line in lines)
    assert any("unseen 0%" in line for line in shown.description(0))
    assert any("2 branches hold 100%" in line for line in shown.description(4))
    shown.set_log_unit("bits")
    assert any("bits" in line for line in shown.description(7))


def test_the_tooltip_is_the_description_and_never_markup(qtbot: QtBot, canvas: TreeCanvas, make_node: MakeNode) -> None:
    canvas.reset("prompt", [make_node(1, 0, 7, 1, 0.5)], frozenset(), 0)
    at = centre(canvas, 1)
    QApplication.sendEvent(canvas, QHelpEvent(QHelpEvent.Type.ToolTip, at, canvas.mapToGlobal(at)))
    assert "&lt;b&gt;bold" in QToolTip.text()
    QToolTip.hideText()


def test_keys_walk_the_tree(qtbot: QtBot, shown: TreeCanvas) -> None:
    steps = [
        (Qt.Key.Key_Left, 2, 1),
        (Qt.Key.Key_Down, 1, 4),
        (Qt.Key.Key_Up, 4, 1),
        (Qt.Key.Key_Right, 4, 5),
        (Qt.Key.Key_Home, 5, 0),
    ]
    for key, start, end in steps:
        shown.set_current(start)
        with qtbot.waitSignal(shown.node_activated) as activated:
            qtbot.keyClick(shown, key)
        assert activated.args == [end]
    shown.set_current(0)
    with qtbot.assertNotEmitted(shown.node_activated):
        qtbot.keyClick(shown, Qt.Key.Key_Left)
        qtbot.keyClick(shown, Qt.Key.Key_Up)


def test_walk_helpers(shown: TreeCanvas) -> None:
    assert shown.walk.parent_of(3) == 2
    assert shown.walk.parent_of(0) is None
    assert shown.walk.child_of(0) == 1
    assert shown.walk.child_of(3) is None
    assert shown.sibling_of(5, 1) == 7
    assert shown.sibling_of(99, 1) is None


def test_the_buttons_and_keys_zoom_and_fit(qtbot: QtBot, shown: TreeCanvas) -> None:
    width = shown.node_rect(2).width()
    qtbot.mouseClick(shown._corners.buttons.zoom_in, Qt.MouseButton.LeftButton)
    assert shown.node_rect(2).width() > width
    qtbot.keyClick(shown, Qt.Key.Key_Minus)
    qtbot.keyClick(shown, Qt.Key.Key_Plus)
    shown.center_on(6)
    assert (shown.node_rect(6).center() - QPointF(shown.rect().center())).manhattanLength() < 3
    qtbot.keyClick(shown, Qt.Key.Key_F)
    assert shown.node_rect(2).width() == pytest.approx(width)
    assert all(shown.rect().contains(shown.node_rect(node_id).toRect()) for node_id in range(9))
    for button in (shown._corners.buttons.zoom_in, shown._corners.buttons.zoom_out, shown._corners.buttons.fit):
        assert button.accessibleName()
        assert button.toolTip()


def test_the_menu_is_asked_for_the_node_under_the_pointer(qtbot: QtBot, shown: TreeCanvas) -> None:
    at = centre(shown, 5)
    with qtbot.waitSignal(shown.context_menu_requested) as requested:
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, shown.mapToGlobal(at))
        QApplication.sendEvent(shown, event)
    assert requested.args == [5, shown.mapToGlobal(at)]
    with qtbot.waitSignal(shown.context_menu_requested) as requested:
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint())
        QApplication.sendEvent(shown, event)
    assert requested.args[0] == 2


def test_steps_appear_and_the_current_node_stays_in_sight(
    shown: TreeCanvas, make_node: MakeNode, make_change: MakeChange
) -> None:
    for depth in range(3, 43):
        node_id = 6 + depth
        parent = 8 if depth == 3 else node_id - 1
        shown.apply(make_change(node_id, added=[make_node(node_id, parent, 5, depth, 0.9)]))
        assert shown.rect().contains(shown.node_rect(node_id).toRect())
    assert "Paris Paris" in shown.description(48)[0]


def test_branches_and_undo_move_the_rows(shown: TreeCanvas, make_node: MakeNode, make_change: MakeChange) -> None:
    top = shown.node_rect(8).top() - shown.node_rect(2).top()
    shown.apply(make_change(9, added=[make_node(9, 2, 5, 3, 0.05, rank=2)]))
    assert shown.node_rect(8).top() - shown.node_rect(3).top() > top
    shown.apply(make_change(2, hidden=[9]))
    assert shown.node_at(QPointF(centre(shown, 3))) == 3
    assert shown.node_rect(8).top() - shown.node_rect(2).top() == pytest.approx(top)
    shown.apply(make_change(9, revealed=[9]))
    assert shown.node_at(QPointF(centre(shown, 9))) == 9


def test_c47_a_branch_deleted_under_the_pointer_leaves_nothing_behind(
    qtbot: QtBot, canvas: TreeCanvas, random_tree: RandomTree, make_change: MakeChange
) -> None:
    """C47: 200 nodes; hide what the pointer is over, a hundred times, and move on: no error, no new objects."""
    nodes = random_tree(200)
    canvas.reset("prompt", nodes, frozenset(), 0)
    branch = {100}
    for node in nodes:
        if node.parent in branch:
            branch.add(node.id)
    canvas.center_on(100)
    qtbot.mouseMove(canvas, centre(canvas, 100))
    children = len(canvas.children())
    for _ in range(100):
        canvas.apply(make_change(0, hidden=branch))
        canvas.apply(make_change(0, revealed=branch))
    canvas.apply(make_change(0, hidden=branch))
    gc.collect()
    canvas.grab()
    qtbot.mouseMove(canvas, QPoint(300, 200))
    qtbot.mouseMove(canvas, QPoint(301, 201))
    assert len(canvas.children()) == children
    assert all(canvas.node_at(QPointF(x, 200)) not in branch for x in range(0, 900, 10))


def test_stops_and_ends_are_marked_and_explained(
    canvas: TreeCanvas, eos_tree: list[Node], make_change: MakeChange
) -> None:
    canvas.reset("prompt", eos_tree, frozenset(), 2, stops={8: "stop_string"})
    plain = picture(canvas)
    assert any("stop string" in line for line in canvas.description(8))
    canvas.apply(make_change(2, stop=(2, StopEvent("max_new_tokens", {"step": 2}))))
    assert any("limit of new tokens" in line for line in canvas.description(2))
    assert picture(canvas) != plain


def test_the_kinds_of_stops_are_all_known_to_the_words(canvas: TreeCanvas, eos_tree: list[Node]) -> None:
    kinds = (
        "eos",
        "max_new_tokens",
        "max_length",
        "stop_string",
        "context_window",
        "no_candidates",
        "cancelled",
        "error",
    )
    for kind in kinds:
        canvas.reset("prompt", eos_tree, frozenset(), 3, stops={3: kind})
        assert kind not in canvas.description(3)
        canvas.grab()


def test_the_empty_states_invite(canvas: TreeCanvas) -> None:
    nothing = picture(canvas)
    canvas.reset("The capital of France is", [], frozenset(), 0)
    only_prompt = picture(canvas)
    assert nothing != only_prompt
    assert "prompt" in canvas.description(0)[0]


def test_the_current_node_is_described_to_screen_readers(shown: TreeCanvas) -> None:
    assert "“AC”" in shown.accessibleDescription()
    shown.set_current(7)
    assert "“BC”" in shown.accessibleDescription()
    assert "expanded, forced" in shown._corners.legend.accessibleName()


def test_colour_follows_probability_in_both_themes(shown: TreeCanvas) -> None:
    """The border of a box has the colour of its probability, in either map."""
    for _ in range(8):
        shown.zoom_in()  # thick borders, unblended pixels
    shown.center_on(8)
    for colours in (LIGHT, DARK):
        shown.setPalette(build_palette(colours))
        for name in MAPS:
            shown.set_colour_map(name)
            rect = shown.node_rect(8)
            image = picture(shown)
            ratio = image.devicePixelRatio()
            wanted = map_colour(name, colours, 0.45)
            column = [
                image.pixelColor(round(rect.center().x() * ratio), round(y * ratio))
                for y in range(int(rect.top()) - 3, int(rect.top()) + 4)
            ]
            assert min(abs(c.red() - wanted.red()) + abs(c.blue() - wanted.blue()) for c in column) < 20


def test_who_comes_by_key_sees_where_the_keys_go(qtbot: QtBot, shown: TreeCanvas) -> None:
    shown.clearFocus()
    plain = picture(shown)
    shown.setFocus(Qt.FocusReason.MouseFocusReason)
    assert picture(shown) == plain
    shown.clearFocus()
    shown.setFocus(Qt.FocusReason.TabFocusReason)
    assert picture(shown) != plain


def test_special_and_long_labels_stay_in_their_boxes(canvas: TreeCanvas, make_node: MakeNode) -> None:
    canvas.reset("p" * 500, [make_node(1, 0, 8, 1, 0.5), make_node(2, 1, 4, 2, 0.5)], frozenset(), 0)
    assert canvas.node_rect(0).width() <= 201
    assert canvas.node_rect(1).width() <= 177
    canvas.set_options(TreeViewOptions(phrases=False))
    assert canvas.node_rect(1).width() <= 169
    canvas.grab()


def test_an_unknown_vocabulary_shows_ids(canvas: TreeCanvas, eos_tree: list[Node]) -> None:
    canvas.set_vocabulary(None)
    canvas.reset("prompt", eos_tree, frozenset(), 2)
    assert canvas.description(2)[0] == "“#0 #2”"
    canvas.grab()


def test_a_deep_chain_needs_no_recursion(canvas: TreeCanvas, make_node: MakeNode, make_change: MakeChange) -> None:
    chain = [make_node(node_id, node_id - 1, 0, node_id, 0.5) for node_id in range(1, 5001)]
    canvas.reset("prompt", chain, frozenset(), 5000)
    assert canvas.rect().contains(canvas.node_rect(5000).toRect())
    assert "×10⁻¹⁵⁰⁶" in "".join(canvas.description(5000))
    canvas.grab()
    canvas.fit()
    canvas.grab()
    canvas.apply(make_change(5001, added=[make_node(5001, 5000, 1, 5001, 0.5)]))
    canvas.grab()


def test_a_large_tree_is_fitted_and_can_still_be_clicked(
    qtbot: QtBot, canvas: TreeCanvas, random_tree: RandomTree
) -> None:
    nodes = random_tree(20_000)
    canvas.reset("prompt", nodes, frozenset(), 15_000)
    assert canvas.rect().contains(centre(canvas, 15_000))
    canvas.fit()
    image = picture(canvas)
    seen = {image.pixelColor(x, y).name() for x in range(0, 900, 3) for y in range(0, 440, 3)}
    assert len(seen) > 20  # nodes in many colours
    assert canvas.rect().contains(canvas.node_rect(20_000).center().toPoint())
    at = centre(canvas, 15_000)
    with qtbot.waitSignal(canvas.node_activated) as activated:
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=at)
    assert (centre(canvas, activated.args[0]) - at).manhattanLength() <= 6
    for _ in range(60):
        canvas.zoom_in()
    assert canvas.node_rect(15_000).height() == pytest.approx(24 * 2.5)
    for _ in range(80):
        canvas.zoom_out()
    assert canvas.grab()


def test_hovering_over_a_large_tree_does_not_paint_it_anew(canvas: TreeCanvas, random_tree: RandomTree) -> None:
    canvas.reset("prompt", random_tree(5000), frozenset(), 10)
    canvas.fit()
    canvas.grab()
    kept = canvas._overview._image.cacheKey()
    canvas.highlight_node(77)
    canvas.grab()
    assert canvas._overview._image.cacheKey() == kept
    canvas.zoom_in()
    canvas.grab()
    assert canvas._overview._image.cacheKey() != kept


def test_new_nodes_slide_in_and_arrive(
    qtbot: QtBot, shown: TreeCanvas, make_node: MakeNode, make_change: MakeChange
) -> None:
    shown.set_animated(True)
    shown.apply(make_change(9, added=[make_node(9, 2, 5, 3, 0.05, rank=2)]))
    start = shown.node_rect(9)
    assert start.left() == pytest.approx(shown.node_rect(2).left(), abs=1)  # it comes out of its parent
    qtbot.waitUntil(lambda: not shown._motion.running)
    assert shown.node_rect(9).left() > start.left() + 20
    assert shown.rect().contains(shown.node_rect(9).toRect())


def test_resizing_keeps_the_current_node_in_sight(qtbot: QtBot, shown: TreeCanvas) -> None:
    shown.set_current(6)
    shown.resize(360, 240)
    assert shown.rect().contains(centre(shown, 6))


def test_a_tree_that_was_reset_before_it_was_shown_is_placed_when_it_is(qtbot: QtBot, eos_tree: list[Node]) -> None:
    canvas = TreeCanvas()
    qtbot.addWidget(canvas)
    canvas.reset("prompt", eos_tree, frozenset(), 6)
    canvas.resize(800, 400)
    canvas.show()
    assert canvas.rect().contains(centre(canvas, 6))
    assert canvas.rect().contains(centre(canvas, 0))
