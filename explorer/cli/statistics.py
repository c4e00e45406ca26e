"""``token-tree stats``: many seeded runs under one or more configurations, and what may be said about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from explorer.cli.configurations import configurations
from explorer.cli.console import note, print_facts, print_json, print_message, print_table
from explorer.cli.decoding import RUN_LIMIT
from explorer.cli.desk import Desk, open_desk
from explorer.cli.exits import ERROR, INTERRUPTED
from explorer.cli.groups import OptionGroup, bad_argument, option, takes
from explorer.cli.options import HARDWARE, JSON, LIBRARY, MODEL, PROMPT, Hardware, PromptChoice
from explorer.cli.sessions import SESSION
from explorer.cli.settings import SETTINGS, SettingsChoice
from explorer.decoding.choice import MAX_SEED
from explorer.decoding.params import Settings
from explorer.i18n import N_, tr
from explorer.messages import EngineError, UserMessage
from explorer.models.base import ModelRef
from explorer.progress import Progress
from explorer.search.sample_plans import MOST_RUNS, SamplePlan
from explorer.session import Session
from explorer.studies.checks import TextCheck
from explorer.studies.clusters import Cluster, clusters_of
from explorer.studies.files import figures_csv, report_document, study_runs_csv
from explorer.studies.measures import MEASURES_BY_NAME
from explorer.studies.plan import StudyPlan
from explorer.studies.records import Study, studies_of
from explorer.studies.report import StudyReport, study_report
from explorer.studies.running import StudyProgress, resume_study, run_study
from explorer.studies.wording import caution, difference_words, verdict_word
from explorer.tree import ROOT

stats = typer.Typer(help=N_("Statistics of many seeded runs, and what they show."), no_args_is_help=True)

_SHOWN_CLUSTERS = 20  # the document has all of them
_RUNS = Annotated[int, typer.Option("--runs", min=1, max=MOST_RUNS, help=N_("Runs of each configuration."))]
_SEED = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        max=MAX_SEED,
        help=N_("The seed of the first run; each further one takes the next, the same in all configurations."),
    ),
]
_WITH = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NAME:OPTIONS",
        help=N_(
            "A configuration to compare: a name, a colon, and options for settings, which go over those of the command "
            "itself; repeat for several."
        ),
    ),
]
_REFERENCE = Annotated[
    str | None,
    typer.Option("--reference", help=N_("The configuration the others are compared with; the first unless set.")),
]
_STUDY = Annotated[
    int | None, typer.Option("--study", help=N_("Which statistics of the session; the last ones unless set."))
]
_FIGURES = Annotated[Path | None, typer.Option("--csv", help=N_("Write the table of figures to this file."))]
_TEXTS = Annotated[Path | None, typer.Option("--runs-csv", help=N_("Write a line for every run to this file."))]


def _check(values: Any) -> TextCheck | None:
    given = [(kind, value) for kind, value in values.items() if value not in (None, False)]
    if len(given) > 1:
        raise bad_argument(
            N_("More than one check was asked for."),
            N_("Use one of --check-json, --check-regex, --check-exact and --check-contains."),
        )
    return None if not given else TextCheck(given[0][0], "" if given[0][0] == "json" else given[0][1])


CHECK: OptionGroup[TextCheck | None] = OptionGroup(
    (
        option("check_json", bool, "--check-json", N_("Count the texts that are valid JSON."), False),
        option("check_regex", str | None, "--check-regex", N_("Count the texts in which this pattern is found.")),
        option("check_exact", str | None, "--check-exact", N_("Count the texts that are exactly this.")),
        option("check_contains", str | None, "--check-contains", N_("Count the texts that contain this.")),
    ),
    lambda values: _check({name.removeprefix("check_"): value for name, value in values.items()}),
)


@stats.command("run", help=N_("Draw the runs from a prompt and say what came of them."))
@takes(model=MODEL, library=LIBRARY, prompt=PROMPT, settings=SETTINGS, check=CHECK, json=JSON)
def run_command(
    model: ModelRef,
    library: Path,
    prompt: PromptChoice,
    settings: SettingsChoice,
    check: TextCheck | None,
    json: bool,
    runs: _RUNS = 100,
    seed: _SEED = 0,
    others: _WITH = None,
    reference: _REFERENCE = None,
    figures: _FIGURES = None,
    texts: _TEXTS = None,
) -> None:
    """Every step is in the library before the next is computed; what is missing can be drawn later."""
    sample = SamplePlan(runs, seed)
    _place(StudyPlan(configurations(others or (), Settings()), sample, check), reference)  # before a model is loaded
    with open_desk(library) as desk:
        desk.load(model)
        session = desk.new_session(prompt, settings, limit=RUN_LIMIT)
        plan = StudyPlan(configurations(others or (), session.state.settings), sample, check)
        work = run_study(session, plan, start=ROOT, origin="cli", cancel=desk.cancel)
        _conclude(desk, session, work, None, reference, None, json, figures, texts)


@stats.command("resume", help=N_("Draw the runs that are missing of statistics that were stopped."))
@takes(hardware=HARDWARE, library=LIBRARY, json=JSON)
def resume_command(
    session: SESSION,
    hardware: Hardware,
    library: Path,
    json: bool,
    study: _STUDY = None,
    reference: _REFERENCE = None,
    figures: _FIGURES = None,
    texts: _TEXTS = None,
) -> None:
    """In the end they are as if they had been drawn at once."""
    with open_desk(library) as desk:
        opened = desk.workspace.open_session(session)
        known = _chosen(opened, study)
        _place(known.plan, reference)
        ref = desk.workspace.model_ref_of(opened)
        desk.load(replace(ref, device=hardware.device, dtype=hardware.dtype, threads=hardware.threads))
        work = resume_study(opened, known.id, origin="cli", cancel=desk.cancel)
        _conclude(desk, opened, work, known, reference, None, json, figures, texts)


@stats.command("show", help=N_("Say what came of the statistics of a stored session."))
@takes(library=LIBRARY, check=CHECK, json=JSON)
def show_command(
    session: SESSION,
    library: Path,
    check: TextCheck | None,
    json: bool,
    study: _STUDY = None,
    reference: _REFERENCE = None,
    figures: _FIGURES = None,
    texts: _TEXTS = None,
) -> None:
    """The model is not needed; another check may be asked of the same runs."""
    with open_desk(library) as desk:
        opened = desk.workspace.open_session(session)
        known = _chosen(opened, study)
        _place(known.plan, reference)
        _conclude(desk, opened, iter(()), known, reference, check, json, figures, texts)


# --- working ----------------------------------------------------------------------------------------------------------


def _chosen(session: Session, study_id: int | None) -> Study:
    """Raises `ArgumentError` where there is none."""
    found = studies_of(session.commands)
    wanted = [study for study in found if study_id in (None, study.id)]
    if not wanted:
        raise bad_argument(
            N_("Session {session} has no such statistics; it has: {known}."),
            N_("Draw some with: token-tree stats run."),
            session=session.id,
            known=", ".join(str(study.id) for study in found) or "–",
        )
    return wanted[-1]


def _place(plan: StudyPlan, name: str | None) -> int:
    """The place of the reference. Raises `ArgumentError`."""
    names = [one.name for one in plan.configurations]
    if name is not None and name not in names:
        raise bad_argument(
            N_("There is no configuration {name}."),
            N_("Use one of these: {names}."),
            name=name,
            names=", ".join(names),
        )
    return 0 if name is None else names.index(name)


def _conclude(
    desk: Desk,
    session: Session,
    work: Iterator[StudyProgress],
    study: Study | None,
    reference: str | None,
    check: TextCheck | None,
    json: bool,
    figures: Path | None,
    texts: Path | None,
) -> None:
    """Do the work, say what came of it, and leave with the exit code that goes with its end."""
    last: StudyProgress | None = None
    failed = False
    try:
        for last in work:
            study = last.study
            _report_progress(desk, study)
    except EngineError as error:
        if study is None:  # nothing was begun
            raise
        print_message(error.message)
        failed = True
    assert study is not None  # the work begins with one
    report = study_report(session, study, reference=_place(study.plan, reference), check=check)
    clusters = clusters_of(session, study)
    document = {"session": session.id, "finished": study.finished, **report_document(report, clusters)}
    unsaved = session.save_error if session.unsaved else None
    for path, text in ((figures, figures_csv(report)), (texts, study_runs_csv(report))):
        if path is not None:
            _write(path, text)
    if json:
        print_json(document)
    else:
        _print(report, clusters, session)
    if unsaved is not None:
        print_message(unsaved)
    if last is not None and last.ended_by == "cancelled":
        raise typer.Exit(INTERRUPTED)
    if failed or unsaved is not None:
        raise typer.Exit(ERROR)


def _report_progress(desk: Desk, study: Study) -> None:
    total = study.plan.runs * len(study.plan.configurations)
    desk.progress(Progress(N_("Running"), total - study.left(), total, "runs"))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        print_message(
            UserMessage(
                "statistics.file",
                N_("The file {path} could not be written: {problem}."),
                N_("The runs are in the library."),
                N_("Write them elsewhere with: token-tree stats show."),
                {"path": path, "problem": error.strerror or str(error)},
            )
        )
        raise typer.Exit(ERROR) from error


# --- what is printed --------------------------------------------------------------------------------------------------


def _print(report: StudyReport, clusters: tuple[Cluster, ...], session: Session) -> None:
    headers = [tr(N_("configuration")), tr(N_("figure")), tr(N_("mean")), tr(N_("from")), tr(N_("to")), tr(N_("runs"))]
    headers += [tr(N_("difference")), tr(N_("from")), tr(N_("to")), ""]
    print_table(headers, [row for place in range(len(report.configurations)) for row in _figure_rows(report, place)])
    for one in report.configurations:
        ends = ", ".join(f"{kind} {share.value:.0%}" for kind, share in one.finishes.items())
        speed = one.tokens / one.seconds if one.seconds else 0.0
        facts = tr(N_("{name}: {runs} runs, {left} not finished; {texts} distinct texts; {speed:.0f} tokens a second"))
        note(
            facts.format(name=one.name, runs=len(one.runs), left=one.left, texts=one.distinct_texts, speed=speed)
            + (f"; {ends}" if ends else "")
        )
    _print_clusters(clusters, session)
    for place, one in enumerate(report.configurations):
        if place != report.reference:
            note(f"{one.name}: {difference_words(report, one)}")
    note(caution(report))
    print_facts({tr(N_("session")): session.id, tr(N_("study")): report.study.id})


def _figure_rows(report: StudyReport, place: int) -> list[list[Any]]:
    one = report.configurations[place]
    differences = {difference.measure: difference for difference in one.differences}
    rows: list[list[Any]] = []
    for name, estimate in one.estimates.items():
        low, high = (None, None) if estimate.interval is None else (estimate.interval.low, estimate.interval.high)
        row = [one.name, tr(MEASURES_BY_NAME[name].label), estimate.value, low, high, estimate.count]
        difference = differences.get(name)
        if difference is None:
            rows.append([*row, None, None, None, ""])
        else:
            wide = difference.wide
            ends = (None, None) if wide is None else (wide.low, wide.high)
            rows.append([*row, difference.value, *ends, verdict_word(difference)])
    return rows


def _print_clusters(clusters: tuple[Cluster, ...], session: Session) -> None:
    if not clusters:
        return
    headers = [tr(N_("node")), tr(N_("runs")), tr(N_("by configuration")), tr(N_("common beginning"))]
    rows = [
        [one.node, one.count, " / ".join(map(str, one.counts)), "  " * one.level + repr(one.text)]
        for one in clusters[:_SHOWN_CLUSTERS]
    ]
    print_table(headers, rows)
