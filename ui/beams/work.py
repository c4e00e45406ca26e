"""Beam search as the session thread does it, and what it tells the window. No widgets here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from explorer.growth import BeamProgress, BeamRun, beam_runs, search_beams
from explorer.progress import CancelToken
from explorer.search.beam import BeamStep, Candidate, Hypothesis
from explorer.search.beam_settings import BeamSettings
from explorer.tree import ROOT, NodeId
from ui.beams.shown import CandidateRow, EndingRow, SearchesShown, SearchName, SearchShown, StepShown
from ui.format import elide_middle

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session

_LABEL_LENGTH = 24
Path = tuple[int, ...]


def searching(
    session: Session,
    settings: BeamSettings,
    start: NodeId,
    cancel: CancelToken,
    tell: Callable[[SearchName, SearchShown], None],
) -> Iterator[BeamProgress]:
    """Search from a node, telling after every step how it stands. Raises what `search_beams` raises."""
    group: int | None = None
    steps: list[BeamStep] = []
    for one in search_beams(session, settings, start=start, cancel=cancel):
        if group is None:
            group = session.commands[-1].group
        steps.append(one.step)
        run = BeamRun(group, "done", start, settings, tuple(steps))
        tell(_named(session, run), _Search(session, run).shown(running=one.step.ended_by is None))
        yield one


def recorded_searches(session: Session, group: int | None) -> SearchesShown:
    """The session's beam searches that are not undone; the one of ``group`` in full, or else the newest."""
    runs = [run for run in beam_runs(session.commands, session.tree) if run.state == "done" and run.steps]
    if not runs:
        return SearchesShown((), None)
    wanted = next((run for run in runs if run.group == group), runs[-1])
    names = tuple(_named(session, run) for run in runs)
    return SearchesShown(names, _Search(session, wanted).shown(running=False))


def _named(session: Session, run: BeamRun) -> SearchName:
    start = ""
    if run.start != ROOT:
        start = elide_middle(session.vocabulary.label(session.tree.node(run.start).token_id), _LABEL_LENGTH)
    return SearchName(run.group, run.settings, start)


class _Search:
    """Names the nodes of a search's paths, and reads its steps."""

    def __init__(self, session: Session, run: BeamRun) -> None:
        self._session = session
        self._run = run
        self._nodes: dict[Path, NodeId] = {(): run.start}

    def shown(self, *, running: bool) -> SearchShown:
        run, tree = self._run, self._session.tree
        steps = tuple(self._step(step) for step in run.steps)
        nodes = set(self._nodes.values())
        return SearchShown(
            group=run.group,
            settings=run.settings,
            start=run.start,
            steps=steps,
            greedy=self._greedy(),
            parents={node: tree.node(node).parent for node in nodes if node != ROOT},
            here=frozenset(node for node in nodes if node in tree),
            running=running,
        )

    def _node(self, path: Path) -> NodeId:
        """The node of a path; the path above it is known, or has become so."""
        if path not in self._nodes:
            child = self._session.tree.child(self._node(path[:-1]), path[-1])
            assert child is not None  # every candidate became a node
            self._nodes[path] = child
        return self._nodes[path]

    def _text(self, path: Path) -> str:
        return self._session.vocabulary.decode(path)

    def _step(self, step: BeamStep) -> StepShown:
        return StepShown(
            number=step.number,
            live=tuple(self._node(path) for path in step.live),
            rows=tuple(self._row(rank, one) for rank, one in enumerate(step.candidates, 1)),
            endings=(
                *(self._ending(one, displaced=False) for one in step.pool),
                *(self._ending(one, displaced=True) for one in step.displaced),
            ),
            ended_by=step.ended_by,
        )

    def _row(self, rank: int, one: Candidate) -> CandidateRow:
        return CandidateRow(
            node=self._node(one.path),
            rank=rank,
            beam=one.parent + 1,
            token=self._session.vocabulary.label(one.token_id),
            text=self._text(one.path),
            logprob=one.logprob,
            sum_logprob=one.sum_logprob,
            score=one.score,
            fate=one.fate,
            stop=one.stop,
            fell_to=None if one.fell_to is None else self._node(one.fell_to),
        )

    def _ending(self, one: Hypothesis, *, displaced: bool) -> EndingRow:
        return EndingRow(
            node=self._node(one.path),
            text=self._text(one.path),
            tokens=len(one.path),
            sum_logprob=one.sum_logprob,
            score=one.score,
            stop=one.stop,
            step=one.step,
            displaced=displaced,
        )

    def _greedy(self) -> tuple[NodeId, ...]:
        """Always the best continuation of the one before: until it ends, or falls out of the search."""
        path: Path = ()
        found = []
        for step in self._run.steps:
            ours = [one for one in step.candidates if one.path[:-1] == path]
            if not ours:
                break
            best = max(ours, key=lambda one: one.logprob)
            path = best.path
            found.append(self._node(path))
        return tuple(found)
