"""Which rulers there are, their names, and those that are kept."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from explorer.decoding.params import SamplingParams
from ui.explain.names import sampling_name, stage_name
from ui.ruler.fills import fill_of_rank
from ui.ruler.rows import MOST_KEPT, KeptRuler, kept_from_json, row_specs
from ui.ruler.shelf import Shelf
from ui.theme import DARK, LIGHT, contrast

HALF = SamplingParams.make(temperature=0.5)
TWO = SamplingParams.make(top_k=2)


@pytest.mark.parametrize(
    ("sampling", "name"),
    [
        (SamplingParams(), "no filter"),
        (HALF, "T 0.5"),
        (SamplingParams.make(top_p=0.7, temperature=1.25), "T 1.25, top_p 0.7"),
        (SamplingParams.make(ban=(1, 2), top_k=40), "ban ×2, top_k 40"),
        (SamplingParams.make("llama.cpp", temperature=0.5), "T 0.5, order of llama.cpp"),
        (SamplingParams(order=tuple(stage.name for stage in reversed(SamplingParams().stages))), "own order"),
    ],
)
def test_a_ruler_is_named_after_what_is_set(sampling: SamplingParams, name: str) -> None:
    assert sampling_name(sampling) == name


def test_a_filter_is_named_with_its_values() -> None:
    assert stage_name("top_p", SamplingParams.make(top_p=0.9, temperature=0.5)) == "top_p 0.9"
    assert stage_name("top_p", HALF) == "top_p"
    assert stage_name("of_another_version", HALF) == "of_another_version"


def test_rulers_now_then_plain_and_kept() -> None:
    kept = (KeptRuler(HALF), KeptRuler(TWO, "two"))
    rows = row_specs(TWO, kept, (3, HALF))
    assert [(row.kind, row.title, row.place) for row in rows] == [
        ("now", "Now: top_k 2", -1),
        ("drawn", "When #3 was drawn: T 0.5", -1),
        ("plain", "The model alone", -1),
        ("kept", "T 0.5", 0),
        ("kept", "two", 1),
    ]
    assert [row.kind for row in row_specs(HALF, (), (3, HALF))] == ["now", "plain"]


def test_kept_rulers_are_read_back_and_broken_ones_left_out() -> None:
    kept = (KeptRuler(HALF), KeptRuler(SamplingParams.make(ban=(3, 1), order="llama.cpp"), "名字"))
    stored: list[Any] = [ruler.to_json() for ruler in kept]
    assert kept_from_json(stored) == kept
    broken: list[Any] = [None, 3, {}, {"name": "x", "sampling": {"values": {"top_p": 7}}}, {"name": "x", "sampling": 1}]
    assert kept_from_json([*broken, *stored]) == kept
    assert len(kept_from_json(stored * MOST_KEPT)) == MOST_KEPT


@pytest.fixture
def shelf(qtbot: QtBot) -> Shelf:
    parent = QObject()
    shelf = Shelf(parent)
    shelf._owner = parent  # type: ignore[attr-defined]  # a child lives as long as its parent
    for sampling in (HALF, TWO, SamplingParams.make(top_p=0.7)):
        shelf.keep(sampling)
    return shelf


def titles(shelf: Shelf) -> list[str]:
    return [ruler.title for ruler in shelf.kept]


def test_kept_rulers_move_and_are_named(shelf: Shelf) -> None:
    shelf.move(0, 1)
    assert titles(shelf) == ["top_k 2", "T 0.5", "top_p 0.7"]
    shelf.move(2, -5)
    assert titles(shelf) == ["top_p 0.7", "top_k 2", "T 0.5"]
    shelf.rename(1, "two")
    assert titles(shelf)[1] == "two"
    shelf.rename(1, "top_k 2")
    assert shelf.kept[1].name == ""
    assert shelf.holds(TWO)
    assert not shelf.holds(SamplingParams())


def test_a_removed_ruler_comes_back_where_it_was(shelf: Shelf) -> None:
    before = shelf.kept
    shelf.remove(1)
    assert titles(shelf) == ["T 0.5", "top_p 0.7"]
    shelf.bring_back()
    assert shelf.kept == before
    shelf.bring_back()
    assert shelf.kept == before


def test_a_full_shelf_takes_no_more(shelf: Shelf) -> None:
    for k in range(2 * MOST_KEPT):
        shelf.keep(SamplingParams.make(top_k=k + 3))
    assert shelf.full
    assert len(shelf.kept) == MOST_KEPT


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_neighbours_never_look_alike_and_labels_can_be_read(colours: Any) -> None:
    fills = [fill_of_rank(rank, colours) for rank in range(1, 41)]
    looks = [(fill.tint.name(), fill.pattern) for fill in fills]
    assert len(set(looks[:20])) == 20
    assert looks[20:] == looks[:20]
    for before, after in itertools.pairwise(looks):
        assert before[0] != after[0]
        assert before[1] != after[1]
    assert all(contrast(fill.ink, fill.tint) >= 4.5 for fill in fills)
