"""The verification of a session: at work, the verdict, the first step that differs, what is otherwise now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from explorer.i18n import tr
from ui.dialogs.work_dialog import Sentence, WorkDialog, embolden, fill_table, text_table
from ui.format import count
from ui.panels.common import GRID, plain_label, push_button
from ui.verify.work import Verified

if TYPE_CHECKING:
    from explorer.verification import StepCheck

_WIDE_STEP: Final = 2
_WIDE_ENVIRONMENT: Final = 2
_MOST_STEPS = 500  # a session of another model differs everywhere
_ROWS_IN_SIGHT = 5


class VerifyDialog(WorkDialog):
    """Shows one verification of a whole session."""

    node_wanted = Signal(int, int)
    """A command and the node its step led to: it is to be looked at."""
    save_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        result = QWidget()
        name = (tr("What was found"), tr("Verdict, steps that differ, and what is otherwise now."))
        super().__init__(parent, tr("Verify this session"), result, name)
        self.found: Verified | None = None
        self.verdict = Sentence()
        self.redraw = Sentence()
        self.first = Sentence()
        self.said = plain_label(quiet=True)
        self.steps = text_table(
            (tr("Command"), tr("Node"), tr("What differs"), tr("Near tie")),
            _WIDE_STEP,
            tr("Steps that differ"),
            tr("Every step that does not come out as recorded. Enter or a double click goes to its node."),
        )
        self.steps.activated.connect(self._activated)
        self.environment = text_table(
            (tr("What"), tr("When recorded"), tr("Now")),
            _WIDE_ENVIRONMENT,
            tr("What is otherwise now"),
            tr("Versions, device, number format and threads that differ between the recording and now."),
        )
        self._steps_title = plain_label(wrap=False)
        self._environment_title = plain_label()
        for title in (self._steps_title, self._environment_title):
            embolden(title)
        self.go_button = push_button(
            tr("Go to the first"), tr("Look at the first step that differs."), self._go_to_first
        )
        self.save_button = push_button(
            tr("Save the report…"), tr("Write everything that was found to a file."), self.save_requested.emit
        )
        for button in (self.save_button, self.go_button):
            self.add_result_button(button)
        self._fill(result)
        self.show_begun()
        self.resize(200 * GRID, 130 * GRID)

    def _fill(self, result: QWidget) -> None:
        column = QVBoxLayout(result)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3 * GRID)
        for part in (self.verdict, self.redraw, self.first, self._steps_title, self.steps):
            column.addWidget(part)
        column.addWidget(self._environment_title)
        column.addWidget(self.environment)
        column.addWidget(self.said)
        column.addStretch(1)

    def show_begun(self) -> None:
        """A verification has begun."""
        self.show_working(tr("Every recorded step is being run again with the model."))

    def show_found(self, verified: Verified) -> None:
        """Show what became of all steps."""
        from explorer.verification import (
            divergence_text,
            environment_name,
            problem_text,
            redraw_text,
            verdict_text,
        )

        self.found = verified
        found, vocabulary = verified.found, verified.vocabulary
        self.verdict.show_sentence(found.verdict != "different" if found.compared else None, verdict_text(found))
        self.redraw.setVisible(found.drawn > 0)
        self.redraw.show_sentence(found.redrawn == found.drawn, redraw_text(found))
        first = found.first_divergence
        self.first.setVisible(first is not None)
        if first is not None:
            self.first.show_sentence(False, divergence_text(first, vocabulary))
        shown = verified.different[:_MOST_STEPS]
        rows = [(str(check.command), str(check.node), problem_text(check, vocabulary), _near(check)) for check in shown]
        fill_table(self.steps, rows, _WIDE_STEP, most=_ROWS_IN_SIGHT)
        self._steps_title.setVisible(bool(rows))
        self._steps_title.setText(self.steps.accessibleName())
        self._say_environment(
            [(environment_name(one), one.recorded or "–", one.now or "–") for one in found.environment]
        )
        more = len(verified.different) - len(shown)
        self.said.setVisible(more > 0)
        self.said.setText(tr("And {count} more steps; the saved report has them all.").format(count=count(more)))
        self.show_result(verified.title or tr("(no title)"))
        self.go_button.setVisible(first is not None)

    def _say_environment(self, rows: list[tuple[str, str, str]]) -> None:
        fill_table(self.environment, rows, _WIDE_ENVIRONMENT)
        self._environment_title.setText(
            tr("What is otherwise now") if rows else tr("The model runs where it ran when this was recorded.")
        )

    def result_text(self) -> str:
        from explorer.verification import report_text

        verified = self.found
        if verified is None:
            return ""
        return report_text(verified.found, verified.different, verified.vocabulary, verified.title)

    def _activated(self, index: QModelIndex) -> None:
        if self.found is not None:
            self._go_to(self.found.different[index.row()])

    def _go_to_first(self) -> None:
        if self.found is not None and self.found.found.first_divergence is not None:
            self._go_to(self.found.found.first_divergence)

    def _go_to(self, check: StepCheck) -> None:
        self.node_wanted.emit(check.command, check.node)
        self.accept()


def _near(check: StepCheck) -> str:
    if check.got is None:
        return "–"
    return tr("yes") if check.near_tie else tr("no")
