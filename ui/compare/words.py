"""Comparisons in words: figures, differences, where two texts part and why."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from explorer.comparison.differences import Difference
from explorer.comparison.divergence import Divergences
from explorer.decoding.params import Settings
from explorer.decoding.processors import PARAMETERS
from explorer.i18n import N_, listed, tr
from explorer.text import Vocabulary
from ui.candidates.stages import stage_label
from ui.format import LogUnit, count, decimal, exact, logarithm, percent
from ui.panels.setting_text import setting_text

if TYPE_CHECKING:  # the window shows words of these, and must not pay for the library
    from explorer.comparison.paths import Parting
    from explorer.comparison.sides import SessionsComparison

_STOP_LABELS = {
    "max_new_tokens": N_("New tokens at most"),
    "max_length": N_("Whole length at most"),
    "stop_strings": N_("Stop texts"),
    "eos_token_ids": N_("End tokens"),
    "order": N_("Order of the chain"),
}
FATES = {"kept": N_("both"), "gained": N_("only B"), "lost": N_("only A"), "out": N_("neither")}


def settings_words(settings: Settings) -> str:
    """The filters that are on, with their values."""
    values = settings.sampling.values
    on = [f"{tr(PARAMETERS[name].label)} {setting_text(PARAMETERS[name], value)}" for name, value in values.items()]
    return listed(on) if on else tr("every filter off")


def difference_label(one: Difference) -> str:
    """The name of a setting."""
    if one.name in PARAMETERS:
        return tr(PARAMETERS[one.name].label)
    return tr(_STOP_LABELS[one.name]) if one.name in _STOP_LABELS else one.name


def difference_words(one: Difference) -> str:
    """A setting with both its values."""
    return tr("{setting}: {a} | {b}").format(setting=difference_label(one), a=_value(one, one.a), b=_value(one, one.b))


def _value(one: Difference, value: object) -> str:
    if one.name in PARAMETERS:
        if value == PARAMETERS[one.name].off:
            return tr("off")
        return setting_text(PARAMETERS[one.name], value)  # type: ignore[arg-type]  # of this parameter
    if value is None or value == ():
        return tr("none")
    if isinstance(value, tuple):
        return listed([str(item) for item in value])
    return str(value)


def differences_words(found: tuple[Difference, ...]) -> str:
    """What differs, and what that means for the comparison."""
    if not found:
        return tr("No setting differs.")
    parts = "; ".join(difference_words(one) for one in found)
    if len(found) == 1:
        return tr("One setting differs. {setting}.").format(setting=parts)
    return tr("{count} settings differ, so no difference can be put down to one of them: {settings}.").format(
        count=count(len(found)), settings=parts
    )


def figures_words(found: Divergences | None, *, exactly: bool, unit: LogUnit) -> str:
    """The figures of a step in a line."""
    if found is None:
        return ""
    least = "" if exactly else "≥ "
    parts = [
        f"KL(A‖B) {least}{_nats(found.kl_pq, unit)}",
        f"KL(B‖A) {least}{_nats(found.kl_qp, unit)}",
        tr("Jensen–Shannon {value}").format(value=least + _nats(found.jensen_shannon, unit)),
        tr("total variation {value}").format(value=least + percent(found.total_variation)),
    ]
    return listed(parts)


def figures_help(found: Divergences | None) -> tuple[str, ...]:
    """Definitions, with the values in full."""
    values = (
        ()
        if found is None
        else (
            tr("In full: {values} nats; total variation {share}.").format(
                values=listed([_full(found.kl_pq), _full(found.kl_qp), _full(found.jensen_shannon)]),
                share=exact(found.total_variation),
            ),
        )
    )
    return (
        tr(
            "KL(A‖B), Kullback–Leibler divergence: the mean of log a/b over draws from A. What it costs to expect B "
            "where A draws; infinite where A may draw a token that B never does."
        ),
        tr("Jensen–Shannon: the mean KL of both to their average; at most log 2, which is 1 bit."),
        tr("Total variation: half the sum of all differences; the share of draws that must fall otherwise."),
        *values,
    )


def _nats(value: float, unit: LogUnit) -> str:
    return tr("infinite") if math.isinf(value) else logarithm(value, unit)


def _full(value: float) -> str:
    return tr("infinite") if math.isinf(value) else exact(value)


def counts_words(kept: tuple[int, int], shared: int, gained: int, lost: int) -> str:
    """Which tokens can be drawn."""
    return tr("A can draw {a} tokens, B {b}, both {shared}; B gains {gained} and loses {lost}.").format(
        a=count(kept[0]), b=count(kept[1]), shared=count(shared), gained=count(gained), lost=count(lost)
    )


def parting_words(parting: Parting | None, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Where two runs part and why, a line each."""
    if parting is None:
        return (tr("They never part: every number drawn falls on the same token under both."),)
    place = count(parting.place + 1)
    if parting.token_a is None or parting.token_b is None:
        ended = "A" if parting.token_a is None else "B"
        return (
            tr("They part before token {place}: {side} ends there by a stop rule.").format(place=place, side=ended),
        )
    a, b = vocabulary.label(parting.token_a), vocabulary.label(parting.token_b)
    lines = [
        tr("They part at token {place}: u = {u} falls on “{a}” under A and on “{b}” under B.").format(
            place=place, u=decimal(parting.u or 0, 4), a=a, b=b
        )
    ]
    if parting.shares is not None:
        lines.append(
            tr("“{a}” has {aa} under A and {ab} under B; “{b}” has {ba} under A and {bb} under B.").format(
                a=a,
                b=b,
                aa=percent(parting.shares[0]),
                ab=percent(parting.shares[1]),
                ba=percent(parting.shares[2]),
                bb=percent(parting.shares[3]),
            )
        )
    if parting.decisive is not None:
        lines.append(
            tr("The setting that turns the choice: {setting}.").format(setting=difference_words(parting.decisive))
        )
    for side, token, stage in (("B", a, parting.removed_b), ("A", b, parting.removed_a)):
        if stage is not None:
            lines.append(
                tr("“{token}” cannot be drawn under {side}: {stage} removed it.").format(
                    token=token, side=side, stage=stage_label(stage)
                )
            )
    return tuple(lines)


def session_remarks(found: SessionsComparison) -> tuple[str, ...]:
    """What must be known to read a comparison of two sessions."""
    remarks = []
    if not found.same_tokens:
        remarks.append(
            tr(
                "The tokenizers differ: the texts are laid side by side, and probabilities by token are left "
                "uncompared, for a token of one is none of the other."
            )
        )
    elif found.step is None:
        remarks.append(
            tr("What follows is not known on both sides: open the model, or go to a node that was looked at.")
        )
    if not found.same_model:
        remarks.append(tr("The models differ."))
    if not found.same_prompt:
        remarks.append(tr("The prompts differ."))
    if found.a.text != found.b.text:
        remarks.append(tr("The texts so far differ: each step is that after its own text."))
    return tuple(remarks)
