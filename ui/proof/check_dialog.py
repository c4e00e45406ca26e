"""The check of a node against transformers: at work, what it found, or why it could not be made."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QVBoxLayout, QWidget

from explorer.i18n import tr
from explorer.proof.wording import (
    Label,
    as_text,
    facts,
    fresh_sentence,
    quoted,
    stage_headers,
    stage_row,
    verdict_sentence,
)
from ui.dialogs.work_dialog import Sentence, WorkDialog, fill_table, text_table
from ui.panels.common import GRID, plain_label
from ui.proof.work import CheckedNode

_WIDE: Final = 1  # the column that takes the room that is left


class CheckDialog(WorkDialog):
    """Shows one check of one node."""

    def __init__(self, parent: QWidget) -> None:
        result = QWidget()
        name = (tr("What the check found"), tr("Verdict, filters one by one, versions."))
        super().__init__(parent, tr("Check against transformers"), result, name)
        self.found: CheckedNode | None = None
        self.verdict = Sentence()
        self.fresh = Sentence()
        self.table = text_table(
            stage_headers(),
            _WIDE,
            tr("Filters one by one"),
            tr("What ran for each filter in transformers, and how far it differs."),
        )
        self._facts = QFormLayout()
        self._facts.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._facts.setHorizontalSpacing(4 * GRID)
        self._facts.setVerticalSpacing(GRID)
        self._facts.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        column = QVBoxLayout(result)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3 * GRID)
        for part in (self.verdict, self.fresh, self.table):
            column.addWidget(part)
        column.addLayout(self._facts)
        column.addStretch(1)
        self.show_begun()
        self.resize(200 * GRID, 140 * GRID)

    def show_begun(self) -> None:
        """A check is being made."""
        self.show_working(tr("What is shown is being compared with transformers itself."))

    def show_found(self, found: CheckedNode) -> None:
        """Show what a check found."""
        self.found = found
        label: Label = quoted(found.vocabulary)
        report = found.report
        self.verdict.show_sentence(report.verdict != "different", verdict_sentence(report, label))
        self.fresh.show_sentence(None if report.fresh is None else report.fresh.agrees, fresh_sentence(report, label))
        fill_table(self.table, [stage_row(stage, label) for stage in report.stages], _WIDE)
        while self._facts.rowCount():
            self._facts.removeRow(0)
        for name, value in facts(report, label):
            self._facts.addRow(plain_label(name, wrap=False, quiet=True), plain_label(value))
        self.show_result(_heading(found))

    def result_text(self) -> str:
        found = self.found
        return "" if found is None else as_text(found.report, quoted(found.vocabulary), _heading(found))


def _heading(found: CheckedNode) -> str:
    if not found.place:
        return tr("The step after the prompt")
    return tr("The step after node {node}: {place}").format(node=found.node, place=found.place)
