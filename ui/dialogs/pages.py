"""Short pages to read: about the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from explorer import __version__
from explorer.i18n import tr
from ui.format import tooltip
from ui.panels.common import GRID, plain_label


class PageDialog(QDialog):
    """Headed paragraphs of plain text; the one at place ``first`` is in sight when it opens."""

    def __init__(self, parent: QWidget, title: str, paragraphs: Sequence[tuple[str, str]], first: int = 0) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setSpacing(GRID)
        self._heads: list[QLabel] = []
        for heading, text in paragraphs:
            head = plain_label(heading)
            font = head.font()
            font.setBold(True)
            head.setFont(font)
            self._heads.append(head)
            column.addWidget(head)
            column.addWidget(plain_label(text))
            column.addSpacing(2 * GRID)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(inside)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setAccessibleName(title)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        close.setText(tr("Close"))
        close.setToolTip(tooltip(tr("Close this page.")))
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(scroll)
        layout.addWidget(buttons)
        self._scroll, self._first = scroll, first
        self.resize(140 * GRID, 130 * GRID)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._first:
            QTimer.singleShot(0, self, self._go)  # once the paragraphs have their places

    def _go(self) -> None:
        self._scroll.verticalScrollBar().setValue(self._heads[self._first].y() - GRID)


def about_page(parent: QWidget, library: Path, models: Path) -> PageDialog:
    """Version, licence, and where things are kept."""
    paragraphs = [
        (
            tr("Token Tree Explorer {version}").format(version=__version__),
            tr("Looks inside decoding, one token at a time."),
        ),
        (tr("Licence"), tr("Apache License 2.0")),
        (tr("Your sessions"), str(library)),
        (tr("Models"), str(models)),
        (
            tr("Privacy"),
            tr("Models run on this computer. The network is used only to fetch a model that you asked for."),
        ),
    ]
    return PageDialog(parent, tr("About"), paragraphs)
