"""Settings in the words of the field, short enough for a label: ``T 0.5, top_k 2``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.decoding.params import ParamValue, SamplingParams
from explorer.decoding.processors import PARAMETERS, STAGES_BY_NAME
from explorer.grammar.constraint import Constraint
from explorer.i18n import listed, tr

_SHORT: Final = {"temperature": "T"}


def sampling_name(sampling: SamplingParams) -> str:
    """Everything that is set; "no filter" where nothing is."""
    parts = [value_name(name, value) for name, value in _in_order(sampling.values)]
    if isinstance(sampling.order, tuple):
        parts.append(tr("own order"))
    elif sampling.order != "transformers":
        parts.append(tr("order of {name}").format(name=sampling.order))
    return listed(parts) or tr("no filter")


def stage_name(stage: str, sampling: SamplingParams) -> str:
    """What is set of one filter; its name where that is not known (any more)."""
    parameters = STAGES_BY_NAME[stage].parameters if stage in STAGES_BY_NAME else ()
    parts = [value_name(p.name, sampling.values[p.name]) for p in parameters if p.name in sampling.values]
    return listed(parts) or stage


def value_name(name: str, value: ParamValue) -> str:
    """One parameter and its value."""
    shown = _SHORT.get(name, name)
    if isinstance(value, bool | int):
        return f"{shown} {value}"
    if isinstance(value, float):
        return f"{shown} {value:g}"
    if isinstance(value, Constraint):
        return f"{shown} {value.kind}"
    return f"{shown} ×{len(value)}" if isinstance(value, tuple) else shown


def _in_order(values: Mapping[str, ParamValue]) -> list[tuple[str, ParamValue]]:
    """Temperature first, then as the filters are declared."""
    names = ["temperature", *(name for name in PARAMETERS if name != "temperature")]
    return [(name, values[name]) for name in names if name in values]
