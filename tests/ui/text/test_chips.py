"""The chips of a prompt."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from explorer.text import Vocabulary, path_pieces
from ui.text.chips import TokenChips


@pytest.fixture
def chips(qtbot: QtBot) -> TokenChips:
    chips = TokenChips()
    qtbot.addWidget(chips)
    chips.resize(240, 120)
    chips.show()
    return chips


def test_one_chip_a_token(chips: TokenChips, vocabulary: Vocabulary) -> None:
    chips.set_pieces(path_pieces(vocabulary, [9, 0, 1, 7, 5]))
    assert [piece.label for piece in chips.pieces] == ["<|end|>", "The", "·capital", "<b>bold</b>", "<0xE4 0xBD>"]
    assert chips.accessibleDescription() == "5 tokens"
    assert "special token" in chips.cell_tooltip(0)
    assert "Token 4 of 5" in chips.cell_tooltip(3)
    assert "&lt;b&gt;" in chips.cell_tooltip(3)
    assert "Id 1" in chips.cell_description(2)


def test_no_tokens_is_an_invitation(chips: TokenChips) -> None:
    chips.set_pieces([])
    assert "appear here" in chips.accessibleDescription()
    chips.grab()


def test_it_asks_for_the_height_it_needs_up_to_a_limit(chips: TokenChips, vocabulary: Vocabulary) -> None:
    chips.set_pieces(path_pieces(vocabulary, [0]))
    low = chips.sizeHint().height()
    chips.set_pieces(path_pieces(vocabulary, [1] * 30))
    high = chips.sizeHint().height()
    chips.set_pieces(path_pieces(vocabulary, [1] * 3000))
    assert low < high
    assert chips.sizeHint().height() < 10 * low
    assert chips.verticalScrollBar().maximum() > 0
