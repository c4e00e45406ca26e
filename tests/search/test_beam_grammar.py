"""Beams under a grammar are those of generate() with prefix_allowed_tokens_fn; rows of a search keep to it as well."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from prefix_model import generate
from search_tables import TableSearch, random_table

from explorer.decoding.grammar_mass import grammar_logmass
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext
from explorer.grammar.constraint import Constraint
from explorer.grammar.provider import Grammars
from explorer.search.beam_settings import BeamSettings, beam_filters
from explorer.search.rows import NodeRow
from explorer.text import Vocabulary

pytestmark = pytest.mark.filterwarnings("ignore:Unfeasible length constraints")

VOCAB = Vocabulary([b"a", b"b", b"c", b"ab", b"d", b"<1>", b"<2>", b"bc"], [5, 6])
GRAMMARS = Grammars(VOCAB)
EXPRESSIONS = ("[abc]*", "(a|bc)+", "(ab?c?)*", "a[a-d]*", "(a|b(c|d))*")  # each can go on from everywhere
_FILLER = -1e6


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**31),
    text=st.sampled_from(EXPRESSIONS),
    eos=st.sampled_from([(5,), (5, 6), (4,)]),
    limit=st.integers(1, 6),
    beams=st.integers(2, 4),
    penalty=st.sampled_from([-1.0, 0.0, 1.0]),
    early=st.sampled_from([True, False, "never"]),
    renormalize=st.booleans(),
    filters=st.sampled_from([{}, {"repetition_penalty": 1.3}, {"suppress_tokens": [3]}]),
)
def test_paths_and_scores_are_those_of_generate(
    seed: int,
    text: str,
    eos: tuple[int, ...],
    limit: int,
    beams: int,
    penalty: float,
    early: Any,
    renormalize: bool,
    filters: dict[str, Any],
) -> None:
    constraint = Constraint("regex", text)
    ours = {"ban" if name == "suppress_tokens" else name: value for name, value in filters.items()}
    sampling = SamplingParams.make(grammar=constraint, **ours)
    plan = BeamSettings(beams, beams, penalty, early, renormalize)
    table = random_table(seed, len(VOCAB))
    steps = TableSearch(table, (0, 1), eos, max_new_tokens=limit, sampling=sampling, grammars=GRAMMARS).steps(plan)

    def allowed(path: tuple[int, ...]) -> list[int]:
        # Its fillers may stand anywhere, and it raises where nothing may follow.
        return np.flatnonzero(GRAMMARS.state(constraint, path, eos).allowed).tolist() or [0]

    theirs = generate(
        table, len(VOCAB), (0, 1), eos, allowed=allowed, max_new_tokens=limit, **plan.to_json(), **filters
    )
    real = [(path, score) for path, score in theirs if score > _FILLER]
    assume(len(real) == len(theirs) or early is not True)
    found = [(ending.path, ending.score) for ending in steps[-1].pool]
    assert [path for path, _ in found] == [path for path, _ in real]
    assert [score for _, score in found] == pytest.approx([score for _, score in real], rel=2e-6, abs=5e-7)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**31),
    text=st.sampled_from(EXPRESSIONS),
    values=st.sampled_from(
        [{}, {"ban": [0]}, {"logit_bias": {2: 3.0}}, {"top_k": 2}, {"temperature": 0.5, "min_p": 0.2}]
    ),
)
def test_rows_say_what_evaluate_says(seed: int, text: str, values: dict[str, Any]) -> None:
    """Sampling log-probabilities, excluded tokens and the mass left are those of the whole chain."""
    raw = random_table(seed, len(VOCAB))((1,))
    sampling = SamplingParams.make(grammar=("regex", text), **values)
    context = StepContext((1,), (), (5,), GRAMMARS)
    row, whole = NodeRow(raw, sampling, context), evaluate(SortedLogits.from_raw(raw), sampling, context)
    found = row.continuations(np.arange(len(VOCAB), dtype=np.int32))
    for token_id in range(len(VOCAB)):
        edge, candidate = found.edge(token_id, "expanded"), whole.row(token_id)
        assert (edge.rank, edge.sampling_logprob is None) == (candidate.rank, candidate.sampling_logprob is None)
        if candidate.sampling_logprob is not None:
            assert edge.sampling_logprob == pytest.approx(candidate.sampling_logprob, abs=1e-5)
        assert edge.grammar_logmass == pytest.approx(grammar_logmass(whole) or math.nan)
    likeliest = row.likeliest(3).token_ids.tolist()
    allowed = context.grammar_state(Constraint("regex", text)).allowed
    assert likeliest == [i for i in np.argsort(-raw, kind="stable").tolist() if allowed[i]][:3]


def test_a_beam_that_nothing_can_follow() -> None:
    sampling = SamplingParams.make(grammar=("regex", "a"))
    row = NodeRow(np.zeros(len(VOCAB), np.float32), sampling, StepContext((), (1,), (5,), GRAMMARS))
    scores = row.beam_scores(4, beam_filters(sampling), renormalize=True)
    assert (len(scores.token_ids), scores.blocked_by) == (0, "grammar")
    assert len(row.likeliest(3)) == 0
