"""A scored text as values: what was asked, a score a token, and the free run beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from explorer.decoding.checks import check_value
from explorer.decoding.choice import MAX_SEED
from explorer.decoding.parameter import Parameter
from explorer.i18n import N_
from explorer.messages import SettingsError, UserMessage
from explorer.models.base import TokenIds
from explorer.scoring.judging import TokenScore
from explorer.tree import NodeId

FreeChoice = Literal["none", "greedy", "sample"]
ScoreEnd = Literal["finished", "cancelled", "error"]

MOST_FREE: Final = 4096
FREE_TOKENS = Parameter(
    "free_tokens",
    "int",
    None,
    N_("Its length"),
    N_("How many tokens the free run goes on for once it has left the text."),
    minimum=0,
    maximum=MOST_FREE,
)


@dataclass(frozen=True, slots=True)
class ScorePlan:
    """How to score a text, and what to run beside it.

    ``free`` greedy takes the best token at every place under the settings in force; sample draws with ``seed``, draw 0
    at the text's first token. ``free_tokens`` are run at most after the two have parted. ``with_prompt``: the prompt's
    own tokens are scored as well; its first has nothing before it and stays blank. Raises `SettingsError`.
    """

    free: FreeChoice = "greedy"
    seed: int = 0
    free_tokens: int = 32
    with_prompt: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "free_tokens", check_value(FREE_TOKENS, self.free_tokens))
        if not 0 <= self.seed <= MAX_SEED:
            raise SettingsError(
                UserMessage(
                    "settings.range",
                    N_("{parameter} cannot be {value}."),
                    N_("The setting stays as it was."),
                    N_("Choose a whole number from 0 to 9223372036854775807."),
                    {"parameter": "seed", "value": self.seed},
                )
            )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class FreeToken:
    """A token of the free run after it has left the text. ``model_logprob`` in nats."""

    node: NodeId
    token_id: int
    model_logprob: float


@dataclass(frozen=True, slots=True)
class FreeRun:
    """What the model writes by itself from the same prefix.

    It takes the same tokens as the text up to ``departure`` (a place in the text; None where it never leaves it), then
    its own ``tokens``. ``stop`` is the kind of stop event that ended it, None where only its length did.
    """

    departure: int | None
    tokens: tuple[FreeToken, ...] = ()
    stop: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ScoredText:
    """A text that was scored after the node ``start``, as far as it is.

    ``nodes`` and ``scores`` are of its tokens so far, of ``total``. ``prompt`` are the scores of the prompt's tokens
    (the first None), empty where they were not asked for. ``ended_by`` None where it goes on, or broke off. ``joined``
    False: the tokenizer reads the text otherwise where prompt and text stand together.
    """

    group: int
    start: NodeId
    plan: ScorePlan
    total: int
    nodes: tuple[NodeId, ...] = ()
    scores: tuple[TokenScore, ...] = ()
    prompt: tuple[TokenScore | None, ...] = ()
    free: FreeRun | None = None
    ended_by: ScoreEnd | None = None
    joined: bool = True

    @property
    def token_ids(self) -> TokenIds:
        return tuple(score.token_id for score in self.scores)


# --- as plain JSON values ---------------------------------------------------------------------------------------------


def row_json(score: TokenScore) -> list[Any]:
    """What a step does not say of a score."""
    return [score.entropy, score.preferred, score.preferred_logprob, score.chosen]


def prompt_json(scores: Sequence[TokenScore | None]) -> list[Any]:
    """Scores that belong to no step; minus infinity as null."""
    return [
        None
        if score is None
        else [
            score.token_id,
            _finite(score.logit),
            _finite(score.model_logprob),
            score.sampling_logprob,
            score.rank,
            *row_json(score),
        ]
        for score in scores
    ]


def prompt_from_json(rows: Sequence[Any]) -> tuple[TokenScore | None, ...]:
    """Inverse of `prompt_json`."""
    return tuple(
        None
        if row is None
        else TokenScore(row[0], _unfinite(row[1]), _unfinite(row[2]), row[3], row[4], row[5], row[6], row[7], row[8])
        for row in rows
    )


def free_json(run: FreeRun) -> dict[str, Any]:
    return {
        "departure": run.departure,
        "tokens": [[token.node, token.token_id, _finite(token.model_logprob)] for token in run.tokens],
        "stop": run.stop,
    }


def free_from_json(data: Mapping[str, Any]) -> FreeRun:
    """Inverse of `free_json`."""
    tokens = tuple(FreeToken(node, token_id, _unfinite(logprob)) for node, token_id, logprob in data["tokens"])
    return FreeRun(data["departure"], tokens, data["stop"])


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _unfinite(value: float | None) -> float:
    return -math.inf if value is None else value
