"""Growth in words: how runs end, how far an expansion is, what came of it."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.growth.sample_report import SamplesReport
from explorer.i18n import N_, listed, tr
from explorer.search.expand import ExpansionEnd
from explorer.search.plans import BestFirst
from ui.format import count, percent
from ui.growth.shown import BatchName, ExpansionShown

FINISHES: Mapping[str, str] = {
    "running": N_("running"),
    "unfinished": N_("broken off"),
    "length": N_("length"),
    "eos": N_("end token"),
    "max_new_tokens": N_("limit"),
    "max_length": N_("limit"),
    "stop_string": N_("stop text"),
    "grammar_end": N_("grammar complete"),
    "context_window": N_("context full"),
    "no_candidates": N_("no candidates"),
    "cancelled": N_("stopped"),
    "error": N_("error"),
}
_FINISH_HELP: Mapping[str, str] = {
    "running": N_("This run goes on."),
    "unfinished": N_("The program ended, or its branch was deleted, before this run had an end."),
    "length": N_("It has as many tokens as were asked for; the model did not end the text."),
    "eos": N_("The model ended the text itself."),
    "max_new_tokens": N_("The limit of new tokens cut the text; the model did not end it."),
    "max_length": N_("The limit of the whole length cut the text; the model did not end it."),
    "stop_string": N_("A stop text appeared; the model did not end the text."),
    "grammar_end": N_("The document is complete: the grammar allows nothing more."),
    "context_window": N_("The model cannot read further; it did not end the text."),
    "no_candidates": N_("The filters left no token to draw."),
    "cancelled": N_("You stopped the runs; what was drawn is kept."),
    "error": N_("A step failed; what was drawn before is kept."),
}
_ENDS: Mapping[ExpansionEnd, str] = {
    "depth": N_("the depth asked for is reached"),
    "exhausted": N_("every text has ended"),
    "mass": N_("the probability mass asked for is shown"),
    "max_nodes": N_("the limit of nodes is reached"),
    "stopped": N_("a stop rule holds here"),
    "cancelled": N_("stopped by you"),
    "error": N_("an error ended it"),
}


def finish_word(kind: str, *, running: bool) -> str:
    """How a run ended; ``running`` says whether its batch still goes on."""
    return tr(FINISHES["unfinished" if kind == "running" and not running else kind])


def finish_help(kind: str, *, running: bool) -> str:
    """What that end means and what it does not."""
    return tr(_FINISH_HELP["unfinished" if kind == "running" and not running else kind])


def batch_title(name: BatchName, number: int) -> str:
    """A batch in one line of a list."""
    if name.start:
        text = tr("Batch {number}: {runs} runs from “{start}”, seeds from {seed}")
    else:
        text = tr("Batch {number}: {runs} runs from the prompt, seeds from {seed}")
    return text.format(number=number, runs=count(name.plan.runs), start=name.start, seed=name.plan.seed)


def runs_summary(report: SamplesReport, *, running: bool) -> str:
    """How the runs ended, how many texts differ, how long they are."""
    return tr("{runs} runs: {ends} · {texts} distinct texts · mean length {mean:.1f} tokens").format(
        runs=count(len(report.rows)),
        ends=_ends(report, running=running),
        texts=count(report.distinct_texts),
        mean=report.mean_tokens,
    )


def samples_progress(report: SamplesReport) -> str:
    """How far sampled runs are."""
    going, drawn = report.finishes.get("running", 0), sum(row.run.tokens for row in report.rows)
    return tr("Sampling: {done} of {runs} runs finished, {tokens} tokens").format(
        done=count(len(report.rows) - going), runs=count(len(report.rows)), tokens=count(drawn)
    )


def samples_result(report: SamplesReport) -> str:
    """What came of sampled runs; the panel has the rest."""
    return tr("Sampled {runs} runs, {texts} distinct texts: {ends}").format(
        runs=count(len(report.rows)), texts=count(report.distinct_texts), ends=_ends(report, running=False)
    )


def expansion_progress(shown: ExpansionShown) -> str:
    """How far an expansion is."""
    plan = shown.plan
    most = plan.max_nodes if isinstance(plan, BestFirst) else plan.most
    said = tr("Expanding: {count} of {most} nodes").format(count=count(shown.nodes), most=count(most))
    if shown.mass is None or not isinstance(plan, BestFirst) or plan.mass is None:
        return said
    return tr("{nodes}, {mass} of {wanted} of the probability").format(
        nodes=said, mass=percent(shown.mass), wanted=percent(plan.mass)
    )


def expansion_share(shown: ExpansionShown) -> float:
    """How much of the work is done, 0 to 1: by nodes or by mass, whichever is farther."""
    plan = shown.plan
    if isinstance(plan, BestFirst):
        by_mass = 0.0 if plan.mass is None or shown.mass is None else shown.mass / plan.mass
        return min(1.0, max(shown.nodes / plan.max_nodes, by_mass))
    return min(1.0, shown.nodes / plan.most)


def expansion_result(shown: ExpansionShown) -> str:
    """What came of an expansion, and why it ended."""
    why = tr(_ENDS[shown.ended_by]) if shown.ended_by is not None else tr(N_("its nodes were taken back"))
    if shown.unseen is None:
        return tr("Expanded: {count} nodes; {why}").format(count=count(shown.nodes), why=why)
    return tr("Expanded: {count} nodes, unseen from here {unseen}; {why}").format(
        count=count(shown.nodes), why=why, unseen=percent(shown.unseen)
    )


def _ends(report: SamplesReport, *, running: bool) -> str:
    """How many runs ended how, the most frequent first."""
    kinds = sorted(report.finishes.items(), key=lambda item: (-item[1], item[0]))
    return listed([f"{count(number)} × {finish_word(kind, running=running)}" for kind, number in kinds])
