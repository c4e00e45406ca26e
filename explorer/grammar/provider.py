"""Grammars over one vocabulary: compiled once, asked by whichever thread needs a mask."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from explorer.grammar.check import DocumentProblem, document_bytes, document_problems
from explorer.grammar.compiling import GrammarError, check_text, check_without_vocabulary, explained, grammar_error
from explorer.grammar.constraint import Constraint
from explorer.grammar.states import GrammarState, GrammarStates
from explorer.grammar.tokens import token_tree
from explorer.text import Vocabulary

if TYPE_CHECKING:
    from explorer.grammar.native import Matcher

_KEPT: Final = 4


class Grammars:
    """Answers what any grammar allows after any path of generated tokens. Any thread may ask.

    The answer is a function of the vocabulary, the grammar, the end tokens and the path alone.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Costs nothing until a grammar is asked for."""
        self._vocabulary = vocabulary
        self._lock = threading.Lock()
        self._states: OrderedDict[tuple[Constraint, tuple[int, ...]], GrammarStates | GrammarState] = OrderedDict()
        self._warnings: dict[Constraint, tuple[str, ...]] = {}  # of the grammar asked for last

    def __reduce__(self) -> tuple[type[Grammars], tuple[Vocabulary]]:
        return Grammars, (self._vocabulary,)

    def state(self, constraint: Constraint, generated: Sequence[int], eos_token_ids: tuple[int, ...]) -> GrammarState:
        """Where ``constraint`` stands after ``generated`` ids. Never raises for a grammar that does not compile: its
        status is then "unusable", so that a session stored with it can still be looked at."""
        states = self._of(constraint, eos_token_ids)
        return states if isinstance(states, GrammarState) else states.state(generated)

    def check(self, constraint: Constraint) -> tuple[str, ...]:
        """What of a schema is not enforced because it says so itself, in llguidance's words.

        Raises `GrammarError` where ``constraint`` cannot be used with this vocabulary.
        """
        unenforced = check_without_vocabulary(constraint)
        matcher = self._matcher(constraint)
        matcher.mask()
        if matcher.error:
            if "NoExtension" in matcher.error.partition("\n")[0]:
                raise grammar_error(constraint, "no token of this model can begin a text of it")
            raise explained(constraint, matcher.error)
        return unenforced

    def problems(
        self, constraint: Constraint, generated: Sequence[int], *, closed: bool
    ) -> tuple[DocumentProblem, ...]:
        """What the grammar does not promise of the complete document ``generated``; ``closed`` by an end token."""
        with self._lock:
            if constraint not in self._warnings:
                self._warnings = {constraint: check_without_vocabulary(constraint)}
            warnings = self._warnings[constraint]
        return document_problems(constraint, document_bytes(self._vocabulary, generated, closed=closed), warnings)

    def _of(self, constraint: Constraint, eos_token_ids: tuple[int, ...]) -> GrammarStates | GrammarState:
        key = (constraint, eos_token_ids)
        with self._lock:
            if key not in self._states:
                self._states[key] = self._compiled(constraint, eos_token_ids)
            self._states.move_to_end(key)
            while len(self._states) > _KEPT:
                self._states.popitem(last=False)
            return self._states[key]

    def _compiled(self, constraint: Constraint, eos_token_ids: tuple[int, ...]) -> GrammarStates | GrammarState:
        size = len(self._vocabulary)
        try:
            return GrammarStates(lambda: self._matcher(constraint), size, eos_token_ids)
        except GrammarError as error:
            nothing = np.zeros(size, np.bool_)
            nothing.flags.writeable = False
            return GrammarState("unusable", False, nothing, problem=str(error.message.params["problem"]))

    def _matcher(self, constraint: Constraint) -> Matcher:
        """A fresh matcher at the start. Raises `GrammarError`."""
        check_text(constraint)
        try:
            from explorer.grammar.native import Matcher  # loads llguidance, which only grammars pay
        except (ImportError, OSError, AttributeError) as error:
            raise grammar_error(constraint, f"llguidance cannot be loaded ({error})") from error
        matcher = Matcher.at_start(token_tree(self._vocabulary), constraint.kind, constraint.text)
        if matcher.error:
            raise explained(constraint, matcher.error)
        return matcher
