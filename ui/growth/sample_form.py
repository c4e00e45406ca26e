"""Sample runs: how many texts to draw from a node, with which seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QWidget

from explorer.decoding.choice import MAX_SEED
from explorer.i18n import tr
from explorer.search.sample_plans import LENGTH, RUNS, SEED, SamplePlan
from ui.growth.fields import SeedField, add_parameter_row, whole_box
from ui.growth.popover import Popover

_DEFAULTS: Mapping[str, int] = {"runs": 20, "seed": 0, "length": 50}


class SampleForm(Popover):
    """`values` are what to remember of it. ``set_certain`` says that the settings leave nothing to chance."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(
            parent,
            tr("Sample runs"),
            tr("Sample"),
            tr("Draw these texts into the tree. Stop it with Esc; one undo takes all of it back."),
        )
        self._certain = False
        self._runs = whole_box(RUNS)
        self._seed = SeedField()
        self._length = whole_box(LENGTH)
        for parameter, field in ((RUNS, self._runs), (SEED, self._seed), (LENGTH, self._length)):
            add_parameter_row(self.form, parameter, field)
        self.set_values({})
        for box in (self._runs, self._length):
            box.valueChanged.connect(lambda _: self.refresh())
        self._seed.changed.connect(self.refresh)
        self._seed.next_requested.connect(self._go_on)

    def plan(self) -> SamplePlan:
        """What is asked for."""
        return SamplePlan(self._runs.value(), self._seed.seed, self._length.value())

    def values(self) -> dict[str, Any]:
        plan = self.plan()
        return {"runs": plan.runs, "seed": plan.seed, "length": plan.length}

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Fill the form with what was remembered; what is missing or makes no sense gets its default."""
        known = {
            name: values[name] if isinstance(values.get(name), int) else default for name, default in _DEFAULTS.items()
        }
        for box, value in ((self._runs, known["runs"]), (self._length, known["length"])):
            box.setValue(min(max(value, box.minimum()), box.maximum()))
        self._seed.set_seed(min(MAX_SEED, max(0, known["seed"])))
        self.refresh()

    def set_certain(self, certain: bool) -> None:
        """Whether every draw can only fall on one token."""
        self._certain = certain
        self.refresh()

    def refresh(self) -> None:
        plan = self.plan()
        if self._certain:
            said = tr("These settings leave one token to draw: all runs will be the same.")
        elif plan.runs == 1:
            said = tr("Seed {seed}.").format(seed=plan.seed)
        else:
            said = tr("Seeds {first} to {last}; every run can be drawn again alone with its own.").format(
                first=plan.seed, last=plan.seed_of(plan.runs - 1)
            )
        self.set_hint(said)

    def focus_first(self) -> None:
        self._runs.setFocus()
        self._runs.selectAll()

    def _go_on(self) -> None:
        plan = self.plan()
        self._seed.set_seed(plan.seed_of(plan.runs))
