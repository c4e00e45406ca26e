"""How likely is it that the text goes on to match? Bounds that more passes of the model tighten, never loosen.

What is asked is a language of texts: those that begin with a match of the pattern, or that have one within some tokens.
A token path is decided where its text is in the language (all that follows counts as a match), or where nothing that
may follow can be. The lower bound is the probability of what is decided so, the upper one leaves out only what is
decided otherwise; between them lies what was not looked at.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.checks import check_value
from explorer.decoding.parameter import Parameter
from explorer.grammar.constraint import Constraint
from explorer.grammar.states import GrammarState
from explorer.i18n import N_
from explorer.messages import SettingsError, UserMessage

Path = tuple[int, ...]
Where = Literal["start", "within"]
ReadingOf = Literal["model", "sampling"]
QueryEnd = Literal["settled", "max_nodes", "exhausted", "stopped", "cancelled", "error"]

# What has a meaning of its own in the regular expressions of Rust, which llguidance reads.
_META: Final = frozenset("\\.+*?()|[]{}^$#&-~")
_ANYTHING: Final = r"(?s:.)*"
_BRANCHES: Final = 2048  # of one node, the likeliest; what the others have stays open
_SETTLED: Final = 1e-9

WITHIN = Parameter("within", "int", None, N_("Within tokens"), N_("How many tokens to look at."), minimum=1)
MAX_NODES = Parameter("max_nodes", "int", 100_000, N_("Passes at most"), N_("How many nodes to look at."), minimum=1)
TOLERANCE = Parameter(
    "tolerance", "float", None, N_("Close enough"), N_("Stop when the bounds are so near."), minimum=0.0, maximum=1.0
)


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What to look for, how far, and how hard.

    ``pattern`` is plain text, or a regular expression where ``regex``. ``where`` start: the continuation begins with a
    match; within: it has one somewhere. Both within ``within`` tokens. ``skip_space``: white space may come first.
    ``reading``: the model's probabilities, or those under the settings. Raises `SettingsError` where a value is out of
    range or the pattern is empty.
    """

    pattern: str
    regex: bool = False
    where: Where = "start"
    within: int = 16
    skip_space: bool = False
    reading: ReadingOf = "model"
    max_nodes: int = 500
    tolerance: float = 0.001

    def __post_init__(self) -> None:
        for parameter in (WITHIN, MAX_NODES, TOLERANCE):
            object.__setattr__(self, parameter.name, check_value(parameter, getattr(self, parameter.name)))
        if not self.pattern:
            raise SettingsError(
                UserMessage("query.empty", N_("There is nothing to look for."), "", N_("Type a text or a pattern."))
            )

    @property
    def constraint(self) -> Constraint:
        """The language of the texts that match."""
        pattern = f"(?:{self.pattern})" if self.regex else escaped(self.pattern)
        if self.skip_space and self.where == "start":
            pattern = r"\s*" + pattern
        before = _ANYTHING if self.where == "within" else ""
        return Constraint("regex", before + pattern + _ANYTHING)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def escaped(text: str) -> str:
    """A regular expression of Rust that matches exactly ``text``."""
    return "".join(f"\\{character}" if character in _META else character for character in text)


@dataclass(frozen=True, slots=True, eq=False)
class Branches:
    """What may follow a path, likeliest first: ``token_ids`` int[n] and their ``places`` int64[n] among the tokens that
    the language allows, with their natural log-probabilities ``logprobs`` float64[n], and ``possible``: the probability
    of all that it allows, listed or not."""

    token_ids: NDArray[np.int32]
    places: NDArray[np.int64]
    logprobs: NDArray[np.float64]
    possible: float


# (paths): what may follow each of them; one call of the model.
Look = Callable[[Sequence[Path]], Sequence[Branches]]
StateOf = Callable[[Path], GrammarState]


@dataclass(frozen=True, slots=True)
class Match:
    """A shortest path whose text matches, and its log-probability from the start."""

    path: Path
    logprob: float


@dataclass(frozen=True, slots=True)
class QueryRound:
    """After one call of the model: the paths looked at, the matches found, the bounds by now.

    ``ended_by`` None where it goes on. settled: the bounds are as near as was asked for.
    """

    looked: tuple[Path, ...]
    matches: tuple[Match, ...]
    lower: float
    upper: float
    ended_by: QueryEnd | None


def inquire(
    plan: QueryPlan, look: Look, state_of: StateOf, ended: Callable[[Path], bool], size: int
) -> Iterator[QueryRound]:
    """Look at the likeliest undecided paths, at most ``size`` a call, until the bounds are near enough.

    ``ended`` says whether a stop rule ends a path: nothing follows it.
    """
    return _Inquiry(plan, look, state_of, ended, size).rounds()


class _Inquiry:
    def __init__(
        self, plan: QueryPlan, look: Look, state_of: StateOf, ended: Callable[[Path], bool], size: int
    ) -> None:
        self._plan = plan
        self._look = look
        self._state_of = state_of
        self._ended = ended
        self._size = size
        self._numbers = count()
        self._open: list[tuple[float, int, Path]] = []
        self._lower = 0.0
        self._refuted = 0.0
        self._looked = 0
        self._matches: list[Match] = []
        self._decide((), 0.0)

    def rounds(self) -> Iterator[QueryRound]:
        while True:
            batch: list[tuple[Path, float]] = []
            room = min(self._size, self._plan.max_nodes - self._looked)
            while self._open and len(batch) < room:
                negative, _, path = heapq.heappop(self._open)
                batch.append((path, -negative))
            if batch:
                self._looked += len(batch)
                found = self._look([path for path, _ in batch])
                for (path, logprob), branches in zip(batch, found, strict=True):
                    self._branch(path, logprob, branches)
            end = self._end()
            matches, self._matches = tuple(self._matches), []
            yield QueryRound(tuple(path for path, _ in batch), matches, self._lower, self._upper, end)
            if end is not None:
                return

    @property
    def _upper(self) -> float:
        return max(self._lower, min(1.0, 1.0 - self._refuted))

    def _branch(self, path: Path, logprob: float, branches: Branches) -> None:
        mass = math.exp(logprob)
        self._refuted += mass * max(0.0, 1.0 - branches.possible)
        for token_id, branch in zip(branches.token_ids.tolist(), branches.logprobs.tolist(), strict=True):
            self._decide((*path, token_id), logprob + branch)

    def _decide(self, path: Path, logprob: float) -> None:
        """Count a path as a match or as none, or keep it open."""
        state = self._state_of(path)
        if state.complete:
            self._lower += math.exp(logprob)
            self._matches.append(Match(path, logprob))
        elif state.status != "inside" or len(path) >= self._plan.within or (path and self._ended(path)):
            self._refuted += math.exp(logprob)
        else:
            heapq.heappush(self._open, (-logprob, next(self._numbers), path))

    def _end(self) -> QueryEnd | None:
        if self._upper - self._lower <= max(self._plan.tolerance, _SETTLED):
            return "settled"
        if not self._open:
            return "exhausted"
        return "max_nodes" if self._looked >= self._plan.max_nodes else None


def branches_of(token_ids: NDArray[np.int32], logprobs: NDArray[np.float64]) -> Branches:
    """The likeliest of the ``token_ids`` a language allows; ``logprobs`` -inf or NaN for what cannot be drawn."""
    usable = np.flatnonzero(np.isfinite(logprobs))
    possible = float(np.exp(logprobs[usable]).sum())
    places = usable[np.argsort(-logprobs[usable], kind="stable")[:_BRANCHES]]
    return Branches(token_ids[places], places, logprobs[places], min(1.0, possible))
