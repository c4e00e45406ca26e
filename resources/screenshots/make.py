"""Take the pictures of the window anew: ``python resources/screenshots/make.py [FOLDER]``.

Drives the real window, offscreen, on a library of its own: the first start on the lesson, then SmolLM2-135M-Instruct
(fetched if it is not installed) with a few branches, in English and Chinese, light and dark, small and large. Without
FOLDER writes only the README's picture, ``main.png`` beside this file.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.models.base import ModelRef
from explorer.text import ChatMessage
from ui.app import Explorer
from ui.main_window import application_icon
from ui.preferences import Preferences
from ui.theme import load_chinese_font

SIZES = {"small": (1280, 800), "medium": (1440, 900), "large": (1920, 1200)}
_PATIENCE = 120.0  # seconds


class Photographer:
    """One running window and what a person would do with it."""

    def __init__(self, folder: Path, language: str, theme: str, size: str) -> None:
        self._application = QApplication.instance() or QApplication(["token-tree-explorer"])
        assert isinstance(self._application, QApplication)
        self._application.setApplicationName("token-tree-explorer")
        self._application.setWindowIcon(application_icon())
        load_chinese_font()
        self._folder = folder
        self._suffix = f"{language}-{theme}-{size}"
        self._home = tempfile.TemporaryDirectory()
        settings = QSettings(str(Path(self._home.name) / "window.ini"), QSettings.Format.IniFormat)
        preferences = Preferences(settings)
        preferences.language = language
        preferences.theme = theme  # type: ignore[assignment]
        self.explorer = Explorer(self._application, Path(self._home.name) / "library.sqlite", preferences)
        self.explorer.window.resize(*SIZES[size])
        self.explorer.window.show()
        QTest.qWaitForWindowExposed(self.explorer.window)
        self.explorer.begin()
        self.wait(lambda: self._settled() and self.explorer.session.view is not None)

    def close(self) -> None:
        self.explorer.window.close()
        self.explorer.close()
        self._home.cleanup()

    def wait(self, until: Callable[[], bool]) -> None:
        """Let the window live until something holds. Raises TimeoutError."""
        end = time.monotonic() + _PATIENCE
        while not until():
            if time.monotonic() > end:
                raise TimeoutError
            QTest.qWait(20)
        QTest.qWait(250)

    def settle(self) -> None:
        self.wait(self._settled)

    def keys(self, *keys: Qt.Key) -> None:
        """Press keys one after another, each finished before the next."""
        for key in keys:
            QTest.keyClick(self.explorer.window, key)
            self.settle()

    def open(self, source: str) -> None:
        """Open a model and wait for its first distribution."""
        before = self.explorer.session.session
        self.explorer.models.open(ModelRef(source))
        self.wait(lambda: self.explorer.session.session is not before and self._settled())

    def prompt(self, prompt: str | list[ChatMessage]) -> None:
        before = self.explorer.session.session
        self.explorer.session_thread.post(
            "prompt",
            lambda workspace, _: self.explorer.session_thread.show(
                workspace.new_session(
                    workspace.encode(prompt) if isinstance(prompt, str) else workspace.encode_chat(prompt)
                )
            ),
        )
        self.wait(lambda: self.explorer.session.session is not before and self._settled())

    def snap(self, name: str) -> None:
        self.settle()
        path = self._folder / (f"{name}-{self._suffix}.png" if name != "main" else "main.png")
        if not self.explorer.window.grab().save(str(path)):
            raise OSError(f"could not write {path}")

    def _settled(self) -> bool:
        session = self.explorer.session
        return not session.busy and not session.running and not self.explorer.models.loading


def explore(photographer: Photographer) -> None:
    """A tree worth looking at: the greedy path, two draws and a pick from the prompt."""
    photographer.keys(*[Qt.Key.Key_Right] * 5)
    photographer.keys(Qt.Key.Key_Home, *[Qt.Key.Key_S] * 5)
    photographer.keys(Qt.Key.Key_Home, Qt.Key.Key_2, *[Qt.Key.Key_S] * 4)
    photographer.keys(Qt.Key.Key_Home, Qt.Key.Key_3, *[Qt.Key.Key_Right] * 3)
    photographer.keys(Qt.Key.Key_Home, Qt.Key.Key_Right, Qt.Key.Key_Right)


def take_all(folder: Path) -> None:
    for language in ("en", "zh_CN"):
        for theme in ("light", "dark"):
            for size in ("small", "large"):
                photographer = Photographer(folder, language, theme, size)
                try:
                    photographer.snap("first-start")
                    photographer.keys(Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right)
                    photographer.snap("lesson-stopped")
                    photographer.open("smollm2-135m")
                    explore(photographer)
                    photographer.snap("explored")
                    photographer.prompt("你好🙂\n\n\tconst x != y; antidisestablishmentarianism 中文")
                    photographer.keys(*[Qt.Key.Key_Right] * 6)
                    photographer.snap("hard-text")
                finally:
                    photographer.close()


def main(arguments: list[str]) -> int:
    if arguments:
        folder = Path(arguments[0])
        folder.mkdir(parents=True, exist_ok=True)
        take_all(folder)
        return 0
    photographer = Photographer(Path(__file__).parent, "en", "light", "medium")
    try:
        photographer.open("smollm2-135m")
        explore(photographer)
        session = photographer.explorer.session
        session.set_settings(session.settings.with_sampling(temperature=0.7, top_p=0.8))
        photographer.keys(Qt.Key.Key_F)
        photographer.snap("main")
    finally:
        photographer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
