"""What stands under the rulers: keeping one, the draw that led here, and what one ruler is not."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from explorer.i18n import tr
from explorer.tree import Edge
from ui.panels.common import GRID, plain_label, push_button


class RulerFeet(QWidget):
    """Two buttons and a note."""

    keep_wanted = Signal()
    origin_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.keep = push_button(
            tr("Keep this ruler"),
            tr(
                "Keep the settings as they are now as a ruler of their own, to compare others with them at every "
                "place. It stays until you remove it."
            ),
            self.keep_wanted.emit,
        )
        self.origin = push_button(
            tr("See the draw that led here"),
            tr("Go to the parent and show where its draw fell."),
            self.origin_wanted.emit,
        )
        note = plain_label(
            tr(
                "One ruler is one step: the token that is taken changes what the model predicts next, so the next draw "
                "falls on another ruler. Several u on this one are several first tokens, not a text."
            ),
            quiet=True,
        )
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, 0)
        layout.setSpacing(GRID)
        for button in (self.keep, self.origin):
            buttons.addWidget(button)
        buttons.addStretch(1)
        layout.addLayout(buttons)
        layout.addWidget(note)

    def show_edge(self, edge: Edge | None) -> None:
        """How the current node was reached; None for the prompt."""
        drawn = edge is not None and edge.u is not None
        self.origin.setVisible(drawn)
        if edge is not None and drawn:
            self.origin.setText(tr("See the draw that led here, #{number}").format(number=edge.draw_index))
