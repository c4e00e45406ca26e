"""Documents of a schema go through token by token, documents beside it do not, each judged by hand as well."""

from __future__ import annotations

import random
from typing import Any

import pytest
from grammar_samples import CONSTRAINT, is_document, mutated, random_document, written

from explorer.grammar.provider import Grammars
from explorer.text import Vocabulary

COUNT = 1000
EOS = (2,)


@pytest.fixture(scope="module")
def grammars(smollm2_vocabulary: Vocabulary) -> Grammars:
    return Grammars(smollm2_vocabulary)


def accepts(grammars: Grammars, ids: list[int]) -> bool:
    """Whether the ids are a whole document, after which an end token may come."""
    state = grammars.state(CONSTRAINT, ids, EOS)
    assert state.complete == bool(state.allowed[EOS[0]])
    return state.complete


@pytest.mark.model
def test_a_thousand_documents_are_accepted(grammars: Grammars, smollm2_tokenizer: Any) -> None:
    random_ = random.Random(4)
    for number in range(COUNT):
        text = written(random_, random_document(random_))
        assert is_document(text), text
        ids = smollm2_tokenizer(text, add_special_tokens=False).input_ids
        assert accepts(grammars, ids), text
        if number % 20 == 0:  # token by token: every one was among those allowed
            for length, token_id in enumerate(ids):
                state = grammars.state(CONSTRAINT, ids[:length], EOS)
                assert state.status == "inside"
                assert state.allowed[token_id], (text, length)


@pytest.mark.model
def test_a_thousand_faulty_documents_are_refused(grammars: Grammars, smollm2_tokenizer: Any) -> None:
    random_, refused, left = random.Random(5), 0, 0
    while refused < COUNT:
        text = mutated(random_, written(random_, random_document(random_)))
        if is_document(text):
            continue
        ids = smollm2_tokenizer(text, add_special_tokens=False).input_ids
        assert not accepts(grammars, ids), text
        state = grammars.state(CONSTRAINT, ids, EOS)
        if state.status == "left":
            left += 1
            assert state.left_at is not None
            before = grammars.state(CONSTRAINT, ids[: state.left_at - 1], EOS)
            assert not before.allowed[ids[state.left_at - 1]], text
        refused += 1
    assert left > COUNT // 2  # the others are cut short
