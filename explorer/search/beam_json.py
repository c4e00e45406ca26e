"""Steps of a beam search as strict JSON, paths by the ids of their nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.decoding.stopping import StopEvent
from explorer.search.beam import BeamStep, Candidate, Hypothesis, Path
from explorer.tree import NodeId


def step_to_json(step: BeamStep, node_of: Callable[[Path], NodeId]) -> dict[str, Any]:
    """Plain JSON values."""
    return {
        "number": step.number,
        "live": [node_of(path) for path in step.live],
        "candidates": [
            {
                "parent": candidate.parent,
                "node": node_of(candidate.path),
                "logprob": candidate.logprob,
                "sum_logprob": candidate.sum_logprob,
                "score": candidate.score,
                "fate": candidate.fate,
                "stop": None if candidate.stop is None else candidate.stop.to_json(),
                "fell_to": None if candidate.fell_to is None else node_of(candidate.fell_to),
            }
            for candidate in step.candidates
        ],
        "pool": [_ending_to_json(ending, node_of) for ending in step.pool],
        "displaced": [_ending_to_json(ending, node_of) for ending in step.displaced],
        "ended_by": step.ended_by,
    }


def step_from_json(data: Mapping[str, Any], path_of: Callable[[NodeId], Path]) -> BeamStep:
    """Inverse of `step_to_json`. Raises KeyError or ValueError for what it did not write."""
    return BeamStep(
        number=data["number"],
        live=tuple(path_of(node) for node in data["live"]),
        candidates=tuple(
            Candidate(
                parent=row["parent"],
                path=path_of(row["node"]),
                logprob=row["logprob"],
                sum_logprob=row["sum_logprob"],
                score=row["score"],
                fate=row["fate"],
                stop=None if row["stop"] is None else StopEvent.from_json(row["stop"]),
                fell_to=None if row["fell_to"] is None else path_of(row["fell_to"]),
            )
            for row in data["candidates"]
        ),
        pool=tuple(_ending_from_json(row, path_of) for row in data["pool"]),
        displaced=tuple(_ending_from_json(row, path_of) for row in data["displaced"]),
        ended_by=data["ended_by"],
    )


def _ending_to_json(ending: Hypothesis, node_of: Callable[[Path], NodeId]) -> dict[str, Any]:
    return {
        "node": node_of(ending.path),
        "sum_logprob": ending.sum_logprob,
        "score": ending.score,
        "stop": ending.stop.to_json(),
        "step": ending.step,
    }


def _ending_from_json(row: Mapping[str, Any], path_of: Callable[[NodeId], Path]) -> Hypothesis:
    return Hypothesis(
        path=path_of(row["node"]),
        sum_logprob=row["sum_logprob"],
        score=row["score"],
        stop=StopEvent.from_json(row["stop"]),
        step=row["step"],
    )
