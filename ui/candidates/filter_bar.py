"""Says that the list shows only some tokens, which ones, and leads back to all of them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from explorer.decoding.pipeline import Distribution
from explorer.i18n import tr
from ui.candidates.stages import stage_label
from ui.format import count, percent
from ui.panels.common import GRID, plain_label, tool_button
from ui.theme import colours_of


class FilterBar(QFrame):
    """A line above the list, shown only while there is something to say."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label: QLabel = plain_label()
        self.setAutoFillBackground(True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID // 2, GRID, GRID // 2)
        layout.addWidget(self.label, 1)
        layout.addWidget(tool_button("✕", tr("Show all tokens again."), self.closed.emit))
        self.hide()
        self._dress()

    def show_text(self, text: str) -> None:
        """What is shown; hidden where ``text`` is empty."""
        self.label.setText(text)
        self.setVisible(bool(text))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._dress()

    def _dress(self) -> None:
        around = self.parentWidget()  # whose palette is the theme's; this one's own background is not
        palette, colour = QPalette(self.palette()), QColor(colours_of(self if around is None else around).accent_soft)
        if palette.color(QPalette.ColorRole.Window) != colour:
            palette.setColor(QPalette.ColorRole.Window, colour)
            self.setPalette(palette)


def stage_text(stage: str, distribution: Distribution) -> str:
    """What a stage did to how many tokens."""
    name = stage_label(stage)
    if stage not in distribution.stage_names:
        return tr("{stage} is not part of the chain.").format(stage=name)
    report = distribution.stages[distribution.stage_names.index(stage)]
    if report.kept_after < report.kept_before:
        return tr("{stage} removed {count}: {mass} of the probability it was given.").format(
            stage=name, count=count(report.kept_before - report.kept_after), mass=percent(report.removed_mass)
        )
    changed = len(distribution.touched_by(stage))
    if changed:
        return tr("{stage} changed the scores of {count}.").format(stage=name, count=count(changed))
    return tr("{stage} removed none.").format(stage=name) if report.active else tr("{stage} is off.").format(stage=name)
