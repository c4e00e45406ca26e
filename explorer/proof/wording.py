"""What a check found, in words: the same sentences in the window, on the command line and on the clipboard."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from explorer.decoding.logits import Observation
from explorer.decoding.processors import STAGES_BY_NAME
from explorer.i18n import N_, tr
from explorer.messages import UserMessage
from explorer.models.base import ModelInfo
from explorer.proof.report import Difference, ProofReport, StageCheck, Verdict
from explorer.text import Vocabulary

Label = Callable[[int], str]

_VERDICTS: Final[Mapping[Verdict, str]] = {
    "identical": N_("Identical to transformers, to the last bit."),
    "rounding": N_("The same as transformers within float32 rounding: the largest difference is {largest}."),
    "ties": N_(
        "The same as transformers but for ties: its sort leaves open which of equal scores comes first. With a sort "
        "that does not, it keeps exactly these tokens."
    ),
    "different": N_("DIFFERENT from transformers: the largest difference is {largest}."),
}
_DOUBTFUL: Final = N_(
    "The same as transformers within float32 rounding: {count} tokens lie on the threshold of {stage} to within "
    "rounding, on one side here and on the other there."
)
_OTHER_TOKENS: Final = N_("DIFFERENT from transformers: {count} tokens are kept by one of the two only.")
_OVERFLOWS: Final = N_(
    "DIFFERENT from transformers: its own scores overflow here and are no numbers any more; this program divides the "
    "distances to the best score instead."
)
_FRESH_AGREES: Final = N_(
    "A fresh pass over all {tokens} tokens without a cache gives the same logits: the largest difference is {largest}, "
    "and {tolerance} is allowed."
)
_FRESH_DIFFERS: Final = N_(
    "A fresh pass over all {tokens} tokens without a cache gives OTHER logits: the largest difference is {largest}, "
    "and only {tolerance} is allowed."
)
_HALF_AGREES: Final = N_(
    "A fresh pass over all {tokens} tokens without a cache gives the same logits as far as {dtype} tells: they differ "
    "by {share} of their spread on average, and {tolerance} is allowed. The largest difference is {largest}."
)
_HALF_DIFFERS: Final = N_(
    "A fresh pass over all {tokens} tokens without a cache gives OTHER logits, even for {dtype}: they differ by "
    "{share} of their spread on average, and only {tolerance} is allowed. The largest difference is {largest}."
)
_NO_FRESH: Final = N_("A fresh pass without a cache was not possible: there was not enough memory for it.")
_OTHER_BEST: Final = N_("Another token comes first in it: a near tie.")


def quoted(vocabulary: Vocabulary) -> Label:
    """Tokens by label and id: ``“·Paris” #7042``."""
    return lambda token_id: f"“{vocabulary.label(token_id)}” #{token_id}"


def verdict_sentence(report: ProofReport, label: Label) -> str:
    """Whether the numbers shown are those of transformers, in one sentence. ``label`` names a token id."""
    params = {"largest": _where(report.largest, label), "count": report.differing}
    if report.overflows:
        return tr(_OVERFLOWS)
    if report.doubtful_stage is not None:
        return tr(_DOUBTFUL).format(stage=stage_label(report.doubtful_stage), **params)
    if report.verdict == "different" and report.differing:
        return tr(_OTHER_TOKENS).format(**params)
    return tr(_VERDICTS[report.verdict]).format(**params)


def fresh_sentence(report: ProofReport, label: Label) -> str:
    """Whether a pass without a cache gives the same logits, in a sentence or two."""
    fresh = report.fresh
    if fresh is None:
        return tr(_NO_FRESH)
    if fresh.share is None:
        text = tr(_FRESH_AGREES if fresh.agrees else _FRESH_DIFFERS)
    else:
        text = tr(_HALF_AGREES if fresh.agrees else _HALF_DIFFERS)
    text = text.format(
        tokens=fresh.tokens,
        dtype=report.dtype,
        largest=_where(fresh.largest, label),
        share=_number(fresh.share or 0.0),
        tolerance=_number(fresh.tolerance),
    )
    return text if fresh.same_best else f"{text} {tr(_OTHER_BEST)}"


def facts(report: ProofReport, label: Label) -> list[tuple[str, str]]:
    """Names and values, in the order in which they are shown."""
    own = ", ".join(stage_label(name) for name in report.own_stages)
    rows = [
        (tr("Largest difference of a processed score"), _where(report.scores, label)),
        (tr("Largest difference of a sampling probability"), _where(report.sampling, label)),
        (tr("Largest difference of a model probability"), _where(report.model, label)),
        (tr("Part of that: torch's own softmax, summed in float32, is off by"), _where(report.torch_sum, label)),
        (tr("Tokens that can be drawn"), _kept(report.kept, report.kept_there)),
    ]
    if report.only_here:
        rows.append((tr("Kept here only"), _tokens(report.only_here, label)))
    if report.only_there:
        rows.append((tr("Kept by transformers only"), _tokens(report.only_there, label)))
    rows.append(
        (
            tr("Filters that transformers does not have"),
            tr("{count}, run by this program in their place: {names}").format(count=len(report.own_stages), names=own)
            if own
            else tr("none"),
        )
    )
    versions = ", ".join(f"{name} {number}" for name, number in report.versions.items())
    rows.append((tr("Versions"), versions))
    rows.append(
        (
            tr("Number format"),
            tr("filters in float32 on the processor; the model in {dtype} on {device}").format(
                dtype=report.dtype, device=report.device
            ),
        )
    )
    return rows


def stage_row(stage: StageCheck, label: Label) -> tuple[str, str, str, str]:
    """A stage, what ran for it in transformers, what was left, and how far the scores after it differ."""
    there = stage.counterpart if stage.counterpart is not None else tr("not in transformers: run by this program")
    return stage_label(stage.name), there, _kept(stage.kept, stage.kept_there), _where(stage.scores, label)


def stage_headers() -> tuple[str, str, str, str]:
    """What `stage_row` gives."""
    return tr("Filter"), tr("In transformers"), tr("Tokens left"), tr("Largest difference of a score")


def as_text(report: ProofReport, label: Label, title: str = "") -> str:
    """Everything, to be copied."""
    lines = [title] if title else []
    lines += [verdict_sentence(report, label), fresh_sentence(report, label), ""]
    lines += [f"{name}: {value}" for name, value in facts(report, label)]
    if report.stages:
        lines += ["", " | ".join(stage_headers())]
        lines += [" | ".join(stage_row(stage, label)) for stage in report.stages]
    return "\n".join(lines)


def stage_label(name: str) -> str:
    """The name of a stage in the current language."""
    return tr(STAGES_BY_NAME[name].label)


def needs_model_message(model: ModelInfo, stored: Observation | None) -> UserMessage:
    """Why a node cannot be checked while its model is not loaded; ``stored`` is what the library knows of it."""
    if stored is None:
        why = N_("Nothing of this step is stored, and the filters of transformers need the logits of all tokens.")
    elif stored.tail is None:
        why = N_(
            "The logits of this step are stored, but a fresh pass, and transformers itself, run where the model is."
        )
    else:
        why = N_(
            "Only the best tokens of this step are stored. The filters of transformers need the logits of the whole "
            "vocabulary, and a fresh pass needs the model."
        )
    return UserMessage(
        "proof.needs_model",
        N_("This cannot be checked without {model}."),
        why,
        N_("Open {model} and check again."),
        {"model": model.identity.name},
    )


def _where(difference: Difference, label: Label) -> str:
    if difference.token_id is None:
        return "0"
    return tr("{value} at {token}").format(value=_number(difference.value), token=label(difference.token_id))


def _kept(here: int, there: int) -> str:
    return str(here) if here == there else tr("{here} here, {there} in transformers").format(here=here, there=there)


def _tokens(ids: tuple[int, ...], label: Label) -> str:
    return ", ".join(label(token_id) for token_id in ids)


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "∞"
