"""Growing a session's tree by many nodes at once: expansion, beam search and sampled runs, saved round by round, one
gesture each."""

from explorer.growth.beams import BeamProgress, BeamRun, beam_runs, search_beams
from explorer.growth.expansion import ExpansionRound, expand
from explorer.growth.queries import QueryProgress, QueryRecord, query, query_records
from explorer.growth.sample_records import SampleBatch, SampleRun, sample_runs_of
from explorer.growth.sample_report import RunRow, SamplesReport, finish_of, partings, passes, runs_csv, samples_report
from explorer.growth.samples import SampleProgress, sample_runs

__all__ = [
    "BeamProgress",
    "BeamRun",
    "ExpansionRound",
    "QueryProgress",
    "QueryRecord",
    "RunRow",
    "SampleBatch",
    "SampleProgress",
    "SampleRun",
    "SamplesReport",
    "beam_runs",
    "expand",
    "finish_of",
    "partings",
    "passes",
    "query",
    "query_records",
    "runs_csv",
    "sample_runs",
    "sample_runs_of",
    "samples_report",
    "search_beams",
]
