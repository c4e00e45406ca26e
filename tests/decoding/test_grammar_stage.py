"""The grammar as a stage of the chain: what it removes, in any order, from memory and from what the store kept."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from explorer.decoding.choice import greedy, inverse_cdf
from explorer.decoding.foresight import foreseen_token
from explorer.decoding.grammar_mass import grammar_logmass
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import ORDERS, StepContext
from explorer.grammar.constraint import Constraint
from explorer.grammar.provider import Grammars
from explorer.messages import EngineError
from explorer.text import Vocabulary

LETTERS = Vocabulary([*(letter.encode() for letter in "abcde"), b"ab", b"<end>"], [6])
GRAMMARS = Grammars(LETTERS)
EOS = 6
LOGITS = np.array([1.0, 2.0, 3.0, 0.5, 0.0, 2.5, 1.5], np.float32)


def of(text: str, generated: tuple[int, ...] = (), order: Any = "transformers", **values: Any) -> Distribution:
    sampling = SamplingParams.make(order, grammar=("regex", text), **values)
    return evaluate(SortedLogits.from_raw(LOGITS), sampling, StepContext((3,), generated, (EOS,), GRAMMARS))


def kept(distribution: Distribution) -> list[int]:
    return distribution.token_ids[: distribution.kept].tolist()


def test_removed_tokens_name_the_grammar() -> None:
    distribution = of("a(b|c)?")
    assert kept(distribution) == [5, 0]  # "ab" and "a"
    candidate = distribution.row(2)
    assert (candidate.removed_by, candidate.threshold, candidate.sampling_logprob) == ("grammar", None, None)
    assert candidate.model_prob == pytest.approx(float(np.exp(3.0) / np.exp(LOGITS).sum()))
    assert kept(of("a(b|c)?", (0,))) == [2, 1, EOS]
    assert kept(of("a(b|c)?", (0, 2))) == [EOS]


def test_the_prompt_is_no_part_of_it() -> None:
    assert kept(of("ab")) == [5, 0]  # though the prompt is "d"


def test_raw_scores_stay_and_what_it_destroyed_is_reported() -> None:
    distribution = of("a(b|c)?", top_k=1)
    weights = np.exp(LOGITS.astype(np.float64))
    report = next(report for report in distribution.stages if report.name == "grammar")
    left = (weights[5] + weights[0]) / weights.sum()
    assert (report.kept_before, report.kept_after) == (7, 2)
    assert report.removed_mass == pytest.approx(1 - left)
    assert grammar_logmass(distribution) == pytest.approx(math.log(left))
    assert distribution.stage_values(5) == [("model", 2.5), ("grammar", 2.5), ("top_k", 2.5)]
    assert distribution.edited_by(5) is None


def test_it_stands_first_unless_it_is_moved() -> None:
    for order in ORDERS.values():
        assert order[0] == "grammar"
    first = of("[ad]+", top_k=2)
    assert kept(first) == [0, 3]
    last = of("[ad]+", order=("top_k", "grammar"), top_k=2)
    assert (kept(last), last.no_candidates_stage) == ([], "grammar")
    # Wherever it stands, the mass it leaves is that of the model's own distribution.
    assert grammar_logmass(first) == pytest.approx(grammar_logmass(last) or 0)


def test_nothing_left() -> None:
    distribution = of("a", (1,))
    assert (distribution.kept, distribution.no_candidates_stage) == (0, "grammar")
    assert grammar_logmass(distribution) is None
    with pytest.raises(EngineError, match="Grammar took the last one"):
        greedy(distribution)


def test_without_a_vocabulary_it_refuses() -> None:
    sampling = SamplingParams.make(grammar=("regex", "a"))
    with pytest.raises(ValueError, match="grammars"):
        evaluate(SortedLogits.from_raw(LOGITS), sampling, StepContext((), (), ()))


def test_a_slider_does_not_mask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mask is computed once a node, and what it leaves is gathered once while a later filter moves."""
    logits, context = SortedLogits.from_raw(LOGITS), StepContext((), (), (EOS,), GRAMMARS)
    first = evaluate(logits, SamplingParams.make(grammar=("regex", "[ab]+"), top_p=0.5), context)
    for top_p in (0.6, 0.7, 0.99):
        again = evaluate(logits, SamplingParams.make(grammar=("regex", "[ab]+"), top_p=top_p), context)
        assert again.trace.steps[0].after is first.trace.steps[0].after


# --- only the best tokens are known -----------------------------------------------------------------------------------

MANY = 600
NUMBERS = Vocabulary([f"<{number}>".encode() for number in range(MANY)])
MANY_GRAMMARS = Grammars(NUMBERS)


def stored(allowed: list[int], limit: int = 50, **values: Any) -> tuple[Distribution, Distribution]:
    """The whole distribution and what is known of it from the ``limit`` best tokens."""
    raw = np.random.default_rng(2).normal(0, 2, MANY).astype(np.float32)
    text = "|".join(f"<{number}>" for number in allowed)
    sampling = SamplingParams.make(grammar=("regex", text), **values)
    context = StepContext((), (), (), MANY_GRAMMARS)
    whole = SortedLogits.from_raw(raw)
    kept = Observation.of(whole, limit).sorted_logits()
    assert kept.truncated
    return evaluate(whole, sampling, context), evaluate(kept, sampling, context)


def best(count: int) -> list[int]:
    return np.argsort(-np.random.default_rng(2).normal(0, 2, MANY).astype(np.float32))[:count].tolist()


@pytest.mark.parametrize("values", [{}, {"top_p": 0.5}, {"temperature": 0.7}])
def test_all_allowed_tokens_listed_is_exact(values: dict[str, Any]) -> None:
    whole, known = stored(best(40)[::3], **values)
    assert kept(known) == kept(whole)
    np.testing.assert_array_equal(known.sampling_probs[: known.kept], whole.sampling_probs[: whole.kept])
    assert (known.unseen_kept, known.unseen_sampling_bounds, known.unresolved) == (0, (0.0, 0.0), ())
    assert known.settled == known.kept
    assert greedy(known) == greedy(whole)


def test_allowed_tokens_beyond_the_list_are_counted_and_bounded() -> None:
    beyond = best(MANY)[200:230]
    whole, known = stored(best(5) + beyond)
    assert (known.kept, known.unseen_kept) == (5, 30)
    low, high = known.unseen_sampling_bounds
    truth = float(whole.sampling_probs[5:].sum())
    assert low <= truth <= high
    assert low <= known.unseen_sampling_mass <= high
    assert known.settled == known.kept  # all five are above every unlisted token
    assert greedy(known) == greedy(whole)


def test_no_allowed_token_listed() -> None:
    _, known = stored(best(MANY)[300:310])
    assert (known.kept, known.unseen_kept) == (0, 10)
    with pytest.raises(EngineError, match="not stored"):
        greedy(known)


def test_values_are_plain_pairs() -> None:
    sampling = SamplingParams.make(grammar=("regex", "a"))
    assert sampling.grammar() == Constraint("regex", "a")
    assert not sampling.is_off("grammar")


@pytest.mark.parametrize("allowed", [best(3), best(MANY)[500:520], list(range(0, MANY, 2)), list(range(MANY))])
@pytest.mark.parametrize("u", [None, 0.1, 0.6])
def test_the_next_token_is_foreseen_among_those_allowed(allowed: list[int], u: float | None) -> None:
    raw = np.random.default_rng(2).normal(0, 2, MANY).astype(np.float32)
    sampling = SamplingParams.make(grammar=("regex", "|".join(f"<{number}>" for number in allowed)), temperature=0.6)
    context = StepContext((), (), (), MANY_GRAMMARS)
    distribution = evaluate(SortedLogits.from_raw(raw), sampling, context)
    expected = greedy(distribution).token_id if u is None else inverse_cdf(distribution, u)
    assert foreseen_token(raw, sampling, context, u) == expected
