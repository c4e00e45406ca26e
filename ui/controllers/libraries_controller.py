"""Libraries as files: another one in this window, another window on this one; checked, backed up, recovered."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QProcess, Signal, Slot
from PySide6.QtWidgets import QFileDialog

from explorer.i18n import N_, tr
from explorer.messages import UserMessage
from ui.bridge import Bridge, JobContext
from ui.controllers.library_controller import LibraryController
from ui.library.health import back_up_library, check_library, recover_library, recovery_words
from ui.library.recovery_dialog import RecoveryDialog
from ui.library.words import sessions_count, size_words
from ui.main_window import MainWindow
from ui.threads import JobThread

if TYPE_CHECKING:  # see ui.library.health
    from explorer.store.recovery import Backup, CheckReport, RecoveryReport

_SUFFIX = ".sqlite"
_NEVER_OVER = QFileDialog.Option.DontConfirmOverwrite  # a file that is there is refused, and said so


class LibrariesController(QObject):
    """Knows which library the window works on. ``thread`` does what takes long, so that steps and the list go on."""

    moved = Signal(object)
    """The `Path` of the library the window works on now."""

    def __init__(
        self, window: MainWindow, bridge: Bridge, thread: JobThread[None], library: LibraryController, path: Path
    ) -> None:
        super().__init__(window)
        self._window = window
        self._bridge = bridge
        self._thread = thread
        self._library = library
        self.path = path
        window.actions_.connect_all(
            {
                "open_library": self.choose_library,
                "new_window": self.open_window,
                "check_library": self.check,
                "back_up_library": self.back_up,
                "recover_library": self.choose_damaged,
            }
        )
        bridge.happened.connect(self._take_event)

    # --- another one -------------------------------------------------------------------------------------------------

    @Slot()
    def choose_library(self) -> None:
        """Ask for another library's file; a name that is not there begins a new one."""
        chosen, _ = QFileDialog.getSaveFileName(
            self._window,
            tr("Open another library, or name a new one"),
            str(self.path.parent),
            _filters(),
            options=_NEVER_OVER,
        )
        if chosen:
            path = Path(chosen)
            self._library.move_to(path if path.suffix or path.exists() else path.with_suffix(_SUFFIX), create=True)

    @Slot()
    def open_window(self) -> None:
        """Start the program once more on the same library: what one window saves, the other lists."""
        started, _ = QProcess.startDetached(sys.executable, ["-m", "ui", "--library", str(self.path)])
        if not started:
            self._bridge.failed.emit(
                UserMessage(
                    "window.start",
                    N_("Another window could not be started."),
                    N_("This one goes on as before."),
                    N_("Start the program a second time by hand."),
                )
            )

    # --- health ------------------------------------------------------------------------------------------------------

    @Slot()
    def check(self) -> None:
        """Look over every page and every session of the library."""

        def done(report: CheckReport) -> None:
            if report.message is not None:
                self._window.sessions.strip.hide()
                self._bridge.failed.emit(report.message)
            else:
                words = tr("The library is sound. Read and found whole: {sessions}.")
                self._say(words.format(sessions=sessions_count(report.sessions)))

        path = self.path
        self._long("check", lambda _, job: check_library(path, job), done)

    @Slot()
    def back_up(self) -> None:
        """Copy the library now, beside the copies that are made by themselves."""

        def done(made: Backup) -> None:
            self._say(tr("The backup is {path} ({size}).").format(path=made.path, size=size_words(made.bytes)))

        path = self.path
        self._long("back up", lambda _, job: back_up_library(path, job), done)

    @Slot()
    def choose_damaged(self) -> None:
        """Ask which file to recover from."""
        chosen, _ = QFileDialog.getOpenFileName(
            self._window, tr("Recover from a damaged library"), str(self.path), _filters()
        )
        if chosen:
            self.recover(Path(chosen))

    def recover(self, damaged: Path) -> None:
        """Ask for the new file, and put into it what is left of a damaged library; the report says what that is."""
        suggested = damaged.with_name(f"{damaged.stem}-{tr('recovered')}{damaged.suffix or _SUFFIX}")
        chosen, _ = QFileDialog.getSaveFileName(
            self._window, tr("The new library"), str(suggested), _filters(), options=_NEVER_OVER
        )
        if chosen:
            target = Path(chosen)
            self._long("recover", lambda _, job: recover_library(damaged, target, job), self._recovered)

    def _recovered(self, report: RecoveryReport) -> None:
        self._window.sessions.strip.hide()
        dialog = RecoveryDialog(self._window, recovery_words(report))
        dialog.open_requested.connect(partial(self._library.move_to, report.target))
        dialog.open()

    # --- inside ------------------------------------------------------------------------------------------------------

    def _long(self, name: str, work: Callable[[None, JobContext], Any], done: Callable[[Any], None]) -> None:
        self._window.show_dock("sessions")
        strip = self._window.sessions.strip
        job = self._thread.post(
            name,
            work,
            done=done,
            failed=self._failed,
            cancelled=lambda: self._say(tr("Stopped. Nothing was changed.")),
            progress=lambda progress: strip.show_progress(progress, job.cancel.cancel),
        )

    def _say(self, text: str) -> None:
        self._window.sessions.strip.say(text)

    def _failed(self, message: UserMessage) -> None:
        self._window.sessions.strip.hide()
        self._bridge.failed.emit(message)

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name == "library_path" and value != self.path:
            self.path = value
            self.moved.emit(value)


def _filters() -> str:
    return f"{tr('Libraries (*.sqlite)')};;{tr('All files (*)')}"
