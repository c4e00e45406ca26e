"""Why? on the real model: what would have kept a token keeps it, and another order says what it would change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from explorer.models.base import ModelRef
from ui.app import Explorer
from ui.candidates.columns import Column

Settle = Callable[[Explorer], None]


@pytest.mark.model
@pytest.mark.timeout(300)
def test_the_capital_of_france(start: Callable[..., Explorer], settle: Settle, qtbot: QtBot, smollm2: str) -> None:
    explorer = start()
    settle(explorer)
    explorer.models.open(ModelRef(smollm2))
    settle(explorer)
    window = explorer.window
    window.show_dock("why")
    window.settings.change({"temperature": 0.7, "top_k": 50, "top_p": 0.9, "min_p": 0.05})
    settle(explorer)
    candidates, why = window.candidates, window.why
    candidates.find_edit.setText('" Le"')
    assert candidates.model.text(0, Column.TOKEN) == "·Le"
    assert candidates.model.text(0, Column.RANK) == "4"
    qtbot.waitUntil(lambda: why._aside is not None)
    assert why.head.verdict.text().startswith("Removed by Top-p 0.90: it would have needed 0.98")
    assert "Min-p 0.05 would have removed it too" in why.head.detail.text()
    assert why.order_label.text() == "In the order of llama.cpp: 1 token more."
    assert "·the" in why.order_label.toolTip()
    cells = why.delegate.cells
    assert (cells["top_k"].kept, cells["top_p"].kept) == ("50", "1")
    assert why.delegate.cells["min_p"].note == "no effect: only one token was left"
    why.head.keep.click()
    settle(explorer)
    assert why.head.verdict.text() == "It can be drawn: every filter keeps it."
    row = candidates.model.row(0)
    assert row.fate == "kept"
    assert 0 < row.sampling_prob < row.model_prob
    candidates.find_edit.clear()
    why.table.chosen.emit("top_k")
    assert candidates.model.rowCount() > 200
    assert candidates.filter_bar.label.text().startswith("Top-k removed 49\u202f102: ")
    candidates.filter_bar.closed.emit()
    assert candidates.model.token(0) == 7042
