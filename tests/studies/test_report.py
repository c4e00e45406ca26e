"""What a study says: figures with their intervals, differences only where the intervals show them, and files."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from table_sessions import EOS_TREE, TableEngine

from explorer.i18n import set_language
from explorer.models.table_model import TableModel
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session
from explorer.studies.checks import TextCheck
from explorer.studies.clusters import clusters_of
from explorer.studies.files import figures_csv, report_document, study_runs_csv
from explorer.studies.intervals import bootstrap_mean, wilson
from explorer.studies.plan import Configuration, StudyPlan
from explorer.studies.records import Study
from explorer.studies.report import ConfigurationReport, Difference, StudyReport, study_report
from explorer.studies.running import run_study
from explorer.studies.wording import caution, difference_words, verdict_word
from explorer.workspace import Workspace

LOOP: dict[str, Any] = {
    "rows": [
        {"after": [], "probs": {"A": 0.55, "B": 0.45}},
        {"after": ["A"], "probs": {"A": 0.9, "<eos>": 0.1}},
        {"after": ["B"], "probs": {"C": 0.5, "D": 0.5}},
    ],
    "otherwise": {"probs": {"A": 0.8, "C": 0.1, "<eos>": 0.1}},
}


def drawn(session: Session, runs: int = 40, check: TextCheck | None = None, **other: Any) -> Study:
    """Two configurations: the session's own, and one with ``other`` filters."""
    plain = session.state.settings
    names = (Configuration("plain", plain), Configuration("other", plain.with_sampling(**other)))
    return list(run_study(session, StudyPlan(names, SamplePlan(runs, 3), check)))[-1].study


@pytest.fixture
def looping(open_workspace: Any) -> Session:
    workspace = open_workspace(**LOOP)
    session: Session = workspace.new_session(workspace.prompt_of_ids(()))
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=12))
    return session


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Study, StudyReport]]:
    """40 runs of the loop's table against always its best token, and what came of them; many tests only look at it."""
    engine = TableEngine(TableModel.from_json({**EOS_TREE, **LOOP}, source="table:loop"))
    workspace = Workspace(tmp_path_factory.mktemp("study") / "library.sqlite", engine)
    session = workspace.new_session(workspace.prompt_of_ids(()))
    session.set_settings(session.state.settings.with_stopping(max_new_tokens=12))
    study = drawn(session, check=TextCheck("contains", "AAAA"), top_k=1)
    yield session, study, study_report(session, study)
    workspace.close()


def by_name(one: ConfigurationReport) -> dict[str, Difference]:
    return {difference.measure: difference for difference in one.differences}


def test_figures_are_those_of_the_runs(compared: tuple[Session, Study, StudyReport]) -> None:
    looping, study, report = compared
    plain, greedy = report.configurations
    texts = [looping.vocabulary.decode(looping.tree.token_ids(run.end)) for run in study.runs[0]]
    lengths = np.array([run.tokens for run in study.runs[0]], float)
    assert plain.estimates["tokens"].value == lengths.mean()
    assert plain.estimates["tokens"].interval == bootstrap_mean(lengths, seed=3)
    assert plain.tokens == lengths.sum()
    hits = sum("AAAA" in text for text in texts)
    assert plain.estimates["passes"].value == hits / 40
    assert plain.estimates["passes"].interval == wilson(hits, 40)
    finishes = Counter(run.stop.kind for run in study.runs[0] if run.stop is not None)
    assert {kind: round(one.value * 40) for kind, one in plain.finishes.items()} == dict(finishes)
    assert plain.estimates["ended_itself"].value == finishes["eos"] / 40
    assert list(plain.finishes) == [kind for kind, _ in finishes.most_common()]
    assert plain.distinct_texts == len(set(texts))
    mean = np.mean([run.model_logprob / run.tokens for run in study.runs[0]])
    assert plain.estimates["model_logprob_per_token"].value == pytest.approx(mean)
    assert (greedy.distinct_texts, greedy.estimates["sampling_logprob"].value) == (1, 0)
    assert greedy.estimates["looping"].value == 1
    assert greedy.loop_periods == {1: 40}
    assert (greedy.finishes["eos"].value, greedy.finishes["eos"].interval) == (0, wilson(0, 40))  # others have it
    assert greedy.estimates["distinct_1"].value == 1 / 12
    assert greedy.estimates["repeated_4"].value == pytest.approx(8 / 9)


def test_an_end_token_is_no_part_of_the_text(compared: tuple[Session, Study, StudyReport]) -> None:
    """Else no text that the model ended would be valid JSON, or exactly what was asked for."""
    session, study, report = compared
    ended = [run for one in report.configurations for run in one.runs if run.finish == "eos"]
    assert ended
    assert not any("<eos>" in run.text for run in ended)
    answers = study_report(session, study, check=TextCheck("exact", ended[0].text)).configurations
    assert sum(run.passes is True for one in answers for run in one.runs) >= 1


def test_a_difference_that_is_there_is_said(compared: tuple[Session, Study, StudyReport]) -> None:
    _, _, report = compared
    differences = by_name(report.configurations[1])
    assert differences["looping"].verdict == "higher"
    assert differences["distinct_2"].verdict == "lower"
    for difference in differences.values():
        assert difference.count <= 40
        assert difference.interval is not None
        assert difference.wide is not None
        assert difference.wide.low <= difference.interval.low <= difference.interval.high <= difference.wide.high
        if difference.verdict != "open":
            assert not difference.interval.holds(0)
    said = difference_words(report, report.configurations[1])
    assert "Higher than “plain”" in said
    assert "Ends in a loop" in said
    assert "Only" not in said


def test_what_the_intervals_do_not_show_is_not_claimed(looping: Session) -> None:
    """The same settings under two names, and the same seeds: not one difference."""
    report = study_report(looping, drawn(looping, 20))
    (first, second) = report.configurations
    assert {difference.verdict for difference in second.differences} == {"open"}
    assert first.differences == ()
    said = difference_words(report, second)
    assert said.startswith("Not distinguishable from “plain” with these runs")
    assert "igher" not in said
    assert "Lower" not in said


def test_several_comparisons_ask_for_more(looping: Session) -> None:
    """Bonferroni: each of so many differences is judged at a level at which all of them hold together."""
    report = study_report(looping, drawn(looping, 20, top_p=0.95))
    assert report.comparisons == len(report.configurations[1].differences) > 5
    assert report.wide_level == pytest.approx(1 - 0.05 / report.comparisons)
    assert str(report.comparisons) in caution(report)
    assert "Bonferroni" in caution(report)


def test_chance_alone_is_hardly_ever_called_a_difference(looping: Session) -> None:
    """Other seeds, the same settings: 4 tries with a dozen measures each, at most one claimed (5 % of tries)."""
    claimed = 0
    plain = looping.state.settings
    for first in range(0, 400, 100):
        studies = [
            list(run_study(looping, StudyPlan((Configuration("x", plain),), SamplePlan(20, first + 50 * side))))[
                -1
            ].study
            for side in (0, 1)
        ]
        plan = StudyPlan((Configuration("x", plain), Configuration("y", plain)), SamplePlan(20, first))
        both = Study(0, 0, plan, (studies[0].runs[0], studies[1].runs[0]), (0.0, 0.0))
        report = study_report(looping, both)
        claimed += any(difference.verdict in ("higher", "lower") for difference in report.configurations[1].differences)
    assert claimed <= 1


def test_too_few_runs_say_nothing(looping: Session) -> None:
    report = study_report(looping, drawn(looping, 5, top_k=1))
    assert {difference.verdict for difference in report.configurations[1].differences} == {"few"}
    assert difference_words(report, report.configurations[1]).startswith("Only 5 pairs")
    assert verdict_word(report.configurations[1].differences[0]) == "too few runs"


def test_the_same_runs_say_the_same(compared: tuple[Session, Study, StudyReport]) -> None:
    session, study, report = compared
    assert report_document(study_report(session, study)) == report_document(report)


def test_unfinished_runs_count_nowhere(looping: Session) -> None:
    work = run_study(looping, StudyPlan((Configuration("x", looping.state.settings),), SamplePlan(30)))
    study = [next(work) for _ in range(4)][-1].study
    (one,) = study_report(looping, study).configurations
    ended = [run for run in study.runs[0] if run.finished]
    assert 0 < len(ended) < 30
    assert (len(one.runs), one.left) == (len(ended), 30 - len(ended))
    assert one.tokens == sum(run.tokens for run in ended)
    work.close()
    (nothing,) = study_report(looping, Study.begun(1, 0, study.plan)).configurations
    assert (nothing.runs, nothing.left, dict(nothing.estimates)) == ((), 30, {})


def test_another_reference_turns_the_differences(compared: tuple[Session, Study, StudyReport]) -> None:
    session, study, report = compared
    there = by_name(report.configurations[1])
    back = by_name(study_report(session, study, reference=1).configurations[0])
    for name, difference in there.items():
        assert back[name].value == pytest.approx(-difference.value)
    assert {there["looping"].verdict, back["looping"].verdict} == {"higher", "lower"}


def test_a_check_can_be_asked_afterwards(compared: tuple[Session, Study, StudyReport]) -> None:
    looping, study, _ = compared
    report = study_report(looping, study, check=TextCheck("regex", "^B"))
    share = report.configurations[0].estimates["passes"].value
    assert share == sum(looping.tree.token_ids(run.end)[0] == 1 for run in study.runs[0]) / 40


# --- common beginnings ------------------------------------------------------------------------------------------------


def test_clusters_count_the_runs_of_each_beginning(compared: tuple[Session, Study, StudyReport]) -> None:
    looping, study, _ = compared
    clusters = clusters_of(looping, study)
    paths = [[looping.tree.token_ids(run.end) for run in runs] for runs in study.runs]
    for cluster in clusters:
        beginning = looping.tree.token_ids(cluster.node)
        expected = tuple(sum(path[: len(beginning)] == beginning for path in each) for each in paths)
        assert cluster.counts == expected
        assert cluster.count > 1
        assert cluster.tokens == len(beginning)
        assert cluster.ended == sum(path == beginning for each in paths for path in each)
        longer = {path[: len(beginning) + 1] for each in paths for path in each if path[: len(beginning)] == beginning}
        assert cluster.ended or len(longer) > 1  # else it would not end here
    tops = [cluster for cluster in clusters if cluster.level == 0]
    assert [cluster.count for cluster in tops] == sorted((cluster.count for cluster in tops), reverse=True)
    assert sum(cluster.count for cluster in tops) == 80
    assert clusters[0].text.startswith("A")


def test_a_text_of_a_cluster_goes_on_from_the_one_above(compared: tuple[Session, Study, StudyReport]) -> None:
    looping, study, _ = compared
    above: list[str] = []
    for cluster in clusters_of(looping, study):
        above = [*above[: cluster.level], cluster.text]
        pieces = "".join(looping.vocabulary.label(token) for token in looping.tree.token_ids(cluster.node))
        assert "".join(above).replace("<eos>", "") == pieces.replace("<eos>", "")


def test_only_the_commonest_clusters_are_listed(compared: tuple[Session, Study, StudyReport]) -> None:
    looping, study, _ = compared
    every, few = clusters_of(looping, study), clusters_of(looping, study, most=3)
    assert len(few) <= 3 < len(every)
    assert few[0] == every[0]


# --- files ------------------------------------------------------------------------------------------------------------


def test_the_document_is_strict_json_with_all_of_it(compared: tuple[Session, Study, StudyReport]) -> None:
    looping, study, report = compared
    document = json.loads(json.dumps(report_document(report, clusters_of(looping, study)), allow_nan=False))
    assert document["plan"] == study.plan.to_json()
    assert [one["name"] for one in document["configurations"]] == ["plain", "other"]
    assert [run["seed"] for run in document["configurations"][0]["runs"]] == list(range(3, 43))
    assert document["configurations"][1]["differences"]["looping"]["verdict"] == "higher"
    assert document["clusters"][0]["counts"][1] == 40
    assert StudyPlan.from_json(document["plan"]) == study.plan


def test_tables_have_a_line_for_every_figure_and_every_run(compared: tuple[Session, Study, StudyReport]) -> None:
    _, _, report = compared
    figures = list(csv.DictReader(io.StringIO(figures_csv(report))))
    shares = sum(len(one.finishes) for one in report.configurations)
    assert len(figures) == sum(len(one.estimates) for one in report.configurations) + shares
    loop = next(row for row in figures if (row["configuration"], row["figure"]) == ("other", "looping"))
    assert (float(loop["value"]), loop["runs"], loop["verdict"]) == (1.0, "40", "higher")
    runs = list(csv.DictReader(io.StringIO(study_runs_csv(report))))
    assert len(runs) == 80
    assert [int(row["seed"]) for row in runs[:40]] == list(range(3, 43))
    assert runs[50]["text"] == "A" * 12


def test_the_words_are_said_in_chinese_too(compared: tuple[Session, Study, StudyReport]) -> None:
    """Nothing is left in pieces: every placeholder is filled."""
    _, _, report = compared
    set_language("zh_CN")
    try:
        said = [caution(report), *(difference_words(report, one) for one in report.configurations)]
    finally:
        set_language("en")
    assert all("{" not in text and text for text in said)
