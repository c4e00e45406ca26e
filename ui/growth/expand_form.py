"""Expand here: which continuations of a node to show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QButtonGroup, QDoubleSpinBox, QRadioButton, QSpinBox, QVBoxLayout, QWidget

from explorer.decoding.parameter import Parameter
from explorer.i18n import N_, tr
from explorer.search.plans import DEPTH, MASS, MAX_NODES, TOP_K, BestFirst, ByLevel, ExpansionPlan
from ui.format import count, percent
from ui.growth.fields import add_parameter_row, share_box, whole_box
from ui.growth.popover import Popover
from ui.panels.common import GRID, describe

_DEFAULTS: Mapping[str, Any] = {
    "kind": "by_level",
    "top_k": 5,
    "depth": 2,
    "max_nodes": 1000,
    "mass": 90.0,
    "longest": 0,
    "budget": 500,
}
_NO_LIMIT = N_("no limit")


class ExpandForm(Popover):
    """Level by level, or best first. `values` are what to remember of it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(
            parent,
            tr("Expand here"),
            tr("Expand"),
            tr("Show these continuations in the tree. Stop it with Esc; one undo takes all of it back."),
        )
        self._by_level = QRadioButton(tr("Likeliest children, level by level"))
        self._best_first = QRadioButton(tr("Likeliest continuations first"))
        describe(
            self._by_level,
            self._by_level.text(),
            tr("Every node gets its likeliest children, so many levels deep: a regular picture of what could come."),
        )
        describe(
            self._best_first,
            self._best_first.text(),
            tr(
                "Always the likeliest continuation that is not shown yet, of whatever length: where the probability "
                "goes. The model's probability counts, before all filters."
            ),
        )
        self._kinds = QButtonGroup(self)
        kinds = QVBoxLayout()
        kinds.setSpacing(GRID)
        for button in (self._by_level, self._best_first):
            self._kinds.addButton(button)
            kinds.addWidget(button)
        self.form.addRow(kinds)
        self._top_k = whole_box(TOP_K)
        self._depth = whole_box(DEPTH)
        self._max_nodes = whole_box(MAX_NODES)
        self._mass = share_box(MASS, unlimited=tr(_NO_LIMIT))
        self._longest = whole_box(DEPTH, unlimited=tr(_NO_LIMIT))
        self._budget = whole_box(MAX_NODES)
        self._rows: Mapping[str, tuple[tuple[Parameter, QSpinBox | QDoubleSpinBox], ...]] = {
            "by_level": ((TOP_K, self._top_k), (DEPTH, self._depth), (MAX_NODES, self._max_nodes)),
            "best_first": ((MASS, self._mass), (DEPTH, self._longest), (MAX_NODES, self._budget)),
        }
        for rows in self._rows.values():
            for parameter, box in rows:
                add_parameter_row(self.form, parameter, box)
                box.valueChanged.connect(lambda _: self.refresh())
        self.set_values({})
        self._kinds.buttonToggled.connect(lambda *_: self.refresh())

    def plan(self) -> ExpansionPlan:
        """What is asked for."""
        if self._by_level.isChecked():
            return ByLevel(self._top_k.value(), self._depth.value(), self._max_nodes.value())
        return BestFirst(self._budget.value(), self._mass.value() / 100 or None, self._longest.value() or None)

    def values(self) -> dict[str, Any]:
        return {
            "kind": "by_level" if self._by_level.isChecked() else "best_first",
            **{name: box.value() for name, box in self._boxes().items()},
        }

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Fill the form with what was remembered; what is missing or makes no sense gets its default."""
        known = {**_DEFAULTS, **values}
        (self._best_first if known["kind"] == "best_first" else self._by_level).setChecked(True)
        for name, box in self._boxes().items():
            value = known[name] if isinstance(known[name], int | float) else _DEFAULTS[name]
            box.setValue(type(box.minimum())(min(max(value, box.minimum()), box.maximum())))
        self.refresh()

    def refresh(self) -> None:
        kind = "by_level" if self._by_level.isChecked() else "best_first"
        fields = {name: [box for _, box in rows] for name, rows in self._rows.items()}
        hidden = next(boxes for name, boxes in fields.items() if name != kind)
        for box in fields[kind]:
            self.form.setRowVisible(box, True)
        if any(box.hasFocus() for box in hidden):
            self.focus_first()  # else the cursor would leave the form with its field
        for box in hidden:
            self.form.setRowVisible(box, False)
        self.set_hint(self._said(self.plan()))

    def focus_first(self) -> None:
        box = self._top_k if self._by_level.isChecked() else self._mass
        box.setFocus()
        box.selectAll()

    def _boxes(self) -> dict[str, Any]:
        return {
            "top_k": self._top_k,
            "depth": self._depth,
            "max_nodes": self._max_nodes,
            "mass": self._mass,
            "longest": self._longest,
            "budget": self._budget,
        }

    def _said(self, plan: ExpansionPlan) -> str:
        if isinstance(plan, ByLevel):
            return tr("Up to {count} nodes.").format(count=count(plan.most))
        if plan.mass is None:
            return tr("The {count} likeliest nodes, fewer where the texts end.").format(count=count(plan.max_nodes))
        if plan.depth is None:
            said = tr("Until texts that have ended hold {mass} of the probability, or {count} nodes are shown.")
        else:
            said = tr(
                "Until texts that have ended or are {depth} tokens long hold {mass} of the probability, or {count} "
                "nodes are shown."
            )
        return said.format(mass=percent(plan.mass), count=count(plan.max_nodes), depth=plan.depth)
