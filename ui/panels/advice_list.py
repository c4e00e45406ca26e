"""What the settings in hand are known to lead to, a line each, with the page that explains it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from explorer.decoding.advice import Advice
from explorer.i18n import tr
from ui.panels.common import GRID, plain_label, tool_button


class AdviceList(QFrame):
    """Hidden while there is nothing to say."""

    page_requested = Signal(str)
    """An entry of the troubleshooting page."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("What these settings lead to"))
        self._shown: tuple[Advice, ...] = ()
        self._rows: list[QWidget] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(GRID)
        self.hide()

    def set_advice(self, advice: Sequence[Advice]) -> None:
        """Say these, in order."""
        if tuple(advice) == self._shown:
            return
        self._shown = tuple(advice)
        for row in self._rows:
            self._layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = [self._row(one) for one in advice]
        for row in self._rows:
            self._layout.addWidget(row)
        self.setVisible(bool(advice))

    def sentences(self) -> list[str]:
        """What is said."""
        return [one.sentence() for one in self._shown]

    def _row(self, one: Advice) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(plain_label(f"⚠ {one.sentence()}"), 1)
        more = tool_button("?", tr("Read more about this."), partial(self.page_requested.emit, one.page))
        layout.addWidget(more)
        return row
