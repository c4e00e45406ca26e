"""Qt without a window, for those who export from the command line."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QPluginLoader
from PySide6.QtGui import QGuiApplication

from ui.export.missing import libraries_missing
from ui.theme import load_chinese_font

_PLUGIN = "platforms/libqoffscreen.so"


def ensure_application() -> QGuiApplication:
    """The application there is, else one without a screen. Raises `ExportError` where the system lacks libraries."""
    application = QGuiApplication.instance()
    return application if isinstance(application, QGuiApplication) else _own_application()


@lru_cache(maxsize=1)  # which keeps it alive: fonts and painters need it until the process ends
def _own_application() -> QGuiApplication:
    arguments = ["token-tree"]
    if sys.platform.startswith("linux"):  # elsewhere there always is a screen, and only there are its fonts
        _check_plugin()
        arguments += ["-platform", "offscreen"]
    application = QGuiApplication(arguments)
    load_chinese_font()
    return application


def _check_plugin() -> None:
    """Qt ends the whole process where its platform does not load, so ask first."""
    plugin = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / _PLUGIN
    loader = QPluginLoader(str(plugin))
    if not loader.load():
        raise libraries_missing(loader.errorString())
