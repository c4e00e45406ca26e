"""What a verification found, in words for people."""

from __future__ import annotations

from explorer.i18n import N_, tr
from explorer.text import Vocabulary
from explorer.verification.compare import EnvironmentDifference, StepCheck, Verification

_NAMES = {
    "device": N_("device"),
    "device_name": N_("processor"),
    "dtype": N_("number format"),
    "threads": N_("threads"),
    "platform": N_("system"),
}
_PROBLEMS = {
    "logits": N_("The model's scores differ by up to {difference}, more than rounding explains."),
    "values": N_("The recorded probabilities differ from the model's by {difference} nats."),
    "excluded": N_("A filter removes the token now and did not then, or the other way round."),
    "choice": N_("Another token would be chosen now: {got} instead of {expected}."),
    "uniform": N_("The number drawn is not the one that seed and draw index give."),
    "stop": N_("The recorded stop does not follow from the path and the settings."),
    "unusable": N_("The model answers with numbers that no token can be chosen from."),
}


def verdict_text(found: Verification) -> str:
    """The verdict in a sentence."""
    if found.compared == 0:
        return tr(N_("There is no step to compare."))
    if found.verdict == "identical":
        return tr(N_("Identical: all {count} steps came out the same to the last bit.")).format(count=found.compared)
    if found.verdict == "tolerance":
        return tr(
            N_(
                "Within tolerance: all {count} steps were chosen the same; the largest difference of a logit is "
                "{difference}."
            )
        ).format(count=found.compared, difference=f"{found.max_abs_logit_diff:.2g}")
    return tr(N_("Different: {different} of {count} steps do not come out as recorded.")).format(
        different=found.different, count=found.compared
    )


def divergence_text(check: StepCheck, vocabulary: Vocabulary) -> str:
    """Where and how one step differs."""
    what = tr(_PROBLEMS[check.problem or "choice"]).format(
        difference=f"{check.value_diff if check.problem == 'values' else check.logit_diff:.2g}",
        expected=_label(check.expected, vocabulary),
        got=_label(check.got, vocabulary),
    )
    where = tr(N_("First at command {command}, node {node}.")).format(command=check.command, node=check.node)
    near = ""
    if check.got is not None and check.near_tie:
        near = tr(N_("It was a near tie: rounding alone can turn it (margin {margin}).")).format(
            margin=f"{check.margin:.2g}"
        )
    elif check.got is not None:
        near = tr(N_("It was no near tie."))
    return " ".join(part for part in (where, what, near) if part)


def environment_text(difference: EnvironmentDifference) -> str:
    """One thing that is otherwise now."""
    name = tr(_NAMES[difference.name]) if difference.name in _NAMES else difference.name
    return tr(N_("{name}: {recorded} when recorded, {now} now")).format(
        name=name, recorded=difference.recorded or "–", now=difference.now or "–"
    )


def _label(token_id: int | None, vocabulary: Vocabulary) -> str:
    return "–" if token_id is None or token_id < 0 else f"“{vocabulary.label(token_id)}” ({token_id})"
