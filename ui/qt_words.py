"""Qt's own words (menus of text fields, file dialogs) in the language of the window."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QObject, QTranslator


class QtWords(QObject):
    """Installs the catalogue that comes with Qt; without one for a language these words stay English."""

    def __init__(self, application: QCoreApplication, parent: QObject) -> None:
        super().__init__(parent)
        self._application = application
        self._translator = QTranslator(self)

    def choose(self, language: str) -> None:
        """Use ``language`` (a key of `explorer.i18n.LANGUAGES`) from now on."""
        self._application.removeTranslator(self._translator)
        if self._translator.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            self._application.installTranslator(self._translator)
