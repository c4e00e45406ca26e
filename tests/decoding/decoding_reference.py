"""The chain as transformers 5.24 runs it, on torch tensors in token-id order, and inputs that stress it."""

from __future__ import annotations

import operator
from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from unittest import mock

import numpy as np
import torch
from hypothesis import strategies as st
from numpy.typing import NDArray
from transformers.generation import logits_process as hf

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import KEPT, Distribution, Provenance, evaluate
from explorer.decoding.processors import Stage, StepContext
from explorer.grammar.provider import Grammars
from explorer.text import Vocabulary

Floats = NDArray[np.float32]

# torch's vectorised sums differ with the instruction set; the bit-exact statements are about AVX2.
IS_AVX2 = torch.backends.cpu.get_cpu_capability() == "AVX2"

_torch_sort = torch.sort


def _stable_sort(values: torch.Tensor, **options: Any) -> Any:
    """torch.sort orders equal values as it likes from 17 on; a stable one makes the reference a function."""
    return _torch_sort(values, stable=True, **options)


@dataclass(frozen=True)
class Reference:
    """Processed scores by token id, -inf where removed, and the name of the stage that removed each finite token."""

    scores: Floats
    removed_by: list[str | None]


def reference(raw: Floats, sampling: SamplingParams, context: StepContext) -> Reference:
    """The chain through transformers' own processors, up to the stage that leaves nothing."""
    ids = torch.tensor([context.prompt_ids + context.generated_ids], dtype=torch.long)
    scores = torch.tensor(raw)[None]
    removed_by: list[str | None] = [None] * len(raw)
    with mock.patch("torch.sort", _stable_sort):
        for stage in sampling.stages:
            if not sampling.runs(stage) or not (scores > -np.inf).any():
                continue
            after = _apply(stage, scores, ids, sampling, context)
            for token_id in torch.nonzero((scores[0] > -np.inf) & (after[0] == -np.inf)).flatten().tolist():
                removed_by[token_id] = stage.name
            scores = after
    return Reference(scores[0].numpy(), removed_by)


def _apply(stage: Stage, scores: Any, ids: Any, sampling: SamplingParams, context: StepContext) -> Any:
    number, whole = sampling.number, sampling.whole
    match stage.name:
        case "grammar":
            constraint = sampling.grammar()
            assert constraint is not None
            allowed = np.flatnonzero(context.grammar_state(constraint).allowed).tolist()
            if not allowed or not (scores[0, allowed] > -np.inf).any():
                # transformers raises, or brings tokens back that filters before it have removed; we end the text
                return torch.full_like(scores, -np.inf)
            return hf.PrefixConstrainedLogitsProcessor(lambda beam, ids: allowed, 1)(ids, scores)
        case "logit_bias":
            bias: Any = {(token_id,): value for token_id, value in sampling.id_values("logit_bias")}
            return hf.SequenceBiasLogitsProcessor(bias)(ids, scores)
        case "ban":
            return hf.SuppressTokensLogitsProcessor(list(sampling.ids("ban")))(ids, scores)
        case "repetition_penalty":
            return hf.RepetitionPenaltyLogitsProcessor(number("repetition_penalty"))(ids, scores)
        case "presence_penalty" | "frequency_penalty":
            counts = torch.bincount(
                torch.tensor(context.generated_ids, dtype=torch.long), minlength=scores.shape[-1]
            ).to(torch.float32)
            counts = counts if stage.name == "frequency_penalty" else (counts > 0).to(torch.float32)
            return scores - number(stage.name) * counts
        case "no_repeat_ngram":
            return hf.NoRepeatNGramLogitsProcessor(whole("no_repeat_ngram_size"))(ids, scores)
        case "min_new_tokens":
            processor = hf.MinNewTokensLengthLogitsProcessor(
                len(context.prompt_ids), whole("min_new_tokens"), torch.tensor(context.eos_token_ids)
            )
            return processor(ids, scores)
        case "temperature":
            return hf.TemperatureLogitsWarper(number("temperature"))(ids, scores)
        case "top_n_sigma":
            finite = scores[scores > -np.inf].double()
            floor = (finite.max() - number("top_n_sigma") * finite.std(correction=0)).float()
            return scores.masked_fill(scores < floor, -np.inf)
        case "top_k":
            return hf.TopKLogitsWarper(whole("top_k"))(ids, scores)
        case "top_p":
            return hf.TopPLogitsWarper(number("top_p"))(ids, scores)
        case "min_p":
            return hf.MinPLogitsWarper(number("min_p"))(ids, scores)
        case "typical":
            return hf.TypicalLogitsWarper(number("typical_p"))(ids, scores)
        case "epsilon":
            return hf.EpsilonLogitsWarper(number("epsilon_cutoff"))(ids, scores)
        case "eta":
            return hf.EtaLogitsWarper(number("eta_cutoff"))(ids, scores)
    raise AssertionError(f"no reference for {stage.name}")


def by_id(distribution: Distribution, values: NDArray[Any]) -> NDArray[Any]:
    """An array of a distribution in token-id order."""
    ordered = np.empty_like(values)
    ordered[distribution.token_ids] = values
    return ordered


SUMMED = frozenset({"eta", "typical", "top_p", "min_p", "epsilon"})  # stages that compare what was added up


def on_knife_edge(
    distribution: Distribution, doubtful: Set[str] = frozenset({"eta", "typical"}) if IS_AVX2 else SUMMED
) -> bool:
    """Whether a ``doubtful`` filter decided by less than float32 sums agree on that are added in another order.

    eta and typical take torch's entropy, whose sums are not repeated; the softmax sums are those of AVX2.
    """
    for step in distribution.trace.steps:
        if step.stage.name not in doubtful or step.criterion is None:
            continue
        compared = np.array([step.criterion.values[position] for position in range(len(step.criterion.values))])
        values = np.unique(compared[np.isfinite(compared)]).astype(np.float64)
        distances, slack = np.abs(values - step.criterion.threshold), 1e-5 * step.criterion.threshold
        if step.stage.name == "typical":
            # The threshold is one of the values; which one also hangs on their order.
            distances, slack = np.concatenate([distances[distances > 0], np.diff(values)]), 1e-5 * max(1, values.max())
        if (distances < slack).any():
            return True
    return False


def evaluated(raw: Floats, sampling: SamplingParams, context: StepContext) -> Distribution:
    """A distribution straight from raw logits."""
    return evaluate(SortedLogits.from_raw(raw), sampling, context)


def assert_agrees(expected: Reference, distribution: Distribution) -> None:
    """Same kept set, same processed scores to the bit, same reasons, same sampling probabilities to 1e-6."""
    processed = by_id(distribution, distribution.processed)
    np.testing.assert_array_equal(processed > -np.inf, expected.scores > -np.inf)
    np.testing.assert_array_equal(processed, expected.scores)
    names = distribution.stage_names
    reasons = [names[owner] if owner >= 0 else None for owner in by_id(distribution, distribution.removed_by)]
    assert reasons == expected.removed_by
    if distribution.kept:
        probabilities = torch.softmax(torch.tensor(expected.scores).double(), -1).numpy()
        np.testing.assert_allclose(by_id(distribution, distribution.sampling_probs), probabilities, atol=1e-6, rtol=0)
        assert abs(float(distribution.sampling_probs.sum(dtype=np.float64)) - 1) < 1e-6
    assert_sound(distribution)


def assert_sound(distribution: Distribution) -> None:
    """What holds for every distribution: order, no NaN, verdicts that follow from their own threshold and margin."""
    kept = distribution.kept
    for array in (distribution.processed, distribution.model_probs, distribution.sampling_probs):
        assert not np.isnan(array).any()
    assert (distribution.removed_by[:kept] == KEPT).all()
    assert (distribution.removed_by[kept:] != KEPT).all()
    assert (distribution.processed[:kept] > -np.inf).all()
    assert (distribution.processed[kept:] == -np.inf).all()
    assert (distribution.sampling_probs[kept:] == 0).all()
    best_first = np.lexsort((distribution.token_ids[:kept], -distribution.processed[:kept]))
    np.testing.assert_array_equal(best_first, np.arange(kept))
    assert (np.diff(distribution.model_rank[kept:]) > 0).all()
    for token_id in distribution.token_ids[kept : kept + 20].tolist():
        assert_removal_follows(distribution.provenance(token_id))


def assert_removal_follows(provenance: Provenance) -> None:
    """The comparison as stated gives the verdict again, and the margin is the distance to the threshold."""
    if provenance.threshold is None:
        assert provenance.value is None
        assert provenance.margin is None
        return
    assert provenance.value is not None
    compare = {"<": operator.lt, "<=": operator.le, ">": operator.gt}[provenance.comparison or ""]
    assert compare(np.float32(provenance.value), np.float32(provenance.threshold))
    assert abs(provenance.value - provenance.threshold) == -(provenance.margin or 0.0)


@st.composite
def logits(draw: st.DrawFn, max_size: int = 40) -> Floats:
    """float32 logits: spread out, with ties, nice probabilities, extremes, -inf; at least one finite."""
    size = draw(st.integers(1, max_size))
    kind = draw(st.sampled_from(["floats", "ties", "nice", "extreme", "seeded"]))
    if kind == "seeded":
        generator = np.random.default_rng(draw(st.integers(0, 2**32)))
        spread = draw(st.sampled_from([0.01, 1, 5, 50]))
        return generator.normal(0, spread, draw(st.integers(1, 3000))).astype(np.float32)
    element = {
        "floats": st.floats(-40, 40, width=32),
        "ties": st.integers(-3, 3).map(lambda i: i / 2),
        "nice": st.integers(1, 12).map(lambda i: float(np.log(i / 20))),
        "extreme": st.sampled_from([-3e38, -1e30, -1e4, -0.0, 0.0, 1e-40, 1.0, 1e4, 1e30, 3e38]),
    }[kind]
    holes = st.one_of(element, element, element, st.just(-np.inf))
    values = draw(st.lists(holes if draw(st.booleans()) else element, min_size=size, max_size=size))
    if all(value == -np.inf for value in values):
        values[0] = 0.0
    return np.array(values, np.float32)


@st.composite
def contexts(draw: st.DrawFn, vocab_size: int) -> StepContext:
    """Short, repetitive contexts; end ids within the vocabulary."""
    token = st.integers(0, min(vocab_size - 1, 5))
    prompt = draw(st.lists(token, min_size=1, max_size=8))
    generated = draw(st.lists(token, max_size=8))
    eos = draw(st.lists(token, min_size=1, max_size=2, unique=True))
    return StepContext(tuple(prompt), tuple(generated), tuple(eos), grammars_over(vocab_size))


@lru_cache(maxsize=64)
def grammars_over(vocab_size: int) -> Grammars:
    """Grammars over a vocabulary in which the same few pieces come again and again."""
    return Grammars(Vocabulary([(b"a", b"b", b"ab", b"c", b"", b"ba")[i % 6] for i in range(vocab_size)]))


def values_of(vocab_size: int) -> dict[str, st.SearchStrategy[Any]]:
    """A strategy for the values of every parameter, extremes included."""
    token = st.integers(0, vocab_size - 1)
    share = st.one_of(st.integers(0, 20).map(lambda i: i / 20), st.floats(0, 1))
    inner = st.one_of(st.integers(1, 19).map(lambda i: i / 20), st.floats(1e-6, 0.999))
    return {
        "grammar": st.sampled_from(["[ab]*", "(ab)+", "a(b|c)*", "ab?", ".*", "x"]).map(lambda text: ("regex", text)),
        "logit_bias": st.dictionaries(token, st.floats(-20, 20, width=32), min_size=1, max_size=4),
        "ban": st.lists(token, min_size=1, max_size=4),
        "repetition_penalty": st.sampled_from([0.01, 0.5, 1.2, 2.0, 100.0]),
        "presence_penalty": st.sampled_from([-2.0, 0.1, 0.7, 100.0]),
        "frequency_penalty": st.sampled_from([-2.0, 0.1, 0.7, 100.0]),
        "no_repeat_ngram_size": st.integers(1, 5),
        "min_new_tokens": st.integers(1, 10),
        "temperature": st.one_of(st.sampled_from([1e-3, 0.2, 0.5, 0.7, 2.0, 1000.0]), st.floats(0.05, 5)),
        "top_n_sigma": st.sampled_from([0.1, 1.0, 2.5, 50.0]),
        "top_k": st.integers(1, vocab_size + 3),
        "top_p": share,
        "min_p": share,
        "typical_p": inner,
        "epsilon_cutoff": inner,
        "eta_cutoff": inner,
    }
