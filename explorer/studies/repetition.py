"""How much a run says again: distinct and repeated n-grams of its tokens, and the loop it ends in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

REPEATED: Final = 4  # the n of the repeated n-grams, as in seq-rep-4 (Welleck et al. 2020, arXiv:1908.04319)
_ROUNDS: Final = 3  # times its last tokens must follow each other to be called a loop
_LEAST_TOKENS: Final = 8  # and so many tokens it must be in all: "ha ha ha" is a laugh


@dataclass(frozen=True, slots=True)
class Loop:
    """The last ``tokens`` of a run repeat with ``period``; the last round may have been cut."""

    period: int
    tokens: int


def distinct(ids: Sequence[int], n: int) -> float | None:
    """Distinct n-grams per n-gram (distinct-n; Li et al. 2016, arXiv:1510.03055); None where there is none."""
    count = len(ids) - n + 1
    if count < 1:
        return None
    return len({tuple(ids[place : place + n]) for place in range(count)}) / count


def loop_at_end(ids: Sequence[int]) -> Loop | None:
    """The loop with the shortest period that the tokens end in; None where they end in none."""
    tokens = np.asarray(ids)
    for period in range(1, len(tokens) // _ROUNDS + 1):
        same = tokens[period:] == tokens[:-period]
        breaks = np.flatnonzero(~same)
        run = len(same) if not len(breaks) else len(same) - 1 - int(breaks[-1])
        if run + period >= max(_ROUNDS * period, _LEAST_TOKENS):
            return Loop(period, run + period)
    return None
