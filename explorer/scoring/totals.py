"""What the scores of a text add up to: perplexity, and bits per token, per character and per byte."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from explorer.decoding.statistics import perplexity
from explorer.scoring.judging import TokenScore
from explorer.text import Vocabulary


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the tokens of a text that have a score, in nats; characters and bytes are theirs alone.

    ``impossible`` counts tokens that the model rules out: with one of them the sum, the mean and the perplexity are
    infinite.
    """

    tokens: int
    impossible: int
    logprob: float
    characters: int
    bytes: int

    @property
    def mean_loss(self) -> float | None:
        """Mean surprisal of a token (the cross-entropy of the text under the model), nats; None without a token."""
        return max(0.0, -self.logprob) / self.tokens if self.tokens else None

    @property
    def perplexity(self) -> float | None:
        """exp of the mean loss: how many equally likely tokens would be as hard to guess, on average."""
        return perplexity(self.logprob, self.tokens)

    @property
    def bits_per_token(self) -> float | None:
        return self._bits_per(self.tokens)

    @property
    def bits_per_character(self) -> float | None:
        """Comparable between models of other tokenizers, as is `bits_per_byte`; perplexity is not."""
        return self._bits_per(self.characters)

    @property
    def bits_per_byte(self) -> float | None:
        return self._bits_per(self.bytes)

    def _bits_per(self, count: int) -> float | None:
        return max(0.0, -self.logprob) / math.log(2) / count if count else None


def totals_of(vocabulary: Vocabulary, scores: Iterable[TokenScore | None]) -> Totals:
    """Over the tokens that have a score; the very first token of all has none."""
    judged = [score for score in scores if score is not None]
    ids = [score.token_id for score in judged]
    return Totals(
        tokens=len(judged),
        impossible=sum(score.model_logprob == -math.inf for score in judged),
        logprob=math.fsum(score.model_logprob for score in judged),
        characters=len(vocabulary.decode(ids)),
        bytes=sum(len(vocabulary.piece(token_id)) for token_id in ids),
    )


@dataclass(frozen=True, slots=True)
class Landmarks:
    """Places (indices of the scores) worth a jump; None where there is none. ``departure`` is the first at which the
    free choice is another token than the given one."""

    worst: int | None
    most_uncertain: int | None
    departure: int | None


def landmarks_of(scores: Sequence[TokenScore | None], given_from: int = 0) -> Landmarks:
    """The least likely token, the one before which the model was least decided, and the first departure; each among
    the scores from ``given_from`` on. The first of equals."""
    judged = [(place, score) for place, score in enumerate(scores) if score is not None and place >= given_from]
    worst = min(judged, key=lambda item: item[1].model_logprob, default=None)
    uncertain = max(judged, key=lambda item: item[1].entropy, default=None)
    departure = next((place for place, score in judged if score.chosen != score.token_id), None)
    return Landmarks(None if worst is None else worst[0], None if uncertain is None else uncertain[0], departure)
