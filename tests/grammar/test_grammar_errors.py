"""What cannot be used is refused with llguidance's reason and the place in the user's own text."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.decoding.params import SamplingParams, Settings
from explorer.grammar.compiling import GrammarError, check_without_vocabulary
from explorer.grammar.constraint import EXAMPLES, KINDS, LONGEST_TEXT, Constraint, GrammarKind, read_constraint
from explorer.grammar.provider import Grammars
from explorer.messages import SettingsError
from explorer.text import Vocabulary

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("kind", "text", "problem", "place"),
    [
        ("json_schema", '{"type": "strin"}', "Invalid type: strin", (1, 10)),
        ("json_schema", '{"a":\n  [1,}', "Expecting value", (2, 6)),
        ("json_schema", '{"type": "string"} {', "Extra data", (1, 20)),
        ("json_schema", "[1]", "an object, true or false", (1, 1)),
        ("json_schema", '{"minimum": NaN}', "NaN is no JSON value", (1, 13)),
        ("json_schema", "[" * 100_000, "nested too deeply", (0, 0)),
        ("json_schema", '{\n "type": "array",\n "uniqueItems": true}', "uniqueItems", (3, 2)),
        ("json_schema", '{"type": "string", "pattern": "(?=a)b"}', "look-around", (1, 31)),
        ("json_schema", '{"$ref": "https://example.org/s"}', "does not fetch", (1, 10)),
        ("json_schema", '{"type": "integer", "minimum": 5, "maximum": 3}', "Unsatisfiable", (0, 0)),
        ("regex", "ab(c", "unclosed group", (1, 3)),
        ("regex", "a/b(?=x)", "look-around", (1, 4)),
        ("regex", r"(a)\1", "backreferences", (1, 4)),
        ("regex", r"\bfoo", "not supported", (0, 0)),
        ("lark", 'start: "a" | \n  b', "Expected token ':'", (2, 4)),
        ("lark", 'start: "你好🙂" ~~ 3', "Expected value", (1, 15)),
        ("lark", 'begin: "a"', "no start rule", (0, 0)),
        ("lark", "start: <|nope|>", "unknown special token", (1, 8)),
        ("lark", 'start: a\na: a "x"', "no token of this model can begin", (0, 0)),
    ],
)
def test_the_reason_and_the_place(
    kind: GrammarKind, text: str, problem: str, place: tuple[int, int], small: Vocabulary
) -> None:
    with pytest.raises(GrammarError) as refused:
        Grammars(small).check(Constraint(kind, text))
    message = refused.value.message
    assert message.code == "settings.grammar"
    assert problem in message.text()
    params = message.params
    if place != (0, 0):
        assert (params["line"], params["column"]) == place
    assert "no_forcing" not in message.text() + message.details  # our own addition is not the user's
    assert pickle.loads(pickle.dumps(refused.value)).message == message


def test_what_llguidance_leaves_out_is_a_warning(small: Vocabulary) -> None:
    lenient = '{"x-guidance": {"lenient": true}, "type": "array", "uniqueItems": true}'
    (warning,) = Grammars(small).check(Constraint("json_schema", lenient))
    assert "uniqueItems" in warning
    assert Grammars(small).check(Constraint("json_schema", '{"type": "array"}')) == ()


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.label for example in EXAMPLES])
def test_every_example_works(example: object, small: Vocabulary) -> None:
    constraint = example.constraint  # type: ignore[attr-defined]
    assert Grammars(small).check(constraint) == ()
    check_without_vocabulary(constraint)
    assert Grammars(small).state(constraint, (), (256,)).status == "inside"


def test_without_a_vocabulary_names_of_special_tokens_pass() -> None:
    check_without_vocabulary(Constraint("lark", 'start: <|anything|> "x"'))
    with pytest.raises(GrammarError, match="unclosed group"):
        check_without_vocabulary(Constraint("regex", "("))


# --- the setting ------------------------------------------------------------------------------------------------------


def test_a_grammar_is_a_setting_like_any_other() -> None:
    settings = Settings().with_sampling(grammar=("regex", "a+"))
    assert settings.sampling.grammar() == Constraint("regex", "a+")
    assert settings.source("grammar") == "user"
    assert Settings.from_json(settings.to_json()) == settings
    assert settings.to_json()["sampling"]["values"] == {"grammar": ["regex", "a+"]}
    assert SamplingParams({"grammar": {"kind": "regex", "text": "a+"}}) == settings.sampling
    assert settings.digest() != Settings().with_sampling(grammar=("lark", "a+")).digest()
    assert settings.with_sampling(grammar=None) == Settings()
    settings.check_vocabulary(3)  # it names no ids


@pytest.mark.parametrize("blank", [None, ("regex", ""), ("lark", " \n")])
def test_a_blank_grammar_is_off(blank: object) -> None:
    assert SamplingParams({"grammar": blank}) == SamplingParams()  # type: ignore[dict-item]


@pytest.mark.parametrize(
    "wrong", ["regex", 7, ("regexp", "a"), ("regex",), ("regex", 3), ("a", "b", "c"), {"kind": "lark"}]
)
def test_what_is_no_grammar_is_refused(wrong: object) -> None:
    with pytest.raises(SettingsError, match="must be a kind"):
        read_constraint("grammar", wrong)


def test_a_text_without_measure_is_refused() -> None:
    with pytest.raises(SettingsError, match=str(LONGEST_TEXT)):
        read_constraint("grammar", ("regex", "a" * (LONGEST_TEXT + 1)))
    assert read_constraint("grammar", ("regex", "a" * LONGEST_TEXT)) is not None


def test_kinds_have_labels() -> None:
    assert {example.constraint.kind for example in EXAMPLES} == set(KINDS)


def test_nothing_loads_llguidance_before_a_grammar_is_set() -> None:
    code = (
        "import sys, ui.app, explorer.cli, explorer.workspace\n"
        "from explorer.decoding.params import Settings\n"
        "from explorer.grammar.provider import Grammars\n"
        "from explorer.text import Vocabulary\n"
        "grammars = Grammars(Vocabulary([b'a']))\n"
        "constraint = Settings().with_sampling(grammar=('regex', 'a')).sampling.grammar()\n"
        "before = 'llguidance' in sys.modules\n"
        "grammars.state(constraint, (), ())\n"
        "print(before, 'llguidance' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", cwd=ROOT)
    assert ran.stdout == "False True\n", ran.stderr
