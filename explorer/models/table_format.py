"""Reading and checking the JSON of table models; every error names the place.

The file::

    {"name": "eos-tree", "vocab": ["A", "B", "<eos>"], "eos": ["<eos>"], "context_length": 64, "prompt": "A",
     "rows": [{"after": [], "probs": {"A": 0.6, "B": 0.4}},
              {"after": ["A", "*"], "logits": {"<eos>": 2, "A": 0.5}}],
     "otherwise": {"probs": {"<eos>": 1.0}}}

``vocab`` gives ids by position. ``after`` is the sequence since the prompt's end, ``"*"`` matching any one token; the
first matching row wins. A row has ``probs`` (positive, normalised on reading) or ``logits`` (finite); a token it does
not name has probability 0. ``otherwise`` is the row for every other sequence. All but ``vocab`` may be left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from explorer.i18n import N_
from explorer.messages import ModelLoadError, UserMessage
from explorer.models.base import Logits, TokenIds

WILDCARD = "*"
DEFAULT_CONTEXT_LENGTH = 1024
DEFAULT_NAME = "table"

_LARGEST = float(np.finfo(np.float32).max)
_KEYS = frozenset({"name", "vocab", "eos", "context_length", "prompt", "rows", "otherwise"})


@dataclass(frozen=True, slots=True)
class Row:
    """``logits`` float32 of shape (vocab,) after the sequence ``after``; None in it matches any one token."""

    after: tuple[int | None, ...]
    logits: Logits

    def matches(self, ids: TokenIds) -> bool:
        """Whether this row is about ``ids``, the whole sequence since the prompt's end."""
        return len(ids) == len(self.after) and all(
            wanted is None or wanted == given for wanted, given in zip(self.after, ids, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Table:
    """A checked table. ``prompt`` is the default prompt: None, a text, or its tokens."""

    name: str
    vocab: tuple[str, ...]
    eos_token_ids: TokenIds
    context_length: int
    prompt: str | tuple[str, ...] | None
    rows: tuple[Row, ...]
    otherwise: Logits | None


def parse_json(text: str | bytes, name: str) -> object:
    """Strict JSON: no NaN, no Infinity, no key twice. Raises `ModelLoadError` naming the line."""
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_key_twice)
    except (ValueError, RecursionError) as error:
        raise table_error(name, name, N_("This is not strict JSON: {problem}."), {"problem": str(error)}) from error


def table_error(name: str, place: str, problem: str, params: Mapping[str, Any] | None = None) -> ModelLoadError:
    """The one kind of error tables have. ``place`` says where (a row), ``problem`` is a msgid for ``params``."""
    return ModelLoadError(
        UserMessage(
            "model.table",
            problem,
            N_("The table model {name} was not opened; the fault is in {place}."),
            N_("Correct {place} of the table file and open it again."),
            {"name": name, "place": place, **(params or {})},
        )
    )


def read_table(data: object, fallback_name: str = DEFAULT_NAME) -> Table:
    """The table that ``data`` (parsed JSON) describes. Raises `ModelLoadError` naming the row."""
    return _Reader(fallback_name).read(data)


class _Reader:
    """One pass over one table, with its vocabulary at hand."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._ids: dict[str, int] = {}

    def read(self, data: object) -> Table:
        table = self._mapping(data, self._name)
        name = table.get("name", self._name)
        if not isinstance(name, str) or not name.strip():
            self._fail("name", N_("The name must be a text that is not empty."))
        self._name = name
        unknown = sorted(table.keys() - _KEYS)
        if unknown:
            self._fail(unknown[0], N_("There is no such entry as {entry} in a table."), entry=unknown[0])
        vocab = self._vocab(table.get("vocab"))
        rows = table.get("rows", [])
        if not isinstance(rows, list):
            self._fail("rows", N_("The rows must be a list."))
        return Table(
            name=name,
            vocab=vocab,
            eos_token_ids=tuple(dict.fromkeys(self._tokens(table.get("eos", []), "eos"))),
            context_length=self._context_length(table.get("context_length", DEFAULT_CONTEXT_LENGTH)),
            prompt=self._prompt(table.get("prompt")),
            rows=tuple(self._row(row, number) for number, row in enumerate(rows, start=1)),
            otherwise=self._logits(self._mapping(table["otherwise"], "otherwise"), "otherwise", frozenset())
            if "otherwise" in table
            else None,
        )

    def _fail(self, place: str, problem: str, **params: object) -> NoReturn:
        raise table_error(self._name, place, problem, params)

    def _mapping(self, value: object, place: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self._fail(place, N_("An object in braces was expected in {place}."))
        return value

    def _vocab(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not value:
            self._fail("vocab", N_("The vocabulary must be a list of at least one token."))
        for position, token in enumerate(value):
            if not isinstance(token, str) or not token or not _is_text(token):
                self._fail("vocab", N_("Token {position} of the vocabulary is not a text."), position=position)
            if token in self._ids:
                self._fail("vocab", N_("The vocabulary lists the token {token} twice."), token=token)
            self._ids[token] = position
        return tuple(value)

    def _context_length(self, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            self._fail(
                "context_length", N_("The context length must be a whole number from 1 on, not {value}."), value=value
            )
        return value

    def _prompt(self, value: object) -> str | tuple[str, ...] | None:
        if value is None or isinstance(value, str):
            return value or None
        self._tokens(value, "prompt")
        return tuple(value) if isinstance(value, list) else None

    def _tokens(self, value: object, place: str) -> list[int]:
        if not isinstance(value, list):
            self._fail(place, N_("A list of tokens was expected in {place}."))
        return [self._id(token, place) for token in value]

    def _id(self, token: object, place: str) -> int:
        if not isinstance(token, str) or token not in self._ids:
            self._fail(place, N_("The token {token} in {place} is not in the vocabulary."), token=token)
        return self._ids[token]

    def _row(self, value: object, number: int) -> Row:
        row = self._mapping(value, f"row {number}")
        after = row.get("after")
        if not isinstance(after, list):
            self._fail(f"row {number}", N_('A row needs "after", a list of tokens.'))
        place = f"row {number} (after {json.dumps(after, ensure_ascii=False)})"
        pattern = tuple(None if token == WILDCARD else self._id(token, place) for token in after)
        return Row(pattern, self._logits(row, place, frozenset({"after"})))

    def _logits(self, row: Mapping[str, Any], place: str, others: frozenset[str]) -> Logits:
        """The row's numbers as logits: float32, shape (vocab,), minus infinity where the row names no token."""
        if row.keys() - others not in ({"probs"}, {"logits"}):
            self._fail(place, N_('A row has either "probs" or "logits", and nothing else but "after".'))
        kind = "probs" if "probs" in row else "logits"
        numbers = self._mapping(row[kind], place)
        if not numbers:
            self._fail(place, N_("The row in {place} names no token."))
        values = {self._id(token, place): self._number(token, value, kind, place) for token, value in numbers.items()}
        total = math.log(math.fsum(values.values())) if kind == "probs" else 0.0
        logits = np.full(len(self._ids), -np.inf, dtype=np.float32)
        for token_id, value in values.items():
            logits[token_id] = math.log(value) - total if kind == "probs" else value
        logits.flags.writeable = False
        return logits

    def _number(self, token: str, value: object, kind: str, place: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._fail(place, N_("The value of {token} in {place} is not a number."), token=token)
        if not abs(value) <= _LARGEST or (kind == "probs" and value <= 0):
            self._fail(
                place,
                N_(
                    "The value {value} of {token} in {place} is out of range: probabilities are above 0, logits finite."
                ),
                token=token,
                value=value,
            )
        return float(value)


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _no_key_twice(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    values = dict(pairs)
    if len(values) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f'the key "{twice}" stands twice in one object')
    return values


def _is_text(token: str) -> bool:
    """Whether UTF-8 can hold it; half a surrogate pair cannot be a token."""
    try:
        token.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
