"""Why a token has its chance: the verdict, what every stage did, what would have kept it, and other orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QListView
from pytestqt.qtbot import QtBot

from explorer.decoding.autopsy import autopsy
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams, Settings
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import ORDERS, STAGES, StepContext
from explorer.events import NodeView
from explorer.store.records import SessionState
from explorer.text import Prompt, Vocabulary
from explorer.tree import PathValues
from ui.panels.chain_model import ChainModel
from ui.theme import DARK, build_palette
from ui.why.aside import look_aside
from ui.why.panel import WhyPanel
from ui.why.words import order_text, stage_lines, verdict_text

CONTEXT = StepContext((0,), (), ())
FIVE = [0.40, 0.25, 0.20, 0.10, 0.05]
VOCABULARY = Vocabulary([b"A", b" <b>B</b>", "你".encode(), b"\n", b"\xe4\xbd"])


def of(probabilities: list[float], order: Any = "transformers", **values: Any) -> Distribution:
    logits = SortedLogits.from_raw(np.log(np.array(probabilities, np.float32)))
    return evaluate(logits, SamplingParams.make(order, **values), CONTEXT)


def view_of(distribution: Distribution | None) -> NodeView:
    settings = Settings() if distribution is None else Settings(distribution.trace.sampling)
    return NodeView(
        node_id=0, path=(), edges=(), pieces=(), prompt_pieces=(), text="", context=CONTEXT,
        values=PathValues(0, 0.0, 0.0, 0), stop=None, taken={}, logits=None, distribution=distribution, source="model",
        state=SessionState("", Prompt("ids", "", (0,)), settings, 0, 0, 0),
    )  # fmt: skip


class Bench:
    """A panel that is answered at once, as the window's threads do later."""

    def __init__(self, qtbot: QtBot) -> None:
        self.chain = ChainModel()
        self.panel = WhyPanel(self.chain)
        qtbot.addWidget(self.panel)
        self.asked: list[tuple[str, object, Callable[[], Any]]] = []
        self.chosen: list[str] = []
        self.changes: list[dict[str, Any]] = []
        self.panel.wanted.connect(lambda channel, ticket, work: self.asked.append((channel, ticket, work)))
        self.panel.stage_chosen.connect(self.chosen.append)
        self.chain.values_changed.connect(self.changes.append)
        self.panel.set_vocabulary(VOCABULARY)
        self.panel.resize(440, 300)
        self.panel.show()
        self._qtbot = qtbot

    def show(self, distribution: Distribution, token: int | None = 0) -> None:
        self.chain.set_sampling(distribution.trace.sampling)
        self.panel.set_view(view_of(distribution))
        self.panel.set_token(-1 if token is None else token)

    def rest(self) -> None:
        """Until what takes longer was asked for and answered."""
        self.asked.clear()
        self._qtbot.waitUntil(lambda: bool(self.asked))
        channel, ticket, work = self.asked[-1]
        self.panel.take(channel, ticket, work())

    def cells(self, stage: str) -> list[str]:
        shown = self.panel.delegate.cells[stage]
        return [shown.kept, shown.removed, shown.entropy, shown.score, shown.probability]

    @property
    def shown_stages(self) -> list[str]:
        table: QListView = self.panel.table
        return [name for row, name in enumerate(self.chain.names) if not table.isRowHidden(row)]


@pytest.fixture
def bench(qtbot: QtBot) -> Bench:
    return Bench(qtbot)


def test_a_removed_token_hears_who_removed_it_and_what_it_would_have_needed(bench: Bench) -> None:
    bench.show(of([0.50, 0.30, 0.12, 0.01, 0.07], top_p=0.90), token=4)
    head = bench.panel.head
    assert head.verdict.text() == "Removed by Top-p 0.90: it would have needed 0.921 or more."
    assert head.detail.text().startswith("Probability of this and all below it: 0.08 ≤ 0.10, missed by 0.02.")
    assert "0.0799" in head.detail.toolTip()
    assert head.model.text() == "model 7.00%"
    assert head.sampling.text() == "sampling –"


def test_two_filters_would_each_remove_it_and_both_are_named(bench: Bench) -> None:
    bench.show(of(FIVE, top_k=3, min_p=0.3), token=4)
    assert "it would have needed 5 or more" in bench.panel.head.verdict.text()
    assert not bench.panel.head.keep.isEnabled()
    bench.rest()
    assert "Min-p 0.30 would have removed it too: it would have needed 0.12 or less." in bench.panel.head.detail.text()
    assert bench.panel.head.keep.isEnabled()
    assert "Top-k to 5" in bench.panel.head.keep.toolTip()
    bench.panel.head.keep.click()
    assert bench.changes == [{"top_k": 5, "min_p": pytest.approx(0.12, abs=0.006)}]
    distribution = of(FIVE, **bench.changes[0])
    assert distribution.row(4).removed_by is None


def test_a_kept_token_hears_how_far_the_filters_may_go(bench: Bench) -> None:
    bench.show(of(FIVE, top_k=3, min_p=0.3), token=2)
    assert bench.panel.head.verdict.text() == "It can be drawn: every filter keeps it."
    assert bench.panel.head.detail.text() == "It stays as long as Top-k ≥ 3, Min-p ≤ 0.49."
    assert not bench.panel.head.keep.isVisible()


@pytest.mark.parametrize(
    ("values", "token", "text"),
    [
        ({}, 0, "It can be drawn: no filter is on."),
        ({"ban": (1,)}, 1, "Removed by Banned tokens 1 token: it is on the list."),
        ({"temperature": 0.0}, 1, "Removed by Temperature 0.00: only the best token stays."),
        ({"min_p": 0.9}, 4, "Removed by Min-p 0.90: it would have needed 0.12 or less."),
        ({"repetition_penalty": 1.5}, 0, "It can be drawn: every filter keeps it. "
         "Its score was changed by Repetition penalty."),
    ],
)  # fmt: skip
def test_verdicts(values: dict[str, Any], token: int, text: str) -> None:
    distribution = of(FIVE, **values)
    assert verdict_text(autopsy(distribution, token), distribution) == text


def test_what_only_switching_off_would_keep() -> None:
    logits = SortedLogits.from_raw(np.array([0, -50, -120], np.float32))
    distribution = evaluate(logits, SamplingParams.make(top_p=0.9), CONTEXT)
    assert "only switching it off" in verdict_text(autopsy(distribution, 2), distribution)


def test_the_model_itself_may_exclude_it() -> None:
    logits = SortedLogits.from_raw(np.array([0, -np.inf], np.float32))
    distribution = evaluate(logits, SamplingParams.make(top_k=1), CONTEXT)
    assert verdict_text(autopsy(distribution, 1), distribution) == "The model itself gives it probability 0."


def test_every_stage_says_what_it_kept_and_removed(bench: Bench) -> None:
    bench.show(of(FIVE, temperature=0.5, top_k=3, min_p=0.2), token=1)
    assert bench.cells("temperature") == ["5", "", "1.10", "−2.77", "22.7%"]
    assert bench.cells("top_k") == ["3", "−4.55%", "0.93", "−2.77", "23.8%"]
    assert bench.cells("min_p") == ["3", "", "0.93", "−2.77", "23.8%"]
    assert bench.panel.delegate.cells["min_p"].note == "no effect: all 3 that were left are likely enough"
    assert bench.panel.delegate.cells["top_p"].kept == ""
    bench.panel.set_token(3)
    assert bench.panel.delegate.cells["top_k"].gone
    assert bench.cells("min_p")[3:] == ["", ""]
    bench.panel.set_log_unit("bits")
    assert bench.cells("temperature")[2] == "1.58"


def test_a_stage_without_effect_in_the_end_says_so_once_that_is_known(bench: Bench) -> None:
    """Temperature where only one token is left: greedy in effect."""
    bench.show(of(FIVE, temperature=0.7, top_k=1))
    assert bench.panel.delegate.cells["temperature"].note == ""
    bench.rest()
    assert bench.panel.delegate.cells["temperature"].note == "no effect in the end"
    tip = str(bench.chain.index(bench.chain.row_of("temperature")).data(Qt.ItemDataRole.ToolTipRole))
    assert "Without it the draw would be exactly the same." in tip
    assert "A greedy step takes the same token at any temperature." in tip


def test_stages_that_are_off_stand_in_nobodys_way(bench: Bench, qtbot: QtBot) -> None:
    bench.show(of(FIVE, top_k=3, temperature=0.5))
    assert bench.shown_stages == ["temperature", "top_k"]
    bench.show(of(FIVE, temperature=0.5))
    assert bench.shown_stages == ["temperature", "top_k"]  # it can be switched on again here
    qtbot.mouseClick(bench.panel.all_button, Qt.MouseButton.LeftButton)
    assert bench.shown_stages == list(ORDERS["transformers"])
    bench.show(of(FIVE, "llama.cpp", temperature=0.5))
    assert bench.shown_stages == list(ORDERS["llama.cpp"])


def test_clicking_a_stage_asks_for_what_it_removed_and_again_for_all(bench: Bench, qtbot: QtBot) -> None:
    bench.show(of(FIVE, top_k=3))
    table = bench.panel.table
    rect = table.visualRect(bench.chain.index(bench.chain.row_of("top_k")))
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=rect.topLeft() + QPoint(60, 8))
    assert table.marked == "top_k"
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=rect.topLeft() + QPoint(60, 8))
    assert bench.chosen == ["top_k", ""]
    assert table.marked == ""
    table.setCurrentIndex(bench.chain.index(bench.chain.row_of("top_k")))
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert bench.chosen[-1] == "top_k"
    bench.panel.mark_stage("")
    assert table.marked == ""


def test_another_order_says_what_it_would_change_and_names_the_tokens(bench: Bench) -> None:
    """C06, the first input: temperature last keeps one token more."""
    logits = SortedLogits.from_raw(np.array([3, 2, 1], np.float32))
    bench.show(evaluate(logits, SamplingParams.make(temperature=0.5, top_p=0.8), CONTEXT))
    label = bench.panel.order_label
    assert label.text() == "In the order of llama.cpp: …"
    bench.rest()
    assert label.text() == "In the order of llama.cpp: 1 token more."
    assert "·&lt;b&gt;B&lt;/b&gt; (1)" in label.toolTip()
    bench.show(of(FIVE, ("top_k", "temperature", *[s.name for s in STAGES if s.name not in ("top_k", "temperature")])))
    bench.rest()
    assert label.text().splitlines() == [
        "In the order of transformers: the same.",
        "In the order of llama.cpp: the same.",
    ]


def test_orders_in_words() -> None:
    def text(**values: Any) -> str:
        return order_text(look_aside(of([0.95, 0.045, 0.005], **values), None).orders[0])

    assert text(temperature=3.0, min_p=0.05) == "In the order of llama.cpp: 2 tokens less."
    assert text(temperature=3.0, top_k=2) == "In the order of llama.cpp: the same."
    assert "more or less likely" in order_text(
        look_aside(of(FIVE, temperature=0.5, logit_bias={0: 1.0}, order=("temperature", "logit_bias")), None).orders[0]
    )


def test_what_moves_fast_is_answered_when_it_rests(bench: Bench) -> None:
    bench.show(of(FIVE, top_k=3))
    bench.rest()
    bench.asked.clear()
    for k in (2, 3, 4):
        bench.panel.set_distribution(of(FIVE, top_k=k))
        assert bench.panel.order_label.text() == "In the order of llama.cpp: …"
    assert bench.asked == []
    bench.rest()
    assert len(bench.asked) == 1


def test_without_a_token_without_a_distribution_and_for_one_that_is_not_stored(bench: Bench) -> None:
    bench.show(of(FIVE, top_k=3), token=None)
    assert "Mark a token" in bench.panel.head.verdict.text()
    assert bench.cells("top_k")[:2] == ["3", "−15.0%"]
    raw = SortedLogits.from_raw(np.arange(300, dtype=np.float32))
    stored = evaluate(Observation.of(raw, 10).sorted_logits(), SamplingParams.make(top_k=3), CONTEXT)
    bench.show(stored, token=5)
    assert "Only the best tokens of this step were stored" in bench.panel.head.verdict.text()
    bench.panel.set_view(None)
    assert "No session is open" in bench.panel.message.text()
    assert bench.panel.message.isVisible()


def test_lines_of_a_stage_that_is_off_are_short() -> None:
    trace = of(FIVE).trace
    assert list(stage_lines(trace.steps[0], trace.reports[0], None, "nats", in_the_end=False)) == ["It is off."]


def test_a_stage_that_got_nothing_says_so(bench: Bench) -> None:
    bench.show(of(FIVE, ban=(0, 1, 2, 3, 4), top_k=2))
    assert bench.panel.delegate.cells["top_k"].note == "no effect: no token was left"


def test_screen_readers_hear_it_as_well(bench: Bench) -> None:
    bench.show(of(FIVE, top_k=3), token=4)
    index = bench.chain.index(bench.chain.row_of("top_k"))
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Top-k, 3"
    said = str(index.data(Qt.ItemDataRole.AccessibleDescriptionRole))
    assert "Keeps 3 of 5; removes 15.0% of the probability it was given." in said
    assert "The marked token stays as long as Top-k ≥ 5." in said
    assert bench.panel.head.name.accessibleName() == "<0xE4 0xBD>"


def test_it_paints_in_both_themes_and_at_any_width(bench: Bench) -> None:
    bench.show(of(FIVE, top_k=3, temperature=0.5, repetition_penalty=1.2), token=4)
    for width in (260, 440, 900):
        bench.panel.resize(width, 400)
        assert not bench.panel.grab().toImage().isNull()
    light = bench.panel.grab().toImage()
    bench.panel.setPalette(build_palette(DARK))
    assert bench.panel.grab().toImage() != light
