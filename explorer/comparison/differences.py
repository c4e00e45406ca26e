"""In which settings two configurations differ, and the pair in which they differ in one alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal

from explorer.decoding.params import Settings, StopParams
from explorer.decoding.processors import PARAMETERS, STAGES_BY_NAME, Stage

ORDER: Final = "order"
"""The name of a difference in the order of the chain."""

Kind = Literal["sampling", "order", "stopping"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One setting that two configurations have otherwise. ``a`` and ``b`` are its values; off or unset is as declared.

    ``stage`` is the stage of the chain it belongs to, None for stop rules and the order.
    """

    name: str
    kind: Kind
    a: Any
    b: Any
    stage: str | None = None


def differences(a: Settings, b: Settings) -> tuple[Difference, ...]:
    """The settings in which two configurations differ: filters in the order of the chain of ``a``, then the order, then
    the stop rules. Where a value came from is no difference."""
    found = []
    for stage in _chain(a):
        for parameter in stage.parameters:
            one, other = a.sampling.get(parameter.name), b.sampling.get(parameter.name)
            if one != other:
                found.append(Difference(parameter.name, "sampling", one, other, stage.name))
    if _order(a, b):
        found.append(Difference(ORDER, "order", a.sampling.order, b.sampling.order))
    for item in fields(StopParams):
        before, after = getattr(a.stopping, item.name), getattr(b.stopping, item.name)
        if before != after:
            found.append(Difference(item.name, "stopping", before, after))
    return tuple(found)


def with_taken(a: Settings, b: Settings, names: Sequence[str]) -> Settings:
    """``a`` with the settings of these names as ``b`` has them. Raises `SettingsError` for an unknown name."""
    taken = a
    for name in names:
        if name == ORDER:
            taken = taken.with_order(b.sampling.order)
        elif name in PARAMETERS:
            taken = taken.with_sampling(_source(b, name), **{name: b.sampling.get(name)})
        else:
            taken = taken.with_stopping(_source(b, name), **{name: getattr(b.stopping, name)})
    return taken


def isolated(a: Settings, b: Settings, name: str) -> tuple[Settings, Settings]:
    """The pair that differs in one setting alone: ``a`` itself, and ``a`` with that one as ``b`` has it."""
    return a, with_taken(a, b, (name,))


def _source(settings: Settings, name: str) -> Any:
    source = settings.source(name)
    return "user" if source == "off" else source


def _chain(a: Settings) -> list[Stage]:
    """Every stage there is, those of ``a``'s chain first: an order of one's own may leave some out."""
    own = list(a.sampling.stages)
    return own + [stage for stage in STAGES_BY_NAME.values() if stage not in own]


def _order(a: Settings, b: Settings) -> bool:
    """Whether the stages that run under both stand in another order: of others it does not matter."""
    both = [stage for stage in a.sampling.stages if a.sampling.runs(stage) and b.sampling.runs(stage)]
    return both != [stage for stage in b.sampling.stages if stage in both]


def same_but_sources(a: Settings, b: Settings) -> bool:
    """Whether two configurations decode alike."""
    return replace(a, sources={}) == replace(b, sources={})
