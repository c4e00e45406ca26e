"""Settings of one's own by name, and what settings are known to lead to, in the real window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QInputDialog, QToolButton

from ui.app import Explorer

Start = Callable[..., Explorer]
Settle = Callable[[Explorer], None]


def answer(text: str) -> None:
    """Type into the next dialog and accept it."""

    def fill() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QInputDialog)
        dialog.setTextValue(text)
        dialog.accept()

    QTimer.singleShot(0, fill)


def choose(explorer: Explorer, text: str) -> None:
    box = explorer.window.settings.presets
    box.setCurrentIndex(box.findText(text))
    box.activated.emit(box.currentIndex())


def test_settings_of_ones_own_are_saved_used_and_removed(start: Start, settle: Settle) -> None:
    explorer = start()
    settle(explorer)
    panel = explorer.window.settings
    panel.change({"temperature": 0.4, "min_p": 0.02})
    settle(explorer)
    answer("  我的   settings ")
    choose(explorer, "Save these settings…")
    panel.change({"temperature": None, "min_p": None})
    settle(explorer)
    explorer.window.close()

    again = start()
    settle(again)
    choose(again, "我的 settings")
    settle(again)
    settings = again.session.settings
    assert dict(settings.sampling.values) == {"temperature": 0.4, "min_p": 0.02}
    assert settings.source("temperature") == "preset"
    answer("我的 settings")
    choose(again, "Remove one of yours…")
    assert again.window.settings.presets.findText("我的 settings") == -1


def test_what_bites_is_said_and_explained(start: Start, settle: Settle) -> None:
    explorer = start()
    settle(explorer)
    window = explorer.window
    advice = window.settings.advice
    assert not advice.sentences()
    window.settings.row("temperature").changed.emit(0.0, True)  # while the slider moves
    window.settings.row("top_p").changed.emit(0.9, True)
    assert advice.sentences() == ["At temperature 0 the best token is always taken: Top-p cannot change that."]
    advice.findChildren(QToolButton)[-1].click()
    page = explorer.help.shown
    assert page is not None
    assert page.isVisible()
    assert page.shown == "troubleshooting"
    page.close()
    window.settings.row("temperature").changed.emit(0.7, False)
    assert advice.sentences() == []
