"""The autopsy of one token in sentences: what became of it, what would have kept it, what stages and orders change."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from explorer.decoding.autopsy import Autopsy, KeptBy, Rescue, StageVerdict, ValueToKeep
from explorer.decoding.chain_effects import OrderEffect
from explorer.decoding.distribution import Distribution, StageReport, TraceStep
from explorer.decoding.params import SamplingParams
from explorer.decoding.processors import PARAMETERS, STAGES_BY_NAME, Comparison
from explorer.decoding.scores import IdArray
from explorer.i18n import listed, sentences, tr
from explorer.text import Vocabulary
from ui.candidates.stages import stage_label
from ui.format import LogUnit, count, decimal, exact, logarithm, percent, power_of_ten, token_label
from ui.panels.setting_text import setting_text

_NAMED = 24  # tokens in a tooltip
_SIGNS: Mapping[Comparison, str] = {"<": "<", "<=": "≤", ">": ">"}


def stage_with_value(name: str, sampling: SamplingParams) -> str:
    """A stage and what it is set to: ``Top-p 0.90``."""
    parameters = STAGES_BY_NAME[name].parameters
    values = listed(setting_text(p, sampling.get(p.name)) for p in parameters if not sampling.is_off(p.name))
    return tr("{stage} {value}").format(stage=stage_label(name), value=values)


# --- the token --------------------------------------------------------------------------------------------------------


def verdict_text(found: Autopsy, distribution: Distribution) -> str:
    """What became of the token, and which value of the setting that removed it would have kept it."""
    removal = found.removal
    if removal is not None:
        return tr("Removed by {stage}: {needed}.").format(
            stage=stage_with_value(removal.name, distribution.trace.sampling),
            needed=_needed(removal.name, removal.border),
        )
    if found.excluded_by_model:
        return tr("The model itself gives it probability 0.")
    edited = distribution.edited_by(found.token_id)
    any_on = any(verdict.active for verdict in found.stages)
    return sentences(
        (
            tr("It can be drawn: every filter keeps it.") if any_on else tr("It can be drawn: no filter is on."),
            "" if edited is None else tr("Its score was changed by {stage}.").format(stage=stage_label(edited)),
        )
    )


def detail_text(found: Autopsy, also: KeptBy | None, sampling: SamplingParams) -> str:
    """The comparison that decided and who else would have removed the token; or how far the filters may go.

    ``also`` None: not known yet.
    """
    if found.removal is None:
        borders = [verdict.border for verdict in found.stages if verdict.border is not None]
        conditions = listed(_condition(border) for border in borders)
        return tr("It stays as long as {conditions}.").format(conditions=conditions) if conditions else ""
    parts = [_comparison(found, full=False)]
    parts += [_also(rescue, sampling) for rescue in (also.rescues[1:] if also is not None else ())]
    return sentences(parts)


def comparison_text(found: Autopsy) -> str:
    """The comparison that decided, in full figures; empty where none did."""
    return _comparison(found, full=True)


def keep_text(way: KeptBy) -> str:
    """The changes that together keep a token."""
    changes = [_change(rescue) for rescue in way.rescues]
    return tr("Change only what it takes: {changes}.").format(changes=listed(changes))


def _comparison(found: Autopsy, *, full: bool) -> str:
    why = found.provenance
    if why.value is None or why.threshold is None or why.margin is None or why.comparison is None:
        return ""
    figures = (why.value, why.threshold, abs(why.margin))
    value, threshold, margin = map(exact, figures) if full else _apart(*figures)
    return tr("{quantity}: {value} {comparison} {threshold}, missed by {margin}.").format(
        quantity=_capital(tr(why.quantity)) if why.quantity else "",
        value=value,
        comparison=_SIGNS[why.comparison],
        threshold=threshold,
        margin=margin,
    )


def _needed(stage: str, border: ValueToKeep | None) -> str:
    if border is None:
        if stage == "temperature":
            return tr("only the best token stays")
        kinds = {parameter.kind for parameter in STAGES_BY_NAME[stage].parameters}
        if kinds == {"grammar"}:
            return tr("no text of the grammar goes on with it")
        return tr("it is on the list") if kinds == {"ids"} else tr("no other value would keep it")
    if border.switched_off:
        return tr("only switching it off would have kept it")
    value = _value(border)
    return (
        tr("it would have needed {value} or more").format(value=value)
        if border.at_least
        else tr("it would have needed {value} or less").format(value=value)
    )


def _also(rescue: Rescue, sampling: SamplingParams) -> str:
    return tr("{stage} would have removed it too: {needed}.").format(
        stage=stage_with_value(rescue.stage, sampling), needed=_needed(rescue.stage, rescue.border)
    )


def _change(rescue: Rescue) -> str:
    if rescue.border is not None and not rescue.border.switched_off:
        name = tr(PARAMETERS[rescue.border.parameter].label)
        return tr("{name} to {value}").format(name=name, value=_value(rescue.border))
    if rescue.unlisted:
        return tr("take it off the list of {stage}").format(stage=stage_label(rescue.stage))
    return tr("{stage} off").format(stage=stage_label(rescue.stage))


def _condition(border: ValueToKeep) -> str:
    name, value = tr(PARAMETERS[border.parameter].label), _value(border)
    return (
        tr("{name} ≥ {value}").format(name=name, value=value)
        if border.at_least
        else (tr("{name} ≤ {value}").format(name=name, value=value))
    )


def _value(border: ValueToKeep) -> str:
    parameter = PARAMETERS[border.parameter]
    return setting_text(parameter, int(border.rounded) if parameter.kind == "int" else float(border.rounded))


def _apart(value: float, threshold: float, margin: float) -> tuple[str, str, str]:
    """As few decimals as tell the value from the threshold; the full figures are one hover away."""
    decimals = next((d for d in range(2, 9) if f"{value:.{d}f}" != f"{threshold:.{d}f}"), 9)
    return _figure(value, decimals), _figure(threshold, decimals), _figure(margin, decimals)


def _figure(value: float, decimals: int) -> str:
    """A number with fixed decimals; one that they would make 0 as a power of ten."""
    tiny = 0 < value < 0.5 * 10**-decimals
    return power_of_ten(math.log(value)) if tiny else decimal(value, decimals)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- stages -----------------------------------------------------------------------------------------------------------


def no_effect_text(step: TraceStep, *, in_the_end: bool) -> str:
    """Why an active stage changes nothing; empty where it does. ``in_the_end``: the draw is the same without it."""
    if step.active and not len(step.before):
        return tr("no effect: no token was left")
    if step.idle and len(step.before) == 1:
        return tr("no effect: only one token was left")
    if step.idle:
        return tr("no effect: {reason}").format(reason=tr(step.stage.idle).format(left=count(len(step.before))))
    return tr("no effect in the end") if in_the_end else ""


def stage_lines(
    step: TraceStep,
    report: StageReport,
    verdict: StageVerdict | None,
    unit: LogUnit,
    *,
    in_the_end: bool,
    last: bool = False,
) -> Iterator[str]:
    """Everything there is to say of a stage, line by line. ``last``: its value moves it to the end of any order."""
    if not step.active:
        yield tr("It is off.")
        return
    note = no_effect_text(step, in_the_end=in_the_end)
    if note:
        yield _capital(note) + "."
    if in_the_end and not step.idle and len(step.before):
        yield tr("Without it the draw would be exactly the same.")
    yield tr("Keeps {after} of {before}; removes {mass} of the probability it was given.").format(
        after=count(report.kept_after), before=count(report.kept_before), mass=percent(report.removed_mass)
    )
    yield tr("Entropy {before} before, {after} after.").format(
        before=logarithm(report.entropy_before, unit), after=logarithm(report.entropy_after, unit)
    )
    if last:
        yield tr("With this value it runs after all other filters.")
    if step.stage.name == "temperature" and step.criterion is None:
        yield tr("A greedy step takes the same token at any temperature.")
    if verdict is not None and verdict.border is not None:
        yield tr("The marked token stays as long as {conditions}.").format(conditions=_condition(verdict.border))


# --- orders -----------------------------------------------------------------------------------------------------------


def waiting_text(order: str) -> str:
    """That what another order changes is not known yet."""
    return tr("In the order of {order}: …").format(order=order)


def order_text(effect: OrderEffect) -> str:
    """What another order would change, in a line."""
    more, fewer = len(effect.more), len(effect.fewer)
    if more or fewer:
        changes = listed(
            (
                tr("{count} tokens more").format(count=count(more)) if more > 1 else tr("1 token more") if more else "",
                tr("{count} tokens less").format(count=count(fewer))
                if fewer > 1
                else tr("1 token less")
                if fewer
                else "",
            )
        )
        return tr("In the order of {order}: {changes}.").format(order=effect.order, changes=changes)
    if effect.largest_change:
        return tr("In the order of {order}: the same tokens, up to {change} more or less likely.").format(
            order=effect.order, change=percent(effect.largest_change)
        )
    return tr("In the order of {order}: the same.").format(order=effect.order)


def order_lines(effect: OrderEffect, vocabulary: Vocabulary | None, *, truncated: bool) -> Iterator[str]:
    """Which tokens those are."""
    if len(effect.more):
        yield tr("More: {tokens}").format(tokens=_tokens(effect.more, vocabulary))
    if len(effect.fewer):
        yield tr("Less: {tokens}").format(tokens=_tokens(effect.fewer, vocabulary))
    yield tr("The same filters with the same values, only in another order.")
    if truncated:
        yield tr("Of the stored tokens only.")


def _tokens(ids: IdArray, vocabulary: Vocabulary | None) -> str:
    named = [
        tr("{label} ({id})").format(label=token_label(vocabulary, token_id), id=token_id)
        for token_id in ids[:_NAMED].tolist()
    ]
    if len(ids) > _NAMED:
        named.append(tr("and {count} others").format(count=count(len(ids) - _NAMED)))
    return listed(named)
