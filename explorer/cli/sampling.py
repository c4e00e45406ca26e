"""``token-tree run --choose sample --runs N``: many seeded runs from one prompt, a step of all of them at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.cli.console import note, print_facts, print_message, print_table
from explorer.cli.desk import Desk
from explorer.cli.documents import Document, run_document
from explorer.growth import SampleProgress, SampleRun, SamplesReport, finish_of, sample_runs, samples_report
from explorer.i18n import N_, tr
from explorer.messages import EngineError
from explorer.progress import Progress
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session
from explorer.store.records import StepRecord
from explorer.tree import ROOT


@dataclass(slots=True)
class Sampled:
    """Runs from the prompt as they stand, with their steps by seed; ``failed`` where the engine ended them."""

    runs: tuple[SampleRun, ...] = ()
    steps: dict[int, list[StepRecord]] = field(default_factory=dict)
    failed: bool = False

    @property
    def cancelled(self) -> bool:
        return any(run.stop is not None and run.stop.kind == "cancelled" for run in self.runs)


def sample_all(desk: Desk, session: Session, plan: SamplePlan) -> Sampled:
    """Draw all runs of a plan from the prompt; an engine error is said on standard error."""
    sampled = Sampled()
    limit = session.state.settings.stopping.max_new_tokens
    total = None if limit is None else plan.runs * limit
    try:
        for step in sample_runs(session, plan, start=ROOT, origin="cli", cancel=desk.cancel):
            _take(sampled, session, step)
            drawn = sum(run.tokens for run in step.runs)
            desk.progress(Progress(N_("Running"), drawn, total, "tokens"))
    except EngineError as error:
        sampled.failed = True
        print_message(error.message)
    return sampled


def sampled_document(session: Session, sampled: Sampled) -> Document:
    """Every run as `run_document` has it, with the ``seed`` it drew with from draw index 0 on."""
    return {
        "session": session.id,
        "runs": [
            {"seed": run.seed, **run_document(session, sampled.steps.get(run.seed, ()), run.end, run.stop)}
            for run in sampled.runs
        ],
    }


def print_sampled(report: SamplesReport, session_id: int | None) -> None:
    """A line a run, and what they have in common."""
    headers = ["seed", tr(N_("tokens")), tr(N_("ended by")), tr(N_("model")), tr(N_("sampling")), tr(N_("same"))]
    rows = [
        [
            row.run.seed,
            row.run.tokens,
            finish_of(row.run),
            row.run.model_logprob,
            row.run.sampling_logprob,
            row.repeats,
            row.text,
        ]
        for row in report.rows
    ]
    print_table([*headers, tr(N_("text"))], rows)
    note(tr(N_("Log probabilities in nats; “same” counts runs of exactly these tokens.")))
    finishes = ", ".join(f"{kind} {count}" for kind, count in sorted(report.finishes.items()))
    print_facts(
        {
            tr(N_("ended by")): finishes,
            tr(N_("distinct texts")): report.distinct_texts,
            tr(N_("mean length in tokens")): report.mean_tokens,
            tr(N_("session")): session_id,
        }
    )


def report_of(session: Session, sampled: Sampled) -> SamplesReport:
    """What came of the runs."""
    return samples_report(session, ROOT, sampled.runs)


def _take(sampled: Sampled, session: Session, step: SampleProgress) -> None:
    sampled.runs = step.runs
    for record in session.commands[-1].steps:
        assert record.seed is not None  # every one of them was drawn
        sampled.steps.setdefault(record.seed, []).append(record)
