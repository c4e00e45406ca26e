"""What every stage of the decoding chain is: a pure function from live scores to an outcome."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.parameter import Parameter
from explorer.decoding.scores import LiveScores
from explorer.grammar.constraint import Constraint
from explorer.grammar.provider import Grammars
from explorer.grammar.states import GrammarState
from explorer.i18n import N_

Comparison = Literal["<", "<=", ">"]

SCORE: Final = N_("score")
PROBABILITY: Final = N_("probability")
NO_IDS: Final = np.zeros(0, np.int64)
TINY: Final = math.nextafter(0.0, 1.0)
"""The least positive number: what is left of a parameter that must be above 0."""


@dataclass(frozen=True, slots=True)
class StepContext:
    """What the chain may know besides the logits: the ids before this step and the ids that end a text.

    ``grammars`` knows the vocabulary; only a chain with a grammar needs it.
    """

    prompt_ids: tuple[int, ...]
    generated_ids: tuple[int, ...]
    eos_token_ids: tuple[int, ...]
    grammars: Grammars | None = field(default=None, compare=False, repr=False)

    @property
    def ids(self) -> NDArray[np.int64]:
        """Prompt and generated ids, int64[n]."""
        return np.array(self.prompt_ids + self.generated_ids, np.int64)

    def grammar_state(self, constraint: Constraint) -> GrammarState:
        """Where a grammar stands here. Raises ValueError where the context was made without a vocabulary."""
        if self.grammars is None:
            raise ValueError("a grammar needs StepContext.grammars")
        return self.grammars.state(constraint, self.generated_ids, self.eos_token_ids)


class Values(Protocol):
    """Typed access to the values in force; `explorer.decoding.params.SamplingParams` provides it."""

    def number(self, name: str) -> float: ...

    def whole(self, name: str) -> int: ...

    def ids(self, name: str) -> tuple[int, ...]: ...

    def id_values(self, name: str) -> tuple[tuple[int, float], ...]: ...

    def grammar(self, name: str) -> Constraint | None: ...


class TokenValues(Protocol):
    """A float32 for every token by its position: an array, or what works out only those that are asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, position: int, /) -> np.float32: ...


@dataclass(frozen=True, slots=True, eq=False)
class Criterion:
    """The comparison that decided: a token went out because its value ``comparison`` ``threshold`` held.

    ``values`` are one a score before the stage, in their order; ``quantity`` (msgid) says what they are. A token
    that a stage must keep (the last one standing) may satisfy the comparison and still be in.
    """

    values: TokenValues
    threshold: float
    comparison: Comparison
    quantity: str


@dataclass(frozen=True, slots=True, eq=False)
class Dial:
    """What a stage would do under another value of its ``parameter``, given the same scores.

    ``keeps(position, value)`` says whether the token at a position of the scores before the stage would stay. From
    ``tightest`` to ``loosest`` more and more tokens do; either may be the value that switches the stage off.
    """

    parameter: str
    tightest: float
    loosest: float
    keeps: Callable[[int, float], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a stage left; ``criterion`` where it compared something, None where it edits or bans.

    ``dial`` where another value of one parameter would move the border between what stays and what goes.
    """

    after: LiveScores
    criterion: Criterion | None = None
    dial: Dial | None = None


class Stage(ABC):
    """One filter of the chain. A new one is a new subclass and one line in `explorer.decoding.processors`.

    ``name`` is stable (order, store, command line); ``label`` and ``help`` are msgids. A stage runs while any of its
    ``parameters`` is on and tokens are left, so ``live`` is never empty. ``idle`` (msgid) says why it had no effect
    where it had none; ``{left}`` stands for the number of tokens it was given.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]]
    idle: ClassVar[str] = N_("it had nothing to act on")

    @abstractmethod
    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        """The scores after this stage. Must not change ``live``."""

    def runs_last(self, values: Values) -> bool:
        """Whether these values move the stage to the end of any order."""
        return False

    def edited_ids(self, values: Values, context: StepContext) -> NDArray[np.int64]:
        """Ids whose scores this stage sets one by one, each once; none for a filter that looks at scores only."""
        return NO_IDS


class BanStage(Stage):
    """A stage that takes tokens out by id."""

    def apply(self, live: LiveScores, values: Values, context: StepContext) -> Outcome:
        positions = live.locate(self.edited_ids(values, context))
        positions = positions[positions >= 0]
        after = live.edited(positions, np.full(len(positions), -np.inf, np.float32))
        return Outcome(after, dial=self.dial(live, context))

    def dial(self, live: LiveScores, context: StepContext) -> Dial | None:
        """How a number decides which ids go; None where none does."""
        return None
