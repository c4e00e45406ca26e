"""Steps, runs, navigation, undo: what the user does to the session that is open."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from explorer.annotations import NO_ANNOTATION
from explorer.decoding.params import Settings
from explorer.events import Change
from explorer.messages import EngineError, UserMessage, no_session_message
from explorer.tree import ROOT, NodeId
from ui.after_paint import AfterPaint
from ui.bridge import Bridge, JobContext
from ui.controllers.shown_session import ShownSession
from ui.session_thread import SessionThread, ShownView

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session
    from explorer.workspace import Workspace

HowToRun = Literal["greedy", "sample"]
Command = Callable[["Session", JobContext], Any]

_MOST_WAITING = 8  # steps that may wait: a held key must not go on for seconds after it was released
_KILL_AFTER_MS = 5000


class SessionController(ShownSession):
    """Posts commands to the session thread. While a moment of the past is shown, no command is carried out."""

    speed_measured = Signal(float)
    refused = Signal()
    """A command was not carried out because the past is shown, which nothing changes."""
    past_node_wanted = Signal(int)
    """While the past is shown: another node of it is to be looked at."""

    def __init__(self, bridge: Bridge, thread: SessionThread, after: AfterPaint, parent: QObject) -> None:
        super().__init__(bridge, after, parent)
        self._bridge = bridge
        self._thread = thread
        self._active: set[int] = set()
        self._run: int | None = None
        self._heading: NodeId | None = None
        self._run_began = 0.0
        self._run_steps = 0
        self._answered_since_stop = True
        self._kill_timer = QTimer(self)
        self._kill_timer.setSingleShot(True)
        self._kill_timer.setInterval(_KILL_AFTER_MS)
        self._kill_timer.timeout.connect(self._kill_if_stuck)

    # --- what there is -----------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether a run is going on."""
        return self._run is not None

    @property
    def busy(self) -> bool:
        """Whether a command waits for its outcome, or the model computes the current node."""
        return bool(self._active) or self.computing

    @property
    def settled(self) -> bool:
        """Whether what is shown belongs to where the session stands: nothing waits, nothing is being computed."""
        return self.view is not None and not self.busy and self.view.node_id == self.current

    @property
    def free(self) -> bool:
        """Whether there is a session that a command could change now."""
        return self.session is not None and not self.running and not self.in_past

    # --- commands ----------------------------------------------------------------------------------------------------

    def greedy(self) -> None:
        self._step("greedy", lambda session, job: session.step_greedy(cancel=job.cancel))

    def draw(self) -> None:
        self._step("draw", lambda session, job: session.step_draw(cancel=job.cancel))

    def go_on(self) -> None:
        """One greedy step past the stop in force."""
        self._step("go on", lambda session, job: session.step_greedy(past_stop=True, cancel=job.cancel))

    def pick(self, token_id: int) -> None:
        self._step("pick", lambda session, job: session.pick(token_id, cancel=job.cancel))

    def run(self, how: HowToRun, max_steps: int | None = None) -> None:
        """Step until a stop rule ends the path, the user stops it, or after ``max_steps``."""
        if self.running or self._refuses():
            return
        self._run_began, self._run_steps = time.monotonic(), 0
        self._run = self._post("run", lambda session, job: session.run(how, max_steps=max_steps, cancel=job.cancel))
        self.activity_changed.emit()

    def grow(
        self,
        name: str,
        command: Command,
        ended: Callable[[], None] | None = None,
        failed: Callable[[UserMessage], None] | None = None,
    ) -> bool:
        """Run a command that yields as it goes (an expansion, a search); False where one cannot run now.

        It is a run to everybody: `stop` ends it. ``ended`` is called when it has ended, whatever came of it; ``failed``
        says an error where it belongs, instead of among the window's messages.
        """
        if self.running or self._refuses():
            return False
        self._run_began, self._run_steps = time.monotonic(), 0
        self._run = self._post(name, command, ended, failed)
        self.activity_changed.emit()
        return True

    @property
    def current(self) -> NodeId:
        """The node the session stands at, or is on its way to."""
        if self._heading is not None and not self.in_past:
            return self._heading
        known = self.last if self.last is not None else self.session
        return ROOT if known is None else known.state.current

    def select(self, node_id: NodeId) -> None:
        """Make a node the current one; of the past, where that is shown."""
        if self.in_past:
            self.past_node_wanted.emit(node_id)
            return
        self._navigate(lambda session: node_id)
        self._heading = node_id

    def parent_node(self) -> None:
        if self.in_past:
            path = () if self.view is None else self.view.path
            self.past_node_wanted.emit(path[-2] if len(path) > 1 else ROOT)
            return
        self._navigate(lambda session: _parent(session, session.state.current))

    def root(self) -> None:
        if self.in_past:
            self.past_node_wanted.emit(ROOT)
            return
        self._navigate(lambda session: ROOT)

    def undo(self) -> None:
        self._post("undo", lambda session, job: session.undo())

    def redo(self) -> None:
        self._post("redo", lambda session, job: session.redo())

    def delete_branch(self, node_id: NodeId | None = None) -> None:
        """Hide a node (default: the current one) and what is below; the prompt itself stays."""

        def delete(session: Session, job: JobContext) -> Change | None:
            chosen = session.state.current if node_id is None else node_id
            return session.delete_branch(chosen) if chosen != ROOT and chosen in session.tree else None

        self._post("delete", delete)

    def set_settings(self, settings: Settings) -> None:
        self._post("settings", lambda session, job: session.set_settings(settings))

    def set_seed(self, seed: int, next_draw_index: int) -> None:
        self._post("seed", lambda session, job: session.set_seed(seed, next_draw_index))

    def raise_limit(self, by_tokens: int) -> None:
        """Raise the limits on length that are in force by ``by_tokens``."""
        stopping = self.settings.stopping
        limits = {name: getattr(stopping, name) for name in ("max_new_tokens", "max_length")}
        changes = {name: value + by_tokens for name, value in limits.items() if value is not None}
        if changes:
            self.set_settings(self.settings.with_stopping("user", **changes))

    def annotate(self, node_id: NodeId, *, note: str) -> None:
        """Write a note at a node; an empty one takes it away."""

        def work(session: Session, job: JobContext) -> Change | None:
            return session.annotate(node_id, note=note) if node_id in session.tree else None

        self._post("note", work)

    def toggle_star(self, node_id: NodeId | None = None) -> None:
        """Put a star on a node (default: the current one), or take it away."""

        def work(session: Session, job: JobContext) -> Change | None:
            starred = session.state.current if node_id is None else node_id
            if starred not in session.tree:
                return None
            return session.annotate(starred, star=not session.annotations.get(starred, NO_ANNOTATION).star)

        self._post("star", work)

    def rename(self, title: str) -> None:
        self._post("rename", lambda session, job: session.rename(title))

    def save_again(self) -> None:
        """Try to write what could not be written."""
        self._post("save", lambda session, job: session.save(), changes=False)

    def save_copy(self, title: str) -> None:
        """Go on as another session in the library, for example where another window changed this one."""

        def copy(session: Session, job: JobContext) -> None:
            session.save_copy(title)
            self._thread.show(session)  # another session of the library from here on

        self._post("save copy", copy, changes=False)

    def leave_room(self) -> None:
        """A control is being moved: its bars go before what a run brings."""
        self._thread.leave_room()

    def refresh(self) -> None:
        """Compute the current node anew, for example after that was stopped."""
        self._thread.post("refresh", lambda workspace, job: self._thread.refresh())

    def stop(self) -> bool:
        """Stop what runs; False when nothing does. A second time, with no answer since the first, ends the model's
        process: its pass does not return."""
        if not self.busy:
            return False
        if not self._answered_since_stop:
            self._thread.kill_engine()
            return True
        self._answered_since_stop = False
        self._thread.stop()
        self._kill_timer.start()
        return True

    # --- inside ------------------------------------------------------------------------------------------------------

    def _step(self, name: str, command: Command) -> None:
        if not self.running and len(self._active) < _MOST_WAITING:
            self._post(name, command)

    def _refuses(self) -> bool:
        """Whether no command can be carried out, which is then said."""
        if self.in_past:
            self.refused.emit()
        return self.in_past

    def _navigate(self, target: Callable[[Session], NodeId | None]) -> None:
        def go(session: Session, job: JobContext) -> Change | None:
            node_id = target(session)
            if node_id is None or node_id == session.state.current or node_id not in session.tree:
                return None
            return session.select(node_id)

        self._thread.look_elsewhere()
        self._post("select", go)

    def _post(
        self,
        name: str,
        command: Command,
        ended: Callable[[], None] | None = None,
        failed: Callable[[UserMessage], None] | None = None,
        *,
        changes: bool = True,
    ) -> int | None:
        """The number of the job. None where it was not posted: it ``changes`` the session while its past is shown."""
        if changes and self._refuses():
            return None

        def work(workspace: Workspace, job: JobContext) -> Any:
            if workspace.session is None:
                raise EngineError(no_session_message())
            return command(workspace.session, job)

        def end() -> None:
            if ended is not None or job.number == self._run:
                self._pass_on()  # the last of what it did is known before its end is
            self._ended(job.number)
            if ended is not None:
                ended()

        def fail(message: UserMessage) -> None:
            end()
            (failed or self._bridge.failed.emit)(message)

        job = self._thread.post(name, work, done=lambda _: end(), failed=fail, cancelled=end)
        self._active.add(job.number)
        self.activity_changed.emit()
        return job.number

    def _ended(self, number: int) -> None:
        self._active.discard(number)
        if number == self._run:
            self._run = None
        if not self._active:
            self._heading = None
            self._kill_timer.stop()
        self._pass_on_later()

    def _kill_if_stuck(self) -> None:
        if self._active:
            self._thread.kill_engine()

    def _change(self, changes: list[Change]) -> None:
        self._answered_since_stop = True
        super()._change(changes)
        if self.running and not self.in_past:
            self._run_steps += sum(change.command == "run" for change in changes)
            elapsed = time.monotonic() - self._run_began
            if self._run_steps and elapsed > 0:
                self.speed_measured.emit(self._run_steps / elapsed)

    def _show(self, shown: ShownView) -> None:
        if shown.view.distribution is not None and not self.in_past:
            self._answered_since_stop = True
        super()._show(shown)


def _parent(session: Session, node_id: NodeId) -> NodeId | None:
    return None if node_id == ROOT else session.tree.node(node_id).parent
