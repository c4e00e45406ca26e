"""F1: the page for what has the focus."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication, QWidget

from ui.help.library import START, TROUBLE
from ui.help.window import HelpWindow
from ui.main_window import MainWindow
from ui.preferences import Preferences

# Pages of the docks that are not called as their dock is.
_PAGES = {"history": "sessions", "queries": "questions"}


class HelpController(QObject):
    """One help window, made when it is first wanted."""

    def __init__(self, window: MainWindow, preferences: Preferences) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self.shown: HelpWindow | None = None
        window.actions_.connect_all({"help": self.open_here, "troubleshooting": lambda: self.open_page(TROUBLE)})
        for advice in (window.settings.advice, window.hints):
            advice.page_requested.connect(self.open_trouble)

    def open_here(self) -> None:
        """Explain what has the focus."""
        self.open_page(self.page_of(QApplication.focusWidget()))

    @Slot(str)
    def open_trouble(self, entry: str) -> None:
        self.open_page(TROUBLE, entry)

    @Slot(str)
    def open_page(self, name: str, section: str = "") -> None:
        """Show a page, at a section; ``page#section`` says both in one."""
        if self.shown is None:
            self.shown = HelpWindow(self._window, self._preferences.language)
        page, _, part = name.partition("#")
        self.shown.open_page(page, section or part)
        self.shown.show()
        self.shown.raise_()
        self.shown.activateWindow()
        self.shown.text.setFocus()

    def page_of(self, widget: QWidget | None) -> str:
        """The page about a widget of the window."""
        window = self._window
        while widget is not None:
            if widget is window.tree:
                return "tree"
            if widget is window.banner:
                return "stopping"
            if widget is window.lesson_card:
                return "lessons"
            if widget is window.messages:
                return TROUBLE
            for name, dock in window.docks.items():
                if widget is dock:
                    return _PAGES.get(name, name)
            widget = widget.parentWidget()
        return START
