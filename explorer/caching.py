"""Values worked out once an object, without a lock.

`functools.cached_property` before Python 3.12 holds one lock for all objects of a class while it computes: threads that
work on different nodes then wait for each other, the window's among them.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:
    from collections.abc import Callable
    from typing import Any

    class cached_property:  # noqa: N801 - takes the place of functools' own
        """As that of Python 3.12: threads that ask for the same value at the same time may each work it out."""

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._compute(instance)
            return value


__all__ = ["cached_property"]
