"""Pictures and data of the session that is open: into a file, or onto the clipboard."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QMimeData, QObject, QStandardPaths, Slot
from PySide6.QtGui import QFont, QGuiApplication, QImage

from explorer.i18n import N_, tr
from explorer.messages import PromptError, UserMessage
from explorer.progress import Progress
from ui.bridge import Bridge, Job, JobContext
from ui.controllers.session_controller import SessionController
from ui.format import count
from ui.main_window import MainWindow
from ui.preferences import Preferences
from ui.session_thread import SessionThread
from ui.threads import JobThread

if TYPE_CHECKING:  # they come with SQLAlchemy and the writers of every format: only who exports pays
    from explorer.export import SessionDocument
    from explorer.export.picture import PictureContent
    from explorer.workspace import Workspace
    from ui.dialogs.export_dialog import ExportDialog
    from ui.dialogs.export_form import ExportFormat
    from ui.export.choices import ExportChoices
    from ui.export.preview import Preview
    from ui.export.subject import PictureSubject

_SHOWN_MS = 8000
_FORM = "export"
_FIRST = ("png", "svg", "pdf")
_UNFIT_FOR_NAMES = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 60
_MOST_NODES_DRAWN = 2000  # of a picture on the clipboard; beyond, pixels must do


class ExportController(QObject):
    """Between the export dialog, the canvas, and the two threads: one reads the session, one paints and writes."""

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        bridge: Bridge,
        thread: JobThread[None],
        session_thread: SessionThread,
        session: SessionController,
    ) -> None:
        """``thread`` paints and writes."""
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self._bridge = bridge
        self._thread = thread
        self._session_thread = session_thread
        self._session = session
        self._dialog: ExportDialog | None = None
        self._subject: PictureSubject | None = None
        self._previewing: Job[None] | None = None
        self._writing: Job[Any] | None = None
        window.actions_.connect_all({"export": self.open_dialog, "copy_picture": self.copy_picture})

    # --- what the actions do -----------------------------------------------------------------------------------------

    def open_dialog(self, content: PictureContent | None = None) -> None:
        """Ask what to export, and where to. What is shown now is what a picture shows.

        ``content`` asks for a picture of that, instead of what was exported last.
        """
        from ui.dialogs.export_dialog import ExportDialog

        if self._session.session is None or self._dialog is not None:
            return
        formats = self._formats()
        self._subject = self._subject_now()
        title = " ".join(self._title().split())
        choices = self._choices()
        if content is not None:
            kind = choices.format if choices.format in _FIRST else _FIRST[0]
            choices = replace(choices, format=kind, content=content)
        dialog = self._dialog = ExportDialog(
            self._window, formats, choices, title, file_name(title, self._session.session.id)
        )
        dialog.preview_wanted.connect(self._preview)
        dialog.export_requested.connect(self._export)
        dialog.copy_requested.connect(self._copy_from_dialog)
        dialog.stop_requested.connect(self._stop)
        dialog.finished.connect(self._closed)
        dialog.open()

    def copy_picture(self) -> None:
        """Put a picture on the clipboard as it was last wished for."""
        if self._session.session is None:
            return
        self._window.status.showMessage(tr("Painting the picture…"), _SHOWN_MS)
        self._copy(self._subject_now(), self._choices(), self._title())

    def export_data(self, path: Path, name: str) -> None:
        """Write everything of the session that is open to ``path``, in a format that is no picture."""

        def done(document: SessionDocument) -> None:
            def work(_: None, job: JobContext) -> None:
                write_data(document, name, path)

            self._writing = self._thread.post("export", work, done=lambda _: self._written(path), **handlers)

        handlers: dict[str, Any] = {"failed": self._failed, "cancelled": self._cancelled}
        self._writing = self._session_thread.post("read the session", _read_document, done=done, **handlers)

    # --- the dialog --------------------------------------------------------------------------------------------------

    @Slot()
    def _preview(self) -> None:
        dialog, subject = self._dialog, self._subject
        if dialog is None or subject is None:
            return
        if self._previewing is not None:
            self._previewing.cancel.cancel()
        if not dialog.form.format.is_picture:
            dialog.show_data(len(subject.nodes))
            return
        options, kind = dialog.choices.options(dialog.title), dialog.form.format.name
        room, ratio, font = dialog.room, dialog.devicePixelRatioF(), QFont(self._window.tree.font())

        def work(_: None, job: JobContext) -> Preview:
            from ui.export.preview import make_preview
            from ui.export.work import Work

            return make_preview(subject, options, kind, font, date.today(), room, ratio, Work(job.cancel))

        def done(preview: Preview) -> None:
            if self._dialog is dialog:
                dialog.show_preview(preview)

        self._previewing = self._thread.post("preview", work, done=done, failed=self._failed)

    @Slot()
    def _export(self) -> None:
        dialog, subject = self._dialog, self._subject
        if dialog is None or subject is None:
            return
        self._preferences.set_form(_FORM, dialog.choices.to_json())
        dialog.show_begun()
        path, kind = dialog.path, dialog.form.format
        if not kind.is_picture:
            self.export_data(path, kind.name)
            return
        options, font = dialog.choices.options(dialog.title), QFont(self._window.tree.font())

        def work(_: None, job: JobContext) -> None:
            from explorer.export.whole_file import write_whole_file
            from ui.export.formats import WRITERS
            from ui.export.sheet import Sheet
            from ui.export.work import Work

            picture = BytesIO()
            WRITERS[kind.name](Sheet(subject, options, font, date.today()), picture, Work(job.cancel, job.progress))
            write_whole_file(path, lambda file: file.write(picture.getbuffer()))

        self._writing = self._thread.post(
            "export",
            work,
            done=lambda _: self._written(path),
            failed=self._failed,
            cancelled=self._cancelled,
            progress=self._progressed,
        )

    @Slot()
    def _copy_from_dialog(self) -> None:
        dialog = self._dialog
        if dialog is not None and self._subject is not None:
            self._preferences.set_form(_FORM, dialog.choices.to_json())
            dialog.show_begun()
            self._copy(self._subject, dialog.choices, dialog.title)

    @Slot()
    def _stop(self) -> None:
        if self._writing is not None:
            self._writing.cancel.cancel()

    @Slot()
    def _closed(self) -> None:
        dialog, self._dialog, self._subject = self._dialog, None, None
        if self._previewing is not None:
            self._previewing.cancel.cancel()
        if dialog is not None:
            dialog.deleteLater()

    # --- outcomes ----------------------------------------------------------------------------------------------------

    def _copy(self, subject: PictureSubject, choices: ExportChoices, title: str) -> None:
        options, font = choices.options(title), QFont(self._window.tree.font())

        def work(_: None, job: JobContext) -> tuple[QImage, bytes]:
            from ui.export.formats import paint_image, write_svg
            from ui.export.sheet import Sheet
            from ui.export.work import Work

            sheet, drawing = Sheet(subject, options, font, date.today()), BytesIO()
            painting = Work(job.cancel, job.progress)
            image = paint_image(sheet, painting, options.scale)
            if sheet.tree.node_count <= _MOST_NODES_DRAWN:
                write_svg(sheet, drawing, painting)
            return image, drawing.getvalue()

        def done(painted: tuple[QImage, bytes]) -> None:
            image, drawing = painted
            data = QMimeData()
            data.setImageData(image)
            if drawing:
                data.setData("image/svg+xml", drawing)
            QGuiApplication.clipboard().setMimeData(data)
            size = tr("{width} × {height} pixels").format(width=count(image.width()), height=count(image.height()))
            self._tell(tr("The picture is on the clipboard: {size}.").format(size=size))

        self._writing = self._thread.post(
            "copy", work, done=done, failed=self._failed, cancelled=self._cancelled, progress=self._progressed
        )

    def _written(self, path: Path) -> None:
        self._writing = None
        if self._dialog is not None:
            self._dialog.accept()
        self._window.status.showMessage(tr("Written to {path}").format(path=path), _SHOWN_MS)

    def _tell(self, text: str) -> None:
        self._writing = None
        if self._dialog is not None:
            self._dialog.show_done(text)
        self._window.status.showMessage(text, _SHOWN_MS)

    def _failed(self, message: UserMessage) -> None:
        self._writing = None
        if self._dialog is not None:
            self._dialog.show_problem(message)
        else:
            self._bridge.failed.emit(message)

    def _cancelled(self) -> None:
        self._tell(tr("Stopped. Nothing was written."))

    def _progressed(self, progress: Progress) -> None:
        if self._dialog is not None:
            self._dialog.show_progress(progress)

    # --- what there is -----------------------------------------------------------------------------------------------

    def _formats(self) -> list[ExportFormat]:
        """Pictures first; a format of another package that does not load is said, and left out."""
        from explorer.export.document import ExportError
        from explorer.export.registry import exporter, exporter_names
        from ui.dialogs.export_form import ExportFormat

        formats = []
        for name in sorted(exporter_names(), key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST)):
            try:
                found = exporter(name)
            except ExportError as error:
                self._bridge.failed.emit(error.message)
            else:
                formats.append(ExportFormat(name, tr(found.label), found.suffix, name in _FIRST))
        return formats

    def _subject_now(self) -> PictureSubject:
        from ui.export.stamp import Provenance
        from ui.export.subject import subject_of_canvas

        opened, last = self._session.session, self._session.last
        assert opened is not None
        state = opened.state if last is None else last.state
        provenance = Provenance.of_model(opened.model, state.settings, state.seed)
        return subject_of_canvas(self._window.tree, provenance)

    def _title(self) -> str:
        opened, last = self._session.session, self._session.last
        state = last.state if last is not None else opened.state if opened is not None else None
        return "" if state is None else state.title

    def _choices(self) -> ExportChoices:
        from ui.export.choices import ExportChoices

        choices = ExportChoices.from_json(self._preferences.form(_FORM))
        if choices.folder and Path(choices.folder).is_dir():
            return choices
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        return replace(choices, folder=documents if Path(documents).is_dir() else str(Path.home()))


def file_name(title: str, session_id: int | None) -> str:
    """A file's name (no suffix) for a session: its title as far as file systems like it."""
    name = _UNFIT_FOR_NAMES.sub("-", title).strip("-.")[:_LONGEST_NAME].rstrip("-.")
    return name or (tr("session {number}").format(number=session_id) if session_id is not None else "tree")


def write_data(document: SessionDocument, name: str, path: Path) -> None:
    """Write a session in a format that is no picture. Raises `ExportError`."""
    from explorer.export.registry import export_session

    export_session(document, name, path)


def _read_document(workspace: Workspace, job: JobContext) -> SessionDocument:
    from explorer.export.document import read_session

    session = workspace.session
    if session is None or session.id is None:
        raise PromptError(
            UserMessage(
                "export.nothing",
                N_("There is no saved session to export."),
                N_("The session could not be written to the library yet."),
                N_("Try to save again first."),
            )
        )
    session.save()
    return read_session(workspace.store, session.id)
