"""Comparing as the session thread does it, and what it tells the window. No widgets here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from explorer.comparison.differences import Difference, differences
from explorer.comparison.distributions import Comparison
from explorer.comparison.paths import ComparedRun, ComparedRuns, compare_runs, compared_runs, parting_of
from explorer.comparison.sides import SessionsComparison, Stand, compare_sessions, read_session
from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import Settings
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.i18n import tr
from explorer.progress import CancelToken
from explorer.text import Vocabulary, path_pieces
from explorer.tree import NodeId
from ui.compare.shown import PairRow, PathShown, PathsShown, Side, StepShown
from ui.compare.words import parting_words, session_remarks

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session
    from explorer.workspace import Workspace

_TOP = 200


def compared_step(workspace: Workspace, session: Session, node: NodeId, a: Side, b: Side) -> StepShown:
    """Both sides at a node. Raises what reading another session raises."""
    if a.session_id is None and b.session_id is None:
        assert a.settings is not None
        assert b.settings is not None
        return _of_settings(session, node, a, a.settings, b, b.settings)
    return _of_sessions(workspace, session, node, a, b)


def _of_settings(
    session: Session, node: NodeId, a: Side, settings_a: Settings, b: Side, settings_b: Settings
) -> StepShown:
    logits = session.view(node, compute=session.live, note=False).logits
    differing = differences(settings_a, settings_b)
    if logits is None:
        return _empty(a, b, differing, (tr("What follows this node is not known without its model."),))
    one, other = (_under(session, node, logits, settings) for settings in (settings_a, settings_b))
    found = Comparison(one, other)
    remarks = _limits(found)
    return StepShown(
        a, b, differing, found.sampling, found.exact, *_counts(found), _rows(session.vocabulary, found), remarks
    )


def _under(session: Session, node: NodeId, logits: SortedLogits, settings: Settings) -> Distribution:
    context = session.context_after(session.tree.token_ids(node), settings)
    return evaluate(logits, settings.sampling, context)


def _of_sessions(workspace: Workspace, session: Session, node: NodeId, a: Side, b: Side) -> StepShown:
    one, other = (_stand(workspace, session, node, side) for side in (a, b))
    found = compare_sessions(one, other)
    differing = differences(one.settings, other.settings)
    texts = _side_texts(found, a, b)
    remarks = session_remarks(found)
    if found.step is None:
        return _empty(a, b, differing, remarks, texts)
    step = found.step
    rows = _rows(one.session.vocabulary, step)
    return StepShown(
        a, b, differing, step.sampling, step.exact, *_counts(step), rows, (*remarks, *_limits(step)), texts
    )


def _stand(workspace: Workspace, session: Session, node: NodeId, side: Side) -> Stand:
    """The open session at a node under the side's settings, or another one where it stands, under its own."""
    if side.session_id is None:
        assert side.settings is not None
        return Stand(session, node, side.settings)
    other = read_session(workspace, side.session_id)
    return Stand(other, other.state.current, other.state.settings)


def _side_texts(found: SessionsComparison, a: Side, b: Side) -> PathsShown:
    texts = found.texts
    if texts.same:
        words = (tr("Both texts are the same."),) if found.a.pieces else (tr("Neither session has a text there yet."),)
    else:
        words = (
            tr("Laid side by side by their bytes: the first {count} are the same.").format(count=texts.common_bytes),
        )
    paths = (
        PathShown(side.title, view.pieces, (), None if view.stop is None else view.stop.kind, parts)
        for side, view, parts in ((a, found.a, texts.parts_a), (b, found.b, texts.parts_b))
    )
    one, other = paths
    return PathsShown(one, other, words)


def _empty(
    a: Side,
    b: Side,
    differing: tuple[Difference, ...],
    remarks: tuple[str, ...],
    texts: PathsShown | None = None,
) -> StepShown:
    return StepShown(a, b, differing, None, True, (0, 0), 0, 0, 0, (), remarks, texts)


def _counts(found: Comparison) -> tuple[tuple[int, int], int, int, int]:
    return (found.a.kept, found.b.kept), found.shared, len(found.gained), len(found.lost)


def _rows(vocabulary: Vocabulary, found: Comparison) -> tuple[PairRow, ...]:
    return tuple(
        PairRow(row.token_id, vocabulary.label(row.token_id), row.a, row.b, row.fate) for row in found.rows(_TOP)
    )


def _limits(found: Comparison) -> tuple[str, ...]:
    remarks = []
    for name, side in (("A", found.a), ("B", found.b)):
        if not side.kept:
            remarks.append(tr("{side} leaves no token to draw here.").format(side=name))
    if not found.exact:
        remarks.append(
            tr(
                "Only the best tokens of this step are stored: all others count as one, and the true figures are at "
                "least as large."
            )
        )
    return tuple(remarks)


# --- along the path ---------------------------------------------------------------------------------------------------


def comparing(
    session: Session,
    sides: tuple[Side, Side],
    start: NodeId,
    seed: int,
    length: int,
    cancel: CancelToken,
    tell: Callable[[PathsShown], None],
) -> Iterator[ComparedRuns]:
    """Draw a run of each side with the same numbers, telling after every step. Raises what `compare_runs` raises."""
    named = [(side.title, side.settings) for side in sides if side.settings is not None]
    for runs in compare_runs(session, named, start, seed=seed, length=length, cancel=cancel):
        tell(_paths(session, runs, running=True))
        yield runs


def recorded_paths(session: Session) -> PathsShown | None:
    """The newest comparison that is not undone."""
    found = [
        runs for runs in compared_runs(session.commands) if len(runs.runs) == 2 and any(r.run.tokens for r in runs.runs)
    ]
    return _paths(session, found[-1], running=False) if found else None


def _paths(session: Session, runs: ComparedRuns, *, running: bool) -> PathsShown:
    parting = None if running else parting_of(session, runs, 0, 1)
    words = () if running else parting_words(parting, session.vocabulary)
    parts = None if parting is None else parting.place
    one, other = (_path(session, runs, run, parts) for run in runs.runs)
    return PathsShown(one, other, words, running)


def _path(session: Session, runs: ComparedRuns, one: ComparedRun, parts: int | None) -> PathShown:
    depth = session.tree.depth(runs.start)
    lead = session.prefix(runs.start)
    ids = session.tree.token_ids(one.run.end)[depth:]
    pieces = tuple(path_pieces(session.vocabulary, lead + ids)[len(lead) :])
    nodes = tuple(session.tree.path(one.run.end))[depth:]
    return PathShown(one.name, pieces, nodes, None if one.run.stop is None else one.run.stop.kind, parts)
