"""What a given token is worth: against plain float64 arithmetic, row by row and in chunks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.decoding.choice import draw
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext
from explorer.messages import EngineError
from explorer.models.base import Logits, TokenIds
from explorer.progress import Cancelled, CancelToken, ProgressCallback
from explorer.scoring import judging
from explorer.scoring.judging import ScoreQuestion, judge, judge_row
from explorer.text import Vocabulary

VOCABULARY = 40


class RandomModel:
    """Logits that depend on the prefix alone; counts how many rows it was asked for at a time."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary([bytes([65 + token]) for token in range(VOCABULARY)])
        self.rows: list[int] = []

    def next_token_logits(
        self,
        prefixes: Sequence[TokenIds],
        *,
        prompt_length: int | None = None,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Logits:
        if cancel is not None:
            cancel.raise_if_cancelled()
        self.rows.append(len(prefixes))
        return np.stack([self.row(prefix) for prefix in prefixes])

    @staticmethod
    def row(prefix: TokenIds) -> np.ndarray:
        generator = np.random.default_rng([len(prefix), *prefix])
        return (3 * generator.standard_normal(VOCABULARY)).astype(np.float32)


def question(ids: Sequence[int], start: int = 1, **more: object) -> ScoreQuestion:
    plain: dict[str, object] = {"prompt_length": 0, "sampling": SamplingParams(), "eos_token_ids": ()}
    return ScoreQuestion(tuple(ids), start, len(ids), **{**plain, **more})  # type: ignore[arg-type]


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(0, VOCABULARY - 1), st.booleans())
def test_a_row_is_what_float64_makes_of_it(seed: int, token_id: int, holes: bool) -> None:
    generator = np.random.default_rng(seed)
    raw = np.round(4 * generator.standard_normal(VOCABULARY), 1).astype(np.float32)  # rounded: ties happen
    if holes:
        raw[generator.random(VOCABULARY) < 0.3] = -np.inf
        raw[0] = 1
    score, _ = judge_row(question((0, token_id)), 1, raw)
    finite = raw[np.isfinite(raw)].astype(np.float64)
    logs = finite - np.log(np.exp(finite).sum())
    order = sorted(range(VOCABULARY), key=lambda t: (-raw[t], t))
    assert score.rank == 1 + order.index(token_id)
    assert (score.preferred, score.chosen) == (order[0], order[0])
    assert score.preferred_logprob == pytest.approx(logs.max(), abs=2e-6)
    assert score.entropy == pytest.approx(-(np.exp(logs) * logs).sum(), abs=2e-6)
    if np.isfinite(raw[token_id]):
        assert score.model_logprob == pytest.approx(float(raw[token_id]) - np.log(np.exp(finite).sum()), abs=2e-6)
        assert score.surprisal == -score.model_logprob >= 0
    else:
        assert (score.model_logprob, score.sampling_logprob, score.surprisal) == (-math.inf, None, math.inf)


def test_chunks_do_not_slip_and_hold_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "HELD_BYTES", 4 * VOCABULARY * 16)
    model = RandomModel()
    ids = tuple(int(i) for i in np.random.default_rng(1).integers(0, VOCABULARY, 100))
    scores = judge(model, question(ids)).scores
    assert (max(model.rows), sum(model.rows)) == (16, 99)
    alone = [judge_row(question(ids), place, model.row(ids[:place]))[0] for place in range(1, 100)]
    assert list(scores) == alone


def test_under_settings_it_says_what_a_draw_would_take_and_what_a_filter_rules_out() -> None:
    model, ids = RandomModel(), (3, 7, 1, 22, 9)
    sampling = SamplingParams.make(temperature=0.7, top_k=4, repetition_penalty=1.5)
    asked = question(ids, 2, prompt_length=2, sampling=sampling, seed=11, origin=2, observe=True)
    answer = judge(model, asked)
    for place, score, seen in zip(range(2, 5), answer.scores, answer.observations, strict=True):
        logits = SortedLogits.from_raw(model.row(ids[:place]))
        distribution = evaluate(logits, sampling, StepContext(ids[:2], ids[2:place], ()))
        row = distribution.row(ids[place])
        assert score.chosen == draw(distribution, 11, place - 2).token_id
        assert (score.sampling_logprob, score.rank) == (row.sampling_logprob, row.rank)
        assert score.model_logprob == pytest.approx(row.model_logprob, abs=2e-6)
        assert seen.token_ids[0] == score.preferred


def test_logits_that_are_no_numbers_are_refused() -> None:
    raw = np.full(VOCABULARY, np.nan, dtype=np.float32)
    with pytest.raises(EngineError) as refusal:
        judge_row(question((0, 1)), 1, raw)
    assert refusal.value.message.code == "logits.nonfinite"


def test_cancelling_goes_through() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        judge(RandomModel(), question((1, 2, 3)), cancel=cancel)
