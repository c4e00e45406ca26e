"""What is worth saying of a grammar at a path: where it stands, and what of a complete document it does not promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from explorer.grammar.check import DocumentProblem
from explorer.grammar.constraint import Constraint, GrammarKind
from explorer.grammar.provider import Grammars
from explorer.grammar.states import GrammarStatus


@dataclass(frozen=True, slots=True)
class GrammarFacts:
    """A `GrammarState` as plain values. ``problems`` only where the text is a complete document."""

    kind: GrammarKind
    status: GrammarStatus
    complete: bool
    left_at: int | None = None
    problem: str = ""
    problems: tuple[DocumentProblem, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "kind": self.kind,
            "status": self.status,
            "complete": self.complete,
            "left_at": self.left_at,
            "problem": self.problem,
            "problems": [problem.to_json() for problem in self.problems],
        }


def grammar_facts(
    grammars: Grammars, constraint: Constraint, generated: Sequence[int], eos_token_ids: tuple[int, ...]
) -> GrammarFacts:
    """Where ``constraint`` stands after ``generated`` ids; a complete document is checked."""
    state = grammars.state(constraint, generated, eos_token_ids)
    problems = grammars.problems(constraint, generated, closed=state.status == "closed") if state.complete else ()
    return GrammarFacts(constraint.kind, state.status, state.complete, state.left_at, state.problem, problems)
