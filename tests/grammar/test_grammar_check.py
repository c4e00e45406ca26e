"""What a grammar does not promise of a document it accepts is looked for afterwards, and said."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explorer.grammar.check import DocumentProblem, document_bytes, document_problems
from explorer.grammar.constraint import Constraint
from explorer.grammar.facts import grammar_facts
from explorer.grammar.mass import log_kept_mass
from explorer.grammar.provider import Grammars
from explorer.grammar.words import problem_texts, verdict_on
from explorer.text import Vocabulary

ANY = Constraint("json_schema", "true")


@pytest.mark.parametrize(
    ("document", "problems"),
    [
        ('{"a": {"b": 1, "c": 2}, "b": 1}', []),
        ('{"a": 1, "b": {"c": 1, "c": 2, "c": 3}, "a": 2}', [("duplicate_key", "c"), ("duplicate_key", "a")]),
        ("[1e400, -2e999, 3]", [("number_range", "1e400"), ("number_range", "-2e999")]),
        ("1" * 400, [("number_range", "1" * 400)]),
        ("[" * 100_000 + "]" * 100_000, [("nested", "")]),
    ],
)
def test_what_is_found(document: str, problems: list[tuple[str, str]]) -> None:
    found = document_problems(ANY, document.encode())
    assert [(problem.kind, problem.name) for problem in found] == problems
    texts = problem_texts([problem.to_json() for problem in found])
    assert len(texts) < 300  # a number of 400 digits is elided
    assert bool(texts) == bool(problems)


def test_only_schemas_are_checked_and_their_warnings_passed_on() -> None:
    assert document_problems(Constraint("regex", ".*"), b'{"a": 1, "a": 2}') == ()
    found = document_problems(ANY, b"[]", ["Unimplemented keys: uniqueItems"])
    assert found == (DocumentProblem("not_enforced", "Unimplemented keys: uniqueItems"),)
    assert "uniqueItems" in problem_texts([found[0].to_json()])


def test_the_end_token_is_no_part_of_the_document(small: Vocabulary) -> None:
    known, ids = Grammars(small), tuple(b'{"a": 1, "a": 2}')
    schema = Constraint("json_schema", '{"type": "object", "additionalProperties": {"type": "integer"}}')
    assert document_bytes(small, (*ids, 256), closed=True) == bytes(ids)
    for path in (ids, (*ids, 256)):
        facts = grammar_facts(known, schema, path, (256,))
        assert (facts.complete, facts.problems) == (True, (DocumentProblem("duplicate_key", "a"),))
    assert grammar_facts(known, schema, ids[:-1], (256,)).problems == ()  # not complete: nothing to check


def test_nothing_promises_that_it_is_true() -> None:
    for kind in ("json_schema", "regex", "lark"):
        assert "true or useful" in verdict_on(kind, [])  # type: ignore[arg-type]
    assert "true or useful" in verdict_on("json_schema", [{"kind": "nested", "name": ""}])


def test_the_mass_that_is_left() -> None:
    logits = np.array([2.0, 1.0, 0.0, -math.inf], np.float32)
    ids = np.arange(4)
    total = math.log(math.exp(2) + math.exp(1) + 1)
    assert log_kept_mass(ids, logits, total, np.array([True, False, True, True])) == pytest.approx(
        math.log(math.exp(2) + 1) - total
    )
    assert log_kept_mass(ids, logits, total, np.ones(4, np.bool_)) == pytest.approx(0)
    assert log_kept_mass(ids, logits, total, np.array([False, False, False, True])) == -math.inf
    # Far below what float32 probabilities can say.
    assert log_kept_mass(ids, np.array([0, -200, 0, 0], np.float32), math.log(3), ids == 1) == pytest.approx(
        -200 - math.log(3)
    )
