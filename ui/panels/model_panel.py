"""Models: what is loaded, what is at hand, what can be fetched, and how to open another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QFrame,
    QGroupBox,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import N_, tr
from explorer.models.base import ModelInfo, ModelRef
from ui.format import count, tooltip
from ui.panels.common import GRID, add_row, compact, describe, plain_label, push_button
from ui.panels.speed_options import SpeedOptions
from ui.work_bar import WorkBar

if TYPE_CHECKING:  # it comes with the hub's library, which the model thread pays for
    from explorer.models.catalog import ModelEntry

_ENTRY = Qt.ItemDataRole.UserRole
_DEVICES = (
    ("auto", N_("Automatic")),
    ("cpu", N_("Processor (cpu)")),
    ("cuda", N_("NVIDIA card (cuda)")),
    ("mps", N_("Apple chip (mps)")),
)
_DTYPES = (("auto", N_("Automatic")), ("float32", "float32"), ("bfloat16", "bfloat16"), ("float16", "float16"))
_MOST_THREADS = 256


class ModelPanel(QScrollArea):
    """Asks; the model controller does."""

    open_requested = Signal(object)  # ModelRef
    get_requested = Signal(str)
    remove_requested = Signal(object)  # ModelEntry
    cancel_requested = Signal()
    restart_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._state = plain_label()
        self._facts = plain_label(quiet=True)
        self._restart = push_button(
            tr("Start again"),
            tr("Start the model's process again. The session and its tree stay as they are."),
            self.restart_requested.emit,
        )
        self._list = QListWidget()
        self._phase = plain_label()
        self._bar = WorkBar()
        self._cancel = push_button(
            tr("Cancel"),
            tr("Stop fetching or loading. The model that was open before stays open."),
            self.cancel_requested.emit,
        )
        self._device, self._dtype, self._threads = QComboBox(), QComboBox(), QSpinBox()
        self._hub, self._revision = QLineEdit(), QLineEdit()
        self.speed = SpeedOptions()
        self._open = push_button(tr("Open"), tr("Load the chosen model with the options below."), self._open_chosen)
        self._get = push_button(
            tr("Get"), tr("Download the chosen model, keep it on this computer, and open it."), self._get_chosen
        )
        self._remove = push_button(
            tr("Remove"),
            tr("Delete the chosen model's files from this computer. Sessions made with it stay."),
            self._remove_chosen,
        )
        self._build()
        self.set_engine(None, "")
        self.set_progress("")
        self._chosen_changed()

    # --- what the window sets ----------------------------------------------------------------------------------------

    def set_engine(self, info: ModelInfo | None, state: str, *, ended: bool = False) -> None:
        """The loaded model and a translated sentence on its state; ``ended``: its process is gone."""
        self._state.setText(state)
        self._restart.setVisible(ended)
        self._facts.setVisible(info is not None)
        if info is None:
            return
        environment = info.environment
        facts = [
            f"{info.identity.name} · {info.identity.architecture}",
            f"{environment.dtype} · {environment.device} ({environment.device_name})",
            tr("threads: {threads} · {vocabulary} tokens known · reads {context} tokens").format(
                threads=environment.threads, vocabulary=count(info.vocab_size), context=count(info.context_length)
            ),
            f"sha256 {info.identity.sha256[:16]}…",
        ]
        facts += [tr(note).format(**params) for note, params in info.notes]
        self._facts.setText("\n".join(facts))
        self._facts.setToolTip(
            tooltip(
                f"sha256 {info.identity.sha256}", tr("tokenizer {sha256}").format(sha256=info.identity.tokenizer_sha256)
            )
        )

    def set_entries(self, entries: Sequence[ModelEntry]) -> None:
        """The models that are known; the chosen one stays chosen."""
        chosen = self._chosen()
        self._list.clear()
        for entry in entries:
            item = QListWidgetItem(_entry_line(entry))
            item.setData(_ENTRY, entry)
            item.setToolTip(
                tooltip(entry.name, entry.source, f"sha256 {entry.sha256 or '–'}", str(entry.licence or ""))
            )
            self._list.addItem(item)
            if chosen is not None and entry.name == chosen.name:
                self._list.setCurrentItem(item)
        if self._list.currentRow() < 0 and self._list.count():
            self._list.setCurrentRow(0)

    def set_progress(self, phase: str, done: int = 0, total: int | None = None) -> None:
        """What is being fetched or loaded; an empty ``phase`` hides it."""
        for widget in (self._phase, self._bar, self._cancel):
            widget.setVisible(bool(phase))
        self._phase.setText(phase)
        self._bar.show_work(done, total)

    def choose_folder(self) -> None:
        """Ask for a folder with a model in the Hugging Face layout, and open it."""
        path = QFileDialog.getExistingDirectory(self, tr("Open a model folder"))
        if path:
            self.open_requested.emit(self._ref(path))

    def choose_gguf(self) -> None:
        """Ask for a GGUF file, and import and open it."""
        path, _ = QFileDialog.getOpenFileName(self, tr("Open a GGUF file"), "", tr("GGUF models (*.gguf)"))
        if path:
            self.open_requested.emit(self._ref(path))

    def choose_table(self) -> None:
        """Ask for a table model, and open it."""
        path, _ = QFileDialog.getOpenFileName(self, tr("Open a table model"), "", tr("Table models (*.json)"))
        if path:
            self.open_requested.emit(self._ref(f"table:{path}"))

    def edit_hub_name(self) -> None:
        """Put the cursor where a hub name is typed."""
        self.ensureWidgetVisible(self._hub)
        self._hub.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        inside = QWidget()
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(2 * GRID)
        describe(
            self._list, tr("Known models"), tr("Models on this computer, lessons, and models that can be fetched.")
        )
        describe(self._bar, tr("Progress"), tr("How far fetching or loading is."))
        self._list.setFixedHeight(32 * GRID)
        self._list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setSpacing(GRID // 2)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        for button in (self._open, self._get, self._remove):
            buttons.addWidget(button)
        layout.addWidget(self._state)
        layout.addWidget(self._facts)
        layout.addWidget(self._restart)
        for widget in (self._phase, self._bar, self._cancel):
            layout.addWidget(widget)
        layout.addWidget(self._list)
        layout.addLayout(buttons)
        layout.addWidget(self._other_group())
        layout.addWidget(self._options_group())
        layout.addWidget(self.speed)
        layout.addStretch(1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.currentRowChanged.connect(lambda _row: self._chosen_changed())
        self._list.itemActivated.connect(lambda _item: self._activated())

    def _other_group(self) -> QGroupBox:
        group = QGroupBox(tr("Open another"))
        column = QVBoxLayout(group)
        column.setSpacing(GRID)
        files = QHBoxLayout()
        files.addWidget(
            push_button(
                tr("Folder…"), tr("A folder with config.json, tokenizer and safetensors files."), self.choose_folder
            )
        )
        files.addWidget(
            push_button(
                tr("GGUF file…"),
                tr("A GGUF file is imported once, which takes a while; later it opens in seconds."),
                self.choose_gguf,
            )
        )
        self._hub.setPlaceholderText("owner/name")
        describe(
            self._hub,
            tr("Name on the hub"),
            tr("A model on huggingface.co, as owner/name. Only safetensors files are read."),
        )
        self._revision.setPlaceholderText(tr("revision (optional)"))
        describe(
            self._revision,
            tr("Revision"),
            tr("A branch, a tag or a commit of the hub model, so that numbers can be repeated."),
        )
        column.addLayout(files)
        column.addWidget(self._hub)
        column.addWidget(self._revision)
        column.addWidget(
            push_button(tr("Open from the hub"), tr("Download the model if needed, and open it."), self._open_hub)
        )
        self._hub.returnPressed.connect(self._open_hub)
        return group

    def _options_group(self) -> QGroupBox:
        group = QGroupBox(tr("Where and how it runs"))
        for box, choices in ((self._device, _DEVICES), (self._dtype, _DTYPES)):
            compact(box)
            for value, label in choices:
                box.addItem(tr(label), value)
        self._threads.setRange(0, _MOST_THREADS)
        self._threads.setSpecialValueText(tr("Automatic"))
        describe(
            self._device, tr("Device"), tr("Automatic takes an NVIDIA card, then an Apple chip, then the processor.")
        )
        describe(
            self._dtype,
            tr("Number format"),
            tr("float32 gives the reference numbers; bfloat16 needs half the memory and differs in the third digit."),
        )
        describe(
            self._threads,
            tr("Threads"),
            tr(
                "Automatic measures, when a model is opened, how many are fastest, and leaves a core to the window "
                "where that costs little."
            ),
        )
        form = QFormLayout(group)
        form.setSpacing(GRID)
        add_row(form, tr("Device"), self._device)
        add_row(form, tr("Number format"), self._dtype)
        add_row(form, tr("Threads"), self._threads)
        return group

    def _ref(self, source: str, revision: str | None = None) -> ModelRef:
        return ModelRef(
            source,
            revision=revision,
            device=self._device.currentData(),
            dtype=self._dtype.currentData(),
            threads=self._threads.value() or None,
        )

    def _chosen(self) -> ModelEntry | None:
        item = self._list.currentItem()
        entry: ModelEntry | None = item.data(_ENTRY) if item is not None else None
        return entry

    def _chosen_changed(self) -> None:
        entry = self._chosen()
        installed = entry is not None and entry.state == "installed"
        self._open.setEnabled(installed)
        self._get.setEnabled(entry is not None and not installed)
        self._remove.setEnabled(installed and entry is not None and entry.path is not None)

    def _activated(self) -> None:
        entry = self._chosen()
        if entry is not None:
            (self._open if entry.state == "installed" else self._get).click()

    def _open_chosen(self) -> None:
        entry = self._chosen()
        if entry is not None:
            self.open_requested.emit(self._ref(entry.name))

    def _get_chosen(self) -> None:
        entry = self._chosen()
        if entry is not None:
            self.get_requested.emit(entry.name)

    def _remove_chosen(self) -> None:
        entry = self._chosen()
        if entry is not None:
            self.remove_requested.emit(entry)

    def _open_hub(self) -> None:
        name = self._hub.text().strip()
        if name:
            self.open_requested.emit(self._ref(name, self._revision.text().strip() or None))


def _entry_line(entry: ModelEntry) -> str:
    size = "" if not entry.size_bytes else f"{entry.size_bytes / 1e6:.0f} MB"
    if entry.name.startswith("lesson:"):
        return tr("{name} · built in").format(name=entry.name)
    state = tr("on this computer") if entry.state == "installed" else tr("to fetch")
    return " · ".join(part for part in (entry.name, size, state) if part)
