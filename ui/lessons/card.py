"""The card a lesson is played from: what the step says, its question, and the way to the next."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from explorer.i18n import N_, tr
from explorer.lessons import Lesson, LessonStep
from explorer.lessons.script import StepKind
from ui.lessons.answers import Answers, answers_to
from ui.panels.common import GRID, plain_label, push_button, tool_button

_KINDS: dict[StepKind, str] = {
    "predict": N_("Predict"),
    "reveal": N_("Look"),
    "do": N_("Do it"),
    "try": N_("On the real model"),
}


class LessonCard(QFrame):
    """Tells what the user wants; the controller sets the stage."""

    back_requested = Signal()
    next_requested = Signal()
    restart_requested = Signal()
    closed = Signal()
    answered = Signal(bool)
    """The question is answered, rightly or not, or was given up (False)."""
    u_chosen = Signal(float)
    real_requested = Signal()
    get_requested = Signal()
    page_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("lessonCard")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self.answers: Answers | None = None
        self.numbers: list[QWidget] = []
        self._page = ""
        self._build_head()
        self._build_body()
        self._build_foot()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(2 * GRID)
        layout.addLayout(self._head)
        layout.addLayout(self._body)
        layout.addLayout(self._foot)

    # --- the controller's side ---------------------------------------------------------------------------------------

    def show_step(self, lesson: Lesson, place: int, language: str, *, answered: bool) -> None:
        """Show a step; ``answered``: its question was answered before, so the way on is open."""
        step, last = lesson.steps[place], len(lesson.steps) - 1
        title = lesson.title.in_language(language)
        numbered = lesson.number and not lesson.own
        named = tr("Lesson {number} · {title}").format(number=lesson.number, title=title) if numbered else title
        self.title.setText(named)
        self.place.setText(tr("{place} of {count}").format(place=place + 1, count=last + 1))
        self.kind.setText(tr(_KINDS[step.kind]))
        self.text.setText(step.text.in_language(language))
        self.setAccessibleName(self.title.text())
        self.setAccessibleDescription(self.text.text())
        self._set_question(step, language)
        self._set_numbers(step.u)
        self._page = step.page
        self.more.setVisible(bool(step.page))
        self.real.setVisible(lesson.real is not None)
        self.back.setEnabled(place > 0)
        self.next.setText(tr("Finish") if place == last else tr("Next step"))
        self.tell("")
        if answered and self.answers is not None:
            self.answers.reveal()
        self._open_way()

    def tell(self, text: str, *, offer_download: bool = False) -> None:
        """Say something below the step; the empty text takes it away."""
        self.notice.setText(text)
        self.notice.setVisible(bool(text))
        self.get.setVisible(offer_download)

    def take_focus(self) -> None:
        """Give the keyboard to what the step asks for."""
        waiting = self.answers if self.answers is not None and not self.answers.done else None
        target = self.next if waiting is None else waiting.first()
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _set_question(self, step: LessonStep, language: str) -> None:
        if self.answers is not None:
            self.answers.hide()
            self._body.removeWidget(self.answers)
            self.answers.deleteLater()
            self.answers = None
        if step.question is not None:
            self.answers = answers_to(step.question, language)
            self.answers.answered.connect(self._answered)
            self._body.insertWidget(1, self.answers)
            self.answers.show()

    def _set_numbers(self, numbers: tuple[float, ...]) -> None:
        for old in self.numbers:
            self._numbers_row.removeWidget(old)
            old.hide()
            old.deleteLater()
        self.numbers = []
        self._numbers.setVisible(len(numbers) > 1)
        if len(numbers) < 2:
            return
        for place, u in enumerate(numbers):
            button = tool_button(
                f"{u:g}", tr("Look at u = {u:g} on the ruler.").format(u=u), partial(self.u_chosen.emit, u)
            )
            button.setAutoRaise(False)
            self._numbers_row.insertWidget(place + 1, button)
            self.numbers.append(button)

    def _answered(self, right: bool) -> None:
        self._open_way()
        self.answered.emit(right)
        self.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def _give_up(self) -> None:
        if self.answers is not None:
            self.answers.reveal()
            self._answered(False)

    def _open_way(self) -> None:
        """On to the next step once there is nothing to answer."""
        waiting = self.answers is not None and not self.answers.done
        self.next.setEnabled(not waiting)
        self.give_up.setVisible(waiting)

    def _read_more(self) -> None:
        self.page_requested.emit(self._page)

    # --- building ----------------------------------------------------------------------------------------------------

    def _build_head(self) -> None:
        self.title = plain_label()
        _embolden(self.title)
        self.kind = plain_label(wrap=False, quiet=True)
        self.place = plain_label(wrap=False, quiet=True)
        again = tool_button("⟲", tr("Start this lesson again from its first step."), self.restart_requested.emit)
        close = tool_button("✕", tr("Leave the lesson. It goes on from here next time."), self.closed.emit)
        self._head = QHBoxLayout()
        self._head.setSpacing(2 * GRID)
        self._head.addWidget(self.title, 1)
        for widget in (self.kind, self.place, again, close):
            self._head.addWidget(widget)

    def _build_body(self) -> None:
        self.text = plain_label()
        self.notice = plain_label()
        self.get = push_button(
            tr("Get SmolLM2 (98 MB)"),
            tr("Download SmolLM2-135M-Instruct, a real language model that runs on any computer, and open it."),
            self.get_requested.emit,
        )
        self._numbers = QWidget()
        self._numbers_row = QHBoxLayout(self._numbers)
        self._numbers_row.setContentsMargins(0, 0, 0, 0)
        self._numbers_row.setSpacing(GRID)
        self._numbers_row.addWidget(plain_label(tr("u ="), wrap=False))
        self._numbers_row.addStretch(1)
        asked = QHBoxLayout()
        asked.addWidget(self.notice, 1)
        asked.addWidget(self.get)
        self._body = QVBoxLayout()
        self._body.setSpacing(2 * GRID)
        self._body.addWidget(self.text)
        self._body.addWidget(self._numbers)
        self._body.addLayout(asked)

    def _build_foot(self) -> None:
        self.back = push_button(tr("Step back"), tr("To the step before (Page Up)."), self.back_requested.emit)
        self.next = push_button(tr("Next step"), tr("To the next step (Page Down)."), self.next_requested.emit)
        self.next.setDefault(True)
        self.give_up = push_button(tr("Show the answer"), tr("Go on without an answer of your own."), self._give_up)
        self.more = push_button(tr("Read more"), tr("Open the page of the help about this."), self._read_more)
        self.real = push_button(
            tr("Now on the real model"),
            tr("Open SmolLM2, a real language model, with a prompt of this lesson. The lesson waits."),
            self.real_requested.emit,
        )
        self._foot = QHBoxLayout()
        self._foot.setSpacing(GRID)
        for button in (self.back, self.next, self.give_up):
            self._foot.addWidget(button)
        self._foot.addStretch(1)
        for button in (self.more, self.real):
            self._foot.addWidget(button)


def _embolden(label: QLabel) -> None:
    font = label.font()
    font.setBold(True)
    label.setFont(font)
