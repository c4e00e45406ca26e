"""Says that only a part of the tree is shown, and leads back: one step up, or to the whole tree."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from explorer.i18n import tr
from ui.format import elide_middle

_LONGEST = 48
_HEIGHT = 26


class Breadcrumb(QWidget):
    """Hidden while the whole tree is shown."""

    up_requested = Signal()
    whole_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self.whole = self._button(tr("Whole tree"), tr("Show the whole tree again"))
        self.whole.clicked.connect(self.whole_requested)
        self.up = self._button("↑", tr("Show the branch one step up"))
        self.up.setAccessibleName(tr("One step up"))
        self.up.clicked.connect(self.up_requested)
        self._text = QLabel(self)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 8, 0)
        layout.setSpacing(4)
        for widget in (self.whole, self.up, self._text):
            layout.addWidget(widget)
        self.hide()

    def show_text(self, text: str | None) -> None:
        """Show the text that the shown branch continues; None hides the widget."""
        if text is not None:
            shown = elide_middle(" ".join(text.split()), _LONGEST)
            self._text.setText(tr("Only what follows “{text}”").format(text=shown))
            self.resize(self.sizeHint())
        self.setVisible(text is not None)

    def _button(self, text: str, help_text: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(help_text)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setMinimumSize(_HEIGHT, _HEIGHT)
        return button
