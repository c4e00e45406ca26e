"""The figures of one stage as the list of the chain shows them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from explorer.decoding.autopsy import Autopsy, StageVerdict
from explorer.decoding.distribution import Distribution, StageReport, TraceStep
from explorer.i18n import tr
from ui.format import MINUS, LogUnit, count, decimal, percent, power_of_ten
from ui.why.words import no_effect_text


@dataclass(frozen=True, slots=True)
class StageCells:
    """Texts after a stage. ``note`` stands in place of ``kept`` to ``entropy`` where the stage changes nothing.

    ``gone``: the marked token went out here; then ``score`` says so and ``probability`` is empty.
    """

    kept: str = ""
    removed: str = ""
    entropy: str = ""
    score: str = ""
    probability: str = ""
    note: str = ""
    gone: bool = False


OFF = StageCells()


def model_cells(distribution: Distribution, found: Autopsy | None, unit: LogUnit) -> StageCells:
    """Where the chain begins: what the model gave."""
    return StageCells(
        kept=count(distribution.vocab_size),
        entropy=_entropy(distribution.model_entropy, unit),
        score="" if found is None else decimal(found.model_logit),
        probability="" if found is None else _share(found.model_probability),
    )


def stage_cells(
    step: TraceStep, report: StageReport, verdict: StageVerdict | None, unit: LogUnit, *, in_the_end: bool
) -> StageCells:
    """The figures of one stage that is on; `OFF` are those of one that is not."""
    note = no_effect_text(step, in_the_end=in_the_end)
    score, probability = _token_texts(verdict)
    return StageCells(
        kept=count(report.kept_after),
        removed=f"{MINUS}{_share(report.removed_mass)}" if report.kept_after < report.kept_before else "",
        entropy=_entropy(report.entropy_after, unit),
        score=score,
        probability=probability,
        note=note,
        gone=verdict is not None and verdict.removed,
    )


def _token_texts(verdict: StageVerdict | None) -> tuple[str, str]:
    if verdict is None or verdict.score == -math.inf:
        return tr("removed") if verdict is not None and verdict.removed else "", ""
    return decimal(verdict.score), _share(verdict.probability)


def _share(probability: float) -> str:
    """A probability in a narrow column: of a power of ten only the leading digit. The full one is one hover away."""
    text = percent(probability)
    if text.endswith("%") or "×" not in text:
        return text
    return power_of_ten(math.log(probability), decimals=0)


def _entropy(nats: float, unit: LogUnit) -> str:
    return decimal(nats if unit == "nats" else nats / math.log(2))
