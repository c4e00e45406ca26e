"""One row of the candidates in words: for tooltips, for screen readers, for the clipboard."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from explorer.decoding.pipeline import Distribution
from explorer.i18n import listed, tr
from explorer.text import Vocabulary
from ui.candidates.rows import Others
from ui.candidates.stages import stage_label
from ui.format import LogUnit, count, exact, hex_bytes, logarithm, percent, tooltip

Fate = Literal["kept", "removed", "impossible", "unlisted"]


@dataclass(frozen=True, slots=True)
class Row:
    """What one row shows. ``stage`` names the filter that removed the token, ``edited_by`` the one that
    raised or lowered a kept one, ``node`` its node where it was taken.

    An unlisted token (of a truncated distribution) has rank 0 and NaN for numbers.
    """

    token_id: int
    label: str
    special: bool
    rank: int
    logit: float
    model_prob: float
    sampling_prob: float
    fate: Fate
    stage: str | None
    edited_by: str | None
    node: int | None

    def same_but_for_draw(self, other: Row) -> bool:
        """Whether another row differs at most in the chance in a draw."""
        return self._fixed == other._fixed

    @property
    def _fixed(self) -> tuple[object, ...]:
        return (
            *(self.token_id, self.label, self.special, self.rank, self.logit, self.model_prob),
            *(self.fate, self.stage, self.edited_by, self.node),
        )


def token_bytes(vocabulary: Vocabulary | None, token_id: int) -> bytes:
    """The bytes behind a token; none where they are not known."""
    known = vocabulary is not None and 0 <= token_id < len(vocabulary)
    return vocabulary.piece(token_id) if vocabulary is not None and known else b""


def fate_text(row: Row) -> str:
    """What became of the token, and whether it was taken before; may be empty."""
    parts = []
    if row.fate == "removed" and row.stage is not None:
        parts.append(tr("removed by {stage}").format(stage=stage_label(row.stage)))
    elif row.fate == "impossible":
        parts.append(tr("the model gives it probability 0"))
    elif row.edited_by is not None:
        parts.append(tr("changed by {stage}").format(stage=stage_label(row.edited_by)))
    elif row.fate == "unlisted":
        parts.append(tr("not among the stored tokens"))
    if row.node is not None:
        parts.append(tr("taken before"))
    return listed(parts)


def describe(row: Row) -> str:
    """A row as a screen reader says it."""
    if row.fate == "unlisted":
        return listed((tr("Token {label}").format(label=row.label), fate_text(row)))
    text = tr("Rank {rank}, token {label}, model {model}, sampling {sampling}").format(
        rank=row.rank, label=row.label, model=percent(row.model_prob), sampling=percent(row.sampling_prob)
    )
    return listed((text, fate_text(row)))


def others_text(others: Others) -> str:
    """The row of others in words."""
    return tr(
        "{count} other tokens with {model} of the model's mass and {sampling} of a draw's; {kept} of them can be drawn"
    ).format(
        count=count(others.count),
        model=percent(others.model_mass),
        sampling=percent(others.sampling_mass),
        kept=count(others.kept),
    )


def others_tooltip(others: Others) -> str:
    return tooltip(others_text(others), tr("Click or scroll to list more of them."))


def row_tooltip(row: Row, distribution: Distribution, vocabulary: Vocabulary | None, unit: LogUnit) -> str:
    """Everything known of a token, with full values and with what the numbers are not."""
    lines = [tr("Token {label}, id {id}").format(label=row.label, id=row.token_id)]
    piece = token_bytes(vocabulary, row.token_id)
    if piece:
        lines.append(tr("Bytes {bytes}").format(bytes=hex_bytes(piece)))
    if row.fate == "unlisted":
        lines.append(tr("Only the best tokens of this step were stored. Load the model to see this one's numbers."))
        return tooltip(*lines)
    candidate = distribution.row(row.token_id)
    lines.append(
        tr("Model probability {percent} ({exact}), log {logarithm}").format(
            percent=percent(candidate.model_prob),
            exact=exact(candidate.model_prob),
            logarithm=logarithm(candidate.model_logprob, unit),
        )
    )
    lines.append(tr("The model's prediction for the next token; not the chance that the statement is true."))
    if candidate.sampling_logprob is None:
        lines.append(tr("It cannot be drawn. Picking it by hand is allowed and is marked as forced."))
    else:
        lines.append(
            tr("Sampling probability {percent} ({exact}), log {logarithm}: the chance in a draw").format(
                percent=percent(candidate.sampling_prob),
                exact=exact(candidate.sampling_prob),
                logarithm=logarithm(candidate.sampling_logprob, unit),
            )
        )
    lines.append(
        tr("Rank {rank} of {count}, logit {logit}, after the settings {processed}").format(
            rank=count(candidate.rank),
            count=count(distribution.vocab_size),
            logit=exact(candidate.logit),
            processed=exact(candidate.processed),
        )
    )
    lines.extend(_removal_lines(row, distribution))
    if row.node is not None:
        lines.append(tr("Taken before: it has a branch in the tree."))
    return tooltip(*lines)


def _removal_lines(row: Row, distribution: Distribution) -> list[str]:
    if row.fate == "impossible":
        return [tr("The model itself gives it probability 0.")]
    if row.edited_by is not None:
        return [tr("Its score was changed by {stage}.").format(stage=stage_label(row.edited_by))]
    if row.stage is None:
        return []
    why = distribution.provenance(row.token_id)
    lines = [tr("Removed by {stage}").format(stage=stage_label(row.stage))]
    if why.threshold is not None and why.value is not None and why.margin is not None:
        lines.append(
            tr("{quantity}: {value} {comparison} {threshold}, missed by {margin}").format(
                quantity=tr(why.quantity) if why.quantity else "",
                value=exact(why.value),
                comparison=why.comparison,
                threshold=exact(why.threshold),
                margin=exact(abs(why.margin)),
            )
        )
    return lines


def copied_values(row: Row) -> str:
    """The numbers of a row in full, tab-separated under their names."""
    names = ("id", "token", "rank", "logit", "model_prob", "sampling_prob", "removed_by")
    values = (
        str(row.token_id),
        row.label,
        str(row.rank or ""),
        *("" if math.isnan(v) else f"{v:.9g}" for v in (row.logit, row.model_prob, row.sampling_prob)),
        row.stage or "",
    )
    return "\t".join(names) + "\n" + "\t".join(values)
