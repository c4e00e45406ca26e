"""The bar above the tree that says that the past is shown, and leads back."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QHBoxLayout

from explorer.i18n import tr
from ui.panels.common import GRID, describe, plain_label, push_button
from ui.theme import colours_of

_SAID_MS = 4000


class PastBar(QFrame):
    """Hidden while the present is shown."""

    live_requested = Signal()
    branch_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("pastBar")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.title = plain_label()
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.said = plain_label()
        self.settings = QCheckBox(tr("with its settings"))
        describe(
            self.settings, self.settings.text(), tr("Branch off with the settings in force then, instead of today's.")
        )
        self.seed = QCheckBox(tr("with its seed"))
        describe(
            self.seed,
            self.seed.text(),
            tr("Branch off with seed and draw number of then: the same draws follow, unless something else changes."),
        )
        self.branch = push_button(
            tr("Branch off here"),
            tr("Return to the present, standing at the node of this moment. Nothing of what came later is lost."),
            self.branch_requested.emit,
        )
        self.live = push_button(
            tr("Back to the present"), tr("Show the session as it stands now."), self.live_requested.emit
        )
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SAID_MS)
        self._timer.timeout.connect(self._explain)
        self._build()
        self.hide()

    def _build(self) -> None:
        layout = QGridLayout(self)
        layout.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID)
        layout.setHorizontalSpacing(3 * GRID)
        layout.setVerticalSpacing(GRID)
        layout.addWidget(self.title, 0, 0, 1, 2)
        layout.addWidget(self.said, 1, 0)
        layout.setColumnStretch(0, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(2 * GRID)
        for widget in (self.settings, self.seed, self.branch, self.live):
            buttons.addWidget(widget)
        layout.addLayout(buttons, 1, 1)

    def show_moment(self, text: str, *, settings_differ: bool, seed_differs: bool) -> None:
        """Say which moment is shown, and offer what was otherwise then."""
        self.title.setText(tr("The past: {moment}").format(moment=text))
        self.setAccessibleName(self.title.text())
        for box, differs in ((self.settings, settings_differ), (self.seed, seed_differs)):
            box.setVisible(differs)
            if not differs:
                box.setChecked(False)
        if self.isHidden():
            self._explain()
            self.show()

    def refuse(self) -> None:
        """Somebody tried to change the past."""
        self.say(tr("The past cannot be changed. Branch off here to go on from this moment."))

    def say(self, text: str) -> None:
        """Say something for a few seconds, aloud as well."""
        self.said.setText(text)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))
        self._timer.start()

    @Slot()
    def _explain(self) -> None:
        self._timer.stop()
        self.said.setText(tr("Looking back changes nothing."))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours_of(self).accent_soft))
        painter.end()
        super().paintEvent(event)
