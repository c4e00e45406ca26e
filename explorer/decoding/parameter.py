"""What a filter declares about one of its settings. The window, the command line and the store are built from this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.grammar.constraint import Constraint

ParamValue = float | int | tuple[int, ...] | tuple[tuple[int, float], ...] | Constraint | None
ParamKind = Literal["float", "int", "ids", "id_values", "grammar"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One setting as its filter declares it.

    ``off`` is the value that switches the filter off (always accepted). Bounds are inclusive unless
    marked exclusive; for ``id_values`` they hold for the values. ``soft_maximum`` is where a slider ends; typing
    beyond it up to ``maximum`` is allowed. ``label`` and ``help`` are msgids. ``usual`` is where a filter that never
    had a value begins when it is switched on by a click; None where only the user can know one.
    """

    name: str
    kind: ParamKind
    off: ParamValue
    label: str
    help: str
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    soft_maximum: float | None = None
    step: float = 0.01
    usual: float | None = None
