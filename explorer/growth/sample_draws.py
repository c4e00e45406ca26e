"""One token for every sampled run: the logits of a step in one call of the engine, and what is drawn from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from explorer.decoding.choice import draw, draw_uniform
from explorer.decoding.foresight import foreseen_token
from explorer.decoding.logits import FloatArray, Observation, SortedLogits
from explorer.decoding.pipeline import evaluate
from explorer.decoding.stopping import StopEvent, no_candidates_event
from explorer.growth.sample_records import SampleRun
from explorer.progress import CancelToken, ProgressCallback
from explorer.session import Session, edge_of
from explorer.store.records import SessionState
from explorer.text import TokenIds
from explorer.tree import Edge, NodeId

CALL_BYTES: Final = 128 * 2**20  # of float32 logits asked for at once: 682 prefixes of 49 152, 128 of 262 144
_MOST_WORKERS: Final = 4
_SHARED: Final = 2  # where so many runs stand at each node the engine has little to do, and foresight costs more

# Runs that go on, by the node where they stand.
Live = Mapping[NodeId, Sequence[SampleRun]]


@dataclass(frozen=True, slots=True, eq=False)
class NodeDraws:
    """What comes of one node: tokens by the numbers of the runs there, or what ends them all; and what was seen."""

    node: NodeId
    tokens: dict[int, tuple[int, Edge]]
    blocked: StopEvent | None = None
    observation: Observation | None = None


class RunDraws:
    """Draws step after step of one batch; changes nothing. The engine hears early what the next step will ask for."""

    def __init__(
        self,
        session: Session,
        state: SessionState,
        length: int | None,
        stop_after: Callable[[TokenIds], StopEvent | None],
    ) -> None:
        """Under the settings of ``state``; runs end after ``length`` tokens and where ``stop_after`` says so."""
        self._session = session
        self._state = state
        self._length = length
        self._stop_after = stop_after
        self._most = max(1, CALL_BYTES // (4 * session.model.vocab_size))

    def step(
        self,
        live: Live,
        paths: Mapping[NodeId, TokenIds],
        progress: ProgressCallback | None,
        cancel: CancelToken | None,
    ) -> list[NodeDraws]:
        """One token for each run; ``paths`` are the generated tokens at the nodes.

        Raises `Cancelled`, `EngineError`.
        """
        drawn: list[NodeDraws] = []
        # Meanwhile nothing else is to be done, and numpy lets other threads run.
        with ThreadPoolExecutor(min(_MOST_WORKERS, len(live), os.cpu_count() or 1)) as pool:
            for nodes, logits in self._logits(live, paths, progress, cancel):

                def work(node: NodeId, here: FloatArray | SortedLogits) -> NodeDraws:
                    if cancel is not None:
                        cancel.raise_if_cancelled()
                    return self._draw(node, paths[node], here, live[node])

                drawn += pool.map(work, nodes, logits)
        return drawn

    def _logits(
        self,
        live: Live,
        paths: Mapping[NodeId, TokenIds],
        progress: ProgressCallback | None,
        cancel: CancelToken | None,
    ) -> Iterator[tuple[Sequence[NodeId], Sequence[FloatArray | SortedLogits]]]:
        """The logits at nodes, in parts that fit in memory; what is at hand is not asked for."""
        session = self._session
        session.require_live()
        known = {node: logits for node in live if (logits := session.known_logits(node)) is not None}
        if known:
            yield list(known), list(known.values())
        nodes = [node for node in live if node not in known]
        for first in range(0, len(nodes), self._most):
            part = nodes[first : first + self._most]
            rows = session.logits_after([paths[node] for node in part], progress=progress, cancel=cancel)
            if len(part) == len(live):
                self._announce(dict(zip(part, rows, strict=True)), live, paths)
            yield part, list(rows)

    def _announce(self, rows: Mapping[NodeId, FloatArray], live: Live, paths: Mapping[NodeId, TokenIds]) -> None:
        """Tell the engine what the next step will ask for, where all draws of this one can be foreseen.

        It then computes while this step is worked out and saved; a wrong guess costs it one node in vain.
        """
        if sum(map(len, live.values())) > _SHARED * len(live):
            return
        sampling, after = self._state.settings.sampling, set()
        for node, raw in rows.items():
            context = self._session.context_after(paths[node], self._state.settings)
            for run in live[node]:
                token = foreseen_token(raw, sampling, context, draw_uniform(run.seed, run.tokens))
                if token is None:
                    return
                path = (*paths[node], token)
                if run.tokens + 1 != self._length and self._stop_after(path) is None:
                    after.add(path)
        self._session.expect_after(sorted(after)[: self._most])

    def _draw(
        self, node: NodeId, path: TokenIds, here: FloatArray | SortedLogits, runs: Sequence[SampleRun]
    ) -> NodeDraws:
        """Draw at one node as `Session.step_draw` does. A pure function of it, asked from any thread."""
        session, settings = self._session, self._state.settings
        logits = (
            here if isinstance(here, SortedLogits) else SortedLogits.from_raw(here, session.model.environment.dtype)
        )
        distribution = evaluate(logits, settings.sampling, session.context_after(path, settings))
        seen = None if session.observed(node) else Observation.of(logits)
        if distribution.kept == 0:
            facts = session.grammar_after(path, self._state)
            event = no_candidates_event(distribution.no_candidates_stage, len(path), facts)
            return NodeDraws(node, {}, event, seen)
        tokens = {}
        for run in runs:
            choice = draw(distribution, run.seed, run.tokens)
            tokens[run.number] = choice.token_id, edge_of(distribution, choice)
        return NodeDraws(node, tokens, None, seen)
