"""The thread that owns the workspace, and what it tells the window without being asked."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from explorer.annotations import Annotation
from explorer.engine.protocol import EngineMemory
from explorer.events import Change, NodeView
from explorer.messages import EngineError, ExplorerError, UserMessage
from explorer.models.base import ModelInfo, ModelRef
from explorer.progress import Cancelled, CancelToken, Progress
from explorer.store.records import SessionState
from explorer.text import PathPiece, Vocabulary, path_pieces
from explorer.tree import Node, NodeId
from ui.bridge import Bridge, Event, Job, unexpected
from ui.threads import JobThread

if TYPE_CHECKING:  # SQLAlchemy comes with them: half a second, which the session thread pays after the window is up
    from explorer.session import Session
    from explorer.workspace import Workspace

EngineState = Literal["none", "ready", "ended"]

_POLL_SECONDS = 1.0  # how soon a dead engine is noticed while nobody asks it anything
_MEMORY_SECONDS = 3.0
_SAVE_SECONDS = 3.0  # how soon the library is tried again where it did not take something
# Where another try could help without the user: not where the library has another state of the session.
_PASSING = frozenset({"store.locked", "store.full", "store.io", "store.moved", "store.read_only"})
_STREAM_VIEW_SECONDS = 0.05  # while a run goes on, the panels follow at most this often
_HANDS_ON_VIEW_SECONDS = 0.5  # and where a control is moved meanwhile, the tree as well
# What a step has changed waits so long for the bars of the new node. Where the model has looked ahead they are there by
# then, and the window lays everything out and paints once instead of three times.
_PATIENCE_MS = 25.0
_NOTE_SECONDS = 0.03  # what a view showed is recorded once it is on the screen, if a step has not done so by then


@dataclass(frozen=True, slots=True, eq=False)
class OpenedSession:
    """A whole session as the window takes it over. ``serial`` tells its events from those of the one before."""

    serial: int
    id: int | None
    model: ModelInfo
    vocabulary: Vocabulary
    state: SessionState
    prompt_pieces: tuple[PathPiece, ...]
    nodes: tuple[Node, ...]
    hidden: frozenset[NodeId]
    stops: dict[NodeId, str]
    live: bool
    undo: str | None
    redo: str | None
    unsaved: int
    annotations: dict[NodeId, Annotation] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class ShownView:
    """A node view; ``computing`` says that the model is at work on its distribution and another view will follow."""

    serial: int
    view: NodeView
    computing: bool


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """What the engine is, and whether the open session is live on it."""

    state: EngineState
    ref: ModelRef | None
    info: ModelInfo | None
    session_live: bool


@dataclass(frozen=True, slots=True)
class SaveStatus:
    """How many commands are not on disk, and why."""

    unsaved: int
    error: UserMessage | None


class SessionThread(JobThread["Workspace"]):
    """Runs commands on the workspace. Events: ``opened``, ``changes``, ``view``, ``engine``, ``saving``, ``memory``,
    ``library_path`` (where it is), ``library`` (a read-only library's reason, or None), ``history``, ``computing``
    (progress of a view), ``trouble`` (messages of work that no job asked for)."""

    def __init__(self, bridge: Bridge, create: Callable[[], Workspace]) -> None:
        super().__init__("session", bridge, create, poll_seconds=_POLL_SECONDS)
        self._workspace: Workspace | None = None
        self._shown: Session | None = None
        self._serial = 0
        self._stale = False
        self._seen: tuple[Session, NodeId] | None = None  # shown, and not recorded yet
        self._view_cancel = CancelToken()
        self._held: list[Event] = []  # changes of a run while a control is moved, not told yet
        self._hands_on_until = 0.0
        self._viewed_at = 0.0
        self._memory_at = 0.0
        self._tried_at = 0.0
        self._status: EngineStatus | None = None
        self._saving: SaveStatus | None = None

    # --- called in the GUI thread ------------------------------------------------------------------------------------

    def look_elsewhere(self) -> None:
        """The view being computed is no longer wanted: the user is about to go to another node."""
        self._view_cancel.cancel()

    def leave_room(self) -> None:
        """A control is being moved: for a moment the window follows a run less often, for the bars follow the hand."""
        self._hands_on_until = time.monotonic() + _HANDS_ON_VIEW_SECONDS

    def stop(self) -> None:
        self._view_cancel.cancel()
        super().stop()

    def kill_engine(self) -> None:
        """End the engine process at once; what waits for it fails with `EngineCrashed`. The session stays."""
        if self._workspace is not None:
            self._workspace.engine.kill()

    # --- called in the session thread, by jobs -----------------------------------------------------------------------

    def show(self, session: Session) -> None:
        """Hand ``session`` to the window, which sees its changes and views from here on. What runs in another stops."""
        self._serial += 1
        if session is not self._shown:
            for job, _ in self._streams:
                job.cancel.cancel()
            session.subscribe(partial(self._tell, session))
        self._shown = session
        self._tell_held()
        self._bridge.put(Event("opened", opened_session(self._serial, session), latest_only=True))
        self._stale = True

    def tell_again(self, workspace: Workspace) -> None:
        """Say everything anew, to a window that knows nothing yet."""
        self._status = self._saving = None
        self._opened(workspace)
        if workspace.session is not None:
            self.show(workspace.session)

    def move_to(self, workspace: Workspace, path: Path, *, create: bool) -> None:
        """Go on with another library; nothing of it is shown yet. Raises `StoreError`; then everything stays."""
        for job, _ in self._streams:
            job.cancel.cancel()
        workspace.open_library(path, create=create)
        self._shown = self._seen = None
        self._opened(workspace)

    def refresh(self) -> None:
        """Show the current node anew, for example because its model has become available."""
        self._stale = True

    def _tell(self, session: Session, change: Change) -> None:
        if session is not self._shown:
            return  # the last of a run in the session before
        self._stale = True
        self._held.append(Event("changes", (self._serial, change)))
        of_a_run = bool(self._streams) and self._current is self._streams[0][0]
        if not (of_a_run and self._hands_on):
            self._tell_held()

    def _tell_held(self) -> None:
        for event in self._held:
            self._bridge.put(event, patience_ms=self._patience_ms)
        self._held.clear()

    @property
    def _hands_on(self) -> bool:
        return time.monotonic() < self._hands_on_until

    # --- hooks -------------------------------------------------------------------------------------------------------

    @property
    def _patience_ms(self) -> float | None:
        return _PATIENCE_MS if self._stale and not self._streams else None

    @property
    def _rest_seconds(self) -> float | None:
        return _POLL_SECONDS if self._seen is None else _NOTE_SECONDS

    def _opened(self, owned: Workspace) -> None:
        self._workspace = owned
        self._bridge.put(Event("library_path", owned.store.path, latest_only=True))
        self._bridge.put(Event("library", owned.store.reason if owned.store.read_only else None, latest_only=True))
        owned.keep_up(lambda message: self._bridge.put(Event("trouble", message)))

    def _after(self, owned: Workspace) -> None:
        session = owned.session
        engine = owned.engine
        state: EngineState = "ready" if engine.alive else "none" if engine.ref is None else "ended"
        status = EngineStatus(state, engine.ref, engine.info, session is not None and session.live)
        if status != self._status:
            self._status = status
            self._stale = True
            self._bridge.put(Event("engine", status, latest_only=True))
        saving = SaveStatus(0, None) if session is None else SaveStatus(session.unsaved, session.save_error)
        if saving != self._saving:
            self._saving = saving
            self._bridge.put(Event("saving", saving, latest_only=True))

    def _idle(self, owned: Workspace) -> bool:
        self._after(owned)
        if self._stale:
            self._send_view(owned, self._fresh_cancel())
            return True
        now = time.monotonic()
        if self._could_save(owned) and now - self._tried_at > _SAVE_SECONDS:
            assert owned.session is not None
            owned.session.save()
            self._tried_at = time.monotonic()
            return True
        if self._seen is not None:
            if now - self._viewed_at < _NOTE_SECONDS:
                return False
            self._note_seen(owned)
            return True
        if (
            owned.engine.alive
            and now - self._memory_at > _MEMORY_SECONDS
            and now - self._viewed_at < 2 * _MEMORY_SECONDS
        ):
            self._memory_at = now
            self._send_memory(owned)
            return True
        return False

    def _could_save(self, owned: Workspace) -> bool:
        """Whether something waits for the library that it may take by now."""
        session = owned.session
        return session is not None and session.save_error is not None and session.save_error.code in _PASSING

    def _advanced(self, owned: Workspace, job: Job[Workspace]) -> None:
        spacing = _HANDS_ON_VIEW_SECONDS if self._hands_on else _STREAM_VIEW_SECONDS
        if self._stale and time.monotonic() - self._viewed_at > spacing:
            self._tell_held()
            self._send_view(owned, job.cancel)

    def _ending(self) -> None:
        self._tell_held()
        super()._ending()

    def _closed(self, owned: Workspace) -> None:
        self._note_seen(owned)
        owned.close()

    # --- views -------------------------------------------------------------------------------------------------------

    def _fresh_cancel(self) -> CancelToken:
        self._view_cancel = CancelToken()
        return self._view_cancel

    def _send_view(self, owned: Workspace, cancel: CancelToken) -> None:
        self._stale = False
        session = owned.session
        if session is None or session is not self._shown:
            return
        patience = None if self._streams else _PATIENCE_MS
        urgency = None if self._streams else 0.0
        try:
            view = session.view(compute=False, note=False)
            computing = session.live and view.source != "model"
            self._put_view(view, patience if computing else urgency, computing=computing)
            if computing:
                view = session.view(cancel=cancel, progress=self._computing, note=False)
                self._put_view(view, urgency, computing=False)
        except Cancelled:
            self._put_view(view, urgency, computing=False)
        except ExplorerError as error:
            self._put_view(view, urgency, computing=False)
            self._bridge.put(Event("trouble", error.message))
        except Exception as error:
            self._bridge.put(Event("trouble", unexpected(error)))
        self._viewed_at = time.monotonic()
        self._seen = (session, session.state.current)
        if self._streams:
            self._put_history(session)

    def _note_seen(self, owned: Workspace) -> None:
        """What can wait until a view is on the screen: record it, and bring the history up to date."""
        seen, self._seen = self._seen, None
        if seen is None or seen[0] is not owned.session:
            return
        session, node_id = seen
        session.note_seen(node_id)
        self._put_history(session)

    def _put_history(self, session: Session) -> None:
        self._bridge.put(Event("history", (self._serial, session.commands), latest_only=True))

    def _put_view(self, view: NodeView, patience_ms: float | None, *, computing: bool) -> None:
        shown = ShownView(self._serial, view, computing)
        self._bridge.put(Event("view", shown, latest_only=True), patience_ms=patience_ms)

    def _computing(self, progress: Progress) -> None:
        self._bridge.put(Event("computing", progress, latest_only=True), patience_ms=_PATIENCE_MS)

    def _send_memory(self, owned: Workspace) -> None:
        try:
            memory: EngineMemory = owned.engine.memory()
        except (EngineError, Cancelled):
            return
        self._bridge.put(Event("memory", memory, latest_only=True))


def opened_session(serial: int, session: Session) -> OpenedSession:
    """The snapshot of a session that the window starts from; hidden nodes too, for undo and redo may reveal them."""
    nodes = tuple(session.tree.node(node_id) for node_id in range(1, session.tree.next_id))
    return OpenedSession(
        serial=serial,
        id=session.id,
        model=session.model,
        vocabulary=session.vocabulary,
        state=session.state,
        prompt_pieces=tuple(path_pieces(session.vocabulary, session.state.prompt.ids)),
        nodes=nodes,
        hidden=frozenset(node.id for node in nodes if session.tree.is_hidden(node.id)),
        stops={stop.node: stop.event.kind for command in session.commands for stop in command.stops},
        live=session.live,
        undo=session.undo_kind,
        redo=session.redo_kind,
        unsaved=session.unsaved,
        annotations=session.annotations,
    )
