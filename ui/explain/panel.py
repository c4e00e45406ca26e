"""What the panels that explain one distribution have in common: they follow the current node, a draft, one token."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution
from explorer.events import NodeView
from explorer.i18n import tr
from explorer.text import Vocabulary
from ui.format import LogUnit


class ExplainPanel(QWidget):
    """Keeps what it is told, and refreshes at once while it is seen, else when it is shown.

    ``distribution`` is what the bars show: that of ``view``, or what it would be under a draft of other settings;
    ``sampling`` are the settings it belongs to.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.vocabulary: Vocabulary | None = None
        self.view: NodeView | None = None
        self.distribution: Distribution | None = None
        self.sampling = SamplingParams()
        self.busy = False
        self.token: int | None = None
        self.unit: LogUnit = "nats"
        self._stale = True
        self._in_front = True

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """The vocabulary behind the token ids; None before a session is open."""
        self.vocabulary = vocabulary
        self._changed()

    def set_view(self, view: NodeView | None, token_id: int | None = None) -> None:
        """Follow another node; None where no session is open.

        ``token_id`` is the token that is marked there among the candidates, as in `set_token`; None leaves it.
        """
        self.view = view
        if token_id is not None:
            self.token = None if token_id < 0 else token_id
        self.distribution = None if view is None else view.distribution
        if view is not None:
            self.sampling = view.state.settings.sampling
        self._changed()

    def set_distribution(self, distribution: Distribution, sampling: SamplingParams | None = None) -> None:
        """Show what the same node would be under a draft of the settings, ``sampling``."""
        self.distribution = distribution
        self.sampling = self.sampling if sampling is None else sampling
        self._changed()

    def set_busy(self, busy: bool) -> None:
        """Whether the model is at work on the node that is to be shown."""
        self.busy = busy
        if self.distribution is None:
            self._changed()

    def set_token(self, token_id: int) -> None:
        """The token that is marked among the candidates; -1 for none."""
        self.token = None if token_id < 0 else token_id
        self._changed()

    def set_log_unit(self, unit: LogUnit) -> None:
        """Show logarithms in nats or bits."""
        self.unit = unit
        self._changed()

    def highlight_token(self, token_id: int) -> None:
        """Mark the token that is under the pointer elsewhere; -1 for none."""

    def empty_text(self) -> str:
        """Why there is no distribution, and what to do; empty where there is one."""
        if self.distribution is not None:
            return ""
        if self.view is None:
            return tr("No session is open. Write a prompt, or open one of the sessions.")
        if self.busy:
            return tr("The model is computing the candidates of this place…")
        if self.view.stop is not None:
            return tr(
                "The path ends here, so the model was not asked what would follow. Go on past the stop to see what it "
                "predicts after it."
            )
        return tr(
            "Nothing is stored for this place, and its model is not loaded. Load the model to see the candidates."
        )

    def refresh(self) -> None:
        """Show what is known now. Called in the GUI thread, only while the panel is seen."""
        raise NotImplementedError

    @Slot(bool)
    def set_in_front(self, in_front: bool) -> None:
        """Whether its dock is the one that is seen: Qt calls a widget visible though it lies behind another tab."""
        self._in_front = in_front
        if in_front and self._stale:
            self._changed()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._changed()

    def _changed(self) -> None:
        self._stale = not (self.isVisible() and self._in_front)
        if not self._stale:
            self.refresh()
