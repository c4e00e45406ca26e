"""The strip over the tree while it grows: what goes on, how far it is, how to stop it; then what came of it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from explorer.i18n import tr
from ui.format import tooltip
from ui.growth.card import Card
from ui.panels.common import GRID, describe, push_button, tool_button
from ui.work_bar import WorkBar

_BELOW_CAPTION = 11 * GRID  # of what is laid over the tree


class GrowthStrip(Card):
    """Lies over ``parent``; hidden while there is nothing to say."""

    stop_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("growthStrip")
        self._over = parent
        self._said = ""
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._bar = WorkBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedSize(30 * GRID, 2 * GRID)
        describe(self._bar, tr("Progress"), tr("How far the work is."))
        self._stop = push_button(
            tr("Stop"), tr("Stop after the pass in progress (Esc); what is finished stays."), self.stop_requested.emit
        )
        self._close = tool_button("✕", tr("Hide this line."), self.hide)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(3 * GRID, GRID, 2 * GRID, GRID)
        layout.setSpacing(2 * GRID)
        for widget in (self._bar, self._text, self._stop, self._close):
            layout.addWidget(widget)
        parent.installEventFilter(self)
        self.hide()

    @property
    def text(self) -> str:
        return self._said

    def show_progress(self, text: str, done: float, total: float | None) -> None:
        """What goes on; ``total`` None where the amount of work is not known."""
        self._bar.show_work(done, total)
        self._say(text, running=True)

    def show_result(self, text: str) -> None:
        """What came of it; stays until it is closed or something else grows."""
        self._say(text, running=False)

    def _say(self, text: str, *, running: bool) -> None:
        self._said = text
        self._text.setToolTip(tooltip(text))
        self.setAccessibleName(text)
        for widget, visible in ((self._bar, running), (self._stop, running), (self._close, not running)):
            widget.setVisible(visible)
        self.show()
        self.raise_()
        self._place()

    def _place(self) -> None:
        """In the middle of the top; text that has no room is cut, the tooltip has all of it."""
        self._text.setText(self._said)
        room = self._over.width() - 4 * GRID
        surplus = self.sizeHint().width() - room
        if surplus > 0:
            metrics = self._text.fontMetrics()
            width = max(0, metrics.horizontalAdvance(self._said) - surplus)
            self._text.setText(metrics.elidedText(self._said, Qt.TextElideMode.ElideRight, width))
        self.resize(min(self.sizeHint().width(), room), self.sizeHint().height())
        self.move((self._over.width() - self.width()) // 2, _BELOW_CAPTION)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self._over and not self.isHidden():
            self._place()
        return super().eventFilter(watched, event)
