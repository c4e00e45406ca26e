"""Beam search, step by step: a pure algorithm over paths that decides as transformers' `_beam_search` (5.24) does.

A path is the tuple of token ids since the search began. transformers fills beams that have nothing to follow with
copies scored -1e9; here they do not exist, so every path is possible and stands once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Literal

import numpy as np

from explorer.decoding.stopping import StopEvent
from explorer.i18n import N_
from explorer.messages import UserMessage
from explorer.search.beam_settings import BeamSettings
from explorer.search.rows import BeamScores

Path = tuple[int, ...]
# (live paths, n): the n best next tokens of each, or more; one call of the model.
Score = Callable[[Sequence[Path], int], Sequence[BeamScores]]
# The stop rule that ends generation at a path.
Stop = Callable[[Path], StopEvent | None]
Fate = Literal["kept", "finished", "fell"]
BeamEnd = Literal[
    "early_stopping",  # as many endings as beams, and that was asked for
    "no_improvement",  # no live beam can beat the worst ending any more
    "exhausted",  # every continuation has ended by itself
    "max_new_tokens",
    "max_length",
    "context_window",
    "no_candidates",  # nothing can follow any live beam
    "stopped",  # the text had ended where the search was to begin
    "cancelled",
    "error",
]

# What a beam search ends by where every beam has reached it.
LIMITS: Final[tuple[BeamEnd, ...]] = ("max_new_tokens", "max_length", "context_window")
# What ends a search because there is nothing left to follow.
_SPENT: Final[tuple[BeamEnd, ...]] = ("exhausted", "no_candidates", *LIMITS)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One continuation that was weighed in a step; ``parent`` is the place of its beam among the live ones.

    ``logprob`` of the token after the filters, ``sum_logprob`` of the path since the search began (nats, float32), and
    ``score``, the sum divided by length ** length_penalty: all of a step are equally long, so both rank alike.
    A candidate is *kept* (followed on), *finished* (it ended and came into the pool), or it *fell*, and ``fell_to`` is
    the path that has the last place it could have had.
    """

    parent: int
    path: Path
    logprob: float
    sum_logprob: float
    score: float
    fate: Fate
    stop: StopEvent | None = None
    fell_to: Path | None = None

    @property
    def token_id(self) -> int:
        return self.path[-1]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """An ending in the pool, with the step in which it ended."""

    path: Path
    sum_logprob: float
    score: float
    stop: StopEvent
    step: int


@dataclass(frozen=True, slots=True)
class BeamStep:
    """One step: the beams that were ``live``, the ``candidates`` by falling sum, and the pool of endings after it.

    ``pool`` is the best first, at most ``num_beams`` of them; ``displaced`` were in it before and fell to its last.
    ``ended_by`` says why the search ends here, None where it goes on.
    """

    number: int
    live: tuple[Path, ...]
    candidates: tuple[Candidate, ...]
    pool: tuple[Hypothesis, ...]
    displaced: tuple[Hypothesis, ...] = ()
    ended_by: BeamEnd | None = None


def beam_search(
    settings: BeamSettings, score: Score, stop: Stop, *, end_tokens: int, longest: int
) -> Iterator[BeamStep]:
    """Search until a step says ``ended_by``; the caller may stop between two steps.

    ``end_tokens`` is how many token ids end a text, ``longest`` how many tokens the limits allow: early_stopping
    "never" looks ahead to it.
    """
    # Enough that num_beams go on even if every beam ends in every way it can.
    width = max(2, 1 + end_tokens) * settings.num_beams
    live: tuple[Candidate | None, ...] = (None,)  # None: where the search begins
    pool: tuple[Hypothesis, ...] = ()
    for number in count(1):
        paths = tuple(() if beam is None else beam.path for beam in live)
        sums = [0.0 if beam is None else beam.sum_logprob for beam in live]
        weighed = _weigh(settings, paths, sums, score(paths, width), width, number)
        step = _decide(settings, number, paths, weighed, [stop(candidate.path) for candidate in weighed], pool, longest)
        yield step
        if step.ended_by is not None:
            return
        live = tuple(candidate for candidate in step.candidates if candidate.fate == "kept")
        pool = step.pool


def shortfall_message(settings: BeamSettings, last: BeamStep) -> UserMessage | None:
    """Says that there were fewer endings than beams, where that is so because no more are possible."""
    if last.ended_by not in _SPENT or len(last.pool) >= settings.num_beams:
        return None
    return UserMessage(
        code="beam.shortfall",
        what=N_("{found} of {beams} beams possible."),
        meaning=N_("Every other continuation has probability 0 or is removed by a filter; nothing was made up."),
        params={"found": len(last.pool), "beams": settings.num_beams},
    )


def _weigh(
    settings: BeamSettings,
    live: Sequence[Path],
    sums: Sequence[float],
    found: Sequence[BeamScores],
    width: int,
    length: int,
) -> list[Candidate]:
    """The ``width`` best continuations of all beams by falling sum, ties by beam and then by id; their fates open."""
    beams = np.repeat(np.arange(len(live)), [len(scores.token_ids) for scores in found])
    token_ids = np.concatenate([scores.token_ids for scores in found])
    logprobs = np.concatenate([scores.scores for scores in found])
    totals = logprobs + np.asarray(sums, np.float32)[beams]
    order = np.lexsort((token_ids, beams, -totals))[:width]
    return [
        Candidate(
            parent=int(beams[place]),
            path=(*live[beams[place]], int(token_ids[place])),
            logprob=float(logprobs[place]),
            sum_logprob=float(totals[place]),
            score=_normalised(float(totals[place]), length, settings.length_penalty),
            fate="fell",
        )
        for place in order
    ]


def _decide(
    settings: BeamSettings,
    number: int,
    live: tuple[Path, ...],
    weighed: Sequence[Candidate],
    stops: Sequence[StopEvent | None],
    pool: tuple[Hypothesis, ...],
    longest: int,
) -> BeamStep:
    beams = settings.num_beams
    kept = [place for place, event in enumerate(stops) if event is None][:beams]
    # Only an ending among the num_beams best counts; the others were weighed so that enough beams go on.
    ended = [
        Hypothesis(candidate.path, candidate.sum_logprob, candidate.score, event, number)
        for candidate, event in zip(weighed[:beams], stops, strict=False)
        if event is not None
    ]
    merged = sorted((*pool, *ended), key=lambda hypothesis: -hypothesis.score)  # stable: older ones first
    after, dropped = tuple(merged[:beams]), merged[beams:]
    finished = {hypothesis.path for hypothesis in after if hypothesis.step == number}
    candidates = []
    for place, (candidate, event) in enumerate(zip(weighed, stops, strict=True)):
        fate: Fate = "kept" if place in kept else "finished" if candidate.path in finished else "fell"
        fell_to = None
        if fate == "fell":
            if event is None:
                fell_to = weighed[kept[-1]].path
            else:
                fell_to = after[-1].path if place < beams else weighed[beams - 1].path
        candidates.append(replace(candidate, fate=fate, stop=event, fell_to=fell_to))
    return BeamStep(
        number=number,
        live=live,
        candidates=tuple(candidates),
        pool=after,
        displaced=tuple(hypothesis for hypothesis in dropped if hypothesis.step < number),
        ended_by=_end(settings, candidates, after, number, longest),
    )


def _end(
    settings: BeamSettings, candidates: Sequence[Candidate], pool: Sequence[Hypothesis], length: int, longest: int
) -> BeamEnd | None:
    """Why the search ends after a step in which ``candidates`` reached ``length``; None where it goes on."""
    if not candidates:
        return "no_candidates"
    best = next((candidate for candidate in candidates if candidate.fate == "kept"), None)
    if best is None:
        kinds = {candidate.stop.kind for candidate in candidates if candidate.stop is not None}
        return next((limit for limit in LIMITS if limit in kinds), "exhausted")
    if len(pool) < settings.num_beams:
        return None
    if settings.early_stopping is True:
        return "early_stopping"
    # transformers' guess of the best score a live beam may come to: right for length_penalty 0, and for "never".
    hopes_to_grow = settings.early_stopping == "never" and settings.length_penalty > 0
    hope = _normalised(best.sum_logprob, longest if hopes_to_grow else length, settings.length_penalty)
    return None if hope > pool[-1].score else "no_improvement"


def _normalised(total: float, length: int, penalty: float) -> float:
    """total / length ** penalty in float32, the length counting every token since the start, an end token too."""
    return float(np.float32(total) / np.float32(float(length) ** penalty))
