"""The text of a path, driven by mouse and keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication, QHelpEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from explorer.decoding.stopping import StopEvent
from explorer.events import NodeView
from explorer.text import Vocabulary
from explorer.tree import Edge
from ui.text.colouring import COLOUR_CHOICES, HOW_GLYPHS, ColourChoice, map_place
from ui.text.path_text import PathText
from ui.theme import DARK, LIGHT, build_palette, contrast

MakeView = Callable[..., NodeView]
MakeEdge = Callable[..., Edge]
TEXT = [3, 4, 5, 6, 7, 8, 9]


def click(qtbot: QtBot, widget: PathText, cell: int) -> None:
    qtbot.mouseClick(widget.cells.viewport(), Qt.MouseButton.LeftButton, pos=widget.cells.cell_rect(cell).center())


def test_clicking_a_token_goes_to_its_node(qtbot: QtBot, path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view(TEXT))
    with qtbot.waitSignal(path_text.token_activated) as activated:
        click(qtbot, path_text, 3 + 2)
    assert activated.args == [13]


def test_clicking_the_prompt_goes_to_the_root(qtbot: QtBot, path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view(TEXT))
    with qtbot.waitSignal(path_text.token_activated) as activated:
        click(qtbot, path_text, 1)
    assert activated.args == [0]


def test_clicking_beside_the_tokens_does_nothing(qtbot: QtBot, path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view(TEXT))
    viewport = path_text.cells.viewport()
    with qtbot.assertNotEmitted(path_text.token_activated):
        qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(viewport.width() - 3, viewport.height() - 3))


def test_a_click_leaves_the_focus_where_it_was(qtbot: QtBot, path_text: PathText, make_view: MakeView) -> None:
    """The arrows must go on stepping the model after a click."""
    path_text.set_view(make_view(TEXT))
    path_text.colour_box.setFocus()
    click(qtbot, path_text, 4)
    assert not path_text.cells.hasFocus()


def test_arrows_walk_while_the_text_has_the_focus(qtbot: QtBot, path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view(TEXT))
    cells = path_text.cells
    assert cells.cursor_cell == 9
    for key, expected in (
        (Qt.Key.Key_Left, 8),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_Left, 0),
        (Qt.Key.Key_Right, 1),
        (Qt.Key.Key_End, 9),
        (Qt.Key.Key_Right, 9),
    ):
        qtbot.keyClick(cells, key)
        assert cells.cursor_cell == expected
    qtbot.keyClick(cells, Qt.Key.Key_Up)  # the newline ended the first line behind cell 4
    assert 0 <= cells.cursor_cell <= 4
    qtbot.keyClick(cells, Qt.Key.Key_Down)
    assert 5 <= cells.cursor_cell <= 9
    qtbot.keyClick(cells, Qt.Key.Key_End)
    with qtbot.waitSignal(path_text.token_activated) as activated:
        qtbot.keyClick(cells, Qt.Key.Key_Return)
    assert activated.args == [17]


def test_arrows_are_the_windows_unless_the_text_has_the_focus(
    qtbot: QtBot, vocabulary: Vocabulary, make_view: MakeView
) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    path_text = PathText()
    path_text.set_view(make_view(TEXT))
    window.setCentralWidget(path_text)
    pressed: list[str] = []
    shortcut = QShortcut(QKeySequence(Qt.Key.Key_Left), window)
    shortcut.activated.connect(lambda: pressed.append("window"))
    window.show()
    with qtbot.waitActive(window):
        window.activateWindow()
    path_text.cells.setFocus()
    qtbot.keyClick(path_text.cells, Qt.Key.Key_Left)
    assert pressed == []
    assert path_text.cells.cursor_cell == 8
    path_text.colour_box.setFocus()
    qtbot.keyClick(path_text.colour_box, Qt.Key.Key_Left)
    assert pressed == ["window"]


def test_hovering_tells_the_node(qtbot: QtBot, path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view(TEXT))
    viewport = path_text.cells.viewport()
    with qtbot.waitSignal(path_text.token_hovered) as hovered:
        qtbot.mouseMove(viewport, path_text.cells.cell_rect(3).center())
    assert hovered.args == [11]
    with qtbot.waitSignal(path_text.token_hovered) as hovered:
        qtbot.mouseMove(viewport, QPoint(viewport.width() - 3, viewport.height() - 3))
    assert hovered.args == [-1]


def test_hovering_elsewhere_outlines_the_token(path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view(TEXT))
    plain = path_text.cells.grab().toImage()
    path_text.highlight_node(12)
    assert path_text.cells.grab().toImage() != plain
    path_text.highlight_node(99)
    assert path_text.cells.grab().toImage() == plain


def test_c31_half_characters_show_their_bytes_until_completed(path_text: PathText, make_view: MakeView) -> None:
    """C31: the token that begins 你 shows bytes; the one that completes it shows the character."""
    path_text.set_view(make_view([5]))
    assert path_text.cells.pieces[-1].label == "<0xE4 0xBD>"
    assert "unfinished" in path_text.cells.cell_description(3)
    path_text.set_view(make_view([5, 6]))
    assert path_text.cells.pieces[-1].label == "你"


def test_a_newline_ends_the_line(path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view([3, 4, 12]))
    tops = [path_text.cells.cell_rect(cell).top() for cell in (3, 4, 5)]
    assert tops[0] == tops[1] < tops[2]


def test_a_long_token_is_cut_in_the_cell_and_whole_in_the_tooltip(path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view([10]))
    assert path_text.cells.cell_rect(3).width() < 330
    assert "long" * 40 in path_text.cells.cell_tooltip(3)


def test_the_tooltip_has_everything_recorded(path_text: PathText, make_view: MakeView, make_edge: MakeEdge) -> None:
    path_text.set_view(make_view([7], [make_edge(0.25, 0.5, "drawn")]))
    tooltip = path_text.cells.cell_tooltip(3)
    assert "&lt;b&gt;bold&lt;/b&gt;" in tooltip
    assert "<b>" not in tooltip
    for part in ("25.0%", "50.0%", "−1.39\u202fnats", "Rank 2", "logit 1.5", "u = 0.25", "draw 3", "3C 62 3E"):
        assert part in tooltip, part
    path_text.set_log_unit("bits")
    assert "−2.00\u202fbits" in path_text.cells.cell_tooltip(3)


def test_c14_a_forced_token_is_called_excluded(path_text: PathText, make_view: MakeView, make_edge: MakeEdge) -> None:
    """C14: a token taken although filtered has no sampling probability, not a bad one."""
    path_text.set_view(make_view([3], [make_edge(0.03, None, "manual")]))
    assert "excluded by a filter" in path_text.cells.cell_description(3)
    assert path_text.cells.cell_style(3, LIGHT).dashed
    path_text.set_colour_by("sampling")
    assert path_text.cells.cell_style(3, LIGHT).bar is None


def test_tooltips_open_on_the_token_under_the_pointer(qtbot: QtBot, path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view(TEXT))
    viewport = path_text.cells.viewport()
    at = path_text.cells.cell_rect(3).center()
    QApplication.sendEvent(viewport, QHelpEvent(QHelpEvent.Type.ToolTip, at, viewport.mapToGlobal(at)))
    assert "·Paris" in QToolTip.text()
    QToolTip.hideText()


@pytest.mark.parametrize("choice", COLOUR_CHOICES, ids=lambda choice: choice.key)
def test_every_colouring_can_be_read_in_both_themes(
    path_text: PathText, make_view: MakeView, make_edge: MakeEdge, choice: ColourChoice
) -> None:
    models, samplings = (1e-9, 0.1, 0.5, 0.9, 1, 0.3), (0.5, None, 0.1, 1, 1, 0.2)
    edges = [make_edge(*values) for values in zip(models, samplings, HOW_GLYPHS, strict=True)]
    path_text.set_view(make_view([3, 12, 7, 8, 9, 3], edges))
    path_text.set_colour_by(choice.key)
    for colours in (LIGHT, DARK):
        path_text.setPalette(build_palette(colours))
        path_text.grab()
        for cell in range(9):
            style = path_text.cells.cell_style(cell, colours)
            paper = style.tint or path_text.palette().base().color()
            assert contrast(style.inks.strong, paper) >= 4.5
            assert contrast(style.inks.quiet, paper) >= 4.5
            assert bool(style.glyph) == (choice.key == "how" and cell >= 3)


def test_colours_stand_for_what_was_recorded(make_edge: MakeEdge) -> None:
    edge = make_edge(0.25, 0.5)
    assert map_place("model", edge) == pytest.approx(0.25)
    assert map_place("sampling", edge) == pytest.approx(0.5)
    assert map_place("surprisal", edge) == pytest.approx(1.3863 / 8, abs=1e-4)
    assert map_place("surprisal", make_edge(1e-30)) == 1
    assert map_place("none", edge) is None
    assert map_place("how", edge) is None


def test_the_colour_can_be_chosen_by_key(qtbot: QtBot, path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view(TEXT))
    assert path_text.colour_by() == "model"
    qtbot.keyClick(path_text.colour_box, Qt.Key.Key_Down)
    assert path_text.colour_by() == "surprisal"
    assert "unexpected" in path_text.colour_box.toolTip()
    assert "8.00" in path_text.legend.accessibleName()
    path_text.set_log_unit("bits")
    assert "11.54\u202fbits" in path_text.legend.accessibleName()
    path_text.set_colour_by("how")
    assert "greedy" in path_text.legend.accessibleName()


def test_c26_what_a_stop_string_cut_off_is_struck_out(path_text: PathText, make_view: MakeView) -> None:
    """C26: the tokens stay whole, the text ends before the stop string; tokens wholly behind that are struck out."""
    stop = StopEvent("stop_string", {"string": "bold", "offset": 3})
    path_text.set_view(make_view([3, 7, 12], stop=stop, text=" Paris<b>"))
    assert [path_text.cells.is_cut(cell) for cell in range(6)] == [False, False, False, False, False, True]
    assert "Cut off" in path_text.cells.cell_description(5)


def test_the_empty_states_say_what_to_do(path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(None)
    assert "Write a prompt" in path_text.cells.accessibleDescription()
    path_text.set_view(make_view([]))
    assert "take a step" in path_text.cells.accessibleDescription()
    path_text.grab()
    path_text.set_view(make_view([3]))
    assert path_text.cells.accessibleDescription() == " Paris"


def test_text_and_ids_can_be_copied(qtbot: QtBot, path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view([3, 4, 8]))
    path_text.cells.setFocus()
    qtbot.keyClick(path_text.cells, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == " Paris\n🙂"
    copied = {}
    for action in path_text.cells.actions():
        assert isinstance(action, QAction)
        action.trigger()
        copied[action.text()] = QGuiApplication.clipboard().text()
    assert copied["Copy prompt and text"] == "The capital is Paris\n🙂"
    assert copied["Copy token ids"] == "0, 1, 2, 3, 4, 8"


def test_the_menu_offers_copying(path_text: PathText, make_view: MakeView) -> None:
    path_text.set_view(make_view([3]))
    path_text.cells.customContextMenuRequested.emit(QPoint(10, 10))
    menu = path_text.findChild(QMenu)
    assert menu is not None
    assert menu.actions()[0].text() == "Copy the generated text"
    menu.close()


def test_five_thousand_tokens_are_painted_only_where_they_are_seen(
    path_text: PathText, make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    path_text.set_view(make_view([3, 12, 8, 7, 4] * 1000))
    cells = path_text.cells
    assert cells.verticalScrollBar().value() == cells.verticalScrollBar().maximum() > 0
    asked: list[int] = []
    style = cells.cell_style
    monkeypatch.setattr(cells, "cell_style", lambda cell, colours: asked.append(cell) or style(cell, colours))
    cells.viewport().grab()
    assert 5002 in asked
    assert len(set(asked)) < 300
    cells.verticalScrollBar().setValue(0)
    asked.clear()
    cells.viewport().grab()
    assert 0 in asked
    assert len(set(asked)) < 300


def test_growing_paths_follow_their_end_and_recolouring_does_not_jump(path_text: PathText, make_view: MakeView) -> None:
    path_text.resize(200, 120)
    path_text.set_view(make_view([3] * 200))
    bar = path_text.cells.verticalScrollBar()
    bar.setValue(10)
    path_text.set_view(make_view([3] * 200))
    assert bar.value() == 10
    path_text.set_view(make_view([3] * 201))
    assert bar.value() == bar.maximum()


def test_walking_scrolls(qtbot: QtBot, path_text: PathText, make_view: MakeView) -> None:
    path_text.resize(200, 120)
    path_text.set_view(make_view([3] * 200))
    cells = path_text.cells
    qtbot.keyClick(cells, Qt.Key.Key_Home)
    assert cells.verticalScrollBar().value() == 0
    qtbot.keyClick(cells, Qt.Key.Key_PageDown)
    assert cells.cursor_cell > 0
    qtbot.keyClick(cells, Qt.Key.Key_End)
    assert cells.viewport().rect().contains(cells.cell_rect(202))
