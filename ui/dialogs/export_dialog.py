"""The export dialog: what goes into the file, how a picture looks, where it is written; with a small live preview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QLineEdit, QProgressBar, QVBoxLayout, QWidget

from explorer.export.picture import LEAST_SCALE, MOST_SCALE
from explorer.i18n import tr
from explorer.messages import UserMessage
from explorer.progress import Progress
from ui.dialogs.export_form import ExportForm, ExportFormat
from ui.export.choices import ExportChoices
from ui.export.preview import Preview, PreviewPane
from ui.format import count
from ui.panels.common import GRID, describe, plain_label, push_button

_PREVIEW_AFTER_MS = 150


class ExportDialog(QDialog):
    """Asks and shows; what it asks for is done by its owner, who answers with the ``show_`` methods."""

    preview_wanted = Signal()
    """Something changed that shows: `choices`, `title` and `room` say what is wanted."""
    export_requested = Signal()
    copy_requested = Signal()
    stop_requested = Signal()

    def __init__(
        self, parent: QWidget, formats: Sequence[ExportFormat], choices: ExportChoices, title: str, file_name: str
    ) -> None:
        """``title`` is offered as the picture's, ``file_name`` (no suffix) as the file's."""
        super().__init__(parent)
        self.setWindowTitle(tr("Export"))
        self.busy = False
        self._problem: UserMessage | None = None
        self._largest = MOST_SCALE
        self.form = ExportForm(formats, choices, title)
        self.file_edit = QLineEdit(str(Path(choices.folder) / f"{file_name}{self.form.format.suffix}"))
        self.pane = PreviewPane()
        self.status = plain_label()
        self._details = plain_label(quiet=True)
        self._progress = QProgressBar()
        self._make_buttons()
        describe(self.file_edit, tr("File"), tr("Where the file is written. It appears only once it is complete."))
        describe(self._progress, tr("Progress"), tr("How far the picture is."))
        describe(self.status, tr("What there is to know"), tr("What the export will do, did, or could not do."))
        self._arrange()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PREVIEW_AFTER_MS)
        self._connect()
        self._set_busy(False)
        self._say_beforehand()
        self.resize(240 * GRID, 130 * GRID)
        self._timer.start()

    # --- what is chosen ----------------------------------------------------------------------------------------------

    @property
    def choices(self) -> ExportChoices:
        return replace(self.form.choices, folder=str(self.path.parent))

    @property
    def title(self) -> str:
        return self.form.title_edit.text()

    @property
    def path(self) -> Path:
        """The file, with the format's suffix unless it was typed."""
        path, suffix = Path(self.file_edit.text().strip()).expanduser(), self.form.format.suffix
        return path if path.suffix.lower() == suffix or not path.name else path.with_name(path.name + suffix)

    @property
    def room(self) -> QSize:
        """The largest preview there is room for."""
        return self.pane.room()

    @property
    def waiting(self) -> bool:
        """Whether a change was made that no preview was asked for yet."""
        return self._timer.isActive()

    # --- what the owner tells ----------------------------------------------------------------------------------------

    def show_preview(self, preview: Preview) -> None:
        """Show a picture of what was wanted last, how large the real one will be, and why it cannot be."""
        self.pane.show_image(preview.image)
        self.pane.setAccessibleDescription(self.form.show_size(preview))
        self._largest = preview.largest_scale
        too_large = preview.problem is not None and preview.problem.code == "picture.too_large"
        self.fit_button.setText(tr("Use scale {scale}").format(scale=f"{self._largest:g}"))
        self.fit_button.setVisible(too_large and self._largest >= LEAST_SCALE)
        if preview.problem is not None or self._problem is not None:
            self._say(preview.problem)
        self._problem = preview.problem
        self._allow()
        self._say_beforehand()

    def show_data(self, tokens: int) -> None:
        """Say what a data file will hold."""
        everything = tr("The whole session is written, with every token, also of branches that were undone.")
        self.pane.show_text(f"{everything}\n{tr('{count} tokens').format(count=count(tokens))}")
        self.form.show_size(None)
        if self._problem is not None:
            self._say(None)
        self._problem = None
        self.fit_button.hide()
        self._allow()
        self._say_beforehand()

    def show_problem(self, message: UserMessage) -> None:
        """Say in place what went wrong; everything can be chosen again."""
        self._set_busy(False)
        self._say(message)

    def show_begun(self) -> None:
        """The file is being written."""
        self._say(None)
        self._progress.setRange(0, 0)
        self._set_busy(True)

    def show_progress(self, progress: Progress) -> None:
        self._progress.setRange(0, progress.total or 0)
        self._progress.setValue(progress.done)

    def show_done(self, text: str) -> None:
        """Say what was done, or that it was stopped."""
        self._set_busy(False)
        self._say(None)
        self.status.setText(text)

    # --- building ----------------------------------------------------------------------------------------------------

    def _make_buttons(self) -> None:
        self.browse_button = push_button(tr("Browse…"), tr("Choose the file to write."), self._browse)
        largest = tr("The largest picture that a PNG file can hold.")
        self.fit_button = push_button(tr("Use scale {scale}"), largest, self._use_largest)
        copy = tr("Put the picture on the clipboard.")
        self.copy_button = push_button(tr("Copy picture"), copy, self.copy_requested.emit)
        self.export_button = push_button(tr("Export"), tr("Write the file."), self.export_requested.emit)
        self.cancel_button = push_button(tr("Cancel"), tr("Stop what is being written, or close."), self.reject)
        self.export_button.setDefault(True)
        for button in (self.browse_button, self.fit_button, self.copy_button, self.cancel_button):
            button.setAutoDefault(False)
        self.fit_button.hide()

    def _arrange(self) -> None:
        left = QVBoxLayout()
        left.addWidget(self.form)
        left.addStretch(1)
        top = QHBoxLayout()
        top.setSpacing(4 * GRID)
        top.addLayout(left, 2)
        top.addWidget(self.pane, 3)
        file_label = plain_label(tr("File"), wrap=False)
        file_label.setBuddy(self.file_edit)
        file_row = QHBoxLayout()
        for widget, stretch in ((file_label, 0), (self.file_edit, 1), (self.browse_button, 0)):
            file_row.addWidget(widget, stretch)
        words = QVBoxLayout()
        words.addWidget(self.status)
        words.addWidget(self._details)
        word_row = QHBoxLayout()
        word_row.addLayout(words, 1)
        word_row.addWidget(self.fit_button, 0, Qt.AlignmentFlag.AlignTop)
        buttons = QHBoxLayout()
        buttons.addWidget(self.copy_button)
        buttons.addStretch(1)
        buttons.addWidget(self._progress, 2)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.export_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * GRID, 4 * GRID, 4 * GRID, 4 * GRID)
        layout.setSpacing(3 * GRID)
        layout.addLayout(top, 1)
        for row in (file_row, word_row, buttons):
            layout.addLayout(row)

    def _connect(self) -> None:
        self._timer.timeout.connect(self.preview_wanted)
        self.form.changed.connect(self._changed)
        self.form.format_changed.connect(self._format_changed)
        self.file_edit.textChanged.connect(self._file_changed)
        self.pane.installEventFilter(self)
        QShortcut(QKeySequence("Ctrl+Shift+E"), self).activated.connect(self.copy_button.click)

    # --- inside ------------------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A preview fills the room there is."""
        if watched is self.pane and event.type() == QEvent.Type.Resize:
            self._timer.start()
        return super().eventFilter(watched, event)

    def _format_changed(self) -> None:
        path = Path(self.file_edit.text())
        if path.suffix.lower() in {entry.suffix for entry in self.form.formats}:
            self.file_edit.setText(str(path.with_suffix(self.form.format.suffix)))

    def _changed(self) -> None:
        self._say(self._problem)
        self._allow()
        self._say_beforehand()
        self._timer.start()

    def _file_changed(self) -> None:
        """Who types another format's suffix means that format."""
        suffix = Path(self.file_edit.text().strip()).suffix.lower()
        if suffix != self.form.format.suffix:
            self.form.choose_format(next((f.name for f in self.form.formats if f.suffix == suffix), ""))
        self._say(self._problem)
        self._allow()
        self._say_beforehand()

    def _allow(self) -> None:
        self.export_button.setEnabled(bool(self.path.name) and not self.busy and self._problem is None)
        self.copy_button.setEnabled(self.form.format.is_picture and not self.busy)

    def _say_beforehand(self) -> None:
        """Where a file would be replaced, say so before it is."""
        path = self.path
        exists = bool(path.name) and path.is_file()
        self.export_button.setText(tr("Replace") if exists else tr("Export"))
        if exists and not self.status.text():
            self.status.setText(tr("{name} is there already and will be replaced.").format(name=path.name))

    def _say(self, message: UserMessage | None) -> None:
        self.status.setText("" if message is None else message.text())
        self._details.setText("" if message is None else message.details)
        self._details.setVisible(bool(message and message.details))

    def _set_busy(self, busy: bool) -> None:
        self.busy = busy
        self._progress.setVisible(busy)
        for widget in (self.form, self.file_edit, self.browse_button):
            widget.setEnabled(not busy)
        self.cancel_button.setText(tr("Stop") if busy else tr("Cancel"))
        self._allow()

    def _use_largest(self) -> None:
        self.form.scale_box.setValue(self._largest)

    def _browse(self) -> None:
        formats = self.form.formats
        patterns = [f"{entry.label} (*{entry.suffix})" for entry in formats]
        # This dialog itself says where a file would be replaced.
        text, pattern = QFileDialog.getSaveFileName(
            self,
            tr("Export to"),
            str(self.path),
            ";;".join(patterns),
            patterns[formats.index(self.form.format)],
            QFileDialog.Option.DontConfirmOverwrite,
        )
        if text:
            self.file_edit.setText(text)
            self.form.choose_format(formats[patterns.index(pattern)].name if pattern in patterns else "")

    def reject(self) -> None:
        """Esc and the button: stop what runs, else close."""
        if self.busy:
            self.stop_requested.emit()
        else:
            super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.busy:
            self.stop_requested.emit()
        super().closeEvent(event)
