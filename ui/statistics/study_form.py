"""What a study shall draw: which settings, how many runs, with which seeds, and what is asked of the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.decoding.choice import MAX_SEED
from explorer.decoding.params import Settings
from explorer.i18n import tr
from explorer.messages import SettingsError
from explorer.models.base import ModelInfo
from explorer.search.sample_plans import LENGTH, RUNS, SEED, SamplePlan
from explorer.studies.checks import CHECK_LABELS, KINDS, TextCheck
from explorer.studies.plan import MOST_CONFIGURATIONS, Configuration, StudyPlan
from explorer.text import Vocabulary
from ui.format import tooltip
from ui.growth.fields import SeedField, add_parameter_row, whole_box
from ui.panels.common import GRID, add_row, describe, plain_label, push_button
from ui.panels.presets import PRESETS, OwnPreset, apply_preset
from ui.panels.seed_row import SeedRow
from ui.panels.settings_panel import SettingsPanel
from ui.statistics.marks import sign_icon
from ui.statistics.words import settings_words

_SETTINGS = Qt.ItemDataRole.UserRole
_DEFAULTS: Mapping[str, int] = {"runs": 100, "seed": 0, "length": 64}
_WIDTH, _HEIGHT = 215 * GRID, 170 * GRID


class StudyForm(QDialog):
    """`values` are what to remember of it. The configurations begin with the settings of now."""

    start_requested = Signal(object)
    """A `StudyPlan`."""

    def __init__(self, parent: QWidget, current: Settings, own: Sequence[OwnPreset]) -> None:
        """``current`` are the session's settings, ``own`` the presets the user has saved."""
        super().__init__(parent)
        self.setWindowTitle(tr("Run statistics"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._current = current
        self._own = tuple(own)
        self.list = QListWidget()
        self.settings = SettingsPanel()
        self.runs = whole_box(RUNS)
        self.seed = SeedField()
        self.length = whole_box(LENGTH)
        self.kind = QComboBox()
        self.value = QLineEdit()
        self.where = plain_label(quiet=True)
        self.error = plain_label()
        self.error.setObjectName("errorText")
        self.add_button = QToolButton()
        self.remove_button = push_button(tr("Remove"), tr("Leave this configuration out."), self._remove)
        self.remove_button.setAutoDefault(False)
        self.buttons = QDialogButtonBox()
        self._explain_fields()
        self._fill_menu()
        self._arrange()
        self._connect()
        self.set_values({})
        self.add(tr("current"), current)
        self.resize(_WIDTH, _HEIGHT)

    # --- the window's side -------------------------------------------------------------------------------------------

    def set_model(self, model: ModelInfo, vocabulary: Vocabulary) -> None:
        """The model the runs are drawn from: its end tokens and its own defaults."""
        self.settings.set_model(model, vocabulary)

    def set_where(self, text: str) -> None:
        """From where the runs would be drawn."""
        self.where.setText(text)

    def values(self) -> dict[str, Any]:
        """What to remember of the form."""
        return {
            "runs": self.runs.value(),
            "seed": self.seed.seed,
            "length": self.length.value(),
            "check": self.kind.currentData(),
            "value": self.value.text(),
        }

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Fill the form with what was remembered; what is missing or makes no sense gets its default."""
        known = {
            name: values[name] if isinstance(values.get(name), int) else default for name, default in _DEFAULTS.items()
        }
        for box, number in ((self.runs, known["runs"]), (self.length, known["length"])):
            box.setValue(min(max(number, box.minimum()), box.maximum()))
        self.seed.set_seed(min(MAX_SEED, max(0, known["seed"])))
        self.kind.setCurrentIndex(max(0, self.kind.findData(values.get("check", ""))))
        self.value.setText(str(values.get("value", "")))
        self._refresh()

    def add(self, name: str, settings: Settings) -> None:
        """One more configuration; its name gets a number where there is one like it."""
        if self.list.count() >= MOST_CONFIGURATIONS:
            return
        names = {self.list.item(row).text() for row in range(self.list.count())}
        unused = name if name not in names else next(n for k in range(2, 99) if (n := f"{name} {k}") not in names)
        item = QListWidgetItem(sign_icon(self.list.count(), self.palette()), unused)
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
        item.setData(_SETTINGS, settings)
        item.setToolTip(tooltip(settings_words(settings)))
        self.list.addItem(item)
        self.list.setCurrentItem(item)
        self._refresh()

    def plan(self) -> StudyPlan:
        """What is asked for. Raises `SettingsError`."""
        kind = self.kind.currentData()
        check = TextCheck(kind, "" if kind == "json" else self.value.text()) if kind else None
        items = [self.list.item(row) for row in range(self.list.count())]
        configurations = tuple(Configuration(item.text().strip(), item.data(_SETTINGS)) for item in items)
        return StudyPlan(configurations, SamplePlan(self.runs.value(), self.seed.seed, self.length.value()), check)

    # --- building ----------------------------------------------------------------------------------------------------

    def _explain_fields(self) -> None:
        describe(
            self.list,
            tr("Configurations"),
            tr("The settings to compare, up to eight. F2 or a double click gives one another name."),
        )
        self.add_button.setText(tr("Add"))
        self.add_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.add_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.add_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        describe(self.add_button, tr("Add"), tr("Add a configuration: the settings of now, a copy, or a preset."))
        self.kind.addItem(tr("nothing"), "")
        for kind in KINDS:
            self.kind.addItem(tr(CHECK_LABELS[kind]), kind)
        describe(self.kind, tr("Ask of the texts"), tr("Count the runs whose text is what you ask for."))
        describe(self.value, tr("What to ask for"), tr("The pattern or the text; white space around it is left out."))

    def _fill_menu(self) -> None:
        menu = QMenu(self.add_button)
        menu.addAction(tr("The settings of now"), lambda: self.add(tr("current"), self._current))
        menu.addAction(tr("A copy of the chosen one"), self._copy)
        menu.addSeparator()
        for preset in PRESETS:
            name = tr(preset.label).partition(":")[0].partition("：")[0]
            menu.addAction(tr(preset.label), partial(self.add, name, apply_preset(self._current, preset)))
        if self._own:
            menu.addSeparator()
        for own in self._own:
            menu.addAction(own.name, partial(self.add, own.name, own.applied()))
        self.add_button.setMenu(menu)

    def _arrange(self) -> None:
        left = QVBoxLayout()
        left.setSpacing(2 * GRID)
        left.addWidget(self.list, 1)
        row = QHBoxLayout()
        row.addWidget(self.add_button)
        row.addWidget(self.remove_button)
        row.addStretch(1)
        left.addLayout(row)
        form = QFormLayout()
        for parameter, field in ((RUNS, self.runs), (SEED, self.seed), (LENGTH, self.length)):
            add_parameter_row(form, parameter, field)
        add_row(form, tr("Ask of the texts"), self.kind)
        add_row(form, tr("What to ask for"), self.value)
        left.addLayout(form)
        left.addWidget(self.where)
        right = QVBoxLayout()
        self.heading = QLabel()
        self.heading.setTextFormat(Qt.TextFormat.PlainText)
        right.addWidget(self.heading)
        right.addWidget(self.settings, 1)
        for seeds in self.settings.findChildren(SeedRow):
            group = seeds.parentWidget()
            if group is not None:
                group.hide()  # every run has the study's
        self.settings.presets.set_own(self._own, editable=False)
        columns = QHBoxLayout()
        columns.setSpacing(4 * GRID)
        columns.addLayout(left, 2)
        columns.addLayout(right, 3)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4 * GRID, 4 * GRID, 4 * GRID, 4 * GRID)
        layout.setSpacing(3 * GRID)
        layout.addLayout(columns, 1)
        layout.addWidget(self.error)
        layout.addWidget(self.buttons)
        self.error.hide()

    def _connect(self) -> None:
        self.start_button = push_button(
            tr("Draw the runs"),
            tr("Draw them into the tree. Esc stops; what is missing can be drawn later."),
            self._start,
        )
        self.start_button.setDefault(True)
        self.buttons.addButton(self.start_button, QDialogButtonBox.ButtonRole.AcceptRole)
        cancel = push_button(tr("Cancel"), tr("Close; nothing is drawn."), self.reject)
        cancel.setAutoDefault(False)
        self.buttons.addButton(cancel, QDialogButtonBox.ButtonRole.RejectRole)
        self.list.currentItemChanged.connect(self._choose)
        self.list.itemChanged.connect(lambda _: self._refresh())
        self.settings.committed.connect(self._take)
        self.settings.previewed.connect(self._take)
        self.kind.currentIndexChanged.connect(lambda _: self._refresh())
        self.value.textChanged.connect(lambda _: self._refresh())
        self.seed.next_requested.connect(lambda: self.seed.set_seed(self._sample().seed_of(self.runs.value())))
        for box in (self.runs, self.length):
            box.valueChanged.connect(lambda _: self._refresh())

    # --- inside ------------------------------------------------------------------------------------------------------

    def _sample(self) -> SamplePlan:
        return SamplePlan(self.runs.value(), self.seed.seed, self.length.value())

    def _choose(self, item: QListWidgetItem | None, before: QListWidgetItem | None) -> None:
        """Show the settings of the chosen one; what was being typed for the one before belongs to that."""
        if before is not None:
            before.setData(_SETTINGS, self.settings.draft)
        if item is not None:
            self.settings.reset(item.data(_SETTINGS))
        self._refresh()

    def _take(self, settings: Settings) -> None:
        item = self.list.currentItem()
        if item is not None:
            item.setData(_SETTINGS, settings)
            item.setToolTip(tooltip(settings_words(settings)))

    def _copy(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self.add(item.text(), self.settings.draft)

    def _remove(self) -> None:
        self.list.blockSignals(True)
        self.list.takeItem(self.list.currentRow())
        self.list.blockSignals(False)
        for row in range(self.list.count()):  # signs go by the place
            self.list.item(row).setIcon(sign_icon(row, self.palette()))
        self._choose(self.list.currentItem(), None)

    def _refresh(self) -> None:
        """Say what is wrong as soon as it is, and what is being edited."""
        item = self.list.currentItem()
        name = "" if item is None else item.text()
        self.heading.setText(tr("Settings of “{name}”").format(name=name) if name else "")
        asked = self.kind.currentData()
        self.value.setEnabled(bool(asked) and asked != "json")
        self.remove_button.setEnabled(self.list.count() > 1)
        self.add_button.setEnabled(self.list.count() < MOST_CONFIGURATIONS)
        problem = ""
        if self.list.count():
            try:
                self.plan()
            except SettingsError as error:
                problem = error.message.text()
        self.error.setText(problem)
        self.error.setVisible(bool(problem))
        self.start_button.setEnabled(not problem)

    def _start(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            item.setData(_SETTINGS, self.settings.draft)
        try:
            plan = self.plan()
        except SettingsError:
            self._refresh()
            return
        self.start_requested.emit(plan)
        self.accept()
