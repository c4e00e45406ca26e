"""Qt's own words (menus of text fields, file dialogs) in the language of the window."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QObject, QTranslator


class QtWords(QObject):
    """Installs the catalogue that comes with Qt; without one for a language these words stay English."""

    def __init__(self, application: QCoreApplication, parent: QObject) -> None:
        super().__init__(parent)
        self._application = application
        self._translator = _Catalogue(self)

    def choose(self, language: str) -> None:
        """Use ``language`` (a key of `explorer.i18n.LANGUAGES`) from now on."""
        self._application.removeTranslator(self._translator)
        if self._translator.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            self._application.installTranslator(self._translator)


class _Catalogue(QTranslator):
    """All but the names of keys: a key is called what is printed on it, as in the program's own texts."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        if context == "QShortcut":
            return None
        return super().translate(context, source, disambiguation, n) or None  # empty would be shown, None is not found
