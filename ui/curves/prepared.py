"""Everything the curves panel draws of one distribution, computed away from the window."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution
from explorer.decoding.statistics import (
    Figures,
    Histogram,
    ScoreCurves,
    model_figures,
    model_histogram,
    sampling_figures,
    score_curves,
)
from explorer.text import Vocabulary
from ui.curves.scores_painter import ScoresView
from ui.explain.names import stage_name
from ui.format import token_label


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Curves, histogram and figures that belong together; ``logits_of`` tells whose histogram it is."""

    distribution: Distribution
    logits_of: object
    scores: ScoresView
    histogram: Histogram
    model: Figures
    sampling: Figures | None


def prepare(
    distribution: Distribution, sampling: SamplingParams, logits_of: object, histogram: Histogram | None, columns: int
) -> Prepared:
    """For a plot ``columns`` pixels wide. Some milliseconds at 262 144 tokens; some tens where the ``histogram`` of the
    node is not known yet."""
    curves = score_curves(distribution)
    named = tuple((cut, stage_name(cut.stage, sampling)) for cut in curves.cuts)
    return Prepared(
        distribution=distribution,
        logits_of=logits_of,
        scores=ScoresView.of(curves, named, columns),
        histogram=model_histogram(distribution) if histogram is None else histogram,
        model=model_figures(distribution),
        sampling=sampling_figures(distribution),
    )


def scores_csv(curves: ScoreCurves, vocabulary: Vocabulary | None) -> str:
    """Every point of both curves, a line a rank; about a second at 262 144 tokens."""
    rows = zip(
        range(1, len(curves) + 1),
        curves.token_ids.tolist(),
        curves.raw.tolist(),
        curves.processed.tolist(),
        curves.kept.tolist(),
        strict=True,
    )
    stored = curves.listed
    return _csv(
        ("rank", "id", "token", "logit", "processed", "kept", "estimated"),
        (
            (
                rank,
                token_id if rank <= stored else "",
                token_label(vocabulary, token_id) if rank <= stored else "",
                f"{raw:.9g}",
                f"{processed:.9g}",
                int(kept),
                int(rank > stored),
            )
            for rank, token_id, raw, processed, kept in rows
        ),
    )


def histogram_csv(histogram: Histogram) -> str:
    """A line a bin; its ends are decimal logarithms of probabilities."""
    edges = histogram.edges.tolist()
    return _csv(
        ("log10_low", "log10_high", "tokens", "mass", "stored_tokens", "stored_mass"),
        zip(
            (f"{edge:g}" for edge in edges[:-1]),
            (f"{edge:g}" for edge in edges[1:]),
            histogram.counts.tolist(),
            (f"{mass:.9g}" for mass in histogram.masses.tolist()),
            histogram.listed_counts.tolist(),
            (f"{mass:.9g}" for mass in histogram.listed_masses.tolist()),
            strict=True,
        ),
    )


def _csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()
