"""The prompt: raw text or a conversation, the exact tokens the model will read, and what commonly bites."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QRadioButton, QStackedWidget, QVBoxLayout, QWidget

from explorer.i18n import tr
from explorer.messages import UserMessage
from explorer.models.base import ModelInfo
from explorer.text import ChatMessage, PathPiece, Prompt, PromptWarning
from ui.panels.chat_editor import ChatEditor
from ui.panels.common import GRID, describe, plain_label, push_button
from ui.panels.submit_edit import SubmitEdit
from ui.text.chips import TokenChips

_PAUSE_MS = 250


@dataclass(frozen=True, slots=True)
class PromptDraft:
    """What is in the editor: a raw text, or messages for the chat template."""

    kind: str
    text: str = ""
    messages: tuple[ChatMessage, ...] = ()
    add_generation_prompt: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class EncodedDraft:
    """A draft as the model would read it."""

    draft: PromptDraft
    prompt: Prompt
    pieces: tuple[PathPiece, ...]
    warnings: tuple[PromptWarning, ...]


class PromptPanel(QWidget):
    """Edits a draft; asks for its tokens after a short pause, and for a session when the user says start."""

    encode_requested = Signal(object)
    start_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._model: ModelInfo | None = None
        self._live = False
        self._started: Prompt | None = None
        self._encoded: EncodedDraft | None = None
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._ask)
        self._raw, self._chat = QRadioButton(tr("Raw text")), QRadioButton(tr("Chat"))
        describe(self._raw, tr("Raw text"), tr("The model continues exactly this text; nothing is put around it."))
        self._kinds = QButtonGroup(self)
        self._stack = QStackedWidget()
        self._edit = SubmitEdit()
        self._messages = ChatEditor()
        self._chips = TokenChips()
        self._count = plain_label(wrap=False)
        self._warnings = plain_label()
        self._why_no_chat = plain_label(quiet=True)
        self._start = push_button(
            tr("Start with this prompt"),
            tr("Begin a new session with this prompt (Ctrl+Enter in the editor). The open one stays in the library."),
            self._submit,
        )
        self._build()
        self._connect()
        self._refresh()

    # --- what the window sets ----------------------------------------------------------------------------------------

    def set_model(self, model: ModelInfo | None, *, live: bool) -> None:
        """The model whose tokenizer reads the prompt; not ``live``: the draft cannot be tokenised now."""
        self._model, self._live = model, live
        self._refresh()
        if live:
            self._pause.start()

    def set_prompt(self, prompt: Prompt, pieces: tuple[PathPiece, ...]) -> None:
        """The prompt of the session that is open; the editor takes it over."""
        self._started = prompt
        for editor in (self._edit, self._messages):
            editor.blockSignals(True)
        if prompt.kind == "chat":
            self._messages.set_messages(prompt.messages)
            self._chat.setChecked(True)
        else:
            self._edit.setPlainText(prompt.text)
            self._raw.setChecked(True)
        for editor in (self._edit, self._messages):
            editor.blockSignals(False)
        self._encoded = EncodedDraft(self.draft(), prompt, pieces, ())
        self._refresh()
        self._pause.start()

    def set_encoded(self, encoded: EncodedDraft) -> None:
        """The tokens of a draft; ignored when the draft has changed since."""
        if encoded.draft != self.draft():
            return
        self._encoded = encoded
        self._refresh()

    def set_error(self, draft: PromptDraft, message: UserMessage) -> None:
        """Why the draft cannot be tokenised."""
        if draft == self.draft():
            self._encoded = None
            self._refresh()
            self._warnings.setText(message.text())
            self._warnings.show()

    def draft(self) -> PromptDraft:
        """What is in the editor now."""
        if self._chat.isChecked():
            return PromptDraft(
                "chat", messages=self._messages.messages(), add_generation_prompt=self._messages.add_generation_prompt
            )
        return PromptDraft("raw", text=self._edit.toPlainText())

    @property
    def differs(self) -> bool:
        """Whether starting would give another prompt than the session has."""
        if self._started is None:
            return True
        if self._encoded is not None and self._encoded.draft == self.draft():
            return self._encoded.prompt.ids != self._started.ids
        return self.draft().text != self._started.text or self.draft().messages != self._started.messages

    def edit_prompt(self) -> None:
        """Put the cursor where the prompt is edited."""
        if self._chat.isChecked():
            self._messages.edit_last()
        else:
            self._edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._edit.selectAll()

    # --- inside ------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        describe(
            self._edit,
            tr("Prompt text"),
            tr("The text the model continues. Spaces and line breaks count; nothing is trimmed or added silently."),
        )
        self._edit.setPlaceholderText(tr("Type what the model should continue…"))
        describe(self._count, tr("Prompt length"), tr("Tokens of the prompt, and how many the model can read in all."))
        describe(self._warnings, tr("Prompt warnings"), tr("What commonly goes wrong with a prompt like this one."))
        for number, button in enumerate((self._raw, self._chat)):
            self._kinds.addButton(button, number)
        self._raw.setChecked(True)
        kinds = QHBoxLayout()
        kinds.setSpacing(3 * GRID)
        kinds.addWidget(self._raw)
        kinds.addWidget(self._chat)
        kinds.addStretch(1)
        kinds.addWidget(self._count)
        self._stack.addWidget(self._edit)
        self._stack.addWidget(self._messages)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addLayout(kinds)
        layout.addWidget(self._why_no_chat)
        layout.addWidget(self._stack, 3)
        layout.addWidget(self._chips, 2)
        layout.addWidget(self._warnings)
        layout.addWidget(self._start)

    def _connect(self) -> None:
        self._kinds.idToggled.connect(self._switched)
        self._edit.textChanged.connect(self._edited)
        self._edit.submitted.connect(self._submit)
        self._messages.edited.connect(self._edited)
        self._messages.submitted.connect(self._submit)

    def _switched(self, number: int, checked: bool) -> None:
        if checked:
            self._stack.setCurrentIndex(number)
            self._edited()

    def _edited(self) -> None:
        self._pause.start()
        self._refresh()

    def _ask(self) -> None:
        started, draft = self._started, self.draft()
        given_as_ids = started is not None and started.kind == "ids" and draft.text == started.text
        if self._live and not given_as_ids:  # its text read again may well give other ids
            self.encode_requested.emit(draft)

    def _submit(self) -> None:
        if self._start.isEnabled():
            self.start_requested.emit(self.draft())

    def _refresh(self) -> None:
        chat = self._model is not None and self._model.chat_template is not None
        self._chat.setEnabled(chat or self._chat.isChecked())
        no_template = tr("This model's files hold no chat template, so a conversation cannot be written down for it.")
        describe(
            self._chat,
            tr("Chat"),
            tr("Messages, written down for the model by its own chat template.") if chat else no_template,
        )
        self._why_no_chat.setText(no_template)
        self._why_no_chat.setVisible(self._chat.isChecked() and not chat)
        encoded = self._encoded
        limit = self._model.context_length if self._model else 0
        known = encoded is not None and encoded.draft == self.draft()
        if encoded is not None:
            self._chips.set_pieces(list(encoded.pieces))
            count = len(encoded.prompt.ids)
            self._count.setText(
                (tr("{count} / {limit} tokens") if known else tr("{count} / {limit} tokens …")).format(
                    count=count, limit=limit
                )
            )
            self._messages.set_preview(encoded.prompt.text if encoded.prompt.kind == "chat" else "")
        notes = [tr(w.text).format(**w.params) for w in encoded.warnings] if encoded is not None and known else []
        self._warnings.setText("\n".join(notes))
        self._warnings.setVisible(bool(notes))
        self._start.setEnabled(self._live and self.differs)
