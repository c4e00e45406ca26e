"""Beam search decides as generate() does: the same paths and scores over random tables."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from prefix_model import generate
from search_tables import Path, TableSearch, random_table

from explorer.decoding.params import SamplingParams
from explorer.search.beam import BeamStep
from explorer.search.beam_settings import BeamSettings

pytestmark = pytest.mark.filterwarnings("ignore:Unfeasible length constraints")

_FILLER = -1e6  # what transformers fills up with is scored -1e9, or that over a length


@st.composite
def searches(draw: st.DrawFn) -> dict[str, Any]:
    vocab_size = draw(st.integers(3, 12))
    prompt = draw(st.lists(st.integers(0, vocab_size - 1), min_size=1, max_size=4))
    eos = draw(st.lists(st.integers(0, vocab_size - 1), max_size=min(3, vocab_size - 1), unique=True))
    beams = draw(st.integers(2, 5))
    assume(max(2, 1 + len(eos)) <= vocab_size)  # else transformers' topk asks for more than there is
    filters: dict[str, Any] = {}
    if draw(st.booleans()):
        filters["repetition_penalty"] = draw(st.floats(0.7, 1.6))
    if draw(st.integers(0, 3)) == 0:
        filters["no_repeat_ngram_size"] = draw(st.integers(1, 3))
    if eos and draw(st.integers(0, 3)) == 0:
        filters["min_new_tokens"] = draw(st.integers(1, 3))
    if draw(st.integers(0, 3)) == 0:
        filters["logit_bias"] = {draw(st.integers(0, vocab_size - 1)): draw(st.floats(-3, 3))}
    if draw(st.integers(0, 3)) == 0:
        filters["ban"] = (draw(st.integers(0, vocab_size - 1)),)
    return {
        "seed": draw(st.integers(0, 2**31)),
        "vocab_size": vocab_size,
        "prompt": prompt,
        "eos": eos,
        "impossible": draw(st.sampled_from([0.0, 0.0, 0.3])),
        "max_new_tokens": draw(st.integers(1, 8)),
        "filters": filters,
        "beams": BeamSettings(
            num_beams=beams,
            num_return_sequences=beams,
            length_penalty=draw(st.floats(-2, 2) | st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0])),
            early_stopping=draw(st.sampled_from([True, False, "never"])),
            renormalize_logits=draw(st.booleans()),
        ),
    }


def both(search: dict[str, Any]) -> tuple[list[BeamStep], list[tuple[Path, float]]]:
    """Our steps, and transformers' paths and scores."""
    table = random_table(search["seed"], search["vocab_size"], impossible=search["impossible"])
    limit, beams = search["max_new_tokens"], search["beams"]
    sampling = SamplingParams.make(**search["filters"])
    ours = TableSearch(table, search["prompt"], search["eos"], max_new_tokens=limit, sampling=sampling).steps(beams)
    options = {**beams.to_json(), **_as_transformers_calls_them(search["filters"]), "max_new_tokens": limit}
    return ours, generate(table, search["vocab_size"], search["prompt"], search["eos"], **options)


def _as_transformers_calls_them(filters: dict[str, Any]) -> dict[str, Any]:
    options = dict(filters)
    if "logit_bias" in options:
        options["sequence_bias"] = {(token_id,): bias for token_id, bias in options.pop("logit_bias").items()}
    if "ban" in options:
        options["suppress_tokens"] = list(options.pop("ban"))
    return options


@settings(max_examples=300)
@given(searches())
def test_paths_and_scores_are_those_of_generate(search: dict[str, Any]) -> None:
    """All early_stopping modes, penalties from -2 to 2, several end tokens, filters, and tokens of probability 0."""
    steps, theirs = both(search)
    assume(all(score == score for _, score in theirs))  # NaN: it renormalised what no token was left of
    real = [(path, score) for path, score in theirs if score > _FILLER]
    ours = [(ending.path, ending.score) for ending in steps[-1].pool]
    if len(real) < len(theirs) and search["beams"].early_stopping is True:
        # Its fillers count as endings and stop the search: what it would have found is not defined.
        found_in_time = [path for path, _ in ours if len(path) <= max((len(path) for path, _ in real), default=0)]
        assert len(ours) >= len(real)
        assert set(found_in_time) >= {path for path, score in real if score > ours[-1][1]}
        return
    assert [path for path, _ in ours] == [path for path, _ in real]
    assert [score for _, score in ours] == pytest.approx([score for _, score in real], rel=2e-6, abs=5e-7)


def test_fillers_of_transformers_never_come_up_here() -> None:
    """C22: it answers with copies scored -1e9 where only two paths are possible."""
    search = {
        "seed": 12,
        "vocab_size": 4,
        "prompt": [1],
        "eos": [0],
        "impossible": 1.0,
        "max_new_tokens": 3,
        "filters": {},
        "beams": BeamSettings(3, 3),
    }
    steps, theirs = both(search)
    assert sum(score < _FILLER for _, score in theirs) == 2
    assert [ending.path for ending in steps[-1].pool] == [theirs[0][0]]
