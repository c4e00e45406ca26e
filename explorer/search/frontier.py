"""The continuations a best-first expansion has not shown yet."""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np

from explorer.decoding.float32 import DoubleArray
from explorer.search.rows import Continuations


class Frontier:
    """Paths by descending probability, ties in order of arrival; only those among the ``room`` likeliest ever known.

    What ``room`` likelier ones are known of is never shown, so memory stays bounded by what can be.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._heap: list[tuple[float, int, tuple[int, ...], Continuations, int]] = []
        self._numbers = count()
        self._known: DoubleArray = np.zeros(0)  # log-probabilities of the likeliest, shown ones included

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, path: tuple[int, ...], logprob: float, found: Continuations) -> None:
        """Add the continuations ``found`` of a path, likeliest first, whose own log-probability is ``logprob``."""
        logprobs = logprob + found.model_logprobs
        known = np.concatenate([self._known, logprobs])
        if len(known) > self._room:
            known = np.partition(known, len(known) - self._room)[-self._room :]
        self._known = known
        floor = known.min() if len(known) == self._room else -np.inf
        found = found.head(int(np.count_nonzero(logprobs >= floor)))
        for place in range(len(found)):
            entry = (-float(logprobs[place]), next(self._numbers), path, found, place)
            heapq.heappush(self._heap, entry)

    def pop(self) -> tuple[tuple[int, ...], float, Continuations, int]:
        """Remove the likeliest: its path and log-probability, and the continuations and place it came from."""
        negative, _, parent, found, place = heapq.heappop(self._heap)
        return (*parent, int(found.token_ids[place])), -negative, found, place

    def best(self, amount: int) -> list[tuple[int, ...]]:
        """The ``amount`` likeliest paths, which stay."""
        return [
            (*parent, int(found.token_ids[place])) for _, _, parent, found, place in heapq.nsmallest(amount, self._heap)
        ]
