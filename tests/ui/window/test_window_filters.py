"""The filter figures of the lessons and of the field cases, by keys in the real window; and why, beside them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QDoubleSpinBox, QSlider, QSpinBox
from pytestqt.qtbot import QtBot

from explorer.decoding.pipeline import Distribution
from explorer.models.base import ModelRef
from ui.app import Explorer
from ui.candidates.columns import Column

from .conftest import _settle

Settle = Callable[[Explorer], None]
Press = Callable[..., None]

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "decoding" / "golden_decoding.json").read_text("utf-8")
)
LETTERS = "ABCDE"
PROBABILITIES: dict[str, list[float]] = {
    "631": [0.6, 0.3, 0.1],
    "five": [0.40, 0.25, 0.20, 0.10, 0.05],
    "4 of .9": [0.50, 0.25, 0.15, 0.10],
    "5 of .9": [0.50, 0.25, 0.15, 0.07, 0.03],
    "C01": [0.3, 0.1, 0.1, 0.5],
    "C06 second": [0.95, 0.045, 0.005],
}
LOGITS: dict[str, list[float]] = {
    "210": [2, 1, 0],
    "ln 631": [math.log(6), math.log(3), 0],
    "C02": [2, 1, 0, -1],
    "C06 first": [3, 2, 1],
}
CASES = [*PROBABILITIES, *LOGITS]


def table() -> dict[str, Any]:
    """The first token chooses the distribution of the second."""
    rows = [{"after": [], "probs": dict.fromkeys(CASES, 1.0)}]
    rows += [{"after": [n], "probs": dict(zip(LETTERS, p, strict=False))} for n, p in PROBABILITIES.items()]
    rows += [{"after": [n], "logits": dict(zip(LETTERS, x, strict=False))} for n, x in LOGITS.items()]
    end = {"probs": {"<eos>": 1.0}}
    return {"name": "filters", "vocab": [*LETTERS, "<eos>", "go", *CASES], "eos": ["<eos>"], "prompt": "go",
            "rows": rows, "otherwise": end}  # fmt: skip


@pytest.fixture(scope="module")
def on_table(program: Explorer, tmp_path_factory: pytest.TempPathFactory) -> Explorer:
    file = tmp_path_factory.mktemp("filters") / "filters.json"
    file.write_text(json.dumps(table()), "utf-8")
    program.models.open(ModelRef(f"table:{file}"))
    _settle(program)
    return program


class Hands:
    """Works the window by keys and clicks, and reads what it shows."""

    def __init__(self, explorer: Explorer, qtbot: QtBot) -> None:
        self.explorer, self.window, self._qtbot = explorer, explorer.window, qtbot

    def go_to(self, case: str) -> None:
        """Find the token that leads to a distribution, and take it."""
        window = self.window
        window.tree.setFocus()
        self._qtbot.keyClick(window.tree, Qt.Key.Key_Home)
        _settle(self.explorer)
        window.candidates.focus_find()
        self._qtbot.keyClicks(window.candidates.find_edit, f'"{case}"')
        self._qtbot.keyClick(window.candidates.find_edit, Qt.Key.Key_Return)
        self._qtbot.keyClick(window.candidates.find_edit, Qt.Key.Key_Escape)
        _settle(self.explorer)

    def set(self, name: str, value: float) -> None:
        """Type a value into its field."""
        self.window.show_dock("settings")
        self.window.settings.show_parameter(name)
        box = self.window.settings.row(name).findChild(QSpinBox) or self.window.settings.row(name).findChild(
            QDoubleSpinBox
        )
        assert box is not None
        box.setFocus()
        box.selectAll()
        self._qtbot.keyClicks(box, f"{value:g}")
        self._qtbot.keyClick(box, Qt.Key.Key_Return)
        _settle(self.explorer)

    def order(self, name: str) -> None:
        box = self.window.why.editor.preset_box
        box.setFocus()
        self._qtbot.keyClick(box, Qt.Key.Key_Home if name == "transformers" else Qt.Key.Key_Down)
        box.activated.emit(box.currentIndex())
        _settle(self.explorer)

    def mark(self, letter: str) -> None:
        """Put the mark on a token of the list."""
        row = self.window.candidates.model.row_of(LETTERS.index(letter))
        assert row is not None
        self.window.candidates.table.go_to(row)

    def rest(self) -> None:
        """Until the window has worked out what it works out when nothing moves."""
        why = self.window.why
        self._qtbot.waitUntil(lambda: why._aside is not None and self.explorer.analysis_thread.resting)

    @property
    def distribution(self) -> Distribution:
        shown = self.window.candidates.model.distribution
        assert shown is not None
        return shown

    def chances(self, count: int) -> list[float]:
        """Sampling probabilities of A, B, C ... as the list has them."""
        model = self.window.candidates.model
        rows = [model.row_of(token_id) for token_id in range(count)]
        return [0.0 if row is None else model.row(row).sampling_prob for row in rows]

    def texts(self, column: Column) -> list[str]:
        model = self.window.candidates.model
        return [model.text(row, column) for row in range(model.rowCount()) if not model.is_others(row)]


@pytest.fixture
def hands(on_table: Explorer, qtbot: QtBot) -> Iterator[Hands]:
    thread = on_table.session_thread
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session()))
    _settle(on_table)
    on_table.window.settings._all_off.click()
    on_table.window.settings.chain.choose("transformers")
    _settle(on_table)
    on_table.window.show_dock("why")
    on_table.window.activateWindow()
    qtbot.waitActive(on_table.window)
    yield Hands(on_table, qtbot)
    on_table.window.candidates.show_stage("")


def near(expected: list[float]) -> object:
    return pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("temperature", ["0.2", "0.5", "1.0", "2.0"])
def test_temperature(hands: Hands, temperature: str) -> None:
    hands.go_to("210")
    hands.set("temperature", float(temperature))
    assert hands.chances(3) == near(GOLDEN["temperature"]["logits_2_1_0"][temperature])
    if temperature != "0.2":
        hands.go_to("631")
        assert hands.chances(3) == near(GOLDEN["temperature"]["probs_6_3_1"][temperature])


def test_softmax_and_odds(hands: Hands) -> None:
    hands.go_to("ln 631")
    assert hands.chances(3) == near(GOLDEN["temperature"]["logits_ln6_ln3_ln1"])
    hands.go_to("five")
    hands.set("temperature", 0.5)
    chances = hands.chances(5)
    assert chances == near(GOLDEN["temperature"]["five_T_0.5"])
    assert chances[0] / chances[2] == pytest.approx(GOLDEN["temperature"]["odds_A_to_C"]["0.5"], rel=1e-6)


@pytest.mark.parametrize(
    ("figure", "case", "top_p"),
    [
        ("0.8_on_50_25_15_10", "4 of .9", 0.8),
        ("0.8_on_50_25_15_7_3", "5 of .9", 0.8),
        ("0.7_on_50_25_15_7_3", "5 of .9", 0.7),
        ("0.70_on_40_25_20_10_5", "five", 0.7),
    ],
)
def test_top_p(hands: Hands, figure: str, case: str, top_p: float) -> None:
    count, mass, expected = GOLDEN["top_p"][figure]
    hands.go_to(case)
    hands.set("top_p", top_p)
    assert hands.distribution.kept == count
    assert hands.chances(count) == near(expected)
    cells = hands.window.why.delegate.cells["top_p"]
    assert cells.kept == str(count)
    assert float(cells.removed.strip("−%")) == pytest.approx(100 * (1 - mass), abs=0.01)


def test_top_k(hands: Hands) -> None:
    hands.go_to("five")
    hands.set("top_k", 2)
    assert hands.chances(5) == near([*GOLDEN["top_k"]["2_on_40_25_20_10_5"], 0, 0, 0])
    assert hands.texts(Column.SAMPLING)[:3] == ["61.5%", "38.5%", "–"]


def test_c01_top_p_when_the_sum_lands_on_p(hands: Hands) -> None:
    """C01: ids 3 and 0 only; bars .375 and .625."""
    hands.go_to("C01")
    hands.set("top_p", 0.8)
    assert hands.distribution.token_ids[: hands.distribution.kept].tolist() == [3, 0]
    assert hands.chances(4) == near([0.375, 0, 0, 0.625])


def test_c02_the_ends_of_top_p(hands: Hands, qtbot: QtBot) -> None:
    """C02, with the slider: its left end keeps one token, its right end all; beyond is refused by the field."""
    hands.go_to("C02")
    hands.window.show_dock("settings")
    slider = hands.window.settings.row("top_p").findChild(QSlider)
    assert slider is not None
    slider.setFocus()
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: hands.distribution.kept == 1)
    assert hands.chances(4) == [1, 0, 0, 0]
    qtbot.keyClick(slider, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: hands.distribution.kept == 4)
    assert hands.chances(4) == pytest.approx([0.6439, 0.2369, 0.0871, 0.0321], abs=1e-4)
    hands.set("top_p", 1.5)
    assert hands.window.settings.draft.sampling.number("top_p") <= 1.0


def test_c04_top_k_off_and_larger_than_the_vocabulary(hands: Hands) -> None:
    """C04: 0 is off, 4 and 10 change nothing; and a stage that changes nothing says so."""
    hands.go_to("C02")
    for k in (4, 10, 0):
        hands.set("top_k", k)
        assert hands.chances(4) == pytest.approx([0.6439, 0.2369, 0.0871, 0.0321], abs=1e-4)
        if k:
            assert hands.window.why.delegate.cells["top_k"].note == "no effect: only 4 were left"


def test_c06_the_order_of_temperature_and_truncation(hands: Hands) -> None:
    """C06, both inputs, and the line that says so before the order is changed."""
    hands.go_to("C06 first")
    hands.set("temperature", 0.5)
    hands.set("top_p", 0.8)
    assert hands.chances(3) == near([1, 0, 0])
    hands.rest()
    assert hands.window.why.order_label.text() == "In the order of llama.cpp: 1 token more."
    assert "B (1)" in hands.window.why.order_label.toolTip()
    hands.order("llama.cpp")
    assert hands.chances(3) == pytest.approx([0.8808, 0.1192, 0], abs=1e-4)
    hands.order("transformers")
    hands.go_to("C06 second")
    hands.set("top_p", 1)
    hands.set("temperature", 3)
    hands.set("min_p", 0.05)
    assert hands.chances(3) == pytest.approx([0.6511, 0.2356, 0.1133], abs=1e-4)
    hands.rest()
    assert hands.window.why.order_label.text() == "In the order of llama.cpp: 2 tokens less."
    hands.order("llama.cpp")
    assert hands.chances(3) == near([1, 0, 0])


def test_the_value_that_would_have_kept_a_token_keeps_it(hands: Hands) -> None:
    hands.go_to("five")
    hands.set("top_p", 0.7)
    hands.set("min_p", 0.3)
    hands.mark("E")
    head = hands.window.why.head
    assert head.verdict.text() == "Removed by Top-p 0.70: it would have needed 0.951 or more."
    hands.rest()
    assert "Min-p 0.30 would have removed it too: it would have needed 0.12 or less." in head.detail.text()
    hands.set("top_p", 0.951)
    assert "Removed by Min-p" in head.verdict.text()
    hands.set("min_p", 0.12)
    assert head.verdict.text() == "It can be drawn: every filter keeps it."
    hands.set("top_p", 0.94)
    assert "Removed by Top-p 0.94" in head.verdict.text()
    hands.rest()
    head.keep.click()
    _settle(hands.explorer)
    assert hands.window.candidates.current_token() == 4
    assert head.verdict.text() == "It can be drawn: every filter keeps it."


def test_a_stage_is_switched_off_and_on_where_it_is_explained(hands: Hands, qtbot: QtBot) -> None:
    hands.go_to("five")
    hands.set("top_k", 2)
    why = hands.window.why
    index = why.table.model().index(hands.window.settings.chain.row_of("top_k"), 0)
    box = why.table.visualRect(index).topLeft() + QPoint(14, 12)
    qtbot.mouseClick(why.table.viewport(), Qt.MouseButton.LeftButton, pos=box)
    _settle(hands.explorer)
    assert hands.distribution.kept == 5
    assert hands.window.settings.draft.sampling.is_off("top_k")
    qtbot.mouseClick(why.table.viewport(), Qt.MouseButton.LeftButton, pos=box)
    _settle(hands.explorer)
    assert hands.distribution.kept == 2
    assert hands.explorer.session.settings.sampling.whole("top_k") == 2


def test_what_a_stage_removed_is_shown_in_the_list(hands: Hands, qtbot: QtBot) -> None:
    hands.go_to("five")
    hands.set("top_k", 2)
    why, candidates = hands.window.why, hands.window.candidates
    index = why.table.model().index(hands.window.settings.chain.row_of("top_k"), 0)
    place = why.table.visualRect(index).topLeft() + QPoint(60, 12)
    qtbot.mouseClick(why.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert hands.texts(Column.TOKEN) == ["C", "D", "E"]
    hands.set("top_k", 3)
    assert hands.texts(Column.TOKEN) == ["D", "E"]
    candidates._show_all()
    assert why.table.marked == ""
    assert hands.texts(Column.TOKEN)[:3] == ["A", "B", "C"]


def test_a_stage_without_a_usual_value_leads_to_its_field(hands: Hands) -> None:
    hands.window.settings.chain.switch("ban", True)
    focus = hands.window.focusWidget()
    assert focus is not None
    assert hands.window.settings.row("ban").isAncestorOf(focus)


def test_c14_a_token_taken_by_hand_stays_in_sight_though_a_filter_removed_it(hands: Hands, press: Press) -> None:
    """C14: the list marks it as taken, with its rank and its own probability."""
    hands.go_to("five")
    hands.set("top_k", 2)
    hands.mark("D")
    hands.window.candidates.table.setFocus()
    press(hands.explorer, Qt.Key.Key_Return)
    press(hands.explorer, Qt.Key.Key_Left)
    model = hands.window.candidates.model
    row = model.row_of(3)
    assert row is not None
    shown = model.row(row)
    assert shown.node is not None
    assert (shown.rank, shown.stage, round(shown.model_prob, 6)) == (4, "top_k", 0.1)
