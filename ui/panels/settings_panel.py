"""Settings of decoding: every filter by its own declaration, the order of the chain, stop rules, seed.

While a control moves the panel previews; when it comes to rest the panel commits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QFrame,
    QGroupBox,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from explorer.decoding.advice import advice
from explorer.decoding.parameter import Parameter, ParamValue
from explorer.decoding.params import Settings, settings_from_generation_config
from explorer.decoding.processors import PARAMETERS
from explorer.i18n import tr
from explorer.messages import SettingsError
from explorer.models.base import ModelInfo
from explorer.text import Vocabulary
from ui.panels.advice_list import AdviceList
from ui.panels.chain_editor import ChainEditor
from ui.panels.chain_model import ChainModel
from ui.panels.common import GRID, plain_label, push_button
from ui.panels.grammar_editor import GrammarRow
from ui.panels.parameter_row import ParameterRow, parameter_row
from ui.panels.preset_box import PresetBox
from ui.panels.presets import OwnPreset, Preset, apply_preset
from ui.panels.seed_row import SeedRow
from ui.panels.stop_rules import StopRules

_PAUSE_MS = 400


class SettingsPanel(QScrollArea):
    """Edits a draft of the settings in force."""

    previewed = Signal(object)  # Settings
    committed = Signal(object)  # Settings
    seed_changed = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self._settings = Settings()
        self._draft = self._settings
        self._model: ModelInfo | None = None
        self._rows: dict[str, ParameterRow] = {}
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self.commit)
        self.chain = ChainModel()
        """The order of the filters and which are on; other panels may show it as well."""
        self.chain.setParent(self)
        self._chain = ChainEditor(self.chain)
        self._stop = StopRules()
        self._seed = SeedRow()
        self.presets = PresetBox()
        self.advice = AdviceList()
        self._prompt_ids: tuple[int, ...] = ()
        self._own = push_button(
            tr("Use the model's own"),
            tr("Take over what the model's own generation config sets. Nothing of it is in force before you say so."),
            self._use_model_defaults,
        )
        self._all_off = push_button(
            tr("All off"),
            tr("Switch every filter off: draws then follow the model's own distribution."),
            self._switch_off,
        )
        self._build()
        self.chain.order_changed.connect(self._reorder)
        self.chain.values_changed.connect(self.change)
        self._stop.changed.connect(self._change_stopping)
        self.presets.chosen.connect(self._use_preset)
        self._seed.changed.connect(self.seed_changed)
        self._guard = _WheelGuard(self)
        for control in self.findChildren(QWidget):
            if isinstance(control, QAbstractSlider | QAbstractSpinBox | QComboBox):
                control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                control.installEventFilter(self._guard)
        self._show()

    # --- what the window sets ----------------------------------------------------------------------------------------

    def set_model(self, model: ModelInfo | None, vocabulary: Vocabulary | None) -> None:
        """The model of the session: its end tokens and its own defaults."""
        self._model = model
        ids = model.eos_token_ids if model is not None else ()
        labels = tuple(vocabulary.label(token_id) if vocabulary is not None else str(token_id) for token_id in ids)
        self._stop.set_model_eos(ids, labels)
        self._own.setEnabled(model is not None and bool(model.generation_defaults))

    def set_prompt_ids(self, prompt_ids: tuple[int, ...]) -> None:
        """What the session starts from: penalties and limits look at it."""
        self._prompt_ids = prompt_ids
        self._advise()

    def reset(self, settings: Settings) -> None:
        """The settings of another session; what was not committed to the one before is dropped."""
        self._pause.stop()
        self._settings = self._draft = settings
        self.chain.forget()
        self._show()

    def set_settings(self, settings: Settings) -> None:
        """What is in force now. What the user is changing at this moment is not taken from their hands."""
        if settings == self._settings:
            return
        pending = self._draft not in (self._settings, settings)
        self._settings = settings
        if not pending:
            self._draft = settings
            self._show()

    def set_seed(self, seed: int, next_draw_index: int) -> None:
        self._seed.set_seed(seed, next_draw_index)

    @property
    def draft(self) -> Settings:
        """What the controls show."""
        return self._draft

    def commit(self) -> None:
        """Put the draft in force, if it differs."""
        self._pause.stop()
        if self._draft != self._settings:
            self.committed.emit(self._draft)

    def row(self, name: str) -> ParameterRow:
        """The editor of one parameter."""
        return self._rows[name]

    def change(self, values: Mapping[str, ParamValue]) -> None:
        """Put other values in force, as if the user had set them here; None switches off."""
        self._replace(self._changed(values))

    def show_parameter(self, name: str) -> None:
        """Bring the editor of one parameter into sight and put the keyboard there."""
        row = self._rows[name]
        self.ensureWidgetVisible(row)
        fields = (child for child in row.findChildren(QWidget) if child.focusPolicy() & Qt.FocusPolicy.StrongFocus)
        field = next(fields, None)
        if field is not None:
            field.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        inside = QWidget()
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(2 * GRID)
        layout.addWidget(
            plain_label(tr("A filter that is not set is off. Nothing is switched on behind your back."), quiet=True)
        )
        top = QHBoxLayout()
        top.addWidget(self.presets, 1)
        top.addWidget(self._all_off)
        layout.addLayout(top)
        layout.addWidget(self._own)
        layout.addWidget(self.advice)
        others = {tr("Seed"): self._seed, tr("Stop rules"): self._stop, tr("Order of the filters"): self._chain}
        for title, parameters in _sections():
            layout.addWidget(_group(title, self._column(parameters)))
            if others:
                following = next(iter(others))
                layout.addWidget(_group(following, others.pop(following)))
        layout.addStretch(1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def _column(self, parameters: Sequence[Parameter]) -> QWidget:
        column = QWidget()
        layout = QVBoxLayout(column)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * GRID)
        for parameter in parameters:
            row = GrammarRow(parameter) if parameter.kind == "grammar" else parameter_row(parameter)
            row.changed.connect(self._changer(parameter.name))
            row.released.connect(self.commit)
            self._rows[parameter.name] = row
            layout.addWidget(row)
        return column

    def _changed(self, values: Mapping[str, ParamValue]) -> Settings:
        """The draft with other values; an order that leaves out what is switched on takes it in."""
        try:
            return self._draft.with_sampling("user", **values)
        except SettingsError as error:
            if error.message.code != "settings.order":
                raise
            return self._draft.with_whole_order().with_sampling("user", **values)

    def _changer(self, name: str) -> Callable[[ParamValue, bool], None]:
        def change(value: ParamValue, dragging: bool) -> None:
            try:
                self._draft = self._changed({name: value})
            except SettingsError as error:
                self._rows[name].set_error(error.message.text())
                return
            self._take(dragging=dragging)
            self._show_row(name)
            self.chain.set_sampling(self._draft.sampling)

        return change

    def _change_stopping(self, changes: dict[str, Any]) -> None:
        try:
            self._draft = self._draft.with_stopping("user", **changes)
        except SettingsError as error:
            self._stop.set_error(error.message.text())
            return
        self._stop.set_error("")
        self._advise()
        self._pause.start()

    def _reorder(self, order: str | tuple[str, ...]) -> None:
        self._replace(self._draft.with_order(order))

    def _use_preset(self, preset: Preset | OwnPreset) -> None:
        self._replace(preset.applied() if isinstance(preset, OwnPreset) else apply_preset(self._draft, preset))

    def _use_model_defaults(self) -> None:
        if self._model is None:
            return
        try:
            own = settings_from_generation_config(self._model.generation_defaults)
        except SettingsError as error:
            self._stop.set_error(error.message.text())
            return
        kept = replace(own, sampling=replace(own.sampling, order=self._draft.sampling.order))
        limits = self._draft.stopping
        if kept.stopping.max_new_tokens is None and kept.stopping.max_length is None:
            kept = replace(kept, stopping=replace(kept.stopping, max_new_tokens=limits.max_new_tokens))
        self._replace(kept)

    def _switch_off(self) -> None:
        self._replace(apply_preset(self._draft, None))

    def _replace(self, settings: Settings) -> None:
        self._draft = settings
        self._take(dragging=False)
        self._show()
        self.commit()

    def _advise(self) -> None:
        """Say what the draft is known to lead to."""
        ends = self._model.eos_token_ids if self._model is not None else ()
        self.advice.set_advice(
            advice(self._draft, prompt_ids=self._prompt_ids, eos_token_ids=ends, label_of=_parameter_label)
        )

    def _take(self, *, dragging: bool) -> None:
        self._advise()
        self.previewed.emit(self._draft)
        if dragging:
            self._pause.stop()
        else:
            self._pause.start()

    def _show(self) -> None:
        for name in self._rows:
            self._show_row(name)
        self.chain.set_sampling(self._draft.sampling)
        self._stop.set_stopping(self._draft.stopping, self._draft.sources)
        self._advise()

    def _show_row(self, name: str) -> None:
        off = self._draft.sampling.is_off(name)
        source = "off" if off else self._draft.sources.get(name, "user")
        self._rows[name].set_value(self._draft.sampling.get(name), source)


def _parameter_label(name: str) -> str:
    return tr(PARAMETERS[name].label) if name in PARAMETERS else name


class _WheelGuard(QObject):
    """Lets the wheel scroll the panel instead of changing a value the pointer happens to be on."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def _sections() -> list[tuple[str, list[Parameter]]]:
    """Every declared parameter under a heading, the usual ones first; one nobody placed stands with the filters."""
    usual = ("temperature", "top_k", "top_p", "min_p")
    penalties = ("repetition_penalty", "presence_penalty", "frequency_penalty", "no_repeat_ngram_size")
    tokens = ("logit_bias", "ban", "min_new_tokens")
    grammar = ("grammar",)
    rest = tuple(name for name in PARAMETERS if name not in usual + penalties + tokens + grammar)
    titles = (tr("Sampling"), tr("Repetition"), tr("More filters"), tr("Particular tokens"), tr("Form of the text"))
    return [
        (title, [PARAMETERS[name] for name in names if name in PARAMETERS])
        for title, names in zip(titles, (usual, penalties, rest, tokens, grammar), strict=True)
    ]


def _group(title: str, content: QWidget) -> QGroupBox:
    group = QGroupBox(title)
    layout = QVBoxLayout(group)
    layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
    layout.addWidget(content)
    return group
