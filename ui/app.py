"""The composition root: everything the window needs is made, connected and ended here."""

from __future__ import annotations

import argparse
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QObject, QSettings, QSocketNotifier, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from explorer.allocation import keep_freed_memory
from explorer.engine.client import CATALOG_OPENER, Engine
from explorer.i18n import N_, set_language, tr
from explorer.messages import StoreError, UserMessage
from explorer.paths import default_library
from ui.actions import KeyGuard
from ui.after_paint import AfterPaint
from ui.analysis_thread import AnalysisThread
from ui.bridge import Bridge, Event, unexpected
from ui.controllers.action_controller import ActionController
from ui.controllers.analysis_controller import AnalysisController
from ui.controllers.appearance_controller import AppearanceController
from ui.controllers.beam_controller import BeamController
from ui.controllers.characters_controller import CharactersController
from ui.controllers.compare_controller import CompareController
from ui.controllers.export_controller import ExportController
from ui.controllers.find_controller import FindController
from ui.controllers.grammar_controller import GrammarController
from ui.controllers.growth_controller import GrowthController
from ui.controllers.hall_controller import HallController
from ui.controllers.help_controller import HelpController
from ui.controllers.hint_controller import HintController
from ui.controllers.history_controller import HistoryController
from ui.controllers.keeping_controller import KeepingController
from ui.controllers.lesson_controller import LessonController
from ui.controllers.lesson_writing import LessonWriting
from ui.controllers.libraries_controller import LibrariesController
from ui.controllers.library_controller import LibraryController
from ui.controllers.message_controller import MessageController
from ui.controllers.model_controller import LESSON, ModelController
from ui.controllers.notes_controller import NotesController
from ui.controllers.past_controller import PastController
from ui.controllers.preset_controller import PresetController
from ui.controllers.proof_controller import ProofController
from ui.controllers.query_controller import QueryController
from ui.controllers.reading_controller import ReadingController
from ui.controllers.ruler_controller import RulerController
from ui.controllers.runs_controller import RunsController
from ui.controllers.score_controller import ScoreController
from ui.controllers.session_controller import SessionController
from ui.controllers.sessions_controller import SessionsController
from ui.controllers.settings_controller import SettingsController
from ui.controllers.sharing_controller import SharingController
from ui.controllers.shelving_controller import ShelvingController
from ui.controllers.speed_controller import SpeedController
from ui.controllers.statistics_controller import StatisticsController
from ui.controllers.tree_controller import TreeController
from ui.controllers.tree_options_controller import TreeOptionsController
from ui.controllers.verify_controller import VerifyController
from ui.controllers.view_controller import ViewController
from ui.garbage import GuiCollector
from ui.library.thread import LibraryThread
from ui.main_window import MainWindow, application_icon
from ui.preferences import Preferences
from ui.qt_words import QtWords
from ui.session_thread import OpenedSession, SessionThread
from ui.theme import ThemeChoice, ThemeController, load_chinese_font
from ui.threads import JobThread, PreviewThread

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.workspace import Workspace

_POLITE_SECONDS = 1.0
_LAST_SECONDS = 5.0


class Explorer(QObject):
    """The running program: one window, six threads, one engine. The window may be built anew (another language)."""

    finished = Signal()
    """The user closed the window."""

    def __init__(
        self, application: QApplication, library: Path, preferences: Preferences, *, opener: str = CATALOG_OPENER
    ) -> None:
        """``opener`` is the function that opens models in the engine's process, see `Engine`."""
        super().__init__(application)
        self._preferences = preferences
        self.library_path = library
        self._cleanup = ExitStack()
        self._collector = GuiCollector(self)
        self.closed = False
        self.engine = Engine(opener)
        self.bridge = Bridge(self)
        self.session_thread = SessionThread(self.bridge, self._open_library)
        self.model_thread: JobThread[Engine] = JobThread("models", self.bridge, lambda: self.engine)
        self.picture_thread: JobThread[None] = JobThread("pictures", self.bridge, lambda: None)
        self.library_thread = LibraryThread(self.bridge)
        self.preview_thread = PreviewThread(self.bridge)
        self.analysis_thread = AnalysisThread(self.bridge)
        self.theme = ThemeController(application, preferences.theme)
        self.theme.setParent(self)
        self._guard = KeyGuard(application, self)
        self._qt_words = QtWords(application, self)
        self._speak(preferences.language)
        self._build()

    def begin(self) -> None:
        """Start the threads and open what was open last. Called once, after the window's first paint."""
        fresh = not self.library_path.exists()
        for thread in (self.session_thread, self.model_thread, self.preview_thread, self.analysis_thread):
            thread.start()
        self.picture_thread.start()
        self.library_thread.start()
        # What lists the models imports the hub's library, on the time of the first session: that comes first.
        for first in (self.session.opened, self.models.failed):
            first.connect(self._list_models, Qt.ConnectionType.SingleShotConnection)
        self.library.begin(fresh=fresh)

    @Slot()
    def _list_models(self) -> None:
        self.models.refresh_entries()

    def close(self) -> None:
        """End everything that runs; what was finished is saved. Returns within seconds whatever the model does."""
        self.closed = True
        self.bridge.close()
        self.preview_thread.close(_POLITE_SECONDS)
        self.analysis_thread.close(_POLITE_SECONDS)
        for thread in (self.picture_thread, self.library_thread, self.model_thread, self.session_thread):
            thread.stop()
        self.picture_thread.close(_LAST_SECONDS)
        self.library_thread.close(_LAST_SECONDS)
        for thread in (self.model_thread, self.session_thread):
            if not thread.close(_POLITE_SECONDS):
                self.engine.kill()
                thread.close(_LAST_SECONDS)
        self.engine.close()
        self._preferences.sync()
        self._collector.close()
        self.window.deleteLater()
        self.deleteLater()
        self._cleanup.close()

    def _open_library(self) -> Workspace:
        """On the session thread, which pays for SQLAlchemy. A library that cannot be opened must not keep the window
        from working: a temporary one takes its place, and the user is told."""
        from explorer.workspace import Workspace

        try:
            return Workspace(self.library_path, self.engine)
        except StoreError as error:
            message: UserMessage = error.message
        except Exception as error:
            message = unexpected(error)
        told = replace(
            message,
            meaning=N_("This window works on a temporary library instead; it is gone when the window closes."),
            action=N_("Export what you want to keep, or mend what is wrong with the library and start again."),
        )
        self.bridge.put(Event("library_failed", told, latest_only=True))
        folder = self._cleanup.enter_context(tempfile.TemporaryDirectory(prefix="token-tree-"))
        return Workspace(Path(folder) / "library.sqlite", self.engine)

    # --- the window --------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        window = self.window = MainWindow(self._preferences)
        self.after_paint = AfterPaint(window)
        self.session = SessionController(self.bridge, self.session_thread, self.after_paint, window)
        self.views = ViewController(window, self.session)
        self.models = ModelController(window, self._preferences, self.bridge, self.model_thread, self.session_thread)
        self.library = LibraryController(
            window, self._preferences, self.bridge, self.session_thread, self.session, self.models
        )
        self.sessions = SessionsController(window, self.bridge, self.library_thread, self.session)
        self.shelving = ShelvingController(
            window, self.bridge, self.library_thread, self.session, self.sessions, self.library
        )
        self.sharing = SharingController(
            window, self._preferences, self.bridge, self.library_thread, self.sessions, self.shelving, self.library
        )
        self.libraries = LibrariesController(window, self.bridge, self.picture_thread, self.library, self.library_path)
        self.libraries.moved.connect(self._library_moved)
        self.presets = PresetController(window, self._preferences)
        self.appearance = AppearanceController(window, self._preferences)
        self.reading = ReadingController(window, self._preferences, self.session, self.session_thread)
        self.speed = SpeedController(window, self._preferences, self.bridge, self.session_thread)
        self.settings = SettingsController(window, self.bridge, self.preview_thread, self.session)
        self.ruler = RulerController(window, self._preferences, self.session)
        self.analysis = AnalysisController(window.explain, self.bridge, self.analysis_thread, window)
        self.characters = CharactersController(window, self.session_thread, self.session)
        self.grammar = GrammarController(window, self.bridge, self.analysis_thread, self.session)
        self.growth = GrowthController(window, self._preferences, self.bridge, self.session, self.views)
        self.runs = RunsController(window, self.session_thread, self.session, self.growth)
        self.beams = BeamController(
            window, self._preferences, self.bridge, self.session_thread, self.session, self.growth.strip
        )
        self.queries = QueryController(
            window, self._preferences, self.bridge, self.session_thread, self.session, self.growth.strip
        )
        self.statistics = StatisticsController(
            window,
            self._preferences,
            self.bridge,
            self.session_thread,
            self.picture_thread,
            self.session,
            self.growth.strip,
        )
        self.scores = ScoreController(
            window, self._preferences, self.bridge, self.session_thread, self.session, self.growth.strip
        )
        self.comparisons = CompareController(
            window, self._preferences, self.bridge, self.session_thread, self.session, self.growth.strip
        )
        self.hints = HintController(window, self.session)
        self.hall = HallController(window)
        self.help = HelpController(window, self._preferences)
        self.lessons = LessonController(
            window,
            self._preferences,
            self.bridge,
            self.session_thread,
            self.session,
            self.models,
            self.beams,
            self.scores,
        )
        self.lessons.page_requested.connect(self.help.open_page)
        self.lesson_writing = LessonWriting(window, self._preferences, self.bridge, self.lessons)
        self.messages = MessageController(
            window, self.bridge, self.session, self.models, self.library, self.libraries.recover
        )
        self.actions = ActionController(
            window, self._preferences, self.session, self.views, self.models, self.library, self.library_path
        )
        self.proof = ProofController(window, self.session_thread, self.session, self.views, self.library.load_model)
        self.exports = ExportController(
            window, self._preferences, self.bridge, self.picture_thread, self.session_thread, self.session
        )
        self.tree_options = TreeOptionsController(window, self._preferences)
        self.find = FindController(window, self._preferences, self.bridge, self.session, self.session_thread)
        self.notes = NotesController(window, self.session)
        self.tree = TreeController(window, self.session, self.views, self.notes, self.exports)
        self.history = HistoryController(window, self.bridge, self.session)
        self.keeping = KeepingController(window, self.session_thread, self.session, self.growth.strip)
        self.past = PastController(window, self.session, self.session_thread, self.analysis_thread, self.bridge)
        self.verifying = VerifyController(window, self.session_thread, self.session, self.past, self.library.load_model)
        window.may_close = self.library.may_close
        window.closed.connect(self.finished)
        window.welcome.step_requested.connect(self._step_lesson)
        self.session.opened.connect(self._session_opened)
        window.welcome.own_model_requested.connect(window.actions_["models"].trigger)
        window.welcome.dismissed.connect(self._dismiss_welcome)
        self._connect_choices()

    def _speak(self, language: str) -> None:
        set_language(language)
        self._qt_words.choose(language)

    def _connect_choices(self) -> None:
        actions = self.window.actions_
        themes: tuple[ThemeChoice, ...] = ("system", "light", "dark")
        for choice in themes:
            action = actions[f"theme_{choice}"]
            action.setChecked(choice == self._preferences.theme)
            action.triggered.connect(lambda _=False, choice=choice: self.choose_theme(choice))
        for language in ("en", "zh_CN"):
            action = actions[f"language_{language}"]
            action.setChecked(language == self._preferences.language)
            # Later: the menu that was clicked goes with the old window.
            action.triggered.connect(
                lambda _=False, language=language: QTimer.singleShot(0, self, lambda: self.choose_language(language))
            )

    def choose_theme(self, choice: ThemeChoice) -> None:
        self._preferences.theme = choice
        self.theme.choose(choice)

    def choose_language(self, language: str) -> None:
        """Show the window in another language: it is built anew around the same session."""
        if language == self._preferences.language:
            return
        self._preferences.language = language
        self._speak(language)
        self.session_thread.stop()
        self.model_thread.stop()
        wish, opened = self.models.wish, self.session.session is not None
        playing = self.lessons.playing
        self.hall.set_on(False)
        old = self.window
        old.save_layout()
        geometry, welcome = old.geometry(), old.welcome.isVisible()
        shiboken6.delete(old)  # at once, with its controllers and timers: nothing of it may ask for anything more
        self.bridge.forget()
        self._build()
        self.window.setGeometry(geometry)
        self.window.welcome.setVisible(welcome)
        self.lessons.resume(playing)
        self.window.show()
        self.models.refresh_entries()
        self.session_thread.post("tell again", lambda workspace, job: self.session_thread.tell_again(workspace))
        if wish is not None:
            wish(self.models)
        elif not opened:
            self.library.begin()

    @Slot()
    def _step_lesson(self) -> None:
        opened = self.session.session
        if opened is not None and opened.model.identity.source == LESSON:
            self.session.greedy()
        else:
            self.models.open_lesson()

    @Slot(object)
    def _session_opened(self, opened: OpenedSession) -> None:
        """Who has opened a real model needs the welcome no more."""
        if opened.model.identity.kind != "table":
            self.window.welcome.hide()
            self._dismiss_welcome()

    @Slot(object)
    def _library_moved(self, path: Path) -> None:
        self.library_path = self.actions.library_path = path

    @Slot()
    def _dismiss_welcome(self) -> None:
        self._preferences.set_flag("welcome_dismissed", True)


def run(arguments: Sequence[str]) -> int:
    """Show the window until it is closed; the exit code."""
    options = _parse(arguments)
    keep_freed_memory()
    application = QApplication.instance() or QApplication(["token-tree-explorer"])
    assert isinstance(application, QApplication)
    application.setApplicationName("token-tree-explorer")
    application.setOrganizationName("token-tree-explorer")
    application.setApplicationDisplayName("")
    application.setWindowIcon(application_icon())
    load_chinese_font()
    explorer = Explorer(application, options.library, Preferences(window_settings()))
    # Not with the last window: the one before is gone for a moment while another language is put on.
    application.setQuitOnLastWindowClosed(False)
    explorer.finished.connect(application.quit)
    explorer.window.show()
    QTimer.singleShot(0, explorer, explorer.begin)
    with ExitStack() as cleanup:
        _close_on_signals(explorer, cleanup)
        _show_faults(explorer.bridge, cleanup)
        code = application.exec()
    explorer.close()
    return code


def window_settings() -> QSettings:
    """Where the window's state is kept: an ini file in the user's configuration folder."""
    return QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "token-tree-explorer", "window")


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    set_language(Preferences(window_settings()).language)
    parser = argparse.ArgumentParser(
        prog="token-tree-explorer", description=tr("Look inside decoding, one token at a time.")
    )
    parser.add_argument("--library", type=Path, default=default_library(), help=tr("the SQLite file of sessions"))
    return parser.parse_args(list(arguments))


def _close_on_signals(explorer: Explorer, cleanup: ExitStack) -> None:
    """Ctrl-C and a polite kill close the window as a click would. A socket wakes Qt's loop, which runs no Python."""
    reader, writer = socket.socketpair()
    for end in (reader, writer):
        end.setblocking(False)
        cleanup.callback(end.close)
    notifier = QSocketNotifier(reader.fileno(), QSocketNotifier.Type.Read, explorer)
    cleanup.callback(notifier.setEnabled, False)
    notifier.activated.connect(lambda: (reader.recv(1), explorer.window.close()))
    cleanup.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(writer.fileno()))
    for number in (signal.SIGINT, signal.SIGTERM):
        cleanup.callback(signal.signal, number, signal.signal(number, lambda *_: None))


def _show_faults(bridge: Bridge, cleanup: ExitStack) -> None:
    """An exception nobody caught is shown, not only printed."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        bridge.put(Event("trouble", unexpected(error)))

    sys.excepthook = hook
    cleanup.callback(setattr, sys, "excepthook", before)
