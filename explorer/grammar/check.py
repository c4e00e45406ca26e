"""What a grammar cannot promise of a complete document, checked afterwards."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from explorer.grammar.constraint import Constraint
from explorer.text import Vocabulary

ProblemKind = Literal["broken_text", "not_json", "nested", "duplicate_key", "number_range", "not_enforced"]


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """Something about a complete document that its grammar does not prevent. ``name`` says where or what."""

    kind: ProblemKind
    name: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name}


def document_bytes(vocabulary: Vocabulary, generated: Sequence[int], *, closed: bool) -> bytes:
    """The bytes of the generated text; ``closed``: without the end token that is its last."""
    return b"".join(map(vocabulary.piece, generated[:-1] if closed else generated))


def document_problems(
    constraint: Constraint, document: bytes, warnings: Sequence[str] = ()
) -> tuple[DocumentProblem, ...]:
    """What is wrong with a complete ``document`` although its grammar accepts it; ``warnings`` are `Grammars.check`'s.

    A schema's grammar follows the schema but for these: names may come twice where the schema does not list them, a
    number may be too large for a double, nesting may be deeper than readers allow, and keywords may be ignored where
    the schema asked for it (``x-guidance: lenient``). Nothing can check that the content is true or useful.
    """
    if constraint.kind != "json_schema":
        return ()
    problems: list[DocumentProblem] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(name for name, _ in items)
        problems.extend(DocumentProblem("duplicate_key", name) for name, count in counts.items() if count > 1)
        return dict(items)

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            problems.append(DocumentProblem("number_range", text))
        return value

    def whole(text: str) -> float:
        number(text)
        return 0.0  # its value is not asked for, and reading thousands of digits takes long

    try:
        json.loads(document.decode("utf-8"), object_pairs_hook=pairs, parse_float=number, parse_int=whole)
    except UnicodeDecodeError as error:
        problems.append(DocumentProblem("broken_text", str(error.start)))
    except json.JSONDecodeError as error:
        problems.append(DocumentProblem("not_json", str(error)))
    except RecursionError:
        problems.append(DocumentProblem("nested"))
    problems += [DocumentProblem("not_enforced", warning) for warning in warnings]
    return tuple(dict.fromkeys(problems))
