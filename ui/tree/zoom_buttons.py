"""Three small buttons in the corner of the tree: closer, farther, everything."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from explorer.i18n import tr


class ZoomButtons(QWidget):
    """The buttons ``zoom_out``, ``zoom_in`` and ``fit``."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.zoom_out = self._button("−", tr("Zoom out"), tr("Show more of the tree, smaller (-)"))
        self.zoom_in = self._button("+", tr("Zoom in"), tr("Show less of the tree, larger (+)"))
        self.fit = self._button(tr("Fit"), tr("Fit the tree"), tr("Bring the whole tree into sight (F)"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for button in (self.zoom_out, self.zoom_in, self.fit):
            layout.addWidget(button)
        self.resize(self.sizeHint())

    def _button(self, text: str, name: str, help_text: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setAccessibleName(name)
        button.setToolTip(help_text)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setMinimumSize(26, 26)
        button.setCursor(Qt.CursorShape.ArrowCursor)
        return button
