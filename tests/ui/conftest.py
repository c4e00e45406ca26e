"""What tests of the window may rely on: settings of their own, and no window left open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings, QStandardPaths
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

PATIENCE_MS = 60_000


class PatientQtBot(QtBot):
    """Waits as long for what is to come as the busiest machine may need; what is there costs nothing."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:  # noqa: N802
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE_MS, **options: Any) -> Any:  # noqa: N802
        return super().waitSignal(signal, timeout=timeout, **options)

    def waitActive(self, widget: QWidget, *, timeout: int = PATIENCE_MS) -> Any:  # noqa: N802
        return super().waitActive(widget, timeout=timeout)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientQtBot(request)


@pytest.fixture(scope="session", autouse=True)
def _test_mode() -> None:
    """Keep Qt away from the user's folders."""
    QStandardPaths.setTestModeEnabled(True)


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path) -> None:
    """Every test starts without remembered window state."""
    for settings_format in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
        QSettings.setPath(settings_format, QSettings.Scope.UserScope, str(tmp_path / "settings"))


@pytest.fixture(autouse=True)
def _no_window_left(qapp: QApplication) -> Iterator[None]:
    """Fail the test that leaves a window on the screen; pytest-qt closes those given to ``qtbot.addWidget``."""
    before = {id(widget) for widget in QApplication.topLevelWidgets()}
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [widget for widget in QApplication.topLevelWidgets() if id(widget) not in before and widget.isVisible()]
    if left:
        pytest.fail(f"left open: {left}")
