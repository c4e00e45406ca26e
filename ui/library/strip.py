"""The line below the list: what was just done to it, with the way back; or how far longer work has come."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QFrame, QHBoxLayout

from explorer.i18n import tr
from explorer.progress import Progress
from ui.panels.common import GRID, plain_label, push_button, tool_button
from ui.work_bar import WorkBar


class Strip(QFrame):
    """Stays until the next thing is done or it is dismissed; hidden while there is nothing to say."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("libraryStrip")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._run: Callable[[], object] = lambda: None
        self._text = plain_label()
        self._text.setAccessibleName(tr("What was done"))
        self._bar = WorkBar()
        self._bar.setMaximumWidth(20 * GRID)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(tr("Progress"))
        self._button = push_button(tr("Undo"), tr("Take back the last change of the list."), self._act)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, GRID, GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._bar)
        layout.addWidget(self._button)
        layout.addWidget(tool_button("✕", tr("Dismiss this line."), self.hide))
        self.hide()

    @property
    def text(self) -> str:
        """What it says; empty where it says nothing."""
        return "" if self.isHidden() else self._text.text()

    def say(self, text: str, label: str = "", help_text: str = "", run: Callable[[], object] | None = None) -> None:
        """Say what was done; ``label`` names what may be done about it."""
        self._show(text, label, help_text, run)
        self._bar.hide()

    def show_progress(self, progress: Progress, stop: Callable[[], object]) -> None:
        """How far work has come that goes on, with a button that ends it."""
        self._show(tr(progress.phase), tr("Stop"), tr("Stop after what is being done; what is finished stays."), stop)
        self._bar.show_work(progress.done, progress.total)
        self._bar.show()

    def _show(self, text: str, label: str, help_text: str, run: Callable[[], object] | None) -> None:
        self._text.setText(text)
        self._run = run or (lambda: None)
        self._button.setVisible(run is not None)
        if run is not None:
            self._button.setText(label)
            self._button.setAccessibleName(label)
            self._button.setToolTip(help_text)
        self.show()

    def _act(self) -> None:
        self._run()
