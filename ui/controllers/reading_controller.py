"""What the tree's probabilities are: the model's, those recorded with each step, or what other settings would give."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import QObject, QTimer, Slot

from explorer.decoding.params import Settings
from explorer.i18n import tr
from ui.bridge import JobContext
from ui.controllers.session_controller import SessionController
from ui.main_window import MainWindow
from ui.preferences import Preferences, ReadingName
from ui.session_thread import OpenedSession, SessionThread
from ui.tree.weights import TreeWeights

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.reweighing import Reweigher, TreeReading
    from explorer.workspace import Workspace

_AFTER_MS = 60  # changes come in runs


class ReadingController(QObject):
    """Has the tree weighed on the session's thread, a slice at a time, so that steps and runs go on between."""

    def __init__(
        self, window: MainWindow, preferences: Preferences, session: SessionController, thread: SessionThread
    ) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self._session = session
        self._thread = thread
        self._number = 0
        self._reweigher: tuple[int, Reweigher] | None = None  # on the session's thread: of the session of that serial
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_AFTER_MS)
        self._timer.timeout.connect(self._ask)
        actions = window.actions_
        readings: tuple[ReadingName, ...] = get_args(ReadingName)
        for reading in readings:
            actions[f"read_{reading}"].setChecked(reading == preferences.reading)
            actions.connect_all({f"read_{reading}": partial(self.choose, reading)})
        session.opened.connect(self._opened)
        session.changed.connect(self._later)
        window.tree.options_changed.connect(self.refresh)
        window.settings.previewed.connect(self._later)

    def choose(self, reading: ReadingName) -> None:
        """Show the tree under another reading."""
        self._preferences.reading = reading
        self._ask()

    @Slot()
    def refresh(self) -> None:
        """Weigh anew, for example because the tree is coloured by entropy now."""
        self._ask()

    @property
    def _wanted(self) -> tuple[ReadingName, Settings] | None:
        """What is to be weighed; None where the tree's own numbers will do, and in the past: its tree is another."""
        if self._session.in_past:
            return None
        reading = self._preferences.reading
        if reading == "what_if":
            return reading, self._window.settings.draft
        if self._window.tree.options.colour_by == "entropy":
            return "what_if", Settings()  # the model's own, with the entropies
        return None if reading == "model" else (reading, Settings())

    @Slot(object)
    def _opened(self, opened: OpenedSession) -> None:
        self._window.tree.set_weights(None)
        self._ask()

    @Slot()
    def _later(self) -> None:
        if self._wanted is not None or self._session.in_past:
            self._timer.start()

    @Slot()
    def _ask(self) -> None:
        self._timer.stop()
        self._number += 1
        wanted, opened = self._wanted, self._session.session
        if wanted is None or opened is None:
            self._window.tree.set_weights(None)
            return
        reading, settings = wanted
        first = tuple(self._window.tree.nodes_in_sight())
        self._post(self._number, _Weighing(self, opened.serial, reading, settings, first))

    def _post(self, number: int, weighing: _Weighing) -> None:
        def done(reading: TreeReading | None) -> None:
            if reading is None or number != self._number:
                return
            self._window.tree.set_weights(_weights(reading, weighing.name))
            if not reading.complete:
                self._post(number, weighing)

        self._thread.post("weigh", weighing.next, done=done)

    def reweigher(self, workspace: Workspace, serial: int) -> Reweigher | None:
        """On the session's thread: what keeps the distributions of the session that is open."""
        # networkx and the store come with it; the window's own thread must not pay for them.
        from explorer.reweighing import Reweigher

        if workspace.session is None:
            return None
        if self._reweigher is None or self._reweigher[0] != serial:
            self._reweigher = (serial, Reweigher(workspace.session))
        return self._reweigher[1]


class _Weighing:
    """One reading under way; advanced on the session's thread."""

    def __init__(
        self,
        controller: ReadingController,
        serial: int,
        reading: ReadingName,
        settings: Settings,
        first: tuple[int, ...],
    ) -> None:
        self._controller = controller
        self._serial = serial
        self._reading = reading
        self._settings = settings
        self._first = first
        self._slices: Iterator[TreeReading] | None = None
        self.name = _name_of(reading, settings)

    def next(self, workspace: Workspace, job: JobContext) -> TreeReading | None:
        """The next slice; None where another session is open by now."""
        from explorer.reweighing import recorded_reading

        reweigher = self._controller.reweigher(workspace, self._serial)
        if reweigher is None or workspace.session is None:
            return None
        if self._reading == "recorded":
            return recorded_reading(workspace.session.tree)
        if self._slices is None:
            self._slices = reweigher.what_if(self._settings, self._first)
        return next(self._slices, None)


def _weights(reading: TreeReading, name: str) -> TreeWeights:
    return TreeWeights(reading.edge, reading.path_logprob, reading.entropy, reading.unseen, name)


def _name_of(reading: ReadingName, settings: Settings) -> str:
    if reading == "recorded":
        return tr("sampling probability as recorded")
    return (
        tr("sampling probability under the present settings") if settings.sampling.values else tr("model probability")
    )
