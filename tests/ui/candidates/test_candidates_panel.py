"""The panel of candidates, driven by mouse and keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QModelIndex, QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QToolButton
from pytestqt.qtbot import QtBot

from explorer.decoding.pipeline import Distribution
from explorer.decoding.stopping import StopEvent
from explorer.events import NodeView
from explorer.text import Vocabulary
from ui.candidates.columns import Column
from ui.candidates.panel import CandidatesPanel
from ui.candidates.rows import PAGE
from ui.theme import DARK, build_palette

MakeDistribution = Callable[..., Distribution]
MakeView = Callable[..., NodeView]
FIVE = [2.0, 1.0, 0.0, -1.0, -2.0]


def click(qtbot: QtBot, panel: CandidatesPanel, row: int, column: Column = Column.BAR) -> None:
    rect = panel.table.visualRect(panel.model.index(row, column))
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())


def texts(panel: CandidatesPanel, column: Column) -> list[str]:
    return [panel.model.text(row, column) for row in range(panel.model.rowCount())]


def spoken(panel: CandidatesPanel, row: int, role: Qt.ItemDataRole, column: Column = Column.TOKEN) -> str:
    return str(panel.model.data(panel.model.index(row, column), role))


@pytest.fixture
def shown(panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView) -> CandidatesPanel:
    """Five tokens of which top-k keeps three."""
    panel.set_view(make_view(make_distribution(FIVE, top_k=3, temperature=0.5)))
    return panel


def test_rows_show_both_probabilities(shown: CandidatesPanel) -> None:
    assert texts(shown, Column.TOKEN)[:2] == ["·Paris", "·the"]
    assert texts(shown, Column.RANK) == ["1", "2", "3", "4", "5"]
    assert texts(shown, Column.LOGIT) == ["2.00", "1.00", "0.00", "−1.00", "−2.00"]
    assert texts(shown, Column.MODEL)[0] == "63.6%"
    assert texts(shown, Column.SAMPLING) == ["86.7%", "11.7%", "1.59%", "–", "–"]


def test_a_removed_token_says_in_words_which_filter_and_by_how_much(shown: CandidatesPanel) -> None:
    assert spoken(shown, 3, Qt.ItemDataRole.AccessibleDescriptionRole) == "removed by Top-k"
    tooltip = spoken(shown, 3, Qt.ItemDataRole.ToolTipRole)
    assert "Removed by Top-k" in tooltip
    assert "missed by 2" in tooltip  # after the temperature: -2 against the third score, 0
    assert "forced" in tooltip


def test_tooltips_teach_what_the_number_is_not(shown: CandidatesPanel) -> None:
    tooltip = spoken(shown, 0, Qt.ItemDataRole.ToolTipRole)
    assert "not the chance that the statement is true" in tooltip
    assert "0.636" in tooltip
    assert "20 50 61 72 69 73" in tooltip


def test_token_text_is_never_markup(shown: CandidatesPanel) -> None:
    assert "&lt;b&gt;bold" in spoken(shown, 2, Qt.ItemDataRole.ToolTipRole)


def test_rows_speak(shown: CandidatesPanel) -> None:
    text = spoken(shown, 0, Qt.ItemDataRole.AccessibleTextRole)
    assert text == "Rank 1, token ·Paris, model 63.6%, sampling 86.7%"
    assert spoken(shown, 0, Qt.ItemDataRole.AccessibleTextRole, Column.MODEL) == "Model 63.6%"
    assert shown.table.accessibleName()
    assert shown.find_edit.accessibleName()
    assert shown.order_box.accessibleName()
    assert shown.log_button.accessibleName()


def test_a_click_picks(qtbot: QtBot, shown: CandidatesPanel) -> None:
    with qtbot.waitSignal(shown.picked) as picked:
        click(qtbot, shown, 1)
    assert picked.args == [1]


def test_a_press_that_ends_elsewhere_picks_nothing(qtbot: QtBot, shown: CandidatesPanel) -> None:
    viewport = shown.table.viewport()
    start = shown.table.visualRect(shown.model.index(0, Column.BAR)).center()
    end = shown.table.visualRect(shown.model.index(2, Column.BAR)).center()
    with qtbot.assertNotEmitted(shown.picked):
        qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
        qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=end)


def test_a_filtered_token_may_be_picked(qtbot: QtBot, shown: CandidatesPanel) -> None:
    with qtbot.waitSignal(shown.picked) as picked:
        click(qtbot, shown, 4)
    assert picked.args == [4]


def test_keys_walk_and_pick(qtbot: QtBot, shown: CandidatesPanel) -> None:
    assert shown.current_token() == 0
    qtbot.keyClick(shown.table, Qt.Key.Key_Down)
    qtbot.keyClick(shown.table, Qt.Key.Key_Down)
    qtbot.keyClick(shown.table, Qt.Key.Key_Up)
    with qtbot.waitSignal(shown.picked) as picked:
        qtbot.keyClick(shown.table, Qt.Key.Key_Return)
    assert picked.args == [1]
    with qtbot.waitSignal(shown.picked) as picked:
        qtbot.keyClick(shown.table, Qt.Key.Key_3)
    assert picked.args == [2]
    with qtbot.assertNotEmitted(shown.picked):
        qtbot.keyClick(shown.table, Qt.Key.Key_9)


def test_moving_stops_at_the_ends(shown: CandidatesPanel) -> None:
    shown.move_current(-3)
    assert shown.current_token() == 0
    shown.move_current(99)
    assert shown.current_token() == 4


def test_digits_pick_rows_and_are_shown_where_they_differ_from_the_rank(
    qtbot: QtBot, panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.set_view(make_view(make_distribution(FIVE)))
    assert not panel.table.painter.show_keys
    panel.set_view(make_view(make_distribution(FIVE, ban=(0,)), node_id=1))
    assert panel.table.painter.show_keys
    with qtbot.waitSignal(panel.picked) as picked:
        panel.pick_rank(1)
    assert picked.args == [1]
    panel.set_order("model")
    assert not panel.table.painter.show_keys
    with qtbot.waitSignal(panel.picked) as picked:
        panel.pick_rank(1)
    assert picked.args == [0]


def test_hovering_tells_the_token(qtbot: QtBot, shown: CandidatesPanel) -> None:
    rect = shown.table.visualRect(shown.model.index(2, Column.TOKEN))
    with qtbot.waitSignal(shown.hovered) as hovered:
        qtbot.mouseMove(shown.table.viewport(), rect.center())
    assert hovered.args == [2]
    with qtbot.waitSignal(shown.hovered) as hovered:
        qtbot.mouseMove(shown.table.viewport(), QPoint(5, shown.table.viewport().height() - 5))
    assert hovered.args == [-1]


def test_taken_tokens_are_marked(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.set_view(make_view(make_distribution(FIVE), taken={1: 7}))
    assert panel.model.row(1).node == 7
    assert spoken(panel, 1, Qt.ItemDataRole.AccessibleDescriptionRole) == "taken before"
    assert "branch" in spoken(panel, 1, Qt.ItemDataRole.ToolTipRole)


def test_more_is_listed_on_demand_and_the_taken_token_stays(
    qtbot: QtBot,
    panel: CandidatesPanel,
    make_distribution: MakeDistribution,
    make_view: MakeView,
    thousand: np.ndarray,
) -> None:
    panel.set_view(make_view(make_distribution(thousand), taken={300: 1, 900: 2}))
    model = panel.model
    assert model.rowCount() == PAGE + 3
    assert model.text(PAGE + 2, Column.TOKEN) == "798 others"
    assert [model.token(PAGE), model.token(PAGE + 1)] == [300, 900]
    panel.move_current(PAGE + 2)  # onto the row of others: lists the next page
    assert model.rowCount() == 2 * PAGE + 2  # token 300 is part of the list now
    assert model.row_of(300) == 300
    assert panel.current_token() is not None
    while model.canFetchMore(QModelIndex()):
        model.fetchMore(QModelIndex())
    assert [model.token(row) for row in range(model.rowCount())] == list(range(1000))


def test_clicking_the_others_lists_more(
    qtbot: QtBot,
    panel: CandidatesPanel,
    make_distribution: MakeDistribution,
    make_view: MakeView,
    thousand: np.ndarray,
) -> None:
    panel.set_view(make_view(make_distribution(thousand)))
    panel.table.go_to(PAGE - 1)
    panel.table.scrollTo(panel.model.index(PAGE, 0))
    before = panel.model.rowCount()
    with qtbot.assertNotEmitted(panel.picked):
        panel.table.pick_row(panel.model.rowCount() - 1)
    assert panel.model.rowCount() > before


def test_the_others_have_their_mass(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    distribution = make_distribution(thousand, top_k=500)
    panel.set_view(make_view(distribution))
    row = PAGE
    assert panel.model.is_others(row)
    assert panel.model.token(row) is None
    others = panel.model.others()
    assert (others.count, others.kept) == (800, 300)
    assert others.model_mass == pytest.approx(1 - float(distribution.model_probs[:PAGE].sum()), abs=1e-5)
    assert "800 other tokens" in spoken(panel, row, Qt.ItemDataRole.AccessibleTextRole)
    assert "300 of them" in spoken(panel, row, Qt.ItemDataRole.ToolTipRole)


def test_a_preview_keeps_the_current_token_and_the_axis(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.set_view(make_view(make_distribution(FIVE)))
    panel.move_current(2)
    end = panel.table.painter.axis.end
    panel.set_distribution(make_distribution(FIVE, temperature=9.0))
    assert panel.current_token() == 2
    assert panel.table.painter.axis.end == end
    panel.set_distribution(make_distribution(FIVE, ban=(0, 1)))
    assert panel.current_token() == 2
    assert panel.table.currentIndex().row() == 0


def test_another_node_starts_at_its_first_row(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.set_view(make_view(make_distribution(FIVE)))
    panel.move_current(3)
    panel.set_view(make_view(make_distribution(FIVE[::-1]), node_id=1))
    assert panel.current_token() == 4


def test_another_node_with_as_many_rows_leaves_the_columns_as_they_are(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    resets, current = list[None](), list[int]()
    panel.model.modelReset.connect(lambda: resets.append(None))
    panel.resize(500, 300)
    panel.show()
    logits = np.linspace(9, 0, 900)
    panel.set_view(make_view(make_distribution(logits), node_id=1))
    panel.table.go_to(60)
    assert panel.table.verticalScrollBar().value() > 0
    resets.clear()
    panel.current_changed.connect(current.append)
    panel.set_view(make_view(make_distribution(logits[::-1]), node_id=2))
    assert resets == []
    assert panel.model.row(0).token_id == 899
    assert panel.table.currentIndex().row() == 0
    assert [index.row() for index in panel.table.selectionModel().selectedRows()] == [0]
    assert current == [899]
    assert panel.table.verticalScrollBar().value() == 0
    panel.set_view(make_view(make_distribution(FIVE), node_id=3))
    assert len(resets) == 1
    assert panel.model.rowCount() == 5


def test_the_same_node_with_other_settings_keeps_the_current_token(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.set_view(make_view(make_distribution(FIVE)))
    panel.move_current(3)
    panel.set_view(make_view(make_distribution(FIVE, top_k=2)))
    assert panel.current_token() == 3


def test_a_token_is_found_by_text_id_and_bytes(
    qtbot: QtBot, panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    panel.set_view(make_view(make_distribution(thousand)))
    for query, token_id in (("word990", 997), ("好", 5), ("0xE4 0xBD 0xA0", 5), ("<b>", 2)):
        panel.find_edit.clear()
        qtbot.keyClicks(panel.find_edit, query) if query.isascii() else panel.find_edit.setText(query)
        assert panel.current_token() == token_id, query
    panel.find_edit.setText("997")
    assert panel.model.row_of(997) is not None
    panel.find_edit.setText("word990")
    with qtbot.waitSignal(panel.picked) as picked:
        qtbot.keyClick(panel.find_edit, Qt.Key.Key_Return)
    assert picked.args == [997]
    assert panel.model.text(0, Column.RANK) == "998"


def test_the_find_line_walks_and_clears(
    qtbot: QtBot, panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    panel.set_view(make_view(make_distribution(thousand)))
    panel.focus_find()
    qtbot.keyClicks(panel.find_edit, "word99")
    first = panel.current_token()
    qtbot.keyClick(panel.find_edit, Qt.Key.Key_Down)
    assert panel.current_token() != first
    qtbot.keyClick(panel.find_edit, Qt.Key.Key_Escape)
    assert panel.find_edit.text() == ""
    assert panel.model.rowCount() == PAGE + 1


def test_nothing_found_says_what_to_try(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.set_view(make_view(make_distribution(FIVE)))
    panel.find_edit.setText("no such token")
    assert panel.message.isVisible()
    assert "no such token" in panel.message.text()
    assert panel.current_token() is None
    panel.find_edit.clear()
    assert panel.table.isVisible()


def test_the_head_says_how_many_stay_and_how_undecided_it_is(shown: CandidatesPanel) -> None:
    values = [label.text() for label in shown.summary._values]
    assert values[0] == "3 of 5"
    assert values[1].endswith("nats")
    shown.set_log_unit("bits")
    assert shown.summary._values[2].text().endswith("bits")
    assert not shown.summary.notice.isVisible()


def test_c10_no_candidates_says_which_filter_and_shows_the_model_bars(
    qtbot: QtBot, panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    """C10: everything is blocked; the raw bars are still there and any token may be picked by hand."""
    panel.set_view(make_view(make_distribution(FIVE, ban=tuple(range(5)))))
    assert "Banned tokens removed every token" in panel.summary.notice.text()
    assert texts(panel, Column.MODEL)[0] == "63.6%"
    assert set(texts(panel, Column.SAMPLING)) == {"–"}
    with qtbot.waitSignal(panel.picked) as picked:
        panel.pick_rank(2)
    assert picked.args == [1]


def test_a_truncated_distribution_says_so_and_lists_the_chosen_token_all_the_same(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    panel.set_view(make_view(make_distribution(thousand, stored=50), taken={999: 4}))
    assert "Only the best 50 tokens were stored" in panel.summary.notice.text()
    assert panel.model.token(50) == 999
    assert panel.model.row(50).fate == "unlisted"
    assert [panel.model.text(50, column) for column in (Column.MODEL, Column.SAMPLING)] == ["–", "–"]
    assert "not among the stored tokens" in spoken(panel, 50, Qt.ItemDataRole.AccessibleTextRole)
    assert "Load the model" in spoken(panel, 50, Qt.ItemDataRole.ToolTipRole)
    assert panel.model.is_others(51)
    assert panel.model.others().count == 949


def test_a_truncated_distribution_says_what_is_only_estimated(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    distribution = make_distribution(thousand, stored=50, temperature=2.0)
    low, high = distribution.unseen_sampling_bounds
    assert low < high
    panel.set_view(make_view(distribution))
    assert "sampling probabilities are estimates" in panel.summary.notice.text()
    assert panel.summary._values[0].text().startswith("about ")
    panel.set_view(make_view(make_distribution(thousand, stored=50, logit_bias=((999, 1.0),))))
    assert "to 1 of them is not known" in panel.summary.notice.text()


def test_ranks_are_never_cut_off(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.set_view(make_view(make_distribution(np.zeros(262_144)), taken={262_143: 1}))
    text = panel.model.text(PAGE, Column.RANK)
    assert text == "262\u202f144"
    assert panel.table.columnWidth(Column.RANK) >= panel.table.fontMetrics().horizontalAdvance(text)


def test_impossible_tokens_are_not_called_removed(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.set_view(make_view(make_distribution([1.0, -np.inf, 0.0])))
    assert panel.model.row(2).fate == "impossible"
    assert "probability 0" in spoken(panel, 2, Qt.ItemDataRole.ToolTipRole)
    assert panel.model.text(2, Column.LOGIT) == "−∞"


def test_every_empty_state_says_what_to_do(panel: CandidatesPanel, make_view: MakeView) -> None:
    panel.set_view(None)
    assert "Write a prompt" in panel.message.text()
    panel.set_view(make_view(None))
    assert "Load the model" in panel.message.text()
    panel.set_view(make_view(None, stop=StopEvent("eos", {"step": 1})))
    assert "Go on past the stop" in panel.message.text()
    assert panel.current_token() is None
    panel.move_current(1)
    panel.pick_rank(1)


def test_a_short_wait_shows_nothing_a_long_one_a_bar(qtbot: QtBot, shown: CandidatesPanel) -> None:
    shown.set_busy(True)
    assert not shown.busy_bar.isVisible()
    qtbot.waitUntil(shown.busy_bar.isVisible)
    shown.set_busy(False)
    assert not shown.busy_bar.isVisible()


def test_bars_can_be_logarithmic(qtbot: QtBot, shown: CandidatesPanel) -> None:
    assert shown.model.headerData(Column.BAR, Qt.Orientation.Horizontal) == "0 – 100%"
    qtbot.mouseClick(shown.log_button, Qt.MouseButton.LeftButton)
    assert shown.model.headerData(Column.BAR, Qt.Orientation.Horizontal) == "10⁻⁶ – 1"
    assert shown.table.painter.axis.scale == "log"


def test_the_running_sum_can_be_shown(shown: CandidatesPanel) -> None:
    assert shown.table.isColumnHidden(Column.CUMULATIVE)
    shown.table.show_cumulative.trigger()
    assert not shown.table.isColumnHidden(Column.CUMULATIVE)
    assert texts(shown, Column.CUMULATIVE)[0] == "86.7%"
    assert texts(shown, Column.CUMULATIVE)[2] == "100%"


def test_logits_give_way_where_it_is_narrow(qtbot: QtBot, shown: CandidatesPanel) -> None:
    shown.resize(640, 400)
    qtbot.waitUntil(lambda: not shown.table.isColumnHidden(Column.LOGIT))
    shown.resize(300, 400)
    qtbot.waitUntil(lambda: shown.table.isColumnHidden(Column.LOGIT))


def test_the_menu_copies(qtbot: QtBot, shown: CandidatesPanel) -> None:
    shown.table.go_to(1)
    copied = {}
    for action in shown.token_actions.actions[1:]:
        action.trigger()
        copied[action.text()] = QGuiApplication.clipboard().text()
    assert copied["Copy token"] == " the"
    assert copied["Copy id"] == "1"
    assert copied["Copy bytes"] == "20 74 68 65"
    names, values = copied["Copy values"].splitlines()
    assert dict(zip(names.split("\t"), values.split("\t"), strict=True))["logit"] == "1"
    with qtbot.waitSignal(shown.picked) as picked:
        shown.token_actions.actions[0].trigger()
    assert picked.args == [1]


def test_the_menu_opens_on_the_row_under_the_pointer(qtbot: QtBot, shown: CandidatesPanel) -> None:
    rect = shown.table.visualRect(shown.model.index(2, Column.TOKEN))
    shown.table.customContextMenuRequested.emit(rect.center())
    menu = shown.table.findChild(QMenu)
    assert menu is not None
    assert shown.current_token() == 2
    assert [action.text() for action in menu.actions()][:2] == ["Pick this token", "Copy token"]
    menu.close()


def test_nothing_is_searched_by_typing_letters(qtbot: QtBot, shown: CandidatesPanel) -> None:
    qtbot.keyClicks(shown.table, "t")
    assert shown.current_token() == 0


def test_hovering_elsewhere_marks_the_row(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.set_view(make_view(make_distribution(FIVE), taken={1: 7}))
    plain = panel.table.grab().toImage()
    panel.highlight_node(7)
    assert panel.table.grab().toImage() != plain
    panel.highlight_node(-1)
    assert panel.table.grab().toImage() == plain


def test_it_paints_in_both_themes_and_at_any_size(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    panel.set_view(make_view(make_distribution(thousand, top_p=0.9, ban=(0,)), taken={999: 3}))
    pictures = []
    for width in (200, 420, 900):
        panel.resize(width, 500)
        pictures.append(panel.grab().toImage())
    panel.setPalette(build_palette(DARK))
    dark = panel.table.viewport().grab().toImage()
    assert dark.pixelColor(dark.width() - 2, dark.height() - 2).name() == DARK.surface
    assert panel.palette().color(QPalette.ColorRole.Base).name() == DARK.surface
    assert len({(p.width(), p.height()) for p in pictures}) == 3


def test_a_vocabulary_of_262144_tokens_costs_no_object_a_row(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, vocabulary: Vocabulary
) -> None:
    logits = np.random.default_rng(0).normal(size=262_144).astype(np.float32)
    panel.set_view(make_view(make_distribution(logits, temperature=0.7), taken={12: 1}))
    while panel.model.canFetchMore(QModelIndex()):
        panel.model.fetchMore(QModelIndex())
    assert panel.model.rowCount() == 262_144
    panel.table.scrollToBottom()
    panel.table.grab()
    assert len(panel.model._cache) < 5 * PAGE
    last: Any = panel.model.token(262_143)
    assert last == int(np.lexsort((np.arange(262_144), -logits))[-1])


def test_a_penalised_token_that_stays_is_marked(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    """C09: a chat's end marker pushed down by a penalty must be seen to be, although it can still be drawn."""
    panel.set_view(make_view(make_distribution([2.0, 1.0, 0.0], repetition_penalty=1.5)))
    assert panel.model.row(0).fate == "kept"
    assert spoken(panel, 0, Qt.ItemDataRole.AccessibleDescriptionRole) == "changed by Repetition penalty"
    assert "changed by Repetition penalty" in spoken(panel, 0, Qt.ItemDataRole.ToolTipRole)
    assert spoken(panel, 1, Qt.ItemDataRole.AccessibleDescriptionRole) == ""


# --- only some tokens -------------------------------------------------------------------------------------------------


def test_what_a_stage_removed_is_shown_alone(
    qtbot: QtBot, panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    panel.set_view(make_view(make_distribution(thousand, top_k=400, min_p=0.5), taken={999: 3}))
    panel.show_stage("min_p")
    distribution = panel.model.distribution
    assert distribution is not None
    assert panel.model.token(0) == distribution.kept
    assert {panel.model.row(row).stage for row in range(PAGE)} == {"min_p"}
    assert panel.model.others().count == 400 - distribution.kept - PAGE
    assert panel.filter_bar.isVisible()
    assert panel.filter_bar.label.text().startswith(f"Min-p removed {400 - distribution.kept}: ")
    fewer = make_distribution(thousand, top_k=400, min_p=0.9)
    panel.set_distribution(fewer)
    assert fewer.kept < distribution.kept
    assert panel.filter_bar.label.text().startswith(f"Min-p removed {400 - fewer.kept}: ")
    with qtbot.waitSignal(panel.stage_closed):
        panel.filter_bar.findChildren(QToolButton)[0].click()
    assert not panel.filter_bar.isVisible()
    assert panel.model.token(0) == 0
    assert panel.model.token(PAGE) == 999


def test_every_token_of_a_stage_is_reached_in_either_order(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    panel.set_view(make_view(make_distribution(thousand, top_k=300)))
    panel.show_stage("top_k")
    for order in ("sampling", "model"):
        panel.set_order(order)  # type: ignore[arg-type]
        while panel.model.canFetchMore(QModelIndex()):
            panel.model.fetchMore(QModelIndex())
        assert [panel.model.token(row) for row in range(panel.model.rowCount())] == list(range(300, 1000))


def test_a_stage_that_only_changes_scores_shows_whose(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.set_view(make_view(make_distribution(FIVE, logit_bias={3: 5.0, 1: -1.0}, temperature=0.7)))
    panel.show_stage("logit_bias")
    assert [panel.model.token(row) for row in range(panel.model.rowCount())] == [1, 3]
    assert panel.filter_bar.label.text() == "Logit bias changed the scores of 2."
    panel.show_stage("temperature")
    assert panel.model.rowCount() == 0
    assert panel.filter_bar.label.text() == "Temperature removed none."
    panel.show_stage("top_p")
    assert panel.filter_bar.label.text() == "Top-p is off."


def test_looking_for_a_token_among_those_a_stage_removed(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    panel.set_view(make_view(make_distribution(thousand, top_k=100)))
    panel.show_stage("top_k")
    panel.find_edit.setText("word9")
    tokens = [panel.model.token(row) for row in range(panel.model.rowCount())]
    assert tokens[:2] == [100, 101]  # word93 and word94; word9, id 16, was kept
    assert tokens[-1] == 999
    assert "best match first" in panel.filter_bar.label.text()


def test_a_space_and_a_newline_are_found_by_typing(
    qtbot: QtBot, panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    panel.set_view(make_view(make_distribution(thousand)))
    panel.focus_find()
    for query, label in (("\\n", "⏎"), ('"\\n"', "⏎"), ("\\xe4", "<0xE4 0xBD>"), ("#5", "你好")):
        panel.find_edit.clear()
        qtbot.keyClicks(panel.find_edit, query)
        assert panel.model.text(0, Column.TOKEN) == label, query
    panel.find_edit.clear()
    qtbot.keyClicks(panel.find_edit, " ")
    assert panel.model.rowCount() == PAGE + 1
    assert panel.model.others().count == 995 - PAGE
    assert panel.filter_bar.label.text().startswith("995 found")


def test_ids_and_bytes_on_demand(
    qtbot: QtBot, panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.set_view(make_view(make_distribution(np.zeros(262_144))))
    assert panel.table.isColumnHidden(Column.ID)
    assert panel.table.isColumnHidden(Column.BYTES)
    menu = panel.columns_button.menu()
    assert [action.isCheckable() for action in menu.actions()] == [True] * 3
    for action in menu.actions():
        action.trigger()
    assert texts(panel, Column.ID)[:2] == ["0", "1"]
    assert texts(panel, Column.BYTES)[5] == "E4 BD A0 E5 A5 BD"
    assert texts(panel, Column.BYTES)[1000 % PAGE] == "20 50 61 72 69 73"
    assert panel.model.text(3, Column.BYTES) == "0A"
    bar = panel.table.horizontalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)  # they do not all fit, so that the list can be pushed aside
    panel.resize(700, 400)
    qtbot.waitUntil(lambda: bar.maximum() == 0)


def test_an_id_beyond_the_vocabulary_has_no_bytes(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    """A model may give logits to more ids than its tokenizer knows."""
    logits = np.zeros(1010, np.float32)
    logits[1005] = 9
    panel.set_view(make_view(make_distribution(logits)))
    assert panel.model.text(0, Column.TOKEN) == "#1005"
    assert panel.model.text(0, Column.BYTES) == ""
    assert "#1005" in spoken(panel, 0, Qt.ItemDataRole.ToolTipRole)


# --- what a slider repaints -------------------------------------------------------------------------------------------


def on_screen(panel: CandidatesPanel) -> QImage:
    """The list as it was really painted and stands in the window's memory."""
    QTest.qWait(30)
    table = panel.table.viewport()
    corner = table.mapTo(panel, QPoint(0, 0))
    return panel.screen().grabWindow(panel.winId(), corner.x(), corner.y(), table.width(), table.height()).toImage()


def test_a_preview_paints_only_what_changed_and_nothing_less(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    panel.set_view(make_view(make_distribution(thousand), taken={999: 3}))
    for action in panel.table.column_actions:
        action.trigger()
    chains: list[dict[str, Any]] = [
        {"temperature": 0.5}, {"temperature": 0.6}, {"temperature": 0.6, "top_k": 4}, {"top_k": 3},
        {"ban": (0, 2)}, {"repetition_penalty": 1.5}, {"temperature": 30.0}, {"top_p": 0.3}, {},
    ]  # fmt: skip
    for chain in chains:
        panel.set_distribution(make_distribution(thousand, **chain))
        painted = on_screen(panel)
        panel.table.viewport().update()
        assert on_screen(panel) == painted, chain
    assert not painted.isNull()


def test_a_slider_leaves_what_no_draw_changes_unpainted(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.set_view(make_view(make_distribution(FIVE)))
    for _ in range(3):
        on_screen(panel)  # until the window has found its place
    painted: list[tuple[set[int], set[Column]]] = []
    paint = panel.table.painter.paint
    monkeypatch.setattr(
        panel.table.painter,
        "paint",
        lambda *args: (painted.append((set(args[1]), set(args[3]))), paint(*args)),  # rows, and the dirty columns
    )
    panel.set_distribution(make_distribution(FIVE, temperature=0.9))
    on_screen(panel)
    assert painted == [({0, 1, 2, 3, 4}, {Column.BAR, Column.SAMPLING})]
    panel.set_distribution(make_distribution(FIVE, top_k=2))
    on_screen(panel)
    assert Column.TOKEN in painted[-1][1]
    panel.set_distribution(make_distribution(FIVE, top_k=2, temperature=0.8))
    on_screen(panel)
    assert painted[-1] == ({0, 1}, {Column.BAR, Column.SAMPLING})  # what stays removed stays as it is


def test_the_axis_fits_a_node_whose_numbers_come_late(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView, thousand: np.ndarray
) -> None:
    panel.set_view(make_view(None))
    panel.set_view(make_view(make_distribution(thousand)))
    assert panel.table.painter.axis.end == 0.02


def test_rows_are_painted_at_once_where_that_is_asked_for(
    panel: CandidatesPanel, make_distribution: MakeDistribution, make_view: MakeView
) -> None:
    panel.show()
    first, second = (make_view(make_distribution(np.array(logits))) for logits in ([3.0, 2.0, 1.0], [1.0, 5.0, 2.0]))
    panel.set_view(first)
    QCoreApplication.processEvents()
    painted = Painted(panel)
    panel.set_view(first)
    assert painted.shown == []
    panel.set_view(second, at_once=True)
    assert len(painted.shown) == 1
    assert painted.shown[0] is second.distribution


class Painted(QObject):
    """What the rows show at every paint of them."""

    def __init__(self, panel: CandidatesPanel) -> None:
        super().__init__(panel)
        self.shown: list[object] = []
        self._panel = panel
        panel.table.viewport().installEventFilter(self)

    def eventFilter(self, _: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.shown.append(self._panel.model.distribution)
        return False
