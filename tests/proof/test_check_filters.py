"""The check itself: it agrees where the numbers are right, and says DIFFERENT where one of them is not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import ORDERS, PARAMETERS, STAGES, StepContext
from explorer.models.base import Environment, ModelIdentity, ModelInfo, TokenIds
from explorer.progress import CancelToken
from explorer.proof.checking import check_filters, check_node
from explorer.proof.counterparts import counterpart
from explorer.proof.reference import ReferenceStage, reference_stages
from explorer.proof.report import NodeCheck
from explorer.proof.wording import fresh_sentence

Floats = NDArray[np.float32]

CONTEXT = StepContext((1, 2, 1), (3, 1, 2), (0,))
VALUES: dict[str, Any] = {
    "logit_bias": ((2, 1.5), (4, -3.0)),
    "ban": (5,),
    "repetition_penalty": 1.3,
    "presence_penalty": 0.7,
    "frequency_penalty": 0.4,
    "no_repeat_ngram_size": 2,
    "min_new_tokens": 10,
    "temperature": 0.7,
    "top_n_sigma": 2.0,
    "top_k": 30,
    "top_p": 0.9,
    "min_p": 0.01,
    "typical_p": 0.9,
    "epsilon_cutoff": 0.001,
    "eta_cutoff": 0.002,
}
LACKING = {"presence_penalty", "frequency_penalty", "top_n_sigma"}


def shown(raw: Floats, sampling: SamplingParams, context: StepContext = CONTEXT) -> NodeCheck:
    """What the program shows for these logits."""
    return NodeCheck.of(evaluate(SortedLogits.from_raw(raw), sampling, context), sampling, context)


def gumbel(size: int, seed: int = 3) -> Floats:
    return np.random.default_rng(seed).gumbel(0, 2, size).astype(np.float32)


def test_every_stage_has_a_counterpart_or_is_named_as_lacking_one() -> None:
    sampling = SamplingParams(VALUES)
    lacking = {stage.name for stage in STAGES if counterpart(stage, sampling, CONTEXT) is None}
    assert lacking >= LACKING
    report = check_filters(shown(gumbel(200), sampling))
    assert report.agrees
    assert set(report.own_stages) == LACKING
    assert [stage.name for stage in report.stages] == [stage.name for stage in sampling.stages if sampling.runs(stage)]


@settings(max_examples=60)
@given(data=st.data())
def test_random_logits_settings_and_orders_agree(data: st.DataObject) -> None:
    raw = _logits(data)
    sampling = _sampling(data, len(raw))
    context = _context(data, len(raw))
    report = check_filters(shown(raw, sampling, context))
    assume(not report.overflows)
    assert report.verdict != "different"
    if report.verdict in ("identical", "rounding") and report.doubtful_stage is None:
        assert report.kept == report.kept_there
        assert report.differing == 0
        assert report.sampling.value <= 1e-6 + report.torch_sum.value
        assert report.model.value <= 1e-6 + report.torch_sum.value
        assert report.torch_sum.value <= 1e-6  # 2 000 terms at most


@settings(max_examples=30)
@given(data=st.data())
def test_one_changed_number_is_found(data: st.DataObject) -> None:
    raw = gumbel(data.draw(st.integers(4, 400)), data.draw(st.integers(0, 10_000)))
    sampling = _sampling(data, len(raw))
    right = shown(raw, sampling)
    assume(check_filters(right).verdict != "different")
    field = data.draw(st.sampled_from(["processed", "sampling_probs", "model_probs"]))
    values = getattr(right, field).copy()
    finite = np.flatnonzero(np.isfinite(values))
    assume(len(finite))
    place = data.draw(st.sampled_from(finite.tolist()))
    by = data.draw(st.sampled_from([1e-3, -0.02, 0.5]))
    values[place] += np.float32(by * max(1.0, abs(float(values[place]))))
    report = check_filters(replace(right, **{field: values}))
    assert report.verdict == "different"
    assert not report.agrees
    found = {"processed": report.scores, "sampling_probs": report.sampling, "model_probs": report.model}[field]
    assert found.token_id == place
    assert found.value > 1e-4


def test_a_token_too_many_or_too_few_is_named() -> None:
    sampling = SamplingParams.make(top_k=5)
    right = shown(gumbel(100), sampling)
    out = int(np.flatnonzero(right.processed == -np.inf)[0])
    processed = right.processed.copy()
    processed[out] = right.logits[out]
    report = check_filters(replace(right, processed=processed))
    assert report.verdict == "different"
    assert (report.only_here, report.only_there, report.differing) == ((out,), (), 1)
    best = int(right.logits.argmax())
    processed = right.processed.copy()
    processed[best] = -np.inf
    report = check_filters(replace(right, processed=processed))
    assert report.verdict == "different"
    assert (report.only_here, report.only_there) == ((), (best,))


def test_changed_raw_logits_are_found() -> None:
    """The numbers shown must follow from the logits they are said to come from."""
    right = shown(gumbel(100), SamplingParams.make(temperature=0.7))
    logits = right.logits.copy()
    logits[7] += 0.01
    assert check_filters(replace(right, logits=logits)).verdict == "different"


def test_a_large_vocabulary_is_within_rounding_of_torch() -> None:
    """The float32 sum of 262 144 terms is off by more than the tolerance; that is torch's rounding, not a fault."""
    report = check_filters(shown(gumbel(262_144, 1), SamplingParams.make(temperature=0.8, top_p=0.95)))
    assert report.verdict == "rounding"
    assert 1e-6 < report.largest.value <= report.torch_sum.value + 1e-6


def test_no_filter_at_all_is_compared_too() -> None:
    report = check_filters(shown(gumbel(1000), SamplingParams()))
    assert report.stages == ()
    assert report.agrees
    assert report.scores.value == 0


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_temperature_0_is_argmax(order: str) -> None:
    raw = np.array([1, 3, 3, 2], np.float32)
    report = check_filters(shown(raw, SamplingParams.make(order, temperature=0.0, top_k=3), StepContext((), (), ())))
    assert report.agrees
    assert report.scores.value == 0
    assert (report.kept, report.kept_there) == (1, 1)
    assert [(stage.name, stage.counterpart) for stage in report.stages] == [
        ("top_k", "TopKLogitsWarper"),
        ("temperature", "torch.argmax"),
    ]


def test_ties_that_transformers_sorts_as_it_likes_are_called_ties() -> None:
    """Many equal scores at the border of a nucleus: which of them stay is an accident of an unstable sort."""
    raw = np.zeros(5000, np.float32)
    raw[::7] = 1.0
    sampling = SamplingParams.make(top_p=0.5)
    report = check_filters(shown(raw, sampling))
    assert report.verdict in ("rounding", "identical", "ties")
    assert report.agrees


@pytest.mark.parametrize(("removed", "verdict"), [("at the threshold", "rounding"), ("far above it", "different")])
def test_a_token_on_the_threshold_is_told_from_a_wrong_one(
    monkeypatch: pytest.MonkeyPatch, removed: str, verdict: str
) -> None:
    """Sums in another order may put a probability that meets a threshold on its other side; a token that is well above
    it may not be missing."""
    raw = gumbel(50)
    probable = np.exp(raw - raw.max()) / np.exp(raw - raw.max()).sum()
    by_rank = np.argsort(-probable)
    ours = shown(raw, SamplingParams.make(epsilon_cutoff=float(probable[by_rank[5]]) * (1 - 1e-6)))
    assert ours.processed[by_rank[5]] > -np.inf
    missing = by_rank[5] if removed == "at the threshold" else by_rank[1]

    def other_side(*arguments: Any, **options: Any) -> list[ReferenceStage]:
        (stage,) = reference_stages(*arguments, **options)
        scores = stage.scores.copy()
        scores[missing] = -np.inf
        return [replace(stage, scores=scores)]

    monkeypatch.setattr("explorer.proof.checking.reference_stages", other_side)
    report = check_filters(ours)
    assert report.verdict == verdict
    assert report.doubtful_stage == ("epsilon" if verdict == "rounding" else None)
    assert report.only_here == (missing,)


def test_overflow_in_transformers_is_said() -> None:
    raw = np.array([3e38, 1e38, -2e38], np.float32)
    report = check_filters(shown(raw, SamplingParams.make(temperature=1e-3), StepContext((0,), (), ())))
    assert report.overflows
    assert report.verdict == "different"


def test_nothing_left_agrees() -> None:
    report = check_filters(shown(gumbel(3), SamplingParams.make(ban=(0, 1, 2), top_p=0.5)))
    assert report.verdict == "rounding" or report.verdict == "identical"
    assert (report.kept, report.kept_there) == (0, 0)
    assert [stage.name for stage in report.stages] == ["ban"]


def test_without_a_prompt() -> None:
    """The prompt of a table model may be empty."""
    sampling = SamplingParams(VALUES)
    assert check_filters(shown(gumbel(60), sampling, StepContext((), (), (0, 1)))).agrees


class _Model:
    """A model whose pass without a cache gives what a test likes."""

    def __init__(self, fresh: Floats, dtype: str) -> None:
        self._fresh = fresh
        environment = Environment("cpu", "", dtype, 1, "", {})
        identity = ModelIdentity("m", "transformers", "m", "", "", "")
        self.info = ModelInfo(identity, environment, len(fresh), 64, ())

    def fresh_logits(self, prefix: TokenIds, *, cancel: CancelToken | None = None) -> Floats:
        return self._fresh


@pytest.mark.parametrize(
    ("dtype", "off", "agrees"),
    [
        ("float32", 1e-4, True),
        ("float32", 1e-3, False),
        ("bfloat16", 0.2, True),  # of a spread of 2.6
        ("bfloat16", 1.0, False),
    ],
)
def test_a_pass_without_a_cache_has_the_tolerance_of_its_number_format(dtype: str, off: float, agrees: bool) -> None:
    raw = gumbel(5000)
    fresh = raw + off * np.random.default_rng(1).choice([-1, 1], len(raw)).astype(np.float32)
    model: Any = _Model(fresh, dtype)
    report = check_node(model, shown(raw, SamplingParams()), lambda _: None, CancelToken())
    assert report.fresh is not None
    assert report.fresh.agrees is agrees
    assert report.agrees is agrees
    assert report.fresh.largest.value == pytest.approx(off, rel=0.01)
    assert (report.fresh.share is None) == (dtype == "float32")
    assert ("OTHER logits" in fresh_sentence(report, str)) is not agrees
    assert (dtype in fresh_sentence(report, str)) == (dtype == "bfloat16")


def test_the_report_is_strict_json() -> None:
    report = check_filters(shown(gumbel(60), SamplingParams.make(top_k=4, temperature=0.5)))
    document = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert document["verdict"] == report.verdict
    assert document["kept"]["here"] == 4
    assert document["versions"].keys() == {"transformers", "torch", "numpy"}


def _logits(data: st.DataObject) -> Floats:
    kind = data.draw(st.sampled_from(["seeded", "seeded", "ties", "short"]))
    if kind == "seeded":
        spread = data.draw(st.sampled_from([0.1, 1.0, 5.0, 30.0]))
        size = data.draw(st.integers(1, 2000))
        return np.random.default_rng(data.draw(st.integers(0, 2**32))).normal(0, spread, size).astype(np.float32)
    element = st.integers(-4, 4).map(lambda i: i / 2) if kind == "ties" else st.floats(-30, 30, width=32)
    values = data.draw(st.lists(st.one_of(element, element, st.just(-np.inf)), min_size=1, max_size=40))
    return np.array([*values, 0.5], np.float32)


def _context(data: st.DataObject, size: int) -> StepContext:
    token = st.integers(0, min(size - 1, 5))
    prompt = data.draw(st.lists(token, min_size=1, max_size=6))
    generated = data.draw(st.lists(token, max_size=6))
    return StepContext(tuple(prompt), tuple(generated), tuple(data.draw(st.lists(token, max_size=2, unique=True))))


def _sampling(data: st.DataObject, size: int) -> SamplingParams:
    token = st.integers(0, size - 1)
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "logit_bias": st.dictionaries(token, st.floats(-20, 20, width=32), min_size=1, max_size=3),
        "ban": st.lists(token, min_size=1, max_size=3),
        "repetition_penalty": st.sampled_from([0.5, 1.2, 2.0]),
        "presence_penalty": st.sampled_from([-1.0, 0.7]),
        "frequency_penalty": st.sampled_from([-1.0, 0.7]),
        "no_repeat_ngram_size": st.integers(1, 4),
        "min_new_tokens": st.integers(1, 10),
        "temperature": st.one_of(st.sampled_from([0.0, 0.2, 0.7, 2.0]), st.floats(0.05, 5)),
        "top_n_sigma": st.sampled_from([0.5, 1.0, 2.5]),
        "top_k": st.integers(1, size + 3),
        "top_p": st.one_of(st.integers(0, 20).map(lambda i: i / 20), st.floats(0, 1)),
        "min_p": st.floats(0, 1),
        "typical_p": st.floats(0.01, 0.99),
        "epsilon_cutoff": st.floats(1e-5, 0.5),
        "eta_cutoff": st.floats(1e-5, 0.5),
    }
    names = data.draw(st.lists(st.sampled_from(sorted(PARAMETERS.keys() & strategies)), max_size=6, unique=True))
    order = data.draw(st.one_of(st.sampled_from(sorted(ORDERS)), st.permutations(ORDERS["transformers"]).map(tuple)))
    return SamplingParams({name: data.draw(strategies[name]) for name in names}, order)
