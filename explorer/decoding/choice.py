"""Choosing a token: greedy, a counter-based draw, or by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from explorer.decoding.float32 import DoubleArray
from explorer.decoding.pipeline import Distribution
from explorer.decoding.processors import STAGES_BY_NAME
from explorer.i18n import N_, tr
from explorer.messages import EngineError, SettingsError, UserMessage

MAX_SEED: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen token; ``u`` and ``draw_index`` where it was drawn."""

    token_id: int
    how: Literal["greedy", "drawn", "manual"]
    u: float | None = None
    draw_index: int | None = None


def draw_uniform(seed: int, draw_index: int) -> float:
    """The uniform number in [0, 1) of a draw: a pure function of seed and index (both 0 .. 2^63-1).

    The first 53 bits of the Philox4x64-10 block with key ``seed`` that follows counter ``draw_index``. Raises
    `SettingsError` outside the range.
    """
    for name, value in (("seed", seed), ("draw_index", draw_index)):
        if not 0 <= value <= MAX_SEED:
            raise SettingsError(
                UserMessage(
                    code="settings.range",
                    what=N_("{parameter} cannot be {value}."),
                    meaning=N_("The setting stays as it was."),
                    action=N_("Choose a whole number from 0 to 9223372036854775807."),
                    params={"parameter": name, "value": value},
                )
            )
    raw = int(np.random.Philox(key=seed, counter=draw_index).random_raw())
    return float(raw >> 11) * 2.0**-53


def intervals(distribution: Distribution, unseen: float | None = None) -> tuple[DoubleArray, DoubleArray]:
    """Lower and upper ends of the half-open intervals [lo, hi) of the kept tokens, in the order of the distribution.

    float64[kept] each. They cover [0, 1); in a truncated distribution [0, 1 - unseen), by default with
    ``unseen_sampling_mass``. With each of ``unseen_sampling_bounds`` in turn they are what `inverse_cdf` looks at.
    """
    unseen = distribution.unseen_sampling_mass if unseen is None else unseen
    kept = distribution.sampling_probs[: distribution.kept].astype(np.float64)
    if not len(kept):
        return kept, kept
    high = np.cumsum(kept)
    high *= (1.0 - unseen) / high[-1]
    high[-1] = 1.0 - unseen
    np.minimum(high, high[-1], out=high)
    return np.concatenate([[0.0], high[:-1]]), high


def inverse_cdf(distribution: Distribution, u: float) -> int:
    """The token whose interval holds ``u``.

    Raises `EngineError` where nothing can be drawn (code ``decoding.no_candidates``) and where a truncated distribution
    does not settle it (``decoding.unseen``); ValueError where ``u`` is not in [0, 1).
    """
    if not 0 <= u < 1:
        raise ValueError(f"u must lie in [0, 1), not {u}")
    _refuse_empty(distribution)
    found = {_find(distribution, u, mass) for mass in set(distribution.unseen_sampling_bounds)}
    index = found.pop()
    if found or index >= distribution.settled:
        raise _unseen_error()
    return int(distribution.token_ids[index])


def greedy(distribution: Distribution) -> Choice:
    """The kept token with the highest processed score, lowest id on a tie. Raises like `inverse_cdf`."""
    _refuse_empty(distribution)
    if not distribution.settled:
        raise _unseen_error()
    return Choice(int(distribution.token_ids[0]), "greedy")


def draw(distribution: Distribution, seed: int, draw_index: int) -> Choice:
    """Draw with `draw_uniform`. Raises like it and like `inverse_cdf`."""
    u = draw_uniform(seed, draw_index)
    return Choice(inverse_cdf(distribution, u), "drawn", u, draw_index)


def manual(distribution: Distribution, token_id: int) -> Choice:
    """Any token of the vocabulary, filtered or not. Raises `SettingsError` outside it."""
    if not 0 <= token_id < distribution.vocab_size:
        raise SettingsError(
            UserMessage(
                code="settings.token_id",
                what=N_("There is no token with id {token_id}."),
                meaning=N_("Nothing was added to the tree."),
                action=N_("Choose an id from 0 to {last}."),
                params={"token_id": token_id, "last": distribution.vocab_size - 1},
            )
        )
    return Choice(token_id, "manual")


def _find(distribution: Distribution, u: float, unseen: float) -> int:
    _, high = intervals(distribution, unseen)
    return int(np.searchsorted(high, u, side="right"))


def _refuse_empty(distribution: Distribution) -> None:
    if distribution.kept == 0 and distribution.unseen_kept == 0:
        stage = distribution.no_candidates_stage
        raise EngineError(
            UserMessage(
                code="decoding.no_candidates",
                what=N_("No token is left to choose from: {stage} took the last one."),
                meaning=N_("Nothing was added to the tree; the model's own bars are still shown."),
                action=N_("Relax or switch off that filter, or pick a token by hand."),
                params={"stage": "" if stage is None else tr(STAGES_BY_NAME[stage].label)},
            )
        )


def _unseen_error() -> EngineError:
    return EngineError(
        UserMessage(
            code="decoding.unseen",
            what=N_("This choice may fall on a token that is not stored."),
            meaning=N_("Only the best tokens of this step are known without the model; nothing was added to the tree."),
            action=N_("Open the session's model, or pick a token by hand."),
        )
    )
