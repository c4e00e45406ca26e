"""Choosing a token: greedy, a counter-based draw, or by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.pipeline import Distribution


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen token; ``u`` and ``draw_index`` where it was drawn."""

    token_id: int
    how: Literal["greedy", "drawn", "manual"]
    u: float | None = None
    draw_index: int | None = None


def draw_uniform(seed: int, draw_index: int) -> float:
    """The uniform number in [0, 1) of a draw: a pure function of seed and index (both 0 .. 2^63-1)."""
    raise NotImplementedError


def intervals(distribution: Distribution) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper ends of the half-open intervals [lo, hi) of the kept tokens, in the order of the distribution."""
    raise NotImplementedError


def inverse_cdf(distribution: Distribution, u: float) -> int:
    """The token whose interval holds ``u``. Raises `EngineError` where there is none (code ``decoding.no_candidates``,
    ``decoding.unseen``)."""
    raise NotImplementedError


def greedy(distribution: Distribution) -> Choice:
    """The kept token with the highest processed score, lowest id on a tie. Raises like `inverse_cdf`."""
    raise NotImplementedError


def draw(distribution: Distribution, seed: int, draw_index: int) -> Choice:
    """Draw with `draw_uniform`. Raises like `inverse_cdf`."""
    raise NotImplementedError


def manual(distribution: Distribution, token_id: int) -> Choice:
    """Any token of the vocabulary, filtered or not. Raises `SettingsError` outside it."""
    raise NotImplementedError
