"""Answering a question of a lesson: choosing among texts, or typing a number. By keys alone as well."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from explorer.i18n import tr
from explorer.lessons import Question
from ui.actions import MOVING_KEYS
from ui.format import exact
from ui.panels.common import GRID, describe, plain_label, push_button

RIGHT, WRONG = "✓", "✗"
_PERCENT = "%"
_SHORT = 10
"""Answers of so few characters stand beside each other."""


class Answers(QWidget):
    """One question. Once answered it shows what was right, and takes no other answer."""

    answered = Signal(bool)
    """Whether it was right."""

    def __init__(self, question: Question, language: str) -> None:
        super().__init__()
        self.done = False
        self._question = question
        self._language = language
        self.verdict = plain_label()
        self.verdict.hide()

    def first(self) -> QWidget:
        """What the keyboard goes to."""
        raise NotImplementedError

    def reveal(self) -> None:
        """Show the answer to somebody who gives up."""
        self._end("")

    def answer_text(self) -> str:
        """The right answer in words."""
        raise NotImplementedError

    def _end(self, verdict: str) -> None:
        self.done = True
        told = tr("The answer: {answer}.").format(answer=self.answer_text())
        self.verdict.setText(verdict or told)
        self.verdict.show()

    def _judge(self, right: bool) -> None:
        answer = self.answer_text()
        wrong = tr("Not quite. The answer: {answer}.").format(answer=answer)
        self._end(f"{RIGHT} {tr('Right.')}" if right else f"{WRONG} {wrong}")
        self.answered.emit(right)


class Choices(Answers):
    """A button for each answer; the arrow keys go from one to the next, Space and Enter choose."""

    def __init__(self, question: Question, language: str) -> None:
        super().__init__(question, language)
        self.buttons: list[QPushButton] = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        short = all(len(choice.in_language(language)) <= _SHORT for choice in question.choices)
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight if short else QBoxLayout.Direction.TopToBottom)
        row.setSpacing(GRID)
        for place, choice in enumerate(question.choices):
            text = choice.in_language(language)
            button = push_button(
                f"{chr(ord('A') + place)}   {text.replace('&', '&&')}",
                tr("Answer with this. The arrow keys go to the other answers."),
                partial(self._choose, place),
            )
            button.setProperty(MOVING_KEYS, True)
            button.setAutoDefault(True)  # Enter presses it, outside of dialogs too
            button.setAccessibleName(text)
            self.buttons.append(button)
            row.addWidget(button)
        layout.addLayout(row)
        layout.addWidget(self.verdict)

    def first(self) -> QWidget:
        return self.buttons[0]

    def answer_text(self) -> str:
        return self._question.choices[self._question.answer].in_language(self._language).rstrip(".。")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Left: -1}
        by, here = steps.get(Qt.Key(event.key())), self.focusWidget()
        if by is None or here not in self.buttons:
            super().keyPressEvent(event)
            return
        self.buttons[(self.buttons.index(here) + by) % len(self.buttons)].setFocus(Qt.FocusReason.TabFocusReason)

    def _choose(self, place: int) -> None:
        if not self.done:
            self._judge(place == self._question.answer)

    def _end(self, verdict: str) -> None:
        super()._end(verdict)
        for place, button in enumerate(self.buttons):
            right = place == self._question.answer
            button.setText(f"{RIGHT if right else chr(ord('A') + place)}{button.text()[1:]}")
            button.setEnabled(False)


class NumberAnswer(Answers):
    """A line to type a number into; Enter gives the answer."""

    def __init__(self, question: Question, language: str) -> None:
        super().__init__(question, language)
        self.edit = QLineEdit()
        self.edit.setMaximumWidth(40 * GRID)
        self.edit.setPlaceholderText(tr("your guess"))
        describe(self.edit, tr("Your answer"), tr("Type a number and press Enter."))
        self.button = push_button(tr("Answer"), tr("Give this answer."), self._give)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        for widget in (self.edit, plain_label(question.unit, wrap=False), self.button):
            row.addWidget(widget)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(row)
        layout.addWidget(self.verdict)
        self.edit.returnPressed.connect(self._give)

    def first(self) -> QWidget:
        return self.edit

    def answer_text(self) -> str:
        unit = self._question.unit
        space = "" if unit in ("", _PERCENT) else " "
        return f"{exact(self._question.number)}{space}{unit}"

    def _give(self) -> None:
        if self.done:
            return
        given = _number(self.edit.text())
        if given is None:
            self.verdict.setText(tr("That is no number. Write it like 12.5."))
            self.verdict.show()
            return
        question = self._question
        # 0.665 means as much as 66.5 where percents are asked for.
        meant = (given, 100 * given) if question.unit == _PERCENT else (given,)
        self._judge(any(abs(number - question.number) <= question.within + 1e-9 for number in meant))

    def _end(self, verdict: str) -> None:
        super()._end(verdict)
        self.edit.setEnabled(False)
        self.button.setEnabled(False)


def answers_to(question: Question, language: str) -> Answers:
    """The widget for a question."""
    return (Choices if question.choices else NumberAnswer)(question, language)


def _number(text: str) -> float | None:
    try:
        return float(text.strip().rstrip("%％").strip().replace(",", ".").replace("，", "."))
    except ValueError:
        return None
