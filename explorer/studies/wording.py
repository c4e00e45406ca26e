"""What a study shows and does not show, in words."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.i18n import N_, listed, sentences, tr
from explorer.studies.measures import MEASURES_BY_NAME
from explorer.studies.report import LEAST_PAIRS, ConfigurationReport, Difference, StudyReport


def difference_words(report: StudyReport, one: ConfigurationReport) -> str:
    """How a configuration differs from the reference, and in what nothing can be told."""
    other = report.configurations[report.reference].name
    if not one.differences:
        return tr(N_("The others are compared with this one."))
    few = [difference for difference in one.differences if difference.verdict == "few"]
    if len(few) == len(one.differences):
        most = max(difference.count for difference in few)
        return tr(N_("Only {count} pairs of finished runs: at least {least} are needed to tell anything.")).format(
            count=most, least=LEAST_PAIRS
        )
    parts = []
    for verdict, words in (
        ("higher", N_("Higher than “{other}”: {measures}.")),
        ("lower", N_("Lower than “{other}”: {measures}.")),
        ("open", N_("Not distinguishable from “{other}” with these runs: {measures}.")),
    ):
        measures = _labels([difference for difference in one.differences if difference.verdict == verdict])
        if measures:
            parts.append(tr(words).format(other=other, measures=measures))
    return sentences(parts)


def caution(report: StudyReport) -> str:
    """How the intervals are to be read; what several comparisons at once mean."""
    level = f"{report.level:.0%}"
    parts = [
        tr(N_("Bars and brackets are {level} intervals: means by BCa bootstrap, shares by Wilson.")).format(level=level)
    ]
    if report.comparisons > 1:
        said = N_(
            "{count} differences were looked at, so each is judged by an interval of {wide} (Bonferroni): of as many "
            "at {level}, about {chance:.1f} would seem to be there by chance alone."
        )
        parts.append(
            tr(said).format(
                count=report.comparisons,
                wide=_percent(report.wide_level),
                level=level,
                chance=report.comparisons * (1 - report.level),
            )
        )
    elif report.comparisons:
        parts.append(tr(N_("A difference is claimed only where its interval leaves 0 out.")))
    if report.comparisons:
        parts.append(tr(N_("Runs are compared in pairs: those with the same seed drew with the same numbers.")))
    return sentences(parts)


def verdict_word(difference: Difference) -> str:
    """In a word, for a table."""
    return tr(
        {
            "higher": N_("higher"),
            "lower": N_("lower"),
            "open": N_("not distinguishable"),
            "few": N_("too few runs"),
        }[difference.verdict]
    )


def _labels(differences: Sequence[Difference]) -> str:
    return listed(tr(MEASURES_BY_NAME[difference.measure].label) for difference in differences)


def _percent(level: float) -> str:
    return f"{level:.2%}".rstrip("0").rstrip(".%") + "%" if level < 1 else "100%"
