"""What the panels that explain one distribution have in common: they follow the current node, a draft, one token."""

from __future__ import annotations

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from explorer.decoding.pipeline import Distribution
from explorer.events import NodeView
from explorer.text import Vocabulary
from ui.format import LogUnit


class ExplainPanel(QWidget):
    """Keeps what it is told, and refreshes at once while it is seen, else when it is shown.

    ``distribution`` is what the bars show: that of ``view``, or what it would be under a draft of other settings.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.vocabulary: Vocabulary | None = None
        self.view: NodeView | None = None
        self.distribution: Distribution | None = None
        self.token: int | None = None
        self.unit: LogUnit = "nats"
        self._stale = True

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """The vocabulary behind the token ids; None before a session is open."""
        self.vocabulary = vocabulary
        self._changed()

    def set_view(self, view: NodeView | None) -> None:
        """Follow another node; None where no session is open."""
        self.view = view
        self.distribution = None if view is None else view.distribution
        self._changed()

    def set_distribution(self, distribution: Distribution) -> None:
        """Show what the same node would be under a draft of the settings."""
        self.distribution = distribution
        self._changed()

    def set_token(self, token_id: int) -> None:
        """The token that is marked among the candidates; -1 for none."""
        self.token = None if token_id < 0 else token_id
        self._changed()

    def set_log_unit(self, unit: LogUnit) -> None:
        """Show logarithms in nats or bits."""
        self.unit = unit
        self._changed()

    def refresh(self) -> None:
        """Show what is known now. Called in the GUI thread, only while the panel is seen."""
        raise NotImplementedError

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._changed()

    def _changed(self) -> None:
        self._stale = not self.isVisible()
        if not self._stale:
            self.refresh()
