"""A conversation as a list of messages with roles, and the text the model's template makes of it."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import N_, tr
from explorer.text import ChatMessage
from ui.panels.common import GRID, describe, push_button, tool_button
from ui.panels.submit_edit import SubmitEdit

_ROLES = (("system", N_("System")), ("user", N_("User")), ("assistant", N_("Assistant")))


class _MessageRow(QFrame):
    """One message: its role, its text, and a button to take it out."""

    edited = Signal()
    submitted = Signal()
    removed = Signal(object)

    def __init__(self, message: ChatMessage) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._role = QComboBox()
        for value, label in _ROLES:
            self._role.addItem(tr(label), value)
        self._role.setCurrentIndex(self._role.findData(message.role))
        describe(
            self._role,
            tr("Role"),
            tr("Who says this: the system sets the scene, the user asks, the assistant is the model."),
        )
        self.text = SubmitEdit(message.content)
        self.text.setMinimumHeight(12 * GRID)
        describe(self.text, tr("Message text"), tr("What is said in this message."))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, GRID)
        layout.setSpacing(GRID // 2)
        head = QHBoxLayout()
        head.addWidget(self._role)
        head.addStretch(1)
        head.addWidget(tool_button("✕", tr("Remove this message."), lambda: self.removed.emit(self)))
        layout.addLayout(head)
        layout.addWidget(self.text)
        self._role.currentIndexChanged.connect(self.edited)
        self.text.textChanged.connect(self.edited)
        self.text.submitted.connect(self.submitted)

    def message(self) -> ChatMessage:
        return ChatMessage(self._role.currentData(), self.text.toPlainText())


class ChatEditor(QWidget):
    """Messages from top to bottom; below them the rendered template."""

    edited = Signal()
    submitted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[_MessageRow] = []
        self._list = QVBoxLayout()
        self._list.setSpacing(GRID)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, GRID, 0)
        column.addLayout(self._list)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(inside)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._answer = QCheckBox(tr("Ask for the answer"))
        describe(
            self._answer,
            tr("Ask for the answer"),
            tr("End with the template's opening of an assistant message, so that the model answers and does not ask."),
        )
        self._answer.setChecked(True)
        self._preview = QPlainTextEdit()
        self._preview.setReadOnly(True)
        self._preview.setMaximumHeight(24 * GRID)
        self._preview.setTabChangesFocus(True)
        describe(
            self._preview,
            tr("Rendered template"),
            tr("What the model's chat template makes of the messages: the exact text that is tokenised."),
        )
        add = push_button(tr("Add a message"), tr("Put one more message at the end."), self._add)
        buttons = QHBoxLayout()
        buttons.addWidget(add)
        buttons.addWidget(self._answer)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(scroll, 2)
        layout.addLayout(buttons)
        layout.addWidget(self._preview, 1)
        self._answer.toggled.connect(self.edited)
        self.set_messages([ChatMessage("user", "")])

    @property
    def add_generation_prompt(self) -> bool:
        return self._answer.isChecked()

    def messages(self) -> tuple[ChatMessage, ...]:
        return tuple(row.message() for row in self._rows)

    def set_messages(self, messages: Iterable[ChatMessage]) -> None:
        """Replace what is edited."""
        for row in self._rows:
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = []
        for message in messages:
            self._append(message)

    def set_preview(self, text: str) -> None:
        if text != self._preview.toPlainText():
            self._preview.setPlainText(text)

    def edit_last(self) -> None:
        """Put the cursor into the last message."""
        if self._rows:
            self._rows[-1].text.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _append(self, message: ChatMessage) -> None:
        row = _MessageRow(message)
        row.edited.connect(self.edited)
        row.submitted.connect(self.submitted)
        row.removed.connect(self._remove)
        self._rows.append(row)
        self._list.addWidget(row)

    def _add(self) -> None:
        last = self._rows[-1].message().role if self._rows else "assistant"
        self._append(ChatMessage("user" if last != "user" else "assistant", ""))
        self.edited.emit()
        self.edit_last()

    def _remove(self, row: _MessageRow) -> None:
        self._rows.remove(row)
        self._list.removeWidget(row)
        row.hide()
        row.deleteLater()
        self.edited.emit()
