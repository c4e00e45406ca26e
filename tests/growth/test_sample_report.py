"""What came of sampled runs: texts, repeats, how they ended, and how many pass a node."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from explorer.growth import sample_runs
from explorer.growth.sample_records import SampleRun
from explorer.growth.sample_report import RunRow, SamplesReport, finish_of, partings, passes, runs_csv, samples_report
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session
from explorer.tree import ROOT

A, B, C, D, EOS = range(5)


def report_of(session: Session, plan: SamplePlan, start: int = ROOT) -> tuple[tuple[SampleRun, ...], SamplesReport]:
    runs = list(sample_runs(session, plan, start=start))[-1].runs
    return runs, samples_report(session, start, runs)


def test_identical_runs_are_counted(session: Session) -> None:
    runs, report = report_of(session, SamplePlan(50))
    assert [row.run for row in report.rows] == list(runs)
    for row in report.rows:
        assert row.repeats == sum(run.end == row.run.end for run in runs)
        assert row.text == session.view(row.run.end, compute=False).text
    assert report.distinct_texts == len({run.end for run in runs})
    assert report.mean_tokens == pytest.approx(sum(run.tokens for run in runs) / 50)
    assert report.finishes == {"eos": 50}


def test_how_runs_end(session: Session) -> None:
    session.set_settings(session.state.settings.with_stopping(stop_strings=("BD",)))
    runs, report = report_of(session, SamplePlan(40, 0, 2))
    assert set(report.finishes) == {"stop_string", "length"}
    assert sum(report.finishes.values()) == 40
    cut = [row for row in report.rows if row.run.stop is not None]
    assert {row.text for row in cut} == {""}  # cut before the stop text, the token stays in the tree
    assert finish_of(SampleRun(0, 0, ROOT)) == "running"
    assert {finish_of(run) for run in runs} == set(report.finishes)


def test_texts_begin_at_the_start(session: Session) -> None:
    session.set_settings(session.state.settings.with_stopping(stop_strings=("A",)))
    session.pick(B)
    runs, report = report_of(session, SamplePlan(20), start=1)
    assert {row.text for row in report.rows} == {"C<eos>", "D<eos>", "D"}
    assert {finish_of(run) for run in runs} == {"eos", "stop_string"}


def test_a_stop_text_that_began_before_the_start_leaves_nothing(session: Session) -> None:
    session.set_settings(session.state.settings.with_stopping(stop_strings=("BD",)))
    session.pick(B)
    _, report = report_of(session, SamplePlan(9), start=1)
    assert {row.text for row in report.rows if row.run.stop and row.run.stop.kind == "stop_string"} == {""}


def test_a_text_that_begins_inside_a_character(open_workspace: Any) -> None:
    """你 is E4 BD A0: a run from its second token adds the character."""
    workspace = open_workspace(
        vocab=["A", "你", "好", "x", "<eos>"], rows=[], otherwise={"probs": {"你": 0.5, "好": 0.5}}
    )
    pieces = [b"A", b"\xe4\xbd", b"\xa0", b"x", b"<eos>"]
    session = workspace.new_session(workspace.prompt_of_ids((0,)))
    session.vocabulary = type(session.vocabulary)(pieces, {4})
    session.pick(1)
    runs, report = report_of(session, SamplePlan(1, 1, 1), start=1)
    assert session.tree.token_ids(runs[0].end) in {(1, 1), (1, 2)}
    ends = {2: "你", 1: "<0xE4><0xBD>"}
    assert report.rows[0].text == ends[session.tree.token_ids(runs[0].end)[1]]


def test_texts_that_read_the_same_may_be_different_tokens(open_workspace: Any) -> None:
    workspace = open_workspace(
        vocab=["a", "aa", "b", "c", "<eos>"],
        rows=[{"after": [], "probs": {"a": 0.5, "aa": 0.5}}, {"after": ["a"], "probs": {"a": 1}}],
        otherwise={"probs": {"<eos>": 1}},
    )
    session = workspace.new_session(workspace.prompt_of_ids(()))
    runs, report = report_of(session, SamplePlan(20))
    assert len({run.end for run in runs}) == 2
    assert report.distinct_texts == 1


def test_how_many_runs_pass_a_node(session: Session) -> None:
    session.pick(B)
    runs, _ = report_of(session, SamplePlan(30), start=1)
    counts = passes(session.tree, 1, runs)
    expected: dict[int, int] = {}
    for run in runs:
        for node in session.tree.path(run.end):
            if node != 1:
                expected[node] = expected.get(node, 0) + 1
    assert counts == expected
    assert sum(counts.get(child, 0) for child in session.tree.children(1)) == 30
    differs = {node for node in counts if counts.get(session.tree.node(node).parent, 30) != counts[node]}
    assert partings(session.tree, counts, 30) == differs
    assert differs
    assert len(differs) < len(counts)
    assert passes(session.tree, 1, ()) == {}
    assert passes(session.tree, 1, [SampleRun(0, 0, 1)]) == {}


def test_runs_as_csv_read_back() -> None:
    """Commas, quotes, newlines and Chinese are text like any other."""
    text = 'a, "b"\n你好\t'
    row = RunRow(SampleRun(2, 2**63 - 1, 5, 3, -1.0123456789, -0.5, None, True), text, 4)
    (read,) = csv.DictReader(io.StringIO(runs_csv([row]), newline=""))
    assert read == {
        "run": "2",
        "seed": "9223372036854775807",
        "tokens": "3",
        "ended_by": "length",
        "model_logprob": "-1.0123456789",
        "sampling_logprob": "-0.5",
        "same": "4",
        "text": text,
    }
