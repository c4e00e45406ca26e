"""One gesture under way: which nodes it has shown, and the command of the present round being put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from explorer.decoding.logits import Observation
from explorer.decoding.params import Settings
from explorer.decoding.stopping import StopEvent
from explorer.events import Change
from explorer.grammar.facts import GrammarFacts
from explorer.progress import CancelToken, ProgressCallback
from explorer.search.rows import NodeRow, node_rows, observations
from explorer.session import Session
from explorer.store.records import StepRecord, StopRecord
from explorer.tree import Edge, Node, NodeId

# Token ids since the start of the gesture.
Path = tuple[int, ...]


class GestureWriter:
    """Puts nodes into a session's tree round by round; every `commit` is one transaction, all of it one gesture.

    Children that exist are met, hidden ones come back, and a prefix never gets a second node.
    """

    def __init__(
        self,
        session: Session,
        kind: str,
        origin: str,
        *,
        settings: Settings | None = None,
        group: int | None = None,
    ) -> None:
        """``settings`` (default: those of now) are recorded with every step. ``group`` is the gesture it goes on with,
        None where it begins one."""
        self.session = session
        self._kind = kind
        self._origin = origin
        self._settings = settings or session.state.settings
        self._group = group
        self._begin()

    def _begin(self) -> None:
        self._added: dict[NodeId, Node] = {}
        self._children: dict[tuple[NodeId, int], NodeId] = {}  # of this round
        self._revealed: set[NodeId] = set()
        self._steps: list[StepRecord] = []
        self._arrivals: list[StopRecord] = []

    @property
    def committed(self) -> bool:
        """Whether anything has been done that undo would take back."""
        return self._group is not None

    @property
    def undone(self) -> bool:
        """Whether what was committed has been taken back since."""
        last = next((command for command in reversed(self.session.commands) if command.group == self._group), None)
        return last is not None and last.state != "done"

    def show(
        self, parent: NodeId, token_id: int, edge: Edge, stop: StopEvent | None = None, *, seed: int | None = None
    ) -> NodeId:
        """Add the child of a node in the tree or shown in this round, or meet it where it exists.

        ``stop`` is the stop rule that holds there, ``seed`` that of the draw.
        """
        tree = self.session.tree
        known = self._children.get((parent, token_id))
        met = known is not None
        if known is None and parent not in self._added:
            known = tree.child(parent, token_id)
        node_id = tree.next_id + len(self._added) if known is None else known
        above = self._added[parent].depth if parent in self._added else tree.depth(parent)
        node = Node(node_id, parent, token_id, above + 1, edge)
        if known is None:
            self._added[node_id] = node
        elif not met and tree.is_hidden(known):
            self._revealed.add(known)
        self._children[parent, token_id] = node_id
        self._steps.append(StepRecord.into(node, self._settings, seed))
        if stop is not None and not met:
            self._arrivals.append(StopRecord(node_id, stop))
        return node_id

    def commit(
        self,
        details: Mapping[str, Any],
        stops: Iterable[StopRecord] = (),
        observations: Mapping[NodeId, Observation] | None = None,
    ) -> Change:
        """Write the round: what was shown since the last one, what was seen at nodes, and ``details``."""
        if self._group is None:
            self._group = self.session.next_group
        change = self.session.commit(
            self._kind,
            self._origin,
            group=self._group,
            added=tuple(self._added.values()),
            revealed=frozenset(self._revealed),
            steps=tuple(self._steps),
            stops=(*self._arrivals, *stops),
            observations=observations or {},
            details=details,
        )
        self._begin()
        return change

    def record_stops(self, stops: Iterable[StopRecord], details: Mapping[str, Any]) -> Change:
        """Note why the gesture ended early; nothing that undo would take back."""
        return self.session.commit("stop", self._origin, group=self._group, stops=tuple(stops), details=details)


class Gesture:
    """Nodes shown below ``start`` by one expansion or beam search, named by their paths from there."""

    def __init__(self, session: Session, start: NodeId, kind: str, origin: str) -> None:
        """Raises KeyError where ``start`` is not in the tree. The settings of now hold to the end."""
        if start not in session.tree:
            raise KeyError(start)
        self.session = session
        self.start = start
        self._writer = GestureWriter(session, kind, origin)
        self._state = session.state
        self._before = session.tree.token_ids(start)
        self._nodes: dict[Path, NodeId] = {(): start}
        self._stops: dict[Path, StopEvent | None] = {}
        self._rows: dict[Path, NodeRow] = {}  # looked at in this round
        self._unseen: dict[Path, Observation] = {}  # looked at, but not in the tree yet

    @property
    def committed(self) -> bool:
        """Whether anything has been done that undo would take back."""
        return self._writer.committed

    @property
    def depth(self) -> int:
        """Generated tokens before the start."""
        return len(self._before)

    def node_of(self, path: Path) -> NodeId:
        """The node of a path that was shown. Raises KeyError."""
        return self._nodes[path]

    def intact(self, paths: Iterable[Path]) -> bool:
        """Whether the nodes of those paths that were shown are still there: undo and delete may come in between."""
        return not self._writer.undone and all(
            self._nodes[path] in self.session.tree for path in paths if path in self._nodes
        )

    def stop_after(self, path: Path) -> StopEvent | None:
        """The stop rule that holds at a path."""
        if path not in self._stops:
            self._stops[path] = self.session.stop_after(self._before + path, self._state)
        return self._stops[path]

    def grammar_after(self, path: Path) -> GrammarFacts | None:
        """Where the grammar in force stands at a path."""
        return self.session.grammar_after(self._before + path, self._state)

    def expect(self, paths: Sequence[Path]) -> None:
        """These paths will be looked at next: the engine may begin."""
        self.session.expect_after([self._before + path for path in paths])

    def look(
        self,
        paths: Sequence[Path],
        progress: ProgressCallback | None,
        cancel: CancelToken | None,
        *,
        then: Sequence[Path] = (),
    ) -> list[NodeRow]:
        """The logits after several paths, in one call of the engine. What they show is kept for `commit`.

        While they are worked out, the engine may begin with the paths that will be looked at ``then``.

        Raises what `Session.logits_after` raises, and `EngineError` for logits that are not finite.
        """
        generated = [self._before + path for path in paths]
        logits = self.session.logits_after(generated, progress=progress, cancel=cancel)
        self.expect(then)
        settings = self._state.settings
        contexts = [self.session.context_after(ids, settings) for ids in generated]
        rows = node_rows(list(logits), settings.sampling, contexts, self.session.model.environment.dtype)
        self._rows = {
            path: row
            for path, row in zip(paths, rows, strict=True)
            if path not in self._nodes or not self.session.observed(self._nodes[path])
        }
        return rows

    def show(self, path: Path, edge: Edge) -> NodeId:
        """Add the node of a path whose parent was shown, or meet it where it exists."""
        node_id = self._writer.show(self._nodes[path[:-1]], path[-1], edge, self.stop_after(path))
        self._nodes[path] = node_id
        return node_id

    def commit(self, details: Mapping[str, Any], stops: Iterable[StopRecord] = ()) -> Change:
        """Write the round: what was shown, what was seen at nodes that are shown by now, and ``details``."""
        # Only now, while the engine goes on; and all of them, for a row keeps the logits of its whole round alive.
        self._unseen.update(zip(self._rows, observations(list(self._rows.values())), strict=True))
        self._rows = {}
        seen = {path: found for path, found in self._unseen.items() if path in self._nodes}
        self._unseen = {path: found for path, found in self._unseen.items() if path not in seen}
        return self._writer.commit(details, stops, {self._nodes[path]: found for path, found in seen.items()})

    def record_stop(self, event: StopEvent, details: Mapping[str, Any]) -> Change:
        """Note why the gesture ended early; nothing that undo would take back."""
        return self._writer.record_stops((StopRecord(self.start, event),), details)
