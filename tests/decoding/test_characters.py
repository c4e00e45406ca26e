"""Candidates by the next whole character or word: sums, half characters, words that a token only begins."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.decoding.characters import NextUnit, UnitGroup, by_unit, next_unit, pending_bytes
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext
from explorer.text import Vocabulary

YOU = "你".encode()
PIECES = [b"<eos>", YOU, YOU[:1], YOU[:2], YOU[1:], b" Par", b" Paris", b" the ", b".", b"\xff", b"", "🙂!".encode()]
VOCABULARY = Vocabulary(PIECES, [0])


def groups(probs: list[float], unit: str, pending: bytes = b"", **values: float) -> dict[tuple[str, str], UnitGroup]:
    with np.errstate(divide="ignore"):
        logits = SortedLogits.from_raw(np.log(np.array(probs, np.float32)))
    found = by_unit(
        evaluate(logits, SamplingParams.make(**values), StepContext((1,), (), (0,))),
        VOCABULARY,
        pending,
        unit,  # type: ignore[arg-type]
    )
    return {(group.unit.kind, group.unit.text or group.unit.rest.hex()): group for group in found}


def test_every_token_counts_for_the_character_it_leads_to() -> None:
    probs = [0.05, 0.2, 0.1, 0.05, 0.0, 0.1, 0.2, 0.1, 0.1, 0.05, 0.0, 0.05]
    found = groups(probs, "character")
    assert found["whole", "你"].model == pytest.approx(0.2)
    assert found["whole", " "].model == pytest.approx(0.4)
    assert found["whole", " "].tokens == 3
    assert found["whole", " "].token_ids == (6, 5, 7)
    assert found["whole", "🙂"].model == pytest.approx(0.05)
    assert found["special", VOCABULARY.label(0)].model == pytest.approx(0.05)
    assert found["invalid", "ff"].model == pytest.approx(0.05)
    halves = [group for (kind, _), group in found.items() if kind == "unresolved"]
    assert sorted(group.unit.rest for group in halves) == [YOU[:1], YOU[:2]]
    assert sum(group.model for group in found.values()) == pytest.approx(1.0)
    drawn = groups(probs, "character", top_k=2)
    assert drawn["whole", " "].sampling == pytest.approx(0.5)
    assert sum(group.sampling for group in drawn.values()) == pytest.approx(1.0)


def test_half_a_character_at_the_end_of_the_path_is_completed() -> None:
    assert pending_bytes(VOCABULARY, (1, 2)) == YOU[:1]
    assert pending_bytes(VOCABULARY, (3,)) == YOU[:2]
    assert pending_bytes(VOCABULARY, (2, 4)) == b""
    assert pending_bytes(VOCABULARY, (2, 0)) == b""
    assert pending_bytes(VOCABULARY, (8,)) == b""
    found = groups([0, 0, 0, 0, 0.7, 0.3, 0, 0, 0, 0, 0, 0], "character", pending=YOU[:1])
    assert found["whole", "你"].model == pytest.approx(0.7)
    assert found["invalid", "e4" + b" Par".hex()].model == pytest.approx(0.3)


def test_a_word_is_whole_where_something_follows_it() -> None:
    probs = [0.1, 0.1, 0, 0, 0, 0.2, 0.3, 0.2, 0.1, 0, 0, 0]
    found = groups(probs, "word")
    assert found["whole", "the"].model == pytest.approx(0.2)
    assert found["whole", "."].model == pytest.approx(0.1)
    assert found["whole", "你"].model == pytest.approx(0.1)
    assert found["unresolved", " Par"].model == pytest.approx(0.2)
    assert found["unresolved", " Paris"].model == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("data", "unit", "expected"),
    [
        (b"ab", "character", NextUnit("whole", "a")),
        (b"don't go", "word", NextUnit("whole", "don't")),
        (b"  \n", "word", NextUnit("unresolved", "  \n")),
        (b"  x", "word", NextUnit("unresolved", "  x")),
        ("早餐".encode(), "word", NextUnit("whole", "早")),
        ("ab早".encode(), "word", NextUnit("whole", "ab")),
        (b"ab\xe4", "word", NextUnit("unresolved", "ab", b"\xe4")),
        (b"\xf0\x9f", "character", NextUnit("unresolved", "", b"\xf0\x9f")),
        (b"\xe4A", "character", NextUnit("invalid", "", b"\xe4A")),
        (b"", "character", NextUnit("unresolved", "")),
    ],
)
def test_next_unit(data: bytes, unit: str, expected: NextUnit) -> None:
    assert next_unit(data, unit) == expected  # type: ignore[arg-type]


def test_the_tail_of_a_stored_distribution_is_a_group_of_its_own() -> None:
    chance = np.random.default_rng(1)
    pieces = [bytes([65 + n % 26]) * (1 + n // 26) for n in range(2000)]
    stored = Observation.of(SortedLogits.from_raw(chance.normal(size=2000).astype(np.float32))).sorted_logits()
    distribution = evaluate(stored, SamplingParams(), StepContext((1,), (), ()))
    found = by_unit(distribution, Vocabulary(pieces), b"", "character")
    assert found[0].unit.kind == "unlisted"
    assert sum(group.model for group in found) == pytest.approx(1.0, abs=1e-5)
    assert sum(group.sampling for group in found) == pytest.approx(1.0, abs=1e-5)
