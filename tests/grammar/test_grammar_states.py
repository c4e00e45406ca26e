"""The state after a path is a function of the path: whatever was asked before, however little is remembered."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.grammar.constraint import Constraint
from explorer.grammar.provider import Grammars
from explorer.grammar.states import GrammarState, GrammarStates
from explorer.text import Vocabulary

END = 256  # of the small vocabulary

OBJECT = Constraint(
    "json_schema", '{"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2}'
)
CONSTRAINTS = (
    OBJECT,
    Constraint("regex", "(ab|a[0-9]{2}|你|🙂)*c?"),
    Constraint("lark", 'start: pair+\npair: "(" pair? ")" | "12"\n%ignore / +/'),
)


def ids_of(vocabulary: Vocabulary, text: str) -> tuple[int, ...]:
    return tuple(text.encode())


def fresh(vocabulary: Vocabulary, constraint: Constraint, path: tuple[int, ...]) -> GrammarState:
    """From the start, by one who remembers nothing."""
    return Grammars(vocabulary).state(constraint, path, (END,))


def assert_same(one: GrammarState, other: GrammarState) -> None:
    assert (one.status, one.complete, one.left_at, one.problem) == (
        other.status,
        other.complete,
        other.left_at,
        other.problem,
    )
    np.testing.assert_array_equal(one.allowed, other.allowed)


@st.composite
def paths(draw: st.DrawFn, vocabulary: Vocabulary, constraint: Constraint) -> tuple[int, ...]:
    """Mostly what the grammar allows, sometimes anything at all."""
    random_ = draw(st.randoms(use_true_random=False))
    path: tuple[int, ...] = ()
    for _ in range(draw(st.integers(0, 12))):
        allowed = np.flatnonzero(fresh(vocabulary, constraint, path).allowed).tolist()
        wild = not allowed or random_.random() < 0.08
        path += (random_.randrange(len(vocabulary)) if wild else random_.choice(allowed),)
    return path


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=[constraint.kind for constraint in CONSTRAINTS])
@settings(max_examples=12)
@given(data=st.data())
def test_the_same_path_has_the_same_state(constraint: Constraint, small: Vocabulary, data: st.DataObject) -> None:
    matchers, budget = data.draw(st.sampled_from([(0, 0), (1, 600), (3, 2_000), (48, 10**7)]))
    known = Grammars(small)
    states = GrammarStates(
        lambda: known._matcher(constraint), len(small), (END,), mask_budget=budget, matchers=matchers
    )
    walked = [data.draw(paths(small, constraint)) for _ in range(3)]
    asked = [path[:length] for path in walked for length in range(len(path) + 1)]
    for path in data.draw(st.permutations(asked + asked)):
        assert_same(states.state(path), fresh(small, constraint, path))


def test_what_is_remembered_is_bounded(small: Vocabulary) -> None:
    known = Grammars(small)
    states = GrammarStates(lambda: known._matcher(OBJECT), len(small), (END,), mask_budget=5 * len(small), matchers=3)
    for number in range(300):
        states.state(ids_of(small, f'{{"a{number}": {number}'))
    assert (len(states._states), len(states._matchers)) == (5, 3)
    places, waiting = 0, [states._root]
    while waiting:
        waiting += waiting.pop().children.values()
        places += 1
    assert places < 60  # no skeleton of forgotten paths stays


def test_a_remembered_place_keeps_its_array(small: Vocabulary) -> None:
    known = Grammars(small)
    path = ids_of(small, '{"a"')
    first = known.state(OBJECT, path, (END,))
    known.state(OBJECT, ids_of(small, '{"b": 1'), (END,))
    assert known.state(OBJECT, path, (END,)).allowed is first.allowed
    with pytest.raises(ValueError, match="read-only"):
        first.allowed[0] = True


def test_threads_ask_at_once(small: Vocabulary) -> None:
    """The session thread and the preview thread share one provider."""
    known, wrong = Grammars(small), []
    texts = [f'{{"{key}": {value}' for key in "abcdef" for value in (1, 22, 333)]
    expected = {text: fresh(small, OBJECT, ids_of(small, text)) for text in texts}

    def ask(order: int) -> None:
        for text in (texts if order else texts[::-1]) * 3:
            state = known.state(OBJECT, ids_of(small, text), (END,))
            if not np.array_equal(state.allowed, expected[text].allowed):
                wrong.append(text)

    threads = [threading.Thread(target=ask, args=(order,)) for order in (0, 1, 0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- what a state says ------------------------------------------------------------------------------------------------


def test_from_the_start_to_the_end(small: Vocabulary) -> None:
    known = Grammars(small)
    start = known.state(OBJECT, (), (END,))
    assert (start.status, start.complete) == ("inside", False)
    assert {small.piece(i) for i in np.flatnonzero(start.allowed)} == {b"{", b'{"'}
    done = known.state(OBJECT, ids_of(small, '{"a": 1}'), (END,))
    assert (done.status, done.complete) == ("ended", True)
    assert np.flatnonzero(done.allowed).tolist() == [END]
    closed = known.state(OBJECT, (*ids_of(small, '{"a": 1}'), END), (END,))
    assert (closed.status, closed.complete, closed.allowed.any()) == ("closed", True, np.False_)
    beyond = known.state(OBJECT, (*ids_of(small, '{"a": 1}'), END, 97, 98), (END,))
    assert (beyond.status, beyond.complete, beyond.left_at) == ("left", False, 10)


def test_may_stop_and_may_go_on(small: Vocabulary) -> None:
    state = Grammars(small).state(Constraint("regex", "[0-9]+"), ids_of(small, "12"), (END,))
    assert (state.status, state.complete) == ("inside", True)
    assert state.allowed[END]
    assert state.allowed[ord("3")]


def test_a_token_against_the_grammar_leaves_it_for_good(small: Vocabulary) -> None:
    known = Grammars(small)
    for path in ("{x", '{x"a": 1}', '{x"a": 1}zz'):
        state = known.state(OBJECT, ids_of(small, path), (END,))
        assert (state.status, state.left_at, state.allowed.any()) == ("left", 2, np.False_)
    early = known.state(OBJECT, (*ids_of(small, '{"a"'), END), (END,))
    assert (early.status, early.left_at) == ("left", 5)


def test_which_tokens_end_a_text_is_a_setting(small: Vocabulary) -> None:
    known, digits = Grammars(small), Constraint("regex", "[0-9]+")
    path = ids_of(small, "12")
    assert not known.state(digits, path, ()).allowed[END]
    ordinary = known.state(digits, path, (ord("x"), END))
    assert ordinary.allowed[ord("x")]
    assert known.state(digits, (*path, ord("x")), (ord("x"),)).status == "closed"
    # An end token that also goes on with the text is read as text.
    both = known.state(digits, (*path, ord("3")), (ord("3"),))
    assert (both.status, both.complete) == ("inside", True)
    assert known.state(Constraint("regex", "a"), ids_of(small, "a"), ()).status == "ended"


def test_special_tokens_are_no_text(small: Vocabulary) -> None:
    """The special token <end> and the text <end> are different things; only a Lark grammar can ask for the former."""
    known = Grammars(small)
    twin = 257 + 9  # an ordinary token that reads <end>
    text = known.state(Constraint("regex", "<end>x"), (), ())
    assert (text.allowed[END], text.allowed[twin]) == (np.False_, np.True_)
    special = known.state(Constraint("lark", 'start: <end> "x"'), (), ())
    assert np.flatnonzero(special.allowed).tolist() == [END]
    assert known.state(Constraint("lark", 'start: <end> "x"'), (END, ord("x")), ()).complete


def test_half_characters_are_on_the_way(small: Vocabulary) -> None:
    known, smile = Grammars(small), Constraint("regex", "🙂")
    encoded = tuple("🙂".encode())
    half = 257 + 11  # its first two bytes in one token
    for path in (encoded[:1], encoded[:3], (half,), (half, encoded[2])):
        state = known.state(smile, path, (END,))
        assert (state.status, state.complete) == ("inside", False)
    for path in (encoded, (half, *encoded[2:])):
        assert known.state(smile, path, (END,)).complete
    assert known.state(smile, (0xFF,), (END,)).status == "left"
    assert not known.state(Constraint("regex", "(?s:.)*"), (), (END,)).allowed[0xFF]


def test_every_tokenisation_is_allowed(small: Vocabulary) -> None:
    """Twins, and the pieces of a longer token; an empty piece is none."""
    known = Grammars(small)
    state = known.state(Constraint("regex", "abab"), (), (END,))
    pieces = [small.piece(i) for i in np.flatnonzero(state.allowed)]
    assert sorted(pieces) == [b"a", b"ab", b"ab"]


def test_a_vocabulary_that_cannot_go_on() -> None:
    tiny = Vocabulary([b"A", b"B", b"<eos>"], [2])
    known = Grammars(tiny)
    stuck = known.state(Constraint("regex", "AC"), (0,), (2,))
    assert (stuck.status, stuck.complete, stuck.problem, stuck.allowed.any()) == ("stuck", False, "", np.False_)
    assert known.state(Constraint("regex", "AC"), (0, 1), (2,)).left_at == 2
    # What could go on in other vocabularies is the end in this one.
    assert known.state(Constraint("regex", "AC?"), (0,), (2,)).status == "ended"


def test_a_grammar_that_does_not_compile_can_be_looked_at(small: Vocabulary) -> None:
    state = Grammars(small).state(Constraint("regex", "(a"), (), (END,))
    assert (state.status, state.problem, state.allowed.any()) == ("unusable", "unclosed group", np.False_)


def test_pieces_longer_than_llguidance_takes() -> None:
    long = Vocabulary([b"a", b"a" * 1500, b"\xffab", b""], [])
    state = Grammars(long).state(Constraint("regex", "a*"), (), ())
    assert state.allowed.tolist() == [True, False, False, False]


def python_tokenizer(vocabulary: Vocabulary) -> Any:
    """The vocabulary through llguidance's Python classes; told of no end token, they add one."""
    from llguidance import LLTokenizer, TokenizerWrapper

    class Pieces:
        eos_token_id = bos_token_id = None
        special_token_ids: ClassVar[list[int]] = sorted(vocabulary.special_ids)
        tokens: ClassVar[list[bytes]] = [vocabulary.piece(i).replace(b"\xff", b"") for i in range(len(vocabulary))]

        def __call__(self, text: Any) -> list[int]:
            return []

    return LLTokenizer(TokenizerWrapper(Pieces()))


SPECIAL = Constraint("lark", 'start: <end>? pair+ (<end> "x")*\npair: "(" pair? ")" | "12"')


@pytest.mark.parametrize("constraint", [*CONSTRAINTS, SPECIAL], ids=["json", "regex", "lark", "special"])
@settings(max_examples=20)
@given(data=st.data())
def test_the_c_interface_says_what_the_python_classes_say(
    constraint: Constraint, small: Vocabulary, data: st.DataObject
) -> None:
    from llguidance import LLMatcher

    sources = {
        "json_schema": f"start: %json {constraint.text}",
        "regex": f"start: /{constraint.text}/",
        "lark": constraint.text,
    }
    matcher = LLMatcher(python_tokenizer(small), sources[constraint.kind] + '\n%llguidance {"no_forcing": true}')
    known, random_ = Grammars(small), data.draw(st.randoms(use_true_random=False))
    path: tuple[int, ...] = ()
    for _ in range(15):
        bits = np.unpackbits(np.frombuffer(matcher.compute_bitmask(), np.uint8), bitorder="little")
        allowed = bits[: len(small)].astype(bool)
        state = known.state(constraint, path, ())
        np.testing.assert_array_equal(state.allowed, allowed)
        assert state.complete == bool(bits[len(small)])
        other = random_.randrange(len(small))
        assert bool(matcher.validate_tokens([other])) == bool(allowed[other])
        choices = np.flatnonzero(allowed).tolist()
        if not choices:
            break
        path += (random_.choice(choices),)
        assert matcher.consume_token(path[-1])


@pytest.mark.model
def test_masks_are_llguidances_own(smollm2_tokenizer: Any, smollm2_vocabulary: Vocabulary) -> None:
    """Against its own reading of the tokenizer file, on random paths; the end token is a matter of ours."""
    from llguidance import LLMatcher
    from llguidance.hf import from_tokenizer

    theirs = from_tokenizer(smollm2_tokenizer, n_vocab=49_152)
    schema = '{"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "number"}}}'
    cases = [
        (Constraint("json_schema", schema), f"start: %json {schema}"),
        (Constraint("regex", r"[\w ]{3,40}(你好|é+|\d{4})"), r"start: /[\w ]{3,40}(你好|é+|\d{4})/"),
        (Constraint("lark", 'start: (WORD " ")+\nWORD: /[a-z]+/'), 'start: (WORD " ")+\nWORD: /[a-z]+/'),
    ]
    random_, known = np.random.default_rng(3), Grammars(smollm2_vocabulary)
    for constraint, source in cases:
        for _ in range(3):
            matcher = LLMatcher(theirs, source + '\n%llguidance {"no_forcing": true}')
            path: tuple[int, ...] = ()
            for _ in range(25):
                bits = np.unpackbits(np.frombuffer(matcher.compute_bitmask(), np.uint8), bitorder="little")
                state = known.state(constraint, path, (2,))
                np.testing.assert_array_equal(state.allowed, bits[:49_152].astype(bool))
                allowed = np.flatnonzero(state.allowed)
                allowed = allowed[allowed != 2]
                if not len(allowed):
                    break
                path += (int(random_.choice(allowed)),)
                assert matcher.consume_token(path[-1])
