"""The card of the first start: three ways to begin."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from explorer.i18n import tr
from ui.panels.common import GRID, describe, plain_label, push_button, tool_button
from ui.work_bar import WorkBar


class WelcomeCard(QFrame):
    """Dismissible; while the model is fetched it shows how far that is."""

    step_requested = Signal()
    get_model_requested = Signal()
    cancel_requested = Signal()
    own_model_requested = Signal()
    tour_requested = Signal()
    dismissed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        head = self._head()
        text = plain_label(
            tr(
                "The bars on the right are the model's prediction for the next token. Press the right arrow key to "
                "take the most probable one, 1 to 9 to take another, the left arrow key to go back; every branch stays "
                "in the tree. This lesson is a table of a few tokens, so it runs at once."
            )
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * GRID, 2 * GRID, 2 * GRID, 3 * GRID)
        layout.setSpacing(2 * GRID)
        layout.addLayout(head)
        layout.addWidget(text)
        layout.addLayout(self._buttons())
        layout.addLayout(self._download())

    def _head(self) -> QHBoxLayout:
        title = plain_label(tr("Welcome. A small lesson is open: what follows “早餐喝” (for breakfast, drink)?"))
        font = title.font()
        font.setBold(True)
        title.setFont(font)
        self.setAccessibleName(title.text())
        head = QHBoxLayout()
        head.addWidget(title, 1)
        head.addWidget(tool_button("✕", tr("Close this card. Help > Welcome shows it again."), self._dismiss))
        return head

    def _buttons(self) -> QHBoxLayout:
        self._step = push_button(
            tr("Step the lesson"), tr("Take the most probable next token (right arrow key)."), self.step_requested.emit
        )
        tour = push_button(
            tr("First steps"),
            tr("Be shown around with this small lesson; it can be left at any step."),
            self.tour_requested.emit,
        )
        self._get = push_button(
            tr("Get SmolLM2 (98 MB)"),
            tr("Download SmolLM2-135M-Instruct, a real language model that runs on any computer, and open it."),
            self.get_model_requested.emit,
        )
        own = push_button(
            tr("Open a model of your own…"),
            tr("A folder with a Hugging Face model, a GGUF file, or a name on the hub."),
            self.own_model_requested.emit,
        )
        buttons = QHBoxLayout()
        for button in (tour, self._step, self._get, own):
            buttons.addWidget(button)
        buttons.addStretch(1)
        return buttons

    def _download(self) -> QHBoxLayout:
        """The line that shows how much of the model has arrived; hidden until `set_progress`."""
        self._phase = plain_label(wrap=False)
        self._bar = WorkBar()
        describe(self._bar, tr("Download"), tr("How much of the model has arrived."))
        self._cancel = push_button(
            tr("Cancel"), tr("Stop the download. Starting again later is safe."), self.cancel_requested.emit
        )
        line = QHBoxLayout()
        for widget in (self._phase, self._bar, self._cancel):
            line.addWidget(widget)
            widget.hide()
        return line

    def set_model_here(self, here: bool) -> None:
        """Whether the model is on this computer already."""
        self._get.setText(tr("Open SmolLM2") if here else tr("Get SmolLM2 (98 MB)"))

    def set_progress(self, phase: str, done: int = 0, total: int | None = None) -> None:
        """What is being fetched or loaded; an empty ``phase`` hides it."""
        for widget in (self._phase, self._bar, self._cancel):
            widget.setVisible(bool(phase))
        self._get.setEnabled(not phase)
        self._phase.setText(phase)
        self._bar.show_work(done, total)

    def _dismiss(self) -> None:
        self.hide()
        self.dismissed.emit()
