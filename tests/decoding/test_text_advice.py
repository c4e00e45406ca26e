"""Hints about a text: each where its situation arises, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from explorer.decoding.params import Settings
from explorer.decoding.text_advice import TextCase, loop_period, text_advice
from ui.help.troubles import TROUBLES

CALM = TextCase(Settings(), "raw", "The capital of France is", True, (1, 2, 3), " Paris, and", kept=5)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, None),
        ({"stop": "max_length", "generated_ids": ()}, "empty"),
        ({"stop": "max_new_tokens"}, "cut"),
        ({"stop": "max_new_tokens", "text": " Paris."}, None),
        ({"stop": "max_new_tokens", "text": "巴黎。"}, None),
        ({"stop": "eos"}, None),
        ({"generated_ids": (9, 4, 5, 4, 5, 4, 5)}, "loop"),
        ({"prompt_text": "Who are you? "}, "no_template"),
        ({"prompt_text": "你是谁？"}, "no_template"),
        ({"prompt_text": "Who are you?", "prompt_kind": "chat"}, None),
        ({"prompt_text": "Who are you?", "has_template": False}, None),
        ({"specials": ("<|im_start|>", "<|im_start|>")}, "specials"),
        ({"kept": 1, "settings": Settings().with_sampling("user", temperature=0.7)}, "alone"),
        ({"kept": 1, "settings": Settings().with_sampling("user", temperature=0.0)}, None),
        ({"kept": 1}, None),
    ],
)
def test_a_hint_comes_where_it_belongs(change: dict[str, Any], code: str | None) -> None:
    found = text_advice(replace(CALM, **change))
    assert [one.code for one in found] == ([] if code is None else [code])
    assert all(one.page in {name for name, _, _ in TROUBLES} for one in found)
    assert all("{" not in one.sentence() for one in found)


@pytest.mark.parametrize(
    ("ids", "period"),
    [
        ((), 0),
        ((1, 1, 1), 0),  # three are a rhythm
        ((1, 1, 1, 1, 1, 1), 1),
        ((1, 2, 1, 2, 1), 0),
        ((7, 1, 2, 1, 2, 1, 2), 2),
        ((1, 2, 3) * 3, 3),
        ((1, 2, 3) * 3 + (4,), 0),
        (tuple(range(32)) * 3, 32),
        (tuple(range(33)) * 3, 0),
    ],
)
def test_loops_are_found_at_the_end_only(ids: tuple[int, ...], period: int) -> None:
    assert loop_period(ids) == period
