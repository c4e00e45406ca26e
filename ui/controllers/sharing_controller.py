"""Sessions as files: written for others, and taken over from them by choosing or dropping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QStandardPaths, Slot
from PySide6.QtWidgets import QFileDialog

from explorer.i18n import N_, tr
from explorer.messages import UserMessage
from explorer.store.records import SessionSummary
from ui.bridge import Bridge, JobContext
from ui.controllers.export_controller import file_name
from ui.controllers.library_controller import LibraryController
from ui.controllers.sessions_controller import SessionsController
from ui.controllers.shelving_controller import ShelvingController
from ui.library.dropped import SUFFIX
from ui.library.edits import Trash
from ui.library.shelf import Shelf
from ui.library.thread import LibraryThread
from ui.library.words import sessions_count, short_title
from ui.library.work import Arrival, ImportReport, export_files, import_files
from ui.main_window import MainWindow
from ui.panels.message_area import MessageAction
from ui.preferences import Preferences

_FORM = "sharing"
_MOST_NAMED = 5


class SharingController(QObject):
    """Between file dialogs, what is dropped on the window, and the library thread."""

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        bridge: Bridge,
        thread: LibraryThread,
        sessions: SessionsController,
        shelving: ShelvingController,
        library: LibraryController,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self._bridge = bridge
        self._panel = window.sessions
        self._thread = thread
        self._sessions = sessions
        self._shelving = shelving
        self._library = library
        self._panel.asked.connect(self._do)
        self._panel.import_requested.connect(self.choose_files)
        window.files_dropped.connect(self.import_files)
        window.actions_.connect_all({"import_sessions": self.choose_files})

    # --- out ---------------------------------------------------------------------------------------------------------

    @Slot(str)
    def _do(self, name: str) -> None:
        if name == "share":
            chosen = self._panel.chosen()  # not all of their lines need be read yet
            self._thread.post("lines", lambda shelf, job: shelf.lines(chosen, ""), done=self.export)

    def export(self, lines: Sequence[SessionSummary]) -> None:
        """Ask where to, and write each session to a file."""
        paths = self._ask_path(lines[0]) if len(lines) == 1 else self._ask_folder(lines) if lines else {}
        if not paths:
            return
        folder = next(iter(paths.values())).parent
        self._preferences.set_form(_FORM, {"folder": str(folder)})

        def done(number: int) -> None:
            where = next(iter(paths.values())) if number == 1 else folder
            words = tr("Written: {sessions} to {path}")
            self._panel.strip.say(words.format(sessions=sessions_count(number), path=where))

        self._long("export sessions", partial(export_files, paths=paths), done)

    def _ask_path(self, line: SessionSummary) -> dict[int, Path]:
        suggested = str(self._folder() / (file_name(line.title, line.id) + SUFFIX))
        chosen, _ = QFileDialog.getSaveFileName(
            self._window, tr("Export as one file"), suggested, tr("Shared sessions (*.ttsession)")
        )
        if not chosen:
            return {}
        path = Path(chosen)
        return {line.id: path if path.suffix else path.with_suffix(SUFFIX)}

    def _ask_folder(self, lines: Sequence[SessionSummary]) -> dict[int, Path]:
        """A file for each in a folder; none takes the place of one that is there."""
        chosen = QFileDialog.getExistingDirectory(
            self._window, tr("Folder for {sessions}").format(sessions=sessions_count(len(lines))), str(self._folder())
        )
        paths: dict[int, Path] = {}
        taken: set[str] = set()
        for line in lines if chosen else ():
            name = stem = file_name(line.title, line.id)
            number = 1
            while name.casefold() in taken or (Path(chosen) / (name + SUFFIX)).exists():
                number += 1
                name = f"{stem}-{number}"
            taken.add(name.casefold())
            paths[line.id] = Path(chosen) / (name + SUFFIX)
        return paths

    def _folder(self) -> Path:
        kept = self._preferences.form(_FORM).get("folder")
        if isinstance(kept, str) and Path(kept).is_dir():
            return Path(kept)
        documents = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation))
        return documents if documents.is_dir() else Path.home()

    # --- in ----------------------------------------------------------------------------------------------------------

    @Slot()
    def choose_files(self) -> None:
        """Ask which files to take over."""
        chosen, _ = QFileDialog.getOpenFileNames(
            self._window,
            tr("Import sessions"),
            str(self._folder()),
            f"{tr('Shared sessions (*.ttsession)')};;{tr('All files (*)')}",
        )
        self.import_files([Path(name) for name in chosen])

    @Slot(list)
    def import_files(self, paths: list[Path], *, as_copy: bool = False) -> None:
        """Take sessions over from files; each is said: taken over, known already, or refused with why."""
        if paths:
            self._window.show_dock("sessions")
            self._preferences.set_form(_FORM, {"folder": str(paths[0].parent)})
            self._long("import sessions", partial(import_files, paths=paths, as_copy=as_copy), self._imported)

    def _imported(self, report: ImportReport) -> None:
        added = tuple(arrival.session for arrival in report.arrived if arrival.fate != "known")
        known = [arrival for arrival in report.arrived if arrival.fate == "known"]
        strip = self._panel.strip
        strip.hide()
        if added:
            self._shelving.remember(Trash(added), _added_words(report))
        self._sessions.choose(tuple(arrival.session for arrival in report.arrived))
        if known:
            self._say_known(known)
        if report.refused:
            self._window.messages.show_message(_refusal(report))

    def _say_known(self, known: Sequence[Arrival]) -> None:
        actions = []
        if len(known) == 1:
            opening = tr("Open the session that is here.")
            actions.append(MessageAction(tr("Open"), opening, lambda: self._library.open(known[0].session)))
        copying = tr("Take it over all the same, as another session beside the one that is here.")
        paths = [arrival.path for arrival in known]
        actions.append(MessageAction(tr("Import as a copy"), copying, lambda: self.import_files(paths, as_copy=True)))
        message = UserMessage(
            "library.known",
            N_("Already in the library, unchanged: {titles}."),
            N_("Nothing was added."),
            N_("Open it, or import it as a copy."),
            {"titles": ", ".join(f"“{short_title(arrival.title)}”" for arrival in known[:_MOST_NAMED])},
        )
        self._window.messages.show_message(message, tuple(actions))

    # --- long work ---------------------------------------------------------------------------------------------------

    def _long(self, name: str, work: Callable[[Shelf, JobContext], Any], done: Callable[[Any], None]) -> None:
        strip = self._panel.strip
        job = self._thread.post(
            name,
            work,
            done=done,
            failed=self._failed,
            cancelled=self._stopped,
            progress=lambda progress: strip.show_progress(progress, job.cancel.cancel),
        )

    def _failed(self, message: UserMessage) -> None:
        self._panel.strip.hide()
        self._bridge.failed.emit(message)
        self._sessions.refresh()

    def _stopped(self) -> None:
        self._panel.strip.say(tr("Stopped. What was finished stays."))
        self._sessions.refresh()


def _added_words(report: ImportReport) -> str:
    added = [arrival for arrival in report.arrived if arrival.fate != "known"]
    if len(added) > 1:
        return tr("Imported: {sessions}.").format(sessions=sessions_count(len(added)))
    if added[0].fate == "changed":
        return tr("Imported “{title}” beside another state of it.").format(title=short_title(added[0].title))
    return tr("Imported “{title}”.").format(title=short_title(added[0].title))


def _refusal(report: ImportReport) -> UserMessage:
    """One message for all refused files: the first one's own, with the others in its details."""
    path, first = report.refused[0]
    more = len(report.refused) > 1
    details = "\n".join(f"{p.name}: {m.sentences()[0]} {m.details}".strip() for p, m in report.refused)
    return UserMessage(
        "library.refused",
        N_("{count} files were not taken over, among them {name}: {why}") if more else N_("{name}: {why}"),
        first.meaning,
        N_("The details name every file with its reason.") if more else first.action,
        {**first.params, "count": len(report.refused), "name": path.name, "why": first.sentences()[0]},
        details if more or first.details else "",
    )
