"""Values of settings in few figures."""

from __future__ import annotations

import math

from explorer.decoding.parameter import Parameter, ParamValue
from explorer.grammar.constraint import KIND_LABELS, Constraint
from explorer.i18n import tr
from ui.format import count


def setting_text(parameter: Parameter, value: ParamValue) -> str:
    """A value in a word: a number with as many decimals as its control has, more only where it needs them."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = f"{value:.{max(0, -math.floor(math.log10(parameter.step)))}f}"
        return text if float(text) == value else f"{value:.10g}"
    if isinstance(value, tuple) and parameter.kind in ("ids", "id_values"):
        return tr("{count} tokens").format(count=count(len(value))) if len(value) != 1 else tr("1 token")
    if isinstance(value, Constraint):
        return tr(KIND_LABELS[value.kind])
    return tr("off")
