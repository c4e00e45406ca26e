"""Expansion: many continuations of one node, each round computed in one call of the model.

A path is the tuple of token ids since the start of the expansion. The algorithms know neither tree nor model: they look
at paths through a callable and say which continuations to show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from explorer.search.frontier import Frontier
from explorer.search.plans import BestFirst, ByLevel, ExpansionPlan
from explorer.search.rows import Continuations

Path = tuple[int, ...]
# (paths, n): the n likeliest continuations of each path, or more; one call of the model.
Look = Callable[[Sequence[Path], int], Sequence[Continuations]]
Expect = Callable[[Sequence[Path]], None]
# Whether a stop rule ends generation at a path.
Ended = Callable[[Path], bool]
ExpansionEnd = Literal["depth", "exhausted", "mass", "max_nodes", "stopped", "cancelled", "error"]

START: Final[Path] = ()

_ROUND: Final = 64  # paths a call: beyond this a pass gains little, and the view waits longer for its nodes
_ROUND_BYTES: Final = 64 * 2**20  # of float32 logits
_FEWEST_AHEAD: Final = 16  # hardly dearer than one path
_SHARE_AHEAD: Final = 8  # of the nodes asked for, at most one in so many is computed in vain
_TOLERANCE: Final = 1e-6  # logits are float32: a mass of exactly .9 may sum to .8999999


@dataclass(frozen=True, slots=True, eq=False)
class Child:
    """A continuation to show: the token at ``place`` of its parent's ``continuations``.

    ``logprob`` is the model's log-probability of ``path`` from the start, in nats.
    """

    path: Path
    logprob: float
    continuations: Continuations
    place: int


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """What one call of the model brought: ``children`` to show, parents before children, of ``looked`` paths.

    ``ended_by`` says why the expansion ends with this round, None where it goes on. ``mass`` is the probability of all
    that has ended so far (best-first; None level by level, where nothing is counted).
    """

    looked: tuple[Path, ...]
    children: tuple[Child, ...]
    ended_by: ExpansionEnd | None
    mass: float | None = None


def round_size(vocab_size: int) -> int:
    """How many paths to ask for in one call, so that their logits fit in memory."""
    return max(1, min(_ROUND, _ROUND_BYTES // (4 * vocab_size)))


def rounds(
    plan: ExpansionPlan, look: Look, ended: Ended, size: int, expect: Expect = lambda paths: None
) -> Iterator[Round]:
    """Expand from the start, with at most ``size`` paths a call. The caller may stop between two rounds.

    ``expect`` is told what another call of ``look`` will be about as soon as that is known: before the call that goes
    first, or before a round is handed over.
    """
    if isinstance(plan, ByLevel):
        return _by_level(plan, look, ended, size, expect)
    return _BestFirst(plan, look, ended, size, expect).rounds()


def _by_level(plan: ByLevel, look: Look, ended: Ended, size: int, expect: Expect) -> Iterator[Round]:
    level: list[tuple[Path, float]] = [(START, 0.0)]
    shown = 0
    for depth in range(1, plan.depth + 1):
        below: list[tuple[Path, float]] = []
        for first in range(0, len(level), size):
            batch = level[first : first + size]
            looked = tuple(path for path, _ in batch)
            if shown + len(batch) * plan.top_k < plan.max_nodes:  # else this call may be the last
                expect([path for path, _ in level[first + size : first + 2 * size]])
            children = [
                Child((*path, int(token_id)), logprob + float(found.model_logprobs[place]), found, place)
                for (path, logprob), found in zip(batch, look(looked, plan.top_k), strict=True)
                for place, token_id in enumerate(found.token_ids[: plan.top_k])
            ][: plan.max_nodes + 1 - shown]
            cut = shown + len(children) > plan.max_nodes
            children = children[: plan.max_nodes - shown]
            shown += len(children)
            below += [(child.path, child.logprob) for child in children if not ended(child.path)]
            end: ExpansionEnd | None = None
            if first + size >= len(level) and not cut and (depth == plan.depth or not below):
                end = "depth" if below else "exhausted"
            elif shown == plan.max_nodes:
                end = "max_nodes"
            yield Round(looked, tuple(children), end)
            if end is not None:
                return
        level = below


class _BestFirst:
    """The likeliest paths in exact order, whatever the size of a round.

    A path is shown when no other one that is not shown can be likelier: all shown paths have been looked at. The
    likeliest ones that are not shown yet are looked at in the same call, for they come next.
    """

    def __init__(self, plan: BestFirst, look: Look, ended: Ended, size: int, expect: Expect) -> None:
        self._plan = plan
        self._look = look
        self._expect = expect
        self._is_ended = ended
        self._window = min(size, max(_FEWEST_AHEAD, plan.max_nodes // _SHARE_AHEAD))
        self._frontier = Frontier(plan.max_nodes)
        self._ahead: dict[Path, Continuations] = {}  # looked at, not shown yet
        self._ends: dict[Path, bool] = {}
        self._waiting: tuple[Path, float] | None = (START, 0.0)  # shown, not looked at yet
        self._shown = 0
        self._mass = 0.0

    def rounds(self) -> Iterator[Round]:
        """Until the plan is fulfilled or nothing is left."""
        batch = self._batch()
        while True:
            self._ahead.update(zip(batch, self._look(batch, self._plan.max_nodes - self._shown), strict=True))
            children = tuple(self._show())
            end = self._end()
            looked = batch
            if end is None:
                batch = self._batch()
                self._expect(batch)
            yield Round(looked, children, end, self._mass)
            if end is not None:
                return

    def _batch(self) -> tuple[Path, ...]:
        """The path the next decision needs, and those of the likeliest ones not shown that were not looked at yet.

        As only a window of the likeliest is looked at, hardly more are than a search one by one would look at.
        """
        assert self._waiting is not None
        needed = self._waiting[0]
        window = min(self._window, self._plan.max_nodes - self._shown)
        guesses = self._frontier.best(window - 1)
        return (needed, *(path for path in guesses if path not in self._ahead and not self._ended(path)))

    def _show(self) -> Iterator[Child]:
        if self._waiting is not None:
            self._open(*self._waiting)
            self._waiting = None
        while self._frontier and self._end() is None and self._waiting is None:
            path, logprob, found, place = self._frontier.pop()
            self._shown += 1
            if self._ended(path):
                self._mass += math.exp(logprob)
            elif path in self._ahead:
                self._open(path, logprob)
            else:
                self._waiting = path, logprob
            yield Child(path, logprob, found, place)

    def _open(self, path: Path, logprob: float) -> None:
        self._frontier.push(path, logprob, self._ahead.pop(path))

    def _ended(self, path: Path) -> bool:
        if path not in self._ends:
            self._ends[path] = len(path) == self._plan.depth or self._is_ended(path)
        return self._ends[path]

    def _end(self) -> ExpansionEnd | None:
        if self._plan.mass is not None and self._mass >= self._plan.mass - _TOLERANCE:
            return "mass"
        if not self._frontier and self._waiting is None:
            return "exhausted"
        return "max_nodes" if self._shown == self._plan.max_nodes else None
