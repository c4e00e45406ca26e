"""The line at the bottom: model, speed, path, saved or not, memory."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QStatusBar

from explorer.i18n import tr
from explorer.messages import UserMessage
from explorer.models.base import ModelInfo
from explorer.tree import PathValues
from ui.format import LogUnit, logarithm, path_probability, tooltip
from ui.panels.common import GRID, describe, plain_label, tool_button
from ui.work_bar import WorkBar


class StatusBar(QStatusBar):
    """Permanent fields only; what happens is said in the message area."""

    cancel_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self._unit: LogUnit = "nats"
        self._values: PathValues | None = None
        self._model = self._field(tr("Model"), tr("The model of this session, its number format and device."))
        self._activity = self._field(tr("Activity"), tr("What the program is doing for you now."))
        self._progress = WorkBar()
        self._progress.setMaximumWidth(160)
        self._progress.setTextVisible(False)
        describe(self._progress, tr("Progress"), tr("How far the work is."))
        self._progress.hide()
        self.addWidget(self._progress)
        self._cancel = tool_button("✕", tr("Cancel this work."), self.cancel_requested.emit)
        self._cancel.hide()
        self.addWidget(self._cancel)
        self._pass = self._field(tr("Computing"), tr("How much of a long prompt the model has read."))
        self._speed = self._field(
            tr("Speed"), tr("Tokens a second of the latest run, saving and drawing included."), right=True
        )
        self._path = self._field(
            tr("Path"),
            tr(
                "The sum of log-probabilities along the path and the probability of exactly this beginning under the "
                "model: how strongly the model predicts these tokens, not whether what they say is true."
            ),
            right=True,
        )
        self._saved = self._field(
            tr("Saved"), tr("Every step is written to the library before it is shown."), right=True
        )
        self._memory = self._field(
            tr("Memory"),
            tr("What the engine keeps of earlier passes (the prefix cache), and its whole process."),
            right=True,
        )

    def set_model(self, model: ModelInfo | None, state: str) -> None:
        """``state`` is a translated word for what the engine is doing, empty when it is ready."""
        if model is None:
            self._model.setText(state)
            return
        environment = model.environment
        parts = (model.identity.name, environment.dtype, environment.device, state)
        self._model.setText(" · ".join(part for part in parts if part))

    def set_activity(self, text: str, done: int = 0, total: int | None = None) -> None:
        """What goes on; empty hides it. ``total`` None is work of unknown length."""
        self._activity.setText(text)
        self._progress.setVisible(bool(text))
        self._cancel.setVisible(bool(text))
        self._progress.show_work(done, total if text else 1)

    def set_pass(self, text: str) -> None:
        """How far a long pass is; empty hides it."""
        self._pass.setText(text)

    def set_speed(self, tokens_per_second: float | None) -> None:
        self._speed.setText(
            "" if tokens_per_second is None else tr("{speed:.1f} tok/s").format(speed=tokens_per_second)
        )

    def set_log_unit(self, unit: LogUnit) -> None:
        """Show logarithms in nats or bits."""
        self._unit = unit
        self.set_path(self._values)

    def set_path(self, values: PathValues | None) -> None:
        """The sums along the current path."""
        self._values = values
        if values is None or values.tokens == 0:
            self._path.setText("")
            return
        text = tr("{tokens} tok · log p {logp} · p {p}").format(
            tokens=values.tokens,
            logp=logarithm(values.model_logprob, self._unit),
            p=path_probability(values.model_logprob),
        )
        if values.forced:
            text += " · " + tr("{count} forced").format(count=values.forced)
        self._path.setText(text)

    def set_saved(self, unsaved: int, error: UserMessage | None) -> None:
        """How many commands are not on disk yet, and why."""
        self._saved.setText(tr("saved") if unsaved == 0 else tr("{count} not saved yet").format(count=unsaved))
        why = error.text() if error is not None else tr("Every step is written to the library before it is shown.")
        self._saved.setToolTip(tooltip(why))

    def set_memory(self, cache_bytes: int | None, rss_bytes: int | None) -> None:
        if not cache_bytes or rss_bytes is None:
            self._memory.setText("")
            return
        self._memory.setText(
            tr("{cache} MB cache · {process} MB").format(cache=cache_bytes // 2**20, process=rss_bytes // 2**20)
        )

    def _field(self, name: str, help_text: str, *, right: bool = False) -> QLabel:
        label = plain_label(wrap=False)
        describe(label, name, help_text)
        label.setContentsMargins(GRID, 0, GRID, 0)
        label.setMinimumWidth(1)  # a narrow window cuts the text; it must not be made wider by it
        if right:
            self.addPermanentWidget(label)
        else:
            self.addWidget(label)
        return label
