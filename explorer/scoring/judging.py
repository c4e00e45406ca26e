"""What the model makes of the tokens of a given text. Runs in the engine's process: no row of logits leaves it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from explorer.decoding.choice import draw, greedy
from explorer.decoding.float32 import FloatArray
from explorer.decoding.grammar_mass import grammar_logmass
from explorer.decoding.logits import Observation, SortedLogits, check_usable
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import evaluate
from explorer.decoding.processors import StepContext
from explorer.grammar.provider import Grammars
from explorer.models.base import Logits, TokenIds
from explorer.progress import CancelToken, ProgressCallback
from explorer.text import Vocabulary

HELD_BYTES: Final = 64 * 2**20  # of float32 logits at once: 341 rows of 49 152, 64 of 262 144
_MOST_WORKERS: Final = 4
_ROWS_A_WORKER: Final = 8  # fewer are over before a thread has begun
_NO_WEIGHT: Final = np.float32(-200)  # exp is 0 from there on, and 0 * -inf would be NaN


@dataclass(frozen=True, slots=True)
class ScoreQuestion:
    """Judge the tokens ``ids[start:stop]``, each given all before it; ``start`` is at least 1 for a neural model.

    ``prompt_length`` is where generated tokens begin, for filters that look at those alone. The free choice at each
    place is made under ``sampling``: greedy where ``seed`` is None, else the draw of that seed whose index is the
    place's distance from ``origin``. ``observe``: say also what the store keeps of every place.
    """

    ids: TokenIds
    start: int
    stop: int
    prompt_length: int
    sampling: SamplingParams
    eos_token_ids: TokenIds
    seed: int | None = None
    origin: int = 0
    observe: bool = False


@dataclass(frozen=True, slots=True)
class TokenScore:
    """One given token as the model judges it, in nats.

    ``model_logprob`` is -inf where the model rules it out; ``sampling_logprob`` None where a filter does. ``rank`` is
    1-based by raw logit, ties by id. ``entropy`` is that of the model's distribution here, ``preferred`` its likeliest
    token. ``chosen`` is what the free choice takes here, None where nothing can be drawn.
    """

    token_id: int
    logit: float
    model_logprob: float
    sampling_logprob: float | None
    rank: int
    entropy: float
    preferred: int
    preferred_logprob: float
    chosen: int | None
    grammar_logmass: float | None = None

    @property
    def surprisal(self) -> float:
        """-log p, which is also the loss of this token: never below 0, infinite where it is impossible."""
        return max(0.0, -self.model_logprob)


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """The answer to a `ScoreQuestion`: a score a token, and what was observed at each place where that was asked."""

    scores: tuple[TokenScore, ...]
    observations: tuple[Observation, ...] = ()


class _Model(Protocol):
    """The part of a `LanguageModel` that judging needs."""

    vocabulary: Vocabulary

    def next_token_logits(
        self,
        prefixes: Sequence[TokenIds],
        *,
        prompt_length: int | None = None,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Logits: ...


def judge(
    model: _Model, question: ScoreQuestion, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
) -> Judgement:
    """Answer a question; only as many rows of logits as `HELD_BYTES` allows are held at a time.

    Raises what `LanguageModel.next_token_logits` raises, and `EngineError` for logits that are not finite.
    """
    scores: list[TokenScore] = []
    observations: list[Observation] = []
    grammars = Grammars(model.vocabulary) if question.sampling.grammar() is not None else None
    most = max(1, HELD_BYTES // (4 * len(model.vocabulary)))
    for first in range(question.start, question.stop, most):
        places = range(first, min(first + most, question.stop))
        rows = model.next_token_logits(
            [question.ids[:place] for place in places],
            prompt_length=question.prompt_length,
            progress=progress,
            cancel=cancel,
        )
        for score, seen in _judged(question, places, rows, grammars):
            scores.append(score)
            if seen is not None:
                observations.append(seen)
    return Judgement(tuple(scores), tuple(observations))


def _judged(
    question: ScoreQuestion, places: range, rows: Logits, grammars: Grammars | None
) -> list[tuple[TokenScore, Observation | None]]:
    """Several at a time, for numpy lets other threads run."""

    def one(place: int, raw: FloatArray) -> tuple[TokenScore, Observation | None]:
        return judge_row(question, place, raw, grammars)

    workers = min(_MOST_WORKERS, os.cpu_count() or 1, len(places) // _ROWS_A_WORKER)
    if workers < 2:
        return list(map(one, places, rows))
    with ThreadPoolExecutor(workers, "judging") as pool:
        return list(pool.map(one, places, rows))


def judge_row(
    question: ScoreQuestion, place: int, raw: FloatArray, grammars: Grammars | None = None
) -> tuple[TokenScore, Observation | None]:
    """The score of ``ids[place]`` by the logits ``raw`` float32[vocabulary] after all before it.

    Raises `EngineError` (code ``logits.nonfinite``).
    """
    check_usable(raw, "float32")
    token_id = question.ids[place]
    logit, best = raw[token_id], raw.max()
    rank = 1 + int(np.count_nonzero(raw > logit)) + int(np.count_nonzero(raw[:token_id] == logit))
    distance = np.maximum(raw - best, _NO_WEIGHT)
    weights = np.exp(distance)
    total = float(weights.sum(dtype=np.float64))
    logsumexp = float(best) + math.log(total)
    entropy = max(0.0, math.log(total) - float((weights * distance).sum(dtype=np.float64)) / total)
    preferred = int(raw.argmax())  # the first of equals: ties by id
    model_logprob = min(0.0, float(logit) - logsumexp)
    plain = not question.sampling.values
    sorted_logits = None if plain and question.seed is None and not question.observe else SortedLogits.from_raw(raw)
    if plain and question.seed is None:
        sampled: float | None = None if logit == -np.inf else model_logprob
        chosen: int | None = preferred
        logmass: float | None = None
    else:
        assert sorted_logits is not None
        sampled, chosen, logmass = _sampled(question, place, sorted_logits, grammars)
    score = TokenScore(
        token_id=token_id,
        logit=float(logit),
        model_logprob=model_logprob,
        sampling_logprob=sampled,
        rank=rank,
        entropy=entropy,
        preferred=preferred,
        preferred_logprob=min(0.0, float(best) - logsumexp),
        chosen=chosen,
        grammar_logmass=logmass,
    )
    return score, Observation.of(sorted_logits) if question.observe and sorted_logits is not None else None


def _sampled(
    question: ScoreQuestion, place: int, logits: SortedLogits, grammars: Grammars | None
) -> tuple[float | None, int | None, float | None]:
    """The token's log-probability under the settings, the free choice, and what a grammar leaves."""
    prompt, generated = question.ids[: question.prompt_length], question.ids[question.prompt_length : place]
    if place < question.prompt_length:
        prompt, generated = question.ids[:place], ()
    context = StepContext(prompt, generated, question.eos_token_ids, grammars)
    distribution = evaluate(logits, question.sampling, context)
    sampled = distribution.row(question.ids[place]).sampling_logprob
    if not distribution.kept:
        return sampled, None, grammar_logmass(distribution)
    drawn = question.seed is not None and place >= question.origin
    choice = draw(distribution, question.seed or 0, place - question.origin) if drawn else greedy(distribution)
    return sampled, choice.token_id, grammar_logmass(distribution)
