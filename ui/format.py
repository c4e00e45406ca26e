"""Numbers, token labels and tooltips as people read them. No Qt here, and no arithmetic but rounding and units."""

from __future__ import annotations

import html
import math
from functools import lru_cache
from typing import Literal

from explorer.i18n import N_, tr
from explorer.text import Vocabulary
from explorer.tree import HowChosen

LogUnit = Literal["nats", "bits"]

MINUS = "−"
ELLIPSIS = "…"
_THIN_SPACE = "\u202f"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEAST_PERCENT = 1e-5  # 0.001 %: below it a percentage has more zeros than digits
_UNITS: dict[LogUnit, str] = {"nats": N_("nats"), "bits": N_("bits")}
_HOW_LABELS: dict[HowChosen, str] = {
    "greedy": N_("greedy: the most probable token"),
    "drawn": N_("drawn at random"),
    "manual": N_("picked by hand"),
    "beam": N_("kept by a beam search"),
    "expanded": N_("expanded"),
    "given": N_("given"),
}


def percent(probability: float) -> str:
    """A probability as percent with three significant digits; a tiny one as a power of ten (``1.23×10⁻⁷``).

    What is not certain is never shown as 100 %.
    """
    if probability <= 0:
        return "0%"
    if probability < _LEAST_PERCENT:
        return power_of_ten(math.log(probability))
    if probability >= 1:
        return "100%"
    digits = f"{100 * probability:#.3g}"
    return ">99.9%" if digits.startswith("100") else f"{digits}%"


def power_of_ten(logprob: float, decimals: int = 2) -> str:
    """exp(``logprob``) as ``1.23×10⁻⁷``; also where the product itself would underflow. ``logprob`` in nats."""
    if logprob == -math.inf:
        return "0"  # a token the model itself gives no probability, taken by hand
    decimal = logprob / math.log(10)
    exponent = math.floor(decimal)
    mantissa = f"{10 ** (decimal - exponent):.{decimals}f}"
    if mantissa.startswith("10"):
        mantissa, exponent = f"{1:.{decimals}f}", exponent + 1
    return f"{mantissa}×10{_raised(exponent)}"


@lru_cache(maxsize=1024)
def _raised(exponent: int) -> str:
    return str(exponent).translate(_SUPERSCRIPTS)


def path_probability(logprob: float) -> str:
    """The probability behind a sum of natural logs: percent, or a power of ten where it is tiny; “?” if unknown."""
    if math.isnan(logprob):
        return "?"
    return percent(math.exp(logprob)) if logprob >= math.log(_LEAST_PERCENT) else power_of_ten(logprob)


def decimal(value: float, decimals: int = 2) -> str:
    """A number with fixed decimals and a true minus sign; never a negative zero."""
    if math.isinf(value):
        return f"{MINUS}∞" if value < 0 else "∞"
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", MINUS)


def logarithm(nats: float, unit: LogUnit = "nats") -> str:
    """A logarithm, given in nats, with two decimals and its unit."""
    value = nats if unit == "nats" else nats / math.log(2)
    return f"{decimal(value)}{_THIN_SPACE}{tr(_UNITS[unit])}"


def count(number: int) -> str:
    """A whole number in groups of three."""
    return f"{number:,}".replace(",", _THIN_SPACE)


def exact(value: float) -> str:
    """A value in full, for hovering: nine digits tell any two float32 apart."""
    return f"{value:.9g}" if math.isfinite(value) else decimal(value)


def how_label(how: HowChosen) -> str:
    """How a token came to be taken, in the current language."""
    return tr(_HOW_LABELS[how])


def token_label(vocabulary: Vocabulary | None, token_id: int) -> str:
    """The label of a token, or its id where there is no vocabulary or the id lies outside it."""
    if vocabulary is None or not 0 <= token_id < len(vocabulary):
        return f"#{token_id}"
    return vocabulary.label(token_id)


def elide_middle(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters, the middle left out."""
    if len(text) <= limit:
        return text
    head = limit // 2
    return f"{text[:head]}{ELLIPSIS}{text[len(text) - (limit - 1 - head) :]}"


def hex_bytes(data: bytes) -> str:
    """Bytes as ``E4 BD A0``."""
    return data.hex(" ").upper()


def tooltip(*lines: str) -> str:
    """Lines of plain text as a tooltip. Escaped, for Qt would take a token that reads ``<b>`` for markup."""
    return "<qt>" + "<br>".join(html.escape(line) for line in lines if line) + "</qt>"
