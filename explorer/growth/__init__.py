"""Growing a session's tree by many nodes at once: expansion, beam search, sampled runs and given texts, saved round by
round, one gesture each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from explorer.growth.beams import BeamProgress, BeamRun, beam_runs, search_beams
    from explorer.growth.expansion import ExpansionRound, expand
    from explorer.growth.queries import QueryProgress, QueryRecord, query, query_records
    from explorer.growth.sample_records import SampleBatch, SampleRun, sample_runs_of
    from explorer.growth.sample_report import (
        RunRow,
        SamplesReport,
        finish_of,
        partings,
        passes,
        runs_csv,
        samples_report,
    )
    from explorer.growth.samples import RunsTask, SampleProgress, draw_runs, sample_runs
    from explorer.growth.texts import ScoreProgress, score_text, scored_texts

__all__ = [
    "BeamProgress",
    "BeamRun",
    "ExpansionRound",
    "QueryProgress",
    "QueryRecord",
    "RunRow",
    "RunsTask",
    "SampleBatch",
    "SampleProgress",
    "SampleRun",
    "SamplesReport",
    "ScoreProgress",
    "beam_runs",
    "draw_runs",
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
    "score_text",
    "scored_texts",
    "search_beams",
]

_HOMES: Final = {
    "beams": ("BeamProgress", "BeamRun", "beam_runs", "search_beams"),
    "expansion": ("ExpansionRound", "expand"),
    "queries": ("QueryProgress", "QueryRecord", "query", "query_records"),
    "sample_records": ("SampleBatch", "SampleRun", "sample_runs_of"),
    "sample_report": ("RunRow", "SamplesReport", "finish_of", "partings", "passes", "runs_csv", "samples_report"),
    "samples": ("RunsTask", "SampleProgress", "draw_runs", "sample_runs"),
    "texts": ("ScoreProgress", "score_text", "scored_texts"),
}


def __getattr__(name: str) -> Any:
    # The window shows values of some of these modules; others bring the session and SQLAlchemy, half a second.
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"explorer.growth.{module}"), name)
    raise AttributeError(name)
