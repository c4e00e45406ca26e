"""Curves, histogram and figures in the panel: what they read out, what is copied, what is not known."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.events import NodeView
from explorer.text import Vocabulary
from explorer.tree import PathValues
from ui.curves.panel import CurvesPanel
from ui.theme import DARK, LIGHT, build_palette

MakeView = Callable[..., NodeView]


def picture(panel: CurvesPanel) -> QImage:
    QApplication.processEvents()
    return panel.grab().toImage()


def button(panel: CurvesPanel, text: str) -> Any:
    return next(b for b in panel._group.buttons() if b.text() == text)


def figures(panel: CurvesPanel) -> dict[str, tuple[str, str]]:
    return {row.name: (row.model, row.sampling) for row in panel.table.rows}


def pasted() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(QApplication.clipboard().text())))


# --- scores -----------------------------------------------------------------------------------------------------------


def test_without_a_session_it_says_so(panel: CurvesPanel) -> None:
    assert panel.message.isVisible()
    assert "No session is open" in panel.message.text()


def test_the_cursor_reads_out_one_rank(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand, temperature=0.5, top_k=2))
    panel.scores.setFocus()
    QTest.keyClick(panel.scores, Qt.Key.Key_Home)
    assert panel.scores.read_out() == "Rank 1, ·word0: 12.00 → 24.00, kept"
    QTest.keyClick(panel.scores, Qt.Key.Key_Right)
    QTest.keyClick(panel.scores, Qt.Key.Key_Right)
    assert panel.scores.read_out() == "Rank 3, ·word2: 9.80 → 19.61, removed"
    assert panel.scores.accessibleDescription() == panel.scores.read_out()
    QTest.keyClick(panel.scores, Qt.Key.Key_End)
    assert panel.scores.read_out() == "Rank 1\u202f000, ·word999: −1.82 → −3.63, removed"
    QTest.keyClick(panel.scores, Qt.Key.Key_Left)
    assert panel.scores.read_out().startswith("Ranks 98")
    assert "0 of" in panel.scores.read_out()


def test_the_pointer_reads_out_the_nearest_rank(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand))
    area = panel.scores.area
    QTest.mouseMove(panel.scores, QPoint(round(panel.scores.axes.x(10)), round(area.center().y())))
    assert panel.scores.read_out().startswith("Rank 10, ·word9:")
    QTest.mouseMove(panel.scores, QPoint(2, 2))
    assert panel.scores.read_out() == ""


def test_thresholds_are_named_with_what_they_left(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand, top_k=50, min_p=0.05, temperature=0.7))
    assert panel.prepared is not None
    cuts = [(name, cut.kept, cut.rank) for cut, name in panel.prepared.scores.cuts]
    assert cuts == [("top_k 50", 50, 50), ("min_p 0.05", cuts[1][1], cuts[1][2])]
    assert 1 < cuts[1][1] == cuts[1][2] < 50


def test_the_marked_and_the_hovered_token_are_points(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand))
    before = picture(panel)
    panel.set_token(30)
    marked = picture(panel)
    assert marked != before
    panel.highlight_token(300)
    assert picture(panel) != marked
    panel.highlight_token(-1)
    assert picture(panel) == marked
    panel.set_token(-1)
    assert picture(panel) == before


def test_kept_and_removed_differ_by_more_than_colour(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand))
    assert [entry.text for entry in panel.scores.legend()] == ["model", "after the settings"]
    panel.set_view(make_view(thousand, top_k=5))
    removed = panel.scores.legend()[-1]
    assert (removed.text, removed.pattern) == ("removed", Qt.BrushStyle.BDiagPattern)


def test_a_draft_moves_the_curve_and_not_the_histogram(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    view = make_view(thousand)
    panel.set_view(view)
    assert panel.prepared is not None
    histogram = panel.prepared.histogram
    hot = SamplingParams.make(temperature=2.0)
    assert view.logits is not None
    panel.set_distribution(evaluate(view.logits, hot, view.context), hot)
    assert panel.prepared.scores.curves.processed[0] == 6
    assert panel.prepared.histogram is histogram
    panel.set_view(make_view(thousand, node_id=3))
    assert panel.prepared.histogram is not histogram


# --- histogram --------------------------------------------------------------------------------------------------------


def test_the_histogram_reads_out_count_and_mass(panel: CurvesPanel, make_view: MakeView) -> None:
    panel.set_view(make_view(np.log([0.5, 0.2, 0.2, 0.06, 0.04])))
    button(panel, "Histogram").click()
    assert panel.histogram.isVisible()
    assert not panel.scores.isVisible()
    panel.histogram.setFocus()
    QTest.keyClick(panel.histogram, Qt.Key.Key_End)
    assert panel.histogram.read_out() == "Probability 3.16×10⁻¹ to 1.00×10⁰: tokens 1, together 50.0%"
    panel.set_token(1)
    assert panel.histogram._marked == (pytest.approx(0.2), "·word1")


def test_the_pointer_finds_the_bin(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand))
    button(panel, "Histogram").click()
    area = panel.histogram.area
    for exponent in (-0.25, -2.75):
        QTest.mouseMove(panel.histogram, QPoint(round(panel.histogram._x(area, exponent)), round(area.center().y())))
        assert panel.histogram.cursor_at is not None
        assert panel.prepared is not None
        edges = panel.prepared.histogram.edges[panel.histogram.cursor_at :]
        assert edges[0] <= exponent <= edges[1]


# --- figures ----------------------------------------------------------------------------------------------------------


def test_figures_of_model_and_draw(panel: CurvesPanel, make_view: MakeView) -> None:
    values = PathValues(tokens=3, model_logprob=3 * math.log(0.5), sampling_logprob=2 * math.log(0.25), forced=1)
    panel.set_view(make_view(np.log([0.4, 0.4, 0.1, 0.1]), top_k=2, taken={0: 1, 3: 2}, values=values))
    panel.set_token(1)
    button(panel, "Figures").click()
    assert panel.table.isVisible()
    entropy = -(0.8 * math.log(0.4) + 0.2 * math.log(0.1))
    assert figures(panel) == {
        "Entropy": (f"{entropy:.2f}\u202fnats", "0.69\u202fnats"),
        "Perplexity": (f"{math.exp(entropy):.2f}", "2.00"),
        "Highest probability": ("40.0%", "50.0%"),
        "Candidates": ("4", "2"),
        "Surprisal of ·word1": ("0.92\u202fnats", "0.69\u202fnats"),
        "Surprisal of ·word3, taken here": ("2.30\u202fnats", "–"),
        "Perplexity of the path (3 tok)": ("2.00", "4.00"),
    }
    panel.set_log_unit("bits")
    assert figures(panel)["Surprisal of ·word1"] == ("1.32\u202fbits", "1.00\u202fbits")
    assert "effective number of candidates" in panel.table.rows[1].meaning


def test_the_token_taken_is_not_said_twice(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand, taken={2: 1}))
    panel.set_token(2)
    assert [name for name in figures(panel) if "Surprisal" in name] == ["Surprisal of ·word2"]


def test_figures_stand_below_where_there_is_room(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand))
    assert not panel.table.isVisible()
    button(panel, "Figures").click()
    panel.resize(440, 700)
    assert panel.table.isVisible()
    assert panel.scores.isVisible()
    assert not button(panel, "Figures").isVisible()
    panel.resize(440, 260)
    assert panel.scores.isVisible()
    assert not panel.table.isVisible()


# --- what is not known ------------------------------------------------------------------------------------------------


def test_a_stored_node_says_what_is_estimated(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand, stored=100, temperature=1.3))
    assert "Only the best 100 tokens were stored" in panel.notice.text()
    assert panel.scores.legend()[-1].text == "not stored: estimated"
    panel.scores.set_cursor(panel.scores.steps - 1)
    assert panel.scores.read_out().endswith("estimated")
    assert figures(panel)["Candidates"] == ("1\u202f000", "about 1\u202f000")
    button(panel, "Histogram").click()
    assert panel.prepared is not None
    panel.histogram.set_cursor(int(np.argmax(panel.prepared.histogram.counts)))
    assert panel.histogram.read_out().endswith("estimated")
    panel.set_token(700)
    picture(panel)


def test_where_nothing_is_left_the_models_curve_stays(panel: CurvesPanel, make_view: MakeView) -> None:
    panel.set_view(make_view([1.0, 2.0, 3.0], ban=(0, 1, 2)))
    assert "No token is left to draw" in panel.notice.text()
    assert figures(panel)["Entropy"][1] == "–"
    picture(panel)


@pytest.mark.parametrize("logits", [[1.0], [1.0, 1.0], [3.0, -math.inf], [0.0, -1e9, -1e9, 2.0]])
def test_odd_distributions_are_drawn(panel: CurvesPanel, make_view: MakeView, logits: list[float]) -> None:
    panel.set_view(make_view(logits))
    panel.set_token(0)
    for name in ("Scores", "Histogram", "Figures"):
        button(panel, name).click()
        picture(panel)
    for plot in (panel.scores, panel.histogram):
        for place in range(plot.steps):
            plot.set_cursor(place)
            assert plot.read_out()


def test_another_place_shows_nothing_of_the_one_before(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand))
    panel.wanted.disconnect()
    panel.set_view(make_view(thousand[:500], node_id=2))
    assert panel.prepared is None
    assert panel.scores.steps == 0
    assert panel.table.rows == []
    assert not panel.copy.isEnabled()


# --- copying ----------------------------------------------------------------------------------------------------------


def test_points_are_copied_in_full(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    view = make_view(thousand, temperature=0.5, top_k=3)
    panel.set_view(view)
    panel.copy_points()
    rows = pasted()
    assert len(rows) == 1000
    assert rows[1]["token"] == "·word1"
    assert [row["kept"] for row in rows[:4]] == ["1", "1", "1", "0"]
    assert np.float32(rows[7]["logit"]) == thousand[7]
    assert float(rows[0]["processed"]) == 24
    assert "1\u202f000 lines" in panel.notice.text()
    button(panel, "Histogram").click()
    panel.copy_points()
    assert sum(int(row["tokens"]) for row in pasted()) == 1000
    assert sum(float(row["mass"]) for row in pasted()) == pytest.approx(1)


def test_unknown_tokens_have_no_name_in_the_points(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand, stored=10))
    panel.copy_points()
    rows = pasted()
    assert (rows[9]["id"], rows[9]["estimated"]) == ("9", "0")
    assert (rows[10]["id"], rows[10]["token"], rows[10]["estimated"]) == ("", "", "1")


def test_the_picture_is_copied_in_fine_pixels(panel: CurvesPanel, make_view: MakeView, thousand: Any) -> None:
    panel.set_view(make_view(thousand))
    QApplication.processEvents()
    panel.copy_picture()
    image = QApplication.clipboard().image()
    assert image.width() == 2 * panel.scores.width()
    assert "clipboard" in panel.notice.text()


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_both_themes_paint_on_their_own_background(
    panel: CurvesPanel, make_view: MakeView, thousand: Any, colours: Any
) -> None:
    panel.setPalette(build_palette(colours))
    panel.set_view(make_view(thousand))
    QApplication.processEvents()
    assert panel.scores.picture().pixelColor(1, 1).name() == colours.surface


def test_markup_in_tokens_is_shown_as_it_is(panel: CurvesPanel, make_view: MakeView) -> None:
    panel.set_vocabulary(Vocabulary([b"<b>x</b>", "你好".encode(), "🙂".encode()]))
    panel.set_view(make_view([3.0, 2.0, 1.0]))
    panel.set_token(0)
    button(panel, "Figures").click()
    assert "Surprisal of <b>x</b>" in figures(panel)
    picture(panel)
