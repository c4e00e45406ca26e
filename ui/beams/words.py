"""Beam searches in words: what became of a candidate, what a step did, why a search ended."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.i18n import N_, tr
from explorer.search.beam import BeamEnd
from ui.beams.shown import CandidateRow, SearchName, SearchShown, StepShown
from ui.format import count

_ENDS: Mapping[BeamEnd, str] = {
    "early_stopping": N_("Ended: there are as many endings as beams, and that was to be enough."),
    "no_improvement": N_("Ended: no live beam can beat the worst ending in the pool any more."),
    "exhausted": N_("Ended: every continuation has ended by itself."),
    "max_new_tokens": N_("Ended: the limit of new tokens was reached; beams that were live count as cut off."),
    "max_length": N_("Ended: the limit of the whole length was reached; beams that were live count as cut off."),
    "context_window": N_("Ended: the context is full; beams that were live count as cut off."),
    "no_candidates": N_("Ended: the filters left nothing that could follow any live beam."),
    "stopped": N_("Nothing was searched: the text had ended here."),
    "cancelled": N_("You stopped it; what was found is kept."),
    "error": N_("An error ended it; what was found is kept."),
}


def end_words(ended_by: BeamEnd) -> str:
    """Why a search ended."""
    return tr(_ENDS[ended_by])


def search_title(name: SearchName, number: int) -> str:
    """A search in one line of a list."""
    if name.start:
        text = tr("Search {number}: {beams} beams from “{start}”, length penalty {penalty:g}")
    else:
        text = tr("Search {number}: {beams} beams from the prompt, length penalty {penalty:g}")
    return text.format(
        number=number, beams=name.settings.num_beams, start=name.start, penalty=name.settings.length_penalty
    )


def fate_words(row: CandidateRow, ranks: Mapping[int, int]) -> str:
    """What became of a candidate; ``ranks`` by node say which other one has the place it missed."""
    if row.fate == "kept":
        return tr("kept")
    if row.fate == "finished":
        return tr("ended: into the pool")
    if row.fell_to is None:
        return tr("fell")
    if row.fell_to in ranks:
        return tr("fell to no. {rank}").format(rank=ranks[row.fell_to])
    return tr("fell to an ending in the pool")


def step_words(step: StepShown) -> str:
    """What one step did."""
    fates = [row.fate for row in step.rows]
    return tr("Step {number}: {weighed} weighed, {kept} kept, {finished} ended, {fell} fell").format(
        number=count(step.number),
        weighed=count(len(fates)),
        kept=count(fates.count("kept")),
        finished=count(fates.count("finished")),
        fell=count(fates.count("fell")),
    )


def search_result(shown: SearchShown) -> str:
    """What came of a search."""
    last = shown.steps[-1]
    pool = [ending for ending in last.endings if not ending.displaced]
    why = end_words(last.ended_by) if last.ended_by is not None else ""
    return tr("Beam search: {steps} steps, {endings} endings. {why}").format(
        steps=count(last.number), endings=count(len(pool)), why=why
    )
