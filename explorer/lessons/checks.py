"""The simplest checks of a lesson's JSON, each failing with the place and a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NoReturn

from explorer.i18n import N_
from explorer.lessons.lines import Place


class LessonProblem(Exception):
    """``what`` is a msgid filled with ``params``; ``place`` says where in the lesson."""

    def __init__(self, place: Place, what: str, params: Mapping[str, Any]) -> None:
        super().__init__(place, what, params)
        self.place = place
        self.what = what
        self.params = params


def fail(place: Place, what: str, **params: Any) -> NoReturn:
    """Say what is wrong at ``place``."""
    raise LessonProblem(place, what, params)


def check_object(data: object, place: Place) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        fail(place, N_("An object in braces was expected."))
    return data


def check_keys(entries: Mapping[str, Any], place: Place, allowed: frozenset[str], *, required: frozenset[str]) -> None:
    """All of ``required`` are there, and nothing that is not ``allowed``."""
    for key in sorted(required - entries.keys()):
        fail(place, N_("The entry {key} is missing."), key=key)
    for key in entries:
        if key not in allowed:
            fail((*place, key), N_("There is no such entry as {key} here."), key=key)


def check_text(text: object, place: Place) -> str:
    if not isinstance(text, str) or not text.strip():
        fail(place, N_("A text that is not empty was expected."))
    return text


def check_number(value: object, place: Place) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        fail(place, N_("A number was expected."))
    return float(value)
