"""What goes into an exported file and how a picture looks: the form of the export dialog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QFormLayout, QLineEdit, QWidget

from explorer.export.picture import LEAST_SCALE, MOST_SCALE, PictureContent, PictureTheme
from explorer.i18n import N_, tr
from ui.export.choices import ExportChoices
from ui.export.preview import Preview
from ui.format import count, percent
from ui.panels.common import GRID, add_row, compact, describe, plain_label

_POINTS_PER_PIXEL = 72 / 96
_CONTENTS: tuple[tuple[PictureContent, str], ...] = (
    ("tree", N_("Whole tree")),
    ("view", N_("Visible part")),
    ("path", N_("Current path")),
)
_THEMES: tuple[tuple[PictureTheme, str], ...] = (
    ("publication", N_("For publication")),
    ("light", N_("Light")),
    ("dark", N_("Dark")),
)


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format to choose: its label is translated already."""

    name: str
    label: str
    suffix: str
    is_picture: bool


class ExportForm(QWidget):
    """Choices by widget; those about pictures can be made only while the format is one."""

    changed = Signal()
    format_changed = Signal()

    def __init__(self, formats: Sequence[ExportFormat], choices: ExportChoices, title: str) -> None:
        """``title`` is offered as the picture's."""
        super().__init__()
        self._formats = list(formats)
        self._choices = choices
        self.format_box, self.content_box, self.theme_box = QComboBox(), QComboBox(), QComboBox()
        self.scale_box = QDoubleSpinBox()
        self.transparent_box = QCheckBox(tr("Transparent ground"))
        self.legend_box = QCheckBox(tr("Legend"))
        self.stamp_box = QCheckBox(tr("Model, settings, seed and date"))
        self.title_box = QCheckBox(tr("Title"))
        self.title_edit = QLineEdit(title)
        self.size_label = plain_label(quiet=True)
        self._fill()
        self._describe()
        self._arrange()
        self._connect()
        self._allow()

    @property
    def format(self) -> ExportFormat:
        return self._formats[max(0, self.format_box.currentIndex())]

    @property
    def formats(self) -> list[ExportFormat]:
        return list(self._formats)

    @property
    def choices(self) -> ExportChoices:
        """What is chosen now; the folder as it was given."""
        return replace(
            self._choices,
            format=self.format.name,
            content=self.content_box.currentData(),
            scale=self.scale_box.value(),
            theme=self.theme_box.currentData(),
            transparent=self.transparent_box.isChecked(),
            titled=self.title_box.isChecked(),
            legend=self.legend_box.isChecked(),
            stamp=self.stamp_box.isChecked(),
        )

    def choose_format(self, name: str) -> None:
        """Choose a format; one that is not there changes nothing."""
        names = [entry.name for entry in self._formats]
        if name in names:
            self.format_box.setCurrentIndex(names.index(name))

    def show_size(self, preview: Preview | None) -> str:
        """Say how large the file's picture will be; what is said."""
        words = "" if preview is None else self._size_words(preview)
        self.size_label.setText(words)
        return words

    def _size_words(self, preview: Preview) -> str:
        scale = self.scale_box.value()
        if self.format.name != "pdf":
            width, height = count(round(preview.width * scale)), count(round(preview.height * scale))
            return tr("{width} × {height} pixels").format(width=width, height=height)
        points = scale * preview.pdf_shrink * _POINTS_PER_PIXEL
        width, height = count(round(preview.width * points)), count(round(preview.height * points))
        words = tr("{width} × {height} points").format(width=width, height=height)
        if preview.pdf_shrink < 1:
            note = tr("Drawn at {share} of the size, for a PDF page ends at 200 inches; zoom in to read it.")
            words += "\n" + note.format(share=percent(preview.pdf_shrink))
        return words

    # --- building ----------------------------------------------------------------------------------------------------

    def _fill(self) -> None:
        choices = self._choices
        for entry in self._formats:
            self.format_box.addItem(entry.label)
        for content, words in _CONTENTS:
            self.content_box.addItem(tr(words), content)
        for theme, theme_words in _THEMES:
            self.theme_box.addItem(tr(theme_words), theme)
        self.scale_box.setRange(LEAST_SCALE, MOST_SCALE)
        self.scale_box.setSingleStep(0.25)
        self.scale_box.setSuffix(" ×")
        self.title_edit.setMaxLength(500)
        self.choose_format(choices.format)
        self.content_box.setCurrentIndex(self.content_box.findData(choices.content))
        self.theme_box.setCurrentIndex(self.theme_box.findData(choices.theme))
        self.scale_box.setValue(choices.scale)
        self.transparent_box.setChecked(choices.transparent)
        self.title_box.setChecked(choices.titled)
        self.legend_box.setChecked(choices.legend)
        self.stamp_box.setChecked(choices.stamp)

    def _describe(self) -> None:
        describe(self.format_box, tr("Format"), tr("What kind of file is written."))
        describe(
            self.content_box,
            tr("Content"),
            tr("What the picture shows of the tree. A data file always holds all of it."),
        )
        describe(
            self.scale_box,
            tr("Scale"),
            tr("Pixels of the file for every pixel on the screen: 1 is as large as here, 2 is sharp in print."),
        )
        describe(self.theme_box, tr("Colours"), tr("The picture's own colours, whatever the window's are."))
        describe(self.transparent_box, tr("Transparent ground"), tr("Leave out the ground, for slides of any colour."))
        describe(self.legend_box, tr("Legend"), tr("Explain colours and signs below the tree."))
        describe(
            self.stamp_box,
            tr("Model, settings, seed and date"),
            tr("Say below the tree where it comes from, when, and by which program."),
        )
        describe(self.title_box, tr("With a title"), tr("Print a title above the tree."))
        describe(self.title_edit, tr("Title"), tr("The line above the tree."))

    def _arrange(self) -> None:
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setSpacing(2 * GRID)
        self.setMinimumWidth(92 * GRID)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for box in (self.format_box, self.content_box, self.theme_box):
            compact(box)
        add_row(form, tr("Format"), self.format_box)
        add_row(form, tr("Content"), self.content_box)
        add_row(form, tr("Scale"), self.scale_box)
        form.addRow("", self.size_label)
        add_row(form, tr("Colours"), self.theme_box)
        form.addRow("", self.transparent_box)
        form.addRow(self.title_box, self.title_edit)
        form.addRow("", self.legend_box)
        form.addRow("", self.stamp_box)

    def _connect(self) -> None:
        self.format_box.currentIndexChanged.connect(self.format_changed)
        for box in (self.format_box, self.content_box, self.theme_box):
            box.currentIndexChanged.connect(self._change)
        self.scale_box.valueChanged.connect(self._change)
        for check in (self.transparent_box, self.title_box, self.legend_box, self.stamp_box):
            check.toggled.connect(self._change)
        self.title_edit.textChanged.connect(self._change)

    def _change(self) -> None:
        self._allow()
        self.changed.emit()

    def _allow(self) -> None:
        picture = self.format.is_picture
        for widget in (self.content_box, self.scale_box, self.theme_box, self.transparent_box):
            widget.setEnabled(picture)
        for widget in (self.title_box, self.legend_box, self.stamp_box):
            widget.setEnabled(picture)
        self.title_edit.setEnabled(picture and self.title_box.isChecked())
