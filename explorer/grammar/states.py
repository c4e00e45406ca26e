"""Where a grammar stands after any path of generated tokens, and which tokens it allows next."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from llguidance import LLMatcher

Mask = NDArray[np.bool_]
GrammarStatus = Literal["inside", "ended", "closed", "left", "stuck", "unusable"]

_BUDGET: Final = 32 * 2**20  # bytes; about 600 places of a 49 152-token vocabulary, 120 of a 262 144-token one
_BYTES_A_TOKEN: Final = 1000  # what a matcher holds, measured on JSON


@dataclass(frozen=True, slots=True, eq=False)
class GrammarState:
    """Where a grammar stands after a path.

    ``status`` inside: more may follow; ended: only an end token may; closed: an end token was taken where it may be;
    left: token number ``left_at`` (from 1) was none of those allowed, so nothing that follows belongs to the grammar;
    stuck: the text is not complete and no token of the vocabulary goes on (``problem`` where llguidance gave up);
    unusable: the grammar does not compile, ``problem`` says why. ``complete``: the text so far is a whole document.

    ``allowed`` bool[vocabulary] by token id, read-only; end tokens are in it where the text may end. The same place
    gives the same array as long as it is remembered.
    """

    status: GrammarStatus
    complete: bool
    allowed: Mask
    left_at: int | None = None
    problem: str = ""


@dataclass(slots=True, eq=False)
class _Place:
    """One path in the tree of paths asked for. What it holds may be forgotten; it can always be had again."""

    token_id: int
    parent: _Place | None
    depth: int
    children: dict[int, _Place] = field(default_factory=dict)
    matcher: LLMatcher | None = None
    state: GrammarState | None = None


class GrammarStates:
    """States of one grammar over one vocabulary with given end tokens. Any thread may ask.

    A matcher is forked from the nearest ancestor that is remembered; how much is remembered is bounded, and never
    changes an answer.
    """

    def __init__(
        self, compiled: Callable[[], LLMatcher], vocab_size: int, eos_token_ids: Sequence[int], *, budget: int = _BUDGET
    ) -> None:
        """``compiled`` makes a fresh matcher at the start of the grammar; ``budget`` in bytes."""
        self._compiled = compiled
        self._vocab_size = vocab_size
        self._eos = [token_id for token_id in eos_token_ids if 0 <= token_id < vocab_size]
        self._budget = budget
        self._lock = threading.Lock()
        self._nothing = np.zeros(vocab_size, np.bool_)
        self._nothing.flags.writeable = False
        self._root = _Place(-1, None, 0, matcher=compiled())
        self._kept: OrderedDict[_Place, None] = OrderedDict()  # the one used longest ago first
        self._bytes = 0

    def state(self, generated: Sequence[int]) -> GrammarState:
        """Where the grammar stands after ``generated`` token ids; the prompt is no part of it."""
        with self._lock:
            place = self._known(generated)
            if place.depth == len(generated) and place.state is not None:
                self._touch(place)
                return place.state
            if place.state is not None and place.state.status in ("left", "stuck", "closed"):
                return self._beyond(place, generated)
            return self._advance(place, generated)

    # --- walking -----------------------------------------------------------------------------------------------------

    def _known(self, generated: Sequence[int]) -> _Place:
        """The deepest place on the path that holds anything."""
        place = found = self._root
        for token_id in generated:
            below = place.children.get(token_id)
            if below is None:
                break
            place = below
            if place.matcher is not None or place.state is not None:
                found = place
        return found

    def _beyond(self, place: _Place, generated: Sequence[int]) -> GrammarState:
        """What follows a place after which nothing belongs to the grammar."""
        assert place.state is not None
        if place.state.status == "left":
            return place.state
        return self._keep(self._grow(place, generated[: place.depth + 1]), None, self._left(place.depth + 1))

    def _advance(self, place: _Place, generated: Sequence[int]) -> GrammarState:
        matcher, depth = self._fork(place, generated)
        if matcher.is_error():
            return self._keep(self._grow(place, generated[: depth + 1]), None, self._gave_up(matcher))
        if depth == len(generated):
            return self._keep(self._grow(place, generated), matcher, self._look(matcher))
        if generated[depth] in self._eos and matcher.is_accepting():
            closing = self._grow(place, generated[: depth + 1])
            state = self._keep(closing, None, GrammarState("closed", True, self._nothing))
            return state if closing.depth == len(generated) else self._beyond(closing, generated)
        return self._keep(self._grow(place, generated[: depth + 1]), None, self._left(depth + 1))

    def _fork(self, place: _Place, generated: Sequence[int]) -> tuple[LLMatcher, int]:
        """A matcher of its own after as many of the tokens as the grammar takes, and how many those are."""
        assert place.matcher is not None  # only places after which nothing follows hold none
        matcher, rest = place.matcher.deep_copy(), list(generated[place.depth :])
        depth = place.depth + (matcher.try_consume_tokens(rest) if rest else 0)
        if not matcher.is_error():
            return matcher, depth
        # Forks share a lexer, and the number of its states is limited: a fresh one has room for this path's own.
        matcher = self._compiled()
        for depth, token_id in enumerate(generated):
            if matcher.try_consume_tokens([token_id]) != 1:
                return matcher, depth
        return matcher, len(generated)

    def _left(self, number: int) -> GrammarState:
        return GrammarState("left", False, self._nothing, left_at=number)

    def _look(self, matcher: LLMatcher) -> GrammarState:
        """The state at a matcher, which itself stays as it is."""
        looking = matcher.deep_copy()
        bits = np.unpackbits(np.frombuffer(looking.compute_bitmask(), np.uint8), bitorder="little")
        if looking.is_error():
            return self._gave_up(looking)
        allowed = bits[: self._vocab_size].astype(np.bool_)
        may_end, goes_on = bool(bits[self._vocab_size]), bool(allowed.any())
        if may_end:
            allowed[self._eos] = True
        allowed.flags.writeable = False
        return GrammarState("inside" if goes_on else "ended", may_end, allowed)

    def _gave_up(self, matcher: LLMatcher) -> GrammarState:
        """No token goes on, or llguidance reached one of its limits."""
        problem = matcher.get_error().partition("\n")[0]
        return GrammarState("stuck", False, self._nothing, problem="" if "NoExtension" in problem else problem)

    # --- remembering -------------------------------------------------------------------------------------------------

    def _grow(self, place: _Place, generated: Sequence[int]) -> _Place:
        """The place of ``generated``, below ``place``."""
        for token_id in generated[place.depth :]:
            below = place.children.get(token_id)
            if below is None:
                below = place.children[token_id] = _Place(token_id, place, place.depth + 1)
            place = below
        return place

    def _keep(self, place: _Place, matcher: LLMatcher | None, state: GrammarState) -> GrammarState:
        if place is self._root:
            place.state = state
            return state
        if place.state is None:
            self._bytes += self._cost(place)
        place.matcher, place.state = matcher, state
        self._touch(place)
        while self._bytes > self._budget and len(self._kept) > 1:
            forgotten, _ = self._kept.popitem(last=False)
            self._bytes -= self._cost(forgotten)
            forgotten.matcher = forgotten.state = None
            self._prune(forgotten)
        return state

    def _cost(self, place: _Place) -> int:
        return self._vocab_size + _BYTES_A_TOKEN * (place.depth + 1)

    def _touch(self, place: _Place) -> None:
        if place is not self._root:
            self._kept[place] = None
            self._kept.move_to_end(place)

    def _prune(self, place: _Place) -> None:
        """Take places away that hold nothing and lead to nothing."""
        while place.parent is not None and not place.children and place.state is None:
            del place.parent.children[place.token_id]
            place = place.parent
