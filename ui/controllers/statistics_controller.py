"""Run statistics in the window: the form, the work, and what came of it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QStandardPaths, QTimer, Slot
from PySide6.QtWidgets import QFileDialog

from explorer.events import Change
from explorer.i18n import tr
from explorer.messages import UserMessage
from explorer.studies.plan import StudyPlan
from ui.bridge import Bridge, Event, JobContext
from ui.controllers.export_controller import file_name
from ui.controllers.session_controller import SessionController
from ui.format import elide_middle
from ui.growth.strip import GrowthStrip
from ui.main_window import MainWindow
from ui.panels.presets import OwnPreset
from ui.preferences import Preferences
from ui.session_thread import SessionThread
from ui.statistics.shown import StudiesShown, StudyMoved, StudyShown
from ui.statistics.words import progress_words
from ui.threads import JobThread

if TYPE_CHECKING:  # see ui.session_thread; the window and its form are made when they are first asked for
    from explorer.session import Session
    from explorer.workspace import Workspace
    from ui.statistics.study_form import StudyForm
    from ui.statistics.window import FileKind, StatisticsWindow

_FORM = "statistics"
_MOVES_NODES = frozenset({"undo", "redo", "delete"})
_LABEL_LENGTH = 24
_FILES = {
    "figures_csv": ("figures", ".csv", "CSV (*.csv)"),
    "runs_csv": ("runs", ".csv", "CSV (*.csv)"),
    "json": ("statistics", ".json", "JSON (*.json)"),
    "png": ("plots", ".png", "PNG (*.png)"),
    "svg": ("plots", ".svg", "SVG (*.svg)"),
}


class StatisticsController(QObject):
    """Asks the session's thread for what the window shows; nothing is computed here."""

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        bridge: Bridge,
        thread: SessionThread,
        files: JobThread[None],
        session: SessionController,
        strip: GrowthStrip,
    ) -> None:
        """``files`` writes files."""
        super().__init__(window)
        self._main = window
        self._preferences = preferences
        self._bridge = bridge
        self._thread = thread
        self._files = files
        self._session = session
        self._strip = strip
        self._tickets = itertools.count(1)
        self._ticket = 0
        self._running = False
        self._studies = StudiesShown((), None)
        self._moved: StudyMoved | None = None
        self.window: StatisticsWindow | None = None
        self.form: StudyForm | None = None
        window.actions_.connect_all({"statistics": self.open})
        session.opened.connect(self._opened)
        session.changed.connect(self._changed)
        session.activity_changed.connect(self._refresh_ready)
        bridge.happened.connect(self._take_event)
        self._refresh_ready()

    # --- the windows -------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Show the window; where the session has no statistics yet, ask at once what to draw."""
        if self._session.session is None:
            return
        window = self._window()
        window.show()
        window.raise_()
        window.activateWindow()
        self._ask(then=lambda: None if self._studies.names or self._running else self.open_form())

    def _window(self) -> StatisticsWindow:
        if self.window is None:
            from ui.statistics.window import StatisticsWindow

            window = self.window = StatisticsWindow(self._main)
            window.set_log_unit(self._preferences.log_unit)
            window.new_requested.connect(self.open_form)
            window.resume_requested.connect(self._resume)
            window.stop_requested.connect(self._session.stop)
            window.study_chosen.connect(lambda study_id: self._ask(study_id))
            window.reference_chosen.connect(lambda place: self._ask(self._chosen, place))
            window.file_requested.connect(self._choose_file)
            window.node_activated.connect(self._session.select)
            window.node_hovered.connect(self._hover)
            for unit in ("nats", "bits"):
                self._main.actions_[f"log_{unit}"].triggered.connect(
                    lambda _=False: QTimer.singleShot(
                        0, window, lambda: window.set_log_unit(self._preferences.log_unit)
                    )
                )
        return self.window

    def open_form(self) -> None:
        """Ask what to draw from the current node."""
        opened = self._session.session
        if opened is None or not self._session.free or self.form is not None:
            return
        from ui.statistics.study_form import StudyForm

        read = (OwnPreset.from_json(data) for data in self._preferences.own_presets)
        form = self.form = StudyForm(
            self._window(), self._session.settings, [preset for preset in read if preset is not None]
        )
        form.set_model(opened.model, opened.vocabulary)
        form.set_values(self._preferences.form(_FORM))
        form.set_where(self._where())
        form.start_requested.connect(self._start)
        form.finished.connect(self._form_closed)
        form.open()

    def _where(self) -> str:
        view = self._session.view
        if view is None or not view.pieces:
            return tr("The runs begin at the prompt.")
        token = elide_middle(view.pieces[-1].label, _LABEL_LENGTH)
        return tr("The runs begin after “{token}”, the current node.").format(token=token)

    @Slot()
    def _form_closed(self) -> None:
        if self.form is not None:
            self._preferences.set_form(_FORM, self.form.values())
        self.form = None

    @Slot()
    def _refresh_ready(self) -> None:
        self._main.actions_.enable(self._session.session is not None and not self._session.in_past, "statistics")

    # --- the work ----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _start(self, plan: StudyPlan) -> None:
        start = self._session.current

        def work(session: Session, job: JobContext) -> Any:
            from ui.statistics.work import studying  # see ui.session_thread: this thread pays for what comes with it

            return studying(session, plan, start, job.cancel, tell)

        tell = self._telling()
        self._begin(work)

    @Slot()
    def _resume(self) -> None:
        study_id = self._chosen
        if study_id is None:
            return

        def work(session: Session, job: JobContext) -> Any:
            from ui.statistics.work import resuming

            return resuming(session, study_id, job.cancel, tell)

        tell = self._telling()
        self._begin(work)

    def _telling(self) -> Callable[[StudyMoved, StudyShown | None], None]:
        """What the session's thread reports to. A report must not get lost behind the next step."""
        ticket = self._ticket = next(self._tickets)

        def tell(moved: StudyMoved, shown: StudyShown | None) -> None:
            self._bridge.put(Event("study_moved", (ticket, moved), latest_only=True))
            if shown is not None:
                self._bridge.put(Event("study_shown", (ticket, shown), latest_only=True))

        return tell

    def _begin(self, work: Callable[[Session, JobContext], Any]) -> None:
        if self._session.grow("study", work, self._ended, self._failed):
            self._running, self._moved = True, None
            self._strip.show_progress(tr("Statistics"), 0, None)

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name not in ("study_moved", "study_shown") or value[0] != self._ticket:
            return
        if name == "study_shown":
            shown: StudyShown = value[1]
            others = tuple(known for known in self._studies.names if known.id != shown.name.id)
            self._show(StudiesShown(tuple(sorted((*others, shown.name), key=lambda known: known.id)), shown))
            return
        moved: StudyMoved = value[1]
        self._moved = moved
        total = moved.name.plan.runs * len(moved.name.plan.configurations)
        self._strip.show_progress(progress_words(moved), total - moved.name.left, total)
        if self.window is not None:
            self.window.set_progress(moved)

    def _ended(self) -> None:
        self._running = False
        self._strip.hide()
        if self.window is not None:
            self.window.set_progress(None)
        self._ask(None if self._moved is None else self._moved.name.id)

    def _failed(self, message: UserMessage) -> None:
        self._bridge.failed.emit(message)

    # --- what there is -----------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self) -> None:
        self._running = False
        self._ticket = next(self._tickets)  # what is still told is of the session before
        self._show(StudiesShown((), None))
        if self.window is not None:
            self.window.set_progress(None)
        self._ask()

    @Slot(list)
    def _changed(self, changes: list[Change]) -> None:
        if any(change.command in _MOVES_NODES for change in changes) and not self._running:
            self._ask(self._chosen)

    @property
    def _chosen(self) -> int | None:
        return None if self._studies.shown is None else self._studies.shown.name.id

    def _ask(self, study_id: int | None = None, reference: int = 0, then: Callable[[], object] | None = None) -> None:
        """Have the studies read, and one of them in full, where anybody looks."""
        opened = self._session.session
        if opened is None or self._running or self.window is None:
            return

        def read(workspace: Workspace, _job: Any) -> StudiesShown | None:
            from ui.statistics.work import recorded_studies

            return None if workspace.session is None else recorded_studies(workspace.session, study_id, reference, None)

        def take(studies: StudiesShown | None) -> None:
            if studies is not None and self._session.session is opened and not self._running:
                self._show(studies)
                if then is not None:
                    then()

        self._thread.post("studies", read, done=take)

    def _show(self, studies: StudiesShown) -> None:
        self._studies = studies
        if self.window is not None:
            self.window.set_studies(studies)
            if not self._running:
                self.window.set_progress(None)

    @Slot(int)
    def _hover(self, node_id: int) -> None:
        for view in (self._main.tree, self._main.path, self._main.candidates):
            view.highlight_node(node_id)

    # --- files -------------------------------------------------------------------------------------------------------

    @Slot(str)
    def _choose_file(self, kind: FileKind) -> None:
        opened, window = self._session.session, self.window
        if opened is None or window is None:
            return
        name, suffix, kinds = _FILES[kind]
        last = self._session.last
        title = file_name(opened.state.title if last is None else last.state.title, opened.id)
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        offered = str(Path(folder) / f"{title}-{name}{suffix}")
        chosen, _ = QFileDialog.getSaveFileName(window, tr("Export"), offered, kinds)
        if chosen:
            path = Path(chosen)
            self.write(kind, path if path.suffix else path.with_suffix(suffix))

    def write(self, kind: FileKind, path: Path) -> None:
        """Write what is shown to a file. Plots are painted here, the rest is made where it is written."""
        window = self.window
        if window is None or window.shown is None:
            return
        shown, picture = window.shown, b""
        if kind in ("png", "svg"):
            from ui.statistics.pictures import plots_png, plots_svg

            plots = [plot for plot in (window.figures, window.differences) if plot.lanes()]
            picture = plots_png(plots) if kind == "png" else plots_svg(plots, window.studies.currentText())

        def work(_owned: None, _job: JobContext) -> None:
            path.write_bytes(picture or _data(kind, shown))

        def done(_: None) -> None:
            window.show_said(tr("Written to {path}.").format(path=path))

        def failed(message: UserMessage) -> None:
            window.show_said(message.text())

        self._files.post("statistics file", work, done=done, failed=failed)


def _data(kind: str, shown: StudyShown) -> bytes:
    from explorer.studies.files import figures_csv, report_document, study_runs_csv

    if kind == "figures_csv":
        return figures_csv(shown.report).encode("utf-8")
    if kind == "runs_csv":
        return study_runs_csv(shown.report).encode("utf-8")
    document = report_document(shown.report, shown.clusters)
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2).encode("utf-8")
