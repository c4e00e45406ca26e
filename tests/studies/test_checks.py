"""What a text is asked to be."""

from __future__ import annotations

import pytest

from explorer.messages import SettingsError
from explorer.studies.checks import CheckKind, TextCheck


@pytest.mark.parametrize(
    ("kind", "value", "text", "holds"),
    [
        ("json", "", ' {"a": [1, 2.5e3, "你好"]}\n', True),
        ("json", "", '{"a": 1', False),
        ("json", "", "NaN", False),  # no JSON, although Python reads it
        ("json", "", "1" * 6000, True),  # longer than Python turns into a number
        ("json", "", "[" * 100_000, False),
        ("json", "", "", False),
        ("regex", r"^\d+$", " 42\n", True),
        ("regex", r"^\d+$", "42 apples", False),
        ("regex", "好", "你好", True),
        ("exact", "Paris", " Paris ", True),
        ("exact", "Paris", "paris", False),
        ("contains", "ari", "Paris", True),
        ("contains", "London", "Paris", False),
    ],
)
def test_holds(kind: CheckKind, value: str, text: str, holds: bool) -> None:
    check = TextCheck(kind, value)
    assert check.holds(text) is holds
    assert TextCheck.from_json(check.to_json()) == check


def test_a_pattern_that_takes_for_ever_says_nothing() -> None:
    assert TextCheck("regex", r"^(a|aa)+$").holds("a" * 60 + "b") is None


@pytest.mark.parametrize("check", [("regex", "("), ("regex", " "), ("exact", ""), ("other", "x")])
def test_what_cannot_be_asked_is_refused(check: tuple[CheckKind, str]) -> None:
    with pytest.raises(SettingsError):
        TextCheck(*check)
