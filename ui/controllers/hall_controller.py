"""The window in a lecture hall: the whole screen, large type, and only the panels a lesson needs."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from ui.main_window import MainWindow

_STAYS = frozenset({"candidates", "why", "ruler", "path", "beams"})
_LEAST, _MOST = 1.35, 2.2
_HEIGHT = 640.0
"""So many pixels of height are good for the usual type: on a taller screen it grows."""


class HallController(QObject):
    """On and off again, as everything was; also when the window closes meanwhile."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._before: tuple[QByteArray, Qt.WindowState, QFont] | None = None
        self._action = window.actions_["hall"]
        self._action.toggled.connect(self.set_on)

    @property
    def on(self) -> bool:
        return self._before is not None

    def set_on(self, wanted: bool) -> None:
        """Fill the screen, or come back."""
        if wanted and self._before is None:
            self._enter()
        elif not wanted and self._before is not None:
            self._leave()
        self._action.setChecked(wanted)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() == QEvent.Type.Close:
            self.set_on(False)  # so that the usual layout is what is remembered
        return False

    def _enter(self) -> None:
        window, font = self._window, QApplication.font()
        self._before = window.saveState(), window.windowState(), font
        window.installEventFilter(self)
        for name, dock in window.docks.items():
            if name not in _STAYS:
                dock.hide()
        window.view_bar.hide()
        window.statusBar().hide()
        larger = QFont(font)
        factor = min(_MOST, max(_LEAST, window.screen().geometry().height() / _HEIGHT))
        if font.pixelSize() > 0:
            larger.setPixelSize(round(font.pixelSize() * factor))
        else:
            larger.setPointSizeF(font.pointSizeF() * factor)
        QApplication.setFont(larger)
        window.showFullScreen()
        width = window.screen().geometry().width()
        window.resizeDocks([window.docks["candidates"]], [round(width * 0.38)], Qt.Orientation.Horizontal)

    def _leave(self) -> None:
        assert self._before is not None
        state, shown, font = self._before
        self._before = None
        window = self._window
        window.removeEventFilter(self)
        QApplication.setFont(font)
        window.setWindowState(shown)
        window.view_bar.show()
        window.statusBar().show()
        window.restoreState(state)
