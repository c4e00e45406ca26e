"""The ruler in the real window: the figures of lesson 7, draws as they fell, what is kept between starts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from explorer.models.base import ModelRef
from explorer.tree import ROOT
from ui.app import Explorer
from ui.ruler.row import RulerRow

from .conftest import _settle

Settle = Callable[[Explorer], None]
Press = Callable[..., None]

FIGURES: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "decoding" / "golden_decoding.json").read_text("utf-8")
)["inverse_cdf"]
TABLE = {
    "name": "five",
    "vocab": ["A", "B", "C", "D", "E", "<eos>"],
    "eos": ["<eos>"],
    "prompt": "A",
    "rows": [
        {"after": [], "probs": {"A": 0.4, "B": 0.25, "C": 0.2, "D": 0.1, "E": 0.05}},
        {"after": ["B"], "probs": {"A": 0.6, "B": 0.3, "C": 0.1}},
    ],
    "otherwise": {"probs": {"<eos>": 1.0}},
}


@pytest.fixture(scope="module")
def on_table(program: Explorer, tmp_path_factory: pytest.TempPathFactory) -> Explorer:
    """The program on the table of lesson 7; opening it takes long."""
    open_five(program, tmp_path_factory.mktemp("five"), _settle)
    return program


@pytest.fixture
def five(on_table: Explorer, qtbot: QtBot) -> Explorer:
    """A fresh session of the table, no filter, nothing kept, the ruler in front."""
    thread = on_table.session_thread
    thread.post("fresh", lambda workspace, job: thread.show(workspace.new_session()))
    _settle(on_table)
    set_values(on_table, _settle)
    on_table.window.ruler.set_kept(())
    on_table.window.activateWindow()
    qtbot.waitActive(on_table.window)
    laid_out(on_table, qtbot)
    return on_table


def open_five(explorer: Explorer, folder: Path, settle: Settle) -> None:
    file = folder / "five.json"
    file.write_text(json.dumps(TABLE), "utf-8")
    explorer.models.open(ModelRef(f"table:{file}"))
    settle(explorer)
    set_values(explorer, settle)
    explorer.window.show_dock("ruler")


def laid_out(explorer: Explorer, qtbot: QtBot) -> None:
    """Wait until every ruler is that of what the window shows."""
    ruler = explorer.window.ruler
    qtbot.waitUntil(
        lambda: (
            explorer.analysis_thread.resting
            and not explorer.bridge.pending
            and bool(ruler.rows)
            and all(row.ruler is not None for row in ruler.rows)
        ),
        timeout=20_000,
    )


def type_u(explorer: Explorer, u: str) -> None:
    edit = explorer.window.ruler.controls.edit
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, u)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def token(explorer: Explorer, row: RulerRow) -> str:
    """What the number hits on a ruler, as the ruler labels it."""
    assert row.hit is not None
    assert row.hit.token_id is not None
    return explorer.window.ruler.label_of(row.hit.token_id)[0]


def place(row: RulerRow, u: float) -> QPoint:
    strip = row.strip
    return QPoint(round(strip.left() + row.sight.to_pixel(u, strip.width())), round(strip.center().y()))


def set_values(explorer: Explorer, settle: Settle, **values: float | int) -> None:
    off = dict.fromkeys(explorer.session.settings.sampling.values)
    explorer.session.set_settings(explorer.session.settings.with_sampling("user", **{**off, **values}))
    settle(explorer)


def test_eight_numbers_fall_as_in_lesson_seven(five: Explorer, settle: Settle, press: Press, qtbot: QtBot) -> None:
    first = five.window.ruler.rows[0]
    fallen = []
    for u in ("0.03", "0.18", "0.42", "0.61", "0.70", "0.84", "0.90", "0.97"):
        type_u(five, u)
        fallen.append(token(five, first))
    assert "".join(fallen) == "AABBCCDE"
    for u, expected in FIGURES["five"].items():
        type_u(five, u)
        assert token(five, first) == expected
    five.window.tree.setFocus()
    press(five, Qt.Key.Key_2)
    laid_out(five, qtbot)
    for u, expected in FIGURES["abc_6_3_1"].items():
        type_u(five, u)
        assert token(five, five.window.ruler.rows[0]) == expected


def test_four_rulers_share_one_number(five: Explorer, settle: Settle, qtbot: QtBot) -> None:
    ruler = five.window.ruler
    for values in ({"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.7}):
        set_values(five, settle, **values)
        laid_out(five, qtbot)
        ruler.feet.keep.click()
    set_values(five, settle)
    laid_out(five, qtbot)
    type_u(five, "0.60")
    names = ("plain", "T_0.5", "top_k_2", "top_p_0.70")
    assert dict(zip(names, (token(five, row) for row in ruler.rows[1:]), strict=True)) == FIGURES["u_0.60_under"]
    half = ruler.rows[2].hit
    assert half is not None
    assert half.low == pytest.approx(32 / 55, abs=1e-6)


def test_a_draw_falls_where_the_ruler_says_and_can_be_looked_at_again(
    five: Explorer, settle: Settle, press: Press, qtbot: QtBot
) -> None:
    ruler, window = five.window.ruler, five.window
    promised, u = token(five, ruler.rows[0]), ruler.numbers.u
    window.tree.setFocus()
    press(five, Qt.Key.Key_S)
    view = five.session.view
    assert view is not None
    assert view.pieces[-1].label == promised
    assert view.edges[-1].u == u
    laid_out(five, qtbot)
    assert ruler.feet.origin.isVisible()
    QTest.mouseClick(ruler.feet.origin, Qt.MouseButton.LeftButton)
    settle(five)
    laid_out(five, qtbot)
    assert five.session.current == ROOT
    assert ruler.numbers.u == u
    assert ruler.controls.source.currentText() == f"#0: {promised}"
    set_values(five, settle, temperature=0.5)
    laid_out(five, qtbot)
    assert [row.spec.kind for row in ruler.rows if row.spec is not None] == ["now", "drawn", "plain"]
    assert token(five, ruler.rows[1]) == promised


def test_dragging_changes_nothing_and_picking_takes_the_token(five: Explorer, settle: Settle, qtbot: QtBot) -> None:
    ruler = five.window.ruler
    row = ruler.rows[0]
    before = five.session.last
    QTest.mousePress(row, Qt.MouseButton.LeftButton, pos=place(row, 0.1))
    QTest.mouseMove(row, place(row, 0.92))
    QTest.mouseRelease(row, Qt.MouseButton.LeftButton, pos=place(row, 0.92))
    settle(five)
    assert token(five, row) == "D"
    assert five.session.last is before
    QTest.mouseClick(ruler.controls.pick, Qt.MouseButton.LeftButton)
    settle(five)
    view = five.session.view
    assert view is not None
    assert (view.pieces[-1].label, view.edges[-1].how) == ("D", "manual")


def test_ruler_and_candidates_point_at_the_same_token(five: Explorer) -> None:
    row, window = five.window.ruler.rows[0], five.window
    QTest.mouseMove(row, place(row, 0.5))
    assert window.candidates.table.painter.highlighted_token == 1
    QTest.mouseMove(row, QPoint(2, 2))
    assert window.candidates.table.painter.highlighted_token == -1
    window.candidates.hovered.emit(3)
    assert row.marks.hovered == 3


def test_a_slider_moves_the_first_ruler_while_it_is_dragged(five: Explorer, qtbot: QtBot) -> None:
    ruler, window = five.window.ruler, five.window
    type_u(five, "0.6")
    window.settings.previewed.emit(window.settings.draft.with_sampling("user", top_k=2))
    qtbot.waitUntil(lambda: token(five, ruler.rows[0]) == "A", timeout=20_000)
    assert ruler.rows[0].spec is not None
    assert ruler.rows[0].spec.title == "Now: top_k 2"


def test_kept_rulers_are_there_again_at_the_next_start(
    start: Callable[..., Explorer], settle: Settle, tmp_path: Path, qtbot: QtBot
) -> None:
    first = start()
    settle(first)
    open_five(first, tmp_path, settle)
    set_values(first, settle, temperature=0.5)
    laid_out(first, qtbot)
    first.window.ruler.feet.keep.click()
    again = start()
    assert [kept.title for kept in again.window.ruler.shelf.kept] == ["T 0.5"]


@pytest.mark.model
@pytest.mark.timeout(300)
def test_draws_of_a_real_model_fall_where_the_ruler_says(
    start: Callable[..., Explorer], settle: Settle, press: Press, qtbot: QtBot, smollm2: str
) -> None:
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(smollm2))
    settle(explorer)
    explorer.window.show_dock("ruler")
    set_values(explorer, settle, temperature=1.3)
    for _ in range(3):
        laid_out(explorer, qtbot)
        first = explorer.window.ruler.rows[0]
        assert first.ruler is not None
        assert len(first.ruler) == 49152
        promised = first.hit
        explorer.window.tree.setFocus()
        press(explorer, Qt.Key.Key_S)
        view = explorer.session.view
        assert view is not None
        assert promised is not None
        assert view.pieces[-1].token_id == promised.token_id
