"""Messages: what happened, what it means, what to do; technical details folded below, ready to copy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QStyle, QVBoxLayout, QWidget

from explorer.i18n import sentences, tr
from explorer.messages import UserMessage
from ui.panels.common import GRID, describe, plain_label, push_button, tool_button

_MOST_AT_ONCE = 3


@dataclass(frozen=True, slots=True)
class MessageAction:
    """A button that does what the message suggests."""

    label: str
    help: str
    run: Callable[[], object]


class MessageCard(QFrame):
    """One message with its buttons; stays until dismissed."""

    def __init__(self, message: UserMessage, actions: tuple[MessageAction, ...], dismiss: Callable[[], object]) -> None:
        super().__init__()
        self.message = message
        self.setObjectName("messageCard")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        what, meaning, action = message.sentences()
        self.setAccessibleName(what)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        head = QHBoxLayout()
        icon = plain_label(wrap=False)
        size = 4 * GRID
        icon.setPixmap(self.style().standardIcon(QStyle.StandardPixmap.SP_MessageBoxWarning).pixmap(size, size))
        head.addWidget(icon)
        title = plain_label(what)
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        head.addWidget(title, 1)
        head.addWidget(tool_button("✕", tr("Dismiss this message."), dismiss))
        layout.addLayout(head)
        rest = sentences((meaning, action))
        if rest:
            layout.addWidget(plain_label(rest))
        buttons = QHBoxLayout()
        for offered in actions:
            buttons.addWidget(push_button(offered.label, offered.help, offered.run))
        self._details = _details_box(message)
        if self._details is not None:
            buttons.addWidget(
                push_button(tr("Details"), tr("Show or hide the technical text, for a report."), self._toggle_details)
            )
        copy_help = tr("Copy the whole message with its details to the clipboard.")
        buttons.addWidget(push_button(tr("Copy"), copy_help, self._copy))
        buttons.addStretch(1)
        layout.addLayout(buttons)
        if self._details is not None:
            layout.addWidget(self._details)

    def _toggle_details(self) -> None:
        if self._details is not None:
            self._details.setVisible(self._details.isHidden())

    def _copy(self) -> None:
        parts = [f"[{self.message.code}] {self.message.text()}", self.message.details]
        QGuiApplication.clipboard().setText("\n\n".join(part for part in parts if part))


class MessageArea(QWidget):
    """A column of message cards; empty it takes no room. The same message is shown once."""

    def __init__(self) -> None:
        super().__init__()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(GRID)
        self._cards: list[MessageCard] = []
        self.hide()

    @property
    def messages(self) -> list[UserMessage]:
        """What is shown now, newest first."""
        return [shown.message for shown in self._cards]

    def show_message(self, message: UserMessage, actions: tuple[MessageAction, ...] = ()) -> None:
        """Show ``message`` on top; an older one of the same code gives way."""
        self.dismiss(message.code)
        shown = MessageCard(
            message,
            tuple(self._closing(message.code, action) for action in actions),
            lambda: self.dismiss(message.code),
        )
        self._cards.insert(0, shown)
        self._layout.insertWidget(0, shown)
        for surplus in self._cards[_MOST_AT_ONCE:]:
            self.dismiss(surplus.message.code)
        self.show()

    def dismiss(self, *codes: str) -> None:
        """Take messages of these codes away; a code ending in a dot means all that begin with it."""
        for shown in list(self._cards):
            code = shown.message.code
            if any(code == wanted or (wanted.endswith(".") and code.startswith(wanted)) for wanted in codes):
                self._cards.remove(shown)
                self._layout.removeWidget(shown)
                shown.hide()
                shown.deleteLater()
        self.setVisible(bool(self._cards))

    def _closing(self, code: str, action: MessageAction) -> MessageAction:
        def run() -> None:
            self.dismiss(code)
            action.run()

        return MessageAction(action.label, action.help, run)


def _details_box(message: UserMessage) -> QPlainTextEdit | None:
    if not message.details:
        return None
    box = QPlainTextEdit(message.details)
    box.setReadOnly(True)
    box.setMaximumHeight(30 * GRID)
    describe(box, tr("Technical details"), tr("What the program itself reported; copy it into a report."))
    box.hide()
    return box
