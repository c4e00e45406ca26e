"""Values of settings in few figures."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final

from explorer.decoding.parameter import Parameter, ParamValue
from explorer.grammar.constraint import KIND_NAMES, Constraint
from explorer.i18n import tr
from ui.format import count

_LEAST: Final = 1e-9  # what is smaller, or larger, would only be a row of zeros
_MOST: Final = 1e9


def setting_text(parameter: Parameter, value: ParamValue) -> str:
    """A value in a word: a number with as many decimals as its control has, more only where it needs them."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = f"{value:.{max(0, -math.floor(math.log10(parameter.step)))}f}"
        if float(text) == value:
            return text
        return f"{Decimal(f'{value:.10g}'):f}" if _LEAST <= abs(value) < _MOST else f"{value:.3g}"
    if isinstance(value, tuple) and parameter.kind in ("ids", "id_values"):
        return tr("{count} tokens").format(count=count(len(value))) if len(value) != 1 else tr("1 token")
    if isinstance(value, Constraint):
        return tr(KIND_NAMES[value.kind])
    return tr("off")
