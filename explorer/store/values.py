"""The border to SQLite: every value becomes exactly one of Python's own, or is refused before anything is written."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import numpy as np
from sqlalchemy.engine import Dialect
from sqlalchemy.types import UserDefinedType

from explorer.store.errors import unstorable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def integer(value: Any, where: str) -> int:
    """A Python int from any integer scalar (NumPy's and torch's too). Raises `StoreError` outside -2^63 .. 2^63-1."""
    if isinstance(value, (bool, np.bool_)):
        raise unstorable(where, value)
    try:
        number = operator.index(value)
    except TypeError:
        raise unstorable(where, value) from None
    if not -(2**63) <= number < 2**63:
        raise unstorable(where, number)
    return number


def seed(value: Any, where: str) -> int:
    """A Python int in 0 .. 2^63-1. Raises `StoreError`."""
    number = integer(value, where)
    if number < 0:
        raise unstorable(where, number)
    return number


def real(value: Any, where: str) -> float:
    """A Python float from any real scalar, infinities included. NaN raises `StoreError`: SQLite would keep NULL."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__float__"):
        raise unstorable(where, value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # RuntimeError: a torch tensor of several values
        raise unstorable(where, value) from None
    if math.isnan(number):
        raise unstorable(where, number)
    return number


def microseconds(at: datetime, where: str) -> int:
    """Microseconds since 1970 in UTC. A time without a zone raises `StoreError`: nobody could tell what it means."""
    if at.tzinfo is None:
        raise unstorable(where, at)
    return (at - _EPOCH) // _MICROSECOND


def moment(count: int) -> datetime:
    """Inverse of `microseconds`, in UTC."""
    return _EPOCH + timedelta(microseconds=count)


def plain(value: Any, where: str) -> Any:
    """``value`` in the types of strict JSON: dataclasses and mappings become objects, tuples lists, scalars plain.

    Raises `StoreError` for what JSON cannot hold: NaN, infinities, keys that are no text, other objects.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Mapping):
        return {_key(key, where): plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, where) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name), f"{where}.{f.name}") for f in fields(value)}
    if hasattr(value, "__index__"):
        try:
            return operator.index(value)
        except TypeError:  # a torch scalar of a floating type has the method but refuses
            pass
    number = real(value, where)
    if math.isinf(number):
        raise unstorable(where, number)
    return number


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise unstorable(where, key)
    return key


def json_text(value: Any, where: str) -> str:
    """``value`` as canonical strict JSON: sorted keys, no spaces, no NaN or Infinity. Raises `StoreError`."""
    return json.dumps(plain(value, where), ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def digest(text: str) -> str:
    """sha256 in hexadecimal; lone surrogates count as the code points they are."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def searchable(text: str) -> str:
    """``text`` as the full-text index takes it: lone surrogates become question marks, NUL a space."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


class AnyText(UserDefinedType[str]):
    """Text that holds every Python string: NUL characters, and lone surrogates.

    A string that UTF-8 cannot encode is kept as a BLOB in the same column (UTF-8 with surrogates passed through), which
    no other text can be mistaken for.
    """

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "TEXT"

    def bind_processor(self, dialect: Dialect) -> Callable[[str | None], str | bytes | None]:
        return text_to_sqlite

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[str | bytes | None], str | None]:
        return text_of_sqlite


def text_to_sqlite(value: str | None) -> str | bytes | None:
    """How `AnyText` keeps a text."""
    if value is None or value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def text_of_sqlite(value: str | bytes | None) -> str | None:
    """Inverse of `text_to_sqlite`."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
