"""What a verification found, in words for people."""

from __future__ import annotations

from collections.abc import Sequence

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


def redraw_text(found: Verification) -> str:
    """Whether seed and draw numbers give the drawn tokens again; empty where none was drawn."""
    if not found.drawn:
        return ""
    return tr(N_("Drawn again from seed and draw number: {same} of {count} drawn tokens are the same.")).format(
        same=found.redrawn, count=found.drawn
    )


def problem_text(check: StepCheck, vocabulary: Vocabulary) -> str:
    """What is otherwise at one step; empty where nothing is."""
    if check.problem is None:
        return ""
    return tr(_PROBLEMS[check.problem]).format(
        difference=f"{check.value_diff if check.problem == 'values' else check.logit_diff:.2g}",
        expected=_label(check.expected, vocabulary),
        got=_label(check.got, vocabulary),
    )


def report_text(found: Verification, different: Sequence[StepCheck], vocabulary: Vocabulary, title: str) -> str:
    """Everything that was found, as lines to be kept or sent."""
    lines = [title, verdict_text(found), redraw_text(found)]
    lines += [environment_text(difference) for difference in found.environment]
    if not found.environment:
        lines.append(tr(N_("The model runs where it ran when this was recorded.")))
    if found.first_divergence is not None:
        lines.append(divergence_text(found.first_divergence, vocabulary))
    for check in different:
        where = tr(N_("command {command}, node {node}")).format(command=check.command, node=check.node)
        lines.append(f"{where}: {problem_text(check, vocabulary)}")
    return "\n".join(line for line in lines if line) + "\n"


def divergence_text(check: StepCheck, vocabulary: Vocabulary) -> str:
    """Where and how one step differs."""
    what = problem_text(check, vocabulary)
    where = tr(N_("First at command {command}, node {node}.")).format(command=check.command, node=check.node)
    near = ""
    if check.got is not None and check.near_tie:
        near = tr(N_("It was a near tie: rounding alone can turn it (margin {margin}).")).format(
            margin=f"{check.margin:.2g}"
        )
    elif check.got is not None:
        near = tr(N_("It was no near tie."))
    return " ".join(part for part in (where, what, near) if part)


def environment_name(difference: EnvironmentDifference) -> str:
    """What is otherwise now."""
    return tr(_NAMES[difference.name]) if difference.name in _NAMES else difference.name


def environment_text(difference: EnvironmentDifference) -> str:
    """One thing that is otherwise now, in a sentence."""
    name = environment_name(difference)
    return tr(N_("{name}: {recorded} when recorded, {now} now")).format(
        name=name, recorded=difference.recorded or "–", now=difference.now or "–"
    )


def _label(token_id: int | None, vocabulary: Vocabulary) -> str:
    return "–" if token_id is None or token_id < 0 else f"“{vocabulary.label(token_id)}” ({token_id})"
