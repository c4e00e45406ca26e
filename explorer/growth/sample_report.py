"""What came of sampled runs: their texts, which of them repeat, how they ended, and how many pass a node."""

from __future__ import annotations

import csv
import heapq
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.caching import cached_property
from explorer.decoding.stopping import StopEvent
from explorer.growth.sample_records import SampleRun
from explorer.text import TokenIds, path_pieces
from explorer.tree import NodeId, TokenTree

if TYPE_CHECKING:  # the window, which shows rows, must not pay for the library
    from explorer.reading import SessionReading

_OPEN_CHARACTER = 8  # tokens before a text that can hold the beginning of its first character; 3 bytes at most


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run with its text, cut before a stop text, and how many runs took exactly the same tokens, itself included."""

    run: SampleRun
    text: str
    repeats: int


@dataclass(frozen=True, slots=True)
class SamplesReport:
    """All runs of a batch. ``finishes`` counts kinds of stop events, ``length`` (the plan's own) and ``running``.

    ``distinct_texts`` counts texts: runs may read the same although their tokens differ. ``mean_tokens`` is 0 for no
    runs.
    """

    rows: tuple[RunRow, ...]
    finishes: Mapping[str, int]
    distinct_texts: int
    mean_tokens: float


def samples_report(session: SessionReading, start: NodeId, runs: Sequence[SampleRun]) -> SamplesReport:
    """What came of runs from ``start`` so far."""
    repeats = Counter(run.end for run in runs)
    texts = texts_of(session, start, runs)
    rows = tuple(RunRow(run, text, repeats[run.end]) for run, text in zip(runs, texts, strict=True))
    return SamplesReport(
        rows,
        Counter(finish_of(run) for run in runs),
        len(set(texts)),
        sum(run.tokens for run in runs) / len(runs) if runs else 0.0,
    )


def texts_of(session: SessionReading, start: NodeId, runs: Sequence[SampleRun]) -> list[str]:
    """The texts of runs from ``start``, each cut before the stop text that ended it."""
    texts = _Texts(session, start)
    known = {run.end: run.stop for run in runs}
    by_end = {end: texts.of(end, stop) for end, stop in known.items()}
    return [by_end[run.end] for run in runs]


def finish_of(run: SampleRun) -> str:
    """The kind of the stop event that ended a run, ``length`` where the plan's own did, ``running`` where none."""
    if run.stop is not None:
        return run.stop.kind
    return "length" if run.cut else "running"


def runs_csv(rows: Iterable[RunRow]) -> str:
    """Runs as CSV with a header line; log-probabilities in nats, in full."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["run", "seed", "tokens", "ended_by", "model_logprob", "sampling_logprob", "same", "text"])
    for row in rows:
        run = row.run
        numbers = (run.number, run.seed, run.tokens, finish_of(run), run.model_logprob, run.sampling_logprob)
        writer.writerow([*numbers, row.repeats, row.text])
    return file.getvalue()


def passes(tree: TokenTree, start: NodeId, runs: Iterable[SampleRun]) -> dict[NodeId, int]:
    """How many runs came through each node below ``start``, or stand there."""
    counts = Counter(run.end for run in runs if run.end != start)
    queue = [-node for node in counts]  # a parent is older than its children, so its id is smaller
    heapq.heapify(queue)
    while queue:
        node = -heapq.heappop(queue)
        parent = tree.node(node).parent
        if parent == start:
            continue
        if parent not in counts:
            heapq.heappush(queue, -parent)
        counts[parent] += counts[node]
    return dict(counts)


def partings(tree: TokenTree, counts: Mapping[NodeId, int], total: int) -> frozenset[NodeId]:
    """The nodes whose count in `passes` is not that of the node before: where some of ``total`` runs went elsewhere,
    or had ended."""
    return frozenset(node for node, count in counts.items() if counts.get(tree.node(node).parent, total) != count)


class _Texts:
    """Texts of paths from one node on."""

    def __init__(self, session: SessionReading, start: NodeId) -> None:
        self._session = session
        self._generated = session.tree.token_ids(start)
        self._open = session.prefix(start)[-_OPEN_CHARACTER:]

    def of(self, end: NodeId, stop: StopEvent | None) -> str:
        """What the tokens from the start to ``end`` add to the text, cut before a stop text."""
        ids = self._session.tree.token_ids(end)[len(self._generated) :]
        text = self._joined(self._open, ids)
        if stop is None or stop.kind != "stop_string":
            return text
        return text[: max(0, stop.particulars["offset"] - self._length_before)]

    @cached_property
    def _length_before(self) -> int:
        """Characters generated before the start: where a stop text stands is counted from the first of them."""
        return len(self._joined(self._session.state.prompt.ids, self._generated))

    def _joined(self, before: TokenIds, ids: TokenIds) -> str:
        pieces = path_pieces(self._session.vocabulary, before + ids)
        return "".join(piece.text for piece in pieces[len(before) :])
