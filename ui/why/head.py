"""The marked token, both its probabilities, and what became of it in a sentence or two."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from explorer.i18n import tr
from ui.format import tooltip
from ui.panels.common import GRID, push_button
from ui.text.live_label import LiveLabel
from ui.text.token_label import Inks, LabelPainter
from ui.theme import colours_of, figures_font, monospace_font


class TokenName(QWidget):
    """A token's label as the lists paint it, its middle left out where there is no room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label, self._special = "", False
        self._painter = LabelPainter(monospace_font(self.font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_label(self, label: str, special: bool) -> None:
        if (label, special) != (self._label, self._special):
            self._label, self._special = label, special
            self.setAccessibleName(label)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(80, 4 * round((self._painter.height + 6) / 4))

    def minimumSizeHint(self) -> QSize:
        return QSize(48, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = colours_of(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        inks = Inks.on(QColor(colours.window), QColor(colours.text))
        self._painter.paint(painter, QRectF(self.rect()), self._label, self._special, inks)
        painter.end()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._painter = LabelPainter(monospace_font(self.font()))
            self.updateGeometry()


class WhyHead(QWidget):
    """Two lines of figures, the verdict, and how it came about."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = TokenName()
        self.model = LiveLabel(right=True)
        self.sampling = LiveLabel(right=True)
        self.verdict = LiveLabel(wrap=True)
        self.detail = LiveLabel(wrap=True, quiet=True)
        self.keep = push_button(
            tr("Keep it"),
            tr("Relax the filters just as far as it takes for this token to stay."),
            lambda: None,
        )
        self.keep.hide()
        top = QHBoxLayout()
        top.setSpacing(2 * GRID)
        top.addWidget(self.name, 1)
        top.addWidget(self.model)
        top.addWidget(self.sampling)
        below = QHBoxLayout()
        below.setSpacing(2 * GRID)
        below.addWidget(self.verdict, 1)
        below.addWidget(self.keep, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, 0)
        layout.setSpacing(GRID // 2)
        layout.addLayout(top)
        layout.addLayout(below)
        layout.addWidget(self.detail)
        self._dress()

    def show_texts(self, model: str, sampling: str, verdict: str, detail: str, detail_tip: str) -> None:
        """Both probabilities, the sentences, and what hovering the last adds."""
        for label, text in (
            (self.model, model),
            (self.sampling, sampling),
            (self.verdict, verdict),
            (self.detail, detail),
        ):
            label.set_text(text)
            label.setVisible(bool(text))
        tip = tooltip(detail_tip) if detail_tip else ""
        if tip != self.detail.toolTip():
            self.detail.setToolTip(tip)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._dress()

    def _dress(self) -> None:
        colours = colours_of(self)
        for label, ink in ((self.model, colours.model_text), (self.sampling, colours.sampling_text)):
            label.set_ink(QColor(ink))
            label.setFont(figures_font(self.font()))
