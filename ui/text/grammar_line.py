"""One line above the path: where the grammar in force stands, and what it left of the model's probability."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from explorer.events import NodeView
from explorer.grammar.constraint import KIND_LABELS
from explorer.grammar.facts import GrammarFacts
from explorer.grammar.states import GrammarStatus
from explorer.grammar.words import problem_texts
from explorer.i18n import N_, sentences, tr
from ui.format import LogUnit, count, logarithm, path_probability, tooltip
from ui.theme import colours_of

_STATES: dict[GrammarStatus, str] = {
    "inside": N_("{kind}: not complete yet."),
    "ended": N_("{kind}: complete; only an end token may follow."),
    "closed": N_("{kind}: complete and ended."),
    "left": N_("{kind}: left at token {left_at}. Nothing that follows belongs to it."),
    "stuck": N_("{kind}: none of this model's tokens goes on."),
    "unusable": N_("{kind}: it cannot be used ({problem})."),
}
_MAY_STOP = N_("{kind}: complete; the text may stop here or go on.")
_TROUBLED = frozenset({"left", "stuck", "unusable"})
_OVER = _TROUBLED | {"closed"}


class GrammarLine(QFrame):
    """Hidden while no grammar is in force."""

    switch_off_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view: NodeView | None = None
        self._unit: LogUnit = "nats"
        self.setAutoFillBackground(True)
        self._label = QLabel(self)
        self._label.setTextFormat(self._label.textFormat().PlainText)
        self._label.setWordWrap(True)
        self._off = QPushButton(tr("Switch the grammar off"), self)
        self._off.setToolTip(tr("Go on without a grammar. Its text stays in the settings; undo brings it back."))
        self._off.clicked.connect(lambda _checked=False: self.switch_off_requested.emit())
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.setSpacing(8)
        layout.addWidget(self._label, 1)
        layout.addWidget(self._off)
        self.hide()

    def set_view(self, view: NodeView | None) -> None:
        """Say where the grammar stands at a node; hide where there is none."""
        self._view = view
        self._show()

    def set_log_unit(self, unit: LogUnit) -> None:
        self._unit = unit
        self._show()

    def _show(self) -> None:
        view = self._view
        facts = view.grammar if view is not None else None
        self.setVisible(facts is not None)
        if view is None or facts is None:
            return
        self._label.setText(sentences((_state_text(facts), mass_text(view, self._unit))))
        self._label.setToolTip(tooltip(*_mass_help(), problem_texts(facts.to_json()["problems"])))
        self.setAccessibleName(self._label.text())
        troubled = facts.status in _TROUBLED
        self._off.setVisible(facts.status in _OVER)
        colours = colours_of(self)
        palette = QPalette(self.palette())
        palette.setColor(QPalette.ColorRole.Window, QColor(colours.warning_soft if troubled else colours.surface_alt))
        self.setPalette(palette)


def _state_text(facts: GrammarFacts) -> str:
    may_stop = facts.complete and facts.status == "inside"
    return tr(_MAY_STOP if may_stop else _STATES[facts.status]).format(
        kind=tr(KIND_LABELS[facts.kind]), left_at=facts.left_at, problem=facts.problem
    )


def mass_text(view: NodeView, unit: LogUnit) -> str:
    """What the grammar left of the model's probability here and along the path; what is not known is left out."""
    here, values = view.grammar_logmass, view.values
    parts = []
    if here is not None:
        truncated = view.distribution is not None and view.distribution.truncated
        text = (
            tr("It leaves {mass} or more of the next token's probability.")
            if truncated
            else tr("It leaves {mass} of the next token's probability.")
        )
        parts.append(text.format(mass=path_probability(here)))
    if values.constrained:
        text = tr("Along {steps} steps it left {mass} (log {logarithm}).")
        parts.append(
            text.format(
                steps=count(values.constrained),
                mass=path_probability(values.grammar_logmass),
                logarithm=logarithm(values.grammar_logmass, unit),
            )
        )
    return sentences(parts)


def _mass_help() -> tuple[str, ...]:
    return (
        tr("What a grammar leaves is the model's own probability of all the tokens that it allows."),
        tr(
            "Along a path these shares are multiplied: so much more often does a draw take this path than the model "
            "by itself would. It is not the probability that the model would have followed the grammar."
        ),
    )
