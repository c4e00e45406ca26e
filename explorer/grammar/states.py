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
    from explorer.grammar.native import Matcher

Mask = NDArray[np.bool_]
GrammarStatus = Literal["inside", "ended", "closed", "left", "stuck", "unusable"]

_MASK_BUDGET: Final = 24 * 2**20  # bytes; about 480 places of a 49 152-token vocabulary, 90 of a 262 144-token one
_MATCHERS: Final = 48  # forked ones kept; 0.2 MB each
_DEAD: Final = frozenset({"left", "stuck", "closed"})  # nothing that follows belongs to the grammar


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
    matcher: Matcher | None = None
    state: GrammarState | None = None


class GrammarStates:
    """States of one grammar over one vocabulary with given end tokens. Any thread may ask.

    A matcher is forked from the nearest ancestor that is remembered; how much is remembered is bounded, and never
    changes an answer.
    """

    def __init__(
        self,
        compiled: Callable[[], Matcher],
        vocab_size: int,
        eos_token_ids: Sequence[int],
        *,
        mask_budget: int = _MASK_BUDGET,
        matchers: int = _MATCHERS,
    ) -> None:
        """``compiled`` makes a fresh matcher at the start of the grammar; ``mask_budget`` in bytes."""
        self._compiled = compiled
        self._vocab_size = vocab_size
        self._eos = [token_id for token_id in eos_token_ids if 0 <= token_id < vocab_size]
        self._lock = threading.Lock()
        self._nothing = np.zeros(vocab_size, np.bool_)
        self._nothing.flags.writeable = False
        self._root = _Place(-1, None, 0, matcher=compiled())
        # Used longest ago first.
        self._states: OrderedDict[_Place, None] = OrderedDict()
        self._matchers: OrderedDict[_Place, None] = OrderedDict()
        self._most_states = max(1, mask_budget // vocab_size)
        self._most_matchers = matchers

    def state(self, generated: Sequence[int]) -> GrammarState:
        """Where the grammar stands after ``generated`` token ids; the prompt is no part of it."""
        with self._lock:
            place, anchor = self._walk(generated)
            if place.state is not None and place.depth == len(generated):
                self._states.move_to_end(place)
                return place.state
            if place.state is not None and place.state.status in _DEAD:
                return self._beyond(place, generated)
            return self._advance(anchor, generated)

    # --- walking -----------------------------------------------------------------------------------------------------

    def _walk(self, generated: Sequence[int]) -> tuple[_Place, _Place]:
        """The deepest known place on the path, no deeper than where the grammar ended; the deepest with a matcher."""
        place = anchor = self._root
        for token_id in generated:
            below = place.children.get(token_id)
            if below is None:
                break
            place = below
            if place.matcher is not None:
                anchor = place
            if place.state is not None and place.state.status in _DEAD:
                break
        return place, anchor

    def _beyond(self, place: _Place, generated: Sequence[int]) -> GrammarState:
        """What follows a place after which nothing belongs to the grammar."""
        assert place.state is not None
        if place.state.status == "left":
            return place.state
        return self._keep(self._grow(place, generated[: place.depth + 1]), self._left(place.depth + 1))

    def _advance(self, anchor: _Place, generated: Sequence[int]) -> GrammarState:
        matcher, depth = self._fork(anchor, generated)
        if depth == len(generated):
            state = self._look(matcher)
            return self._keep(self._grow(anchor, generated), state, matcher)
        if matcher.error:
            return self._keep(self._grow(anchor, generated[: depth + 1]), self._gave_up(matcher))
        if generated[depth] in self._eos and self._look(matcher).complete:
            closing = self._grow(anchor, generated[: depth + 1])
            state = self._keep(closing, GrammarState("closed", True, self._nothing))
            return state if closing.depth == len(generated) else self._beyond(closing, generated)
        return self._keep(self._grow(anchor, generated[: depth + 1]), self._left(depth + 1))

    def _fork(self, anchor: _Place, generated: Sequence[int]) -> tuple[Matcher, int]:
        """A matcher of its own after as many of the tokens as the grammar takes, and how many those are."""
        assert anchor.matcher is not None
        matcher = anchor.matcher.copy()
        depth = anchor.depth + matcher.take(generated[anchor.depth :])
        if not matcher.error:
            return matcher, depth
        # The states of its lexer are limited in number: one that has seen nothing else has room for this path's own.
        matcher = self._compiled()
        for depth, token_id in enumerate(generated):
            if matcher.take([token_id]) != 1:
                return matcher, depth
        return matcher, len(generated)

    def _left(self, number: int) -> GrammarState:
        return GrammarState("left", False, self._nothing, left_at=number)

    def _look(self, matcher: Matcher) -> GrammarState:
        """The state at a matcher, which is spent where it does not go on."""
        bits = np.unpackbits(matcher.mask(), bitorder="little")
        if matcher.error:
            return self._gave_up(matcher)
        allowed = bits[: self._vocab_size].astype(np.bool_)
        may_end, goes_on = bool(bits[self._vocab_size]), bool(allowed.any())
        if may_end:
            allowed[self._eos] = True
        allowed.flags.writeable = False
        return GrammarState("inside" if goes_on else "ended", may_end, allowed)

    def _gave_up(self, matcher: Matcher) -> GrammarState:
        """No token goes on, or llguidance reached one of its limits."""
        problem = matcher.error.partition("\n")[0]
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

    def _keep(self, place: _Place, state: GrammarState, matcher: Matcher | None = None) -> GrammarState:
        place.state = state
        self._states[place] = None
        self._states.move_to_end(place)
        if matcher is not None and state.status not in _DEAD and place is not self._root:
            place.matcher = matcher
            self._matchers[place] = None
            self._matchers.move_to_end(place)
        while len(self._matchers) > self._most_matchers:
            forgotten, _ = self._matchers.popitem(last=False)
            forgotten.matcher = None
            self._prune(forgotten)
        while len(self._states) > self._most_states:
            forgotten, _ = self._states.popitem(last=False)
            forgotten.state = None
            self._prune(forgotten)
        return state

    def _prune(self, place: _Place) -> None:
        """Take places away that hold nothing and lead to nothing."""
        while place.parent is not None and not place.children and place.state is None and place.matcher is None:
            del place.parent.children[place.token_id]
            place = place.parent
