"""Beyond one step: starting again, a model that dies, settings that follow a slider, another language, stopping."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QSlider
from pytestqt.qtbot import QtBot
from window_fakes import OPENER, Gate

from explorer.engine.client import Engine
from explorer.i18n import set_language
from explorer.models.base import ModelRef
from explorer.models.catalog import ModelEntry
from explorer.tree import ROOT
from ui.app import Explorer
from ui.panels.message_area import MessageCard

Start = Callable[..., Explorer]
Settle = Callable[[Explorer], None]
Press = Callable[..., None]
CONTROL = Qt.KeyboardModifier.ControlModifier
PATIENCE_MS = 60_000


def tokens(explorer: Explorer) -> list[str]:
    view = explorer.session.view
    assert view is not None
    return [piece.label for piece in view.pieces]


def codes(explorer: Explorer) -> list[str]:
    return [message.code for message in explorer.window.messages.messages]


def test_a_later_start_reopens_the_session_as_it_was(
    start: Start, settle: Settle, press: Press, gate: Gate, qtbot: QtBot
) -> None:
    first = start(opener=OPENER)
    settle(first)
    press(first, Qt.Key.Key_2, Qt.Key.Key_Right, Qt.Key.Key_Left)
    first.session.set_settings(first.session.settings.with_sampling("user", temperature=0.5))
    settle(first)
    edge = first.session.view
    assert edge is not None
    first.window.close()
    first.close()

    gate.hold_loads()  # the model is not there yet: what was recorded is shown meanwhile
    second = start(opener=OPENER)
    qtbot.waitUntil(lambda: second.session.view is not None, timeout=PATIENCE_MS)
    view = second.session.view
    assert view is not None
    assert view.node_id == edge.node_id
    assert tokens(second) == ["咖啡"]
    assert view.source == "stored"
    assert edge.distribution is not None
    assert view.distribution is not None
    assert view.distribution.token_ids.tolist() == edge.distribution.token_ids.tolist()
    assert view.distribution.sampling_probs == pytest.approx(edge.distribution.sampling_probs, abs=1e-6)
    assert second.session.settings == first.session.settings
    assert not second.window.welcome.isVisible()
    press_while_loading(second, qtbot)
    (gate.folder / "hold").unlink()
    settle(second)
    press(second, Qt.Key.Key_Right)
    assert tokens(second) == ["咖啡", "，"]
    assert second.session.current == 2  # the node of the first time
    assert codes(second) == []


def press_while_loading(explorer: Explorer, qtbot: QtBot) -> None:
    """A step needs the model: a message says so, and looking around works."""
    explorer.session.root()
    qtbot.waitUntil(lambda: explorer.session.current == ROOT, timeout=PATIENCE_MS)
    explorer.session.greedy()
    qtbot.waitUntil(lambda: "engine.not_live" in codes(explorer), timeout=PATIENCE_MS)
    explorer.session.select(1)
    qtbot.waitUntil(lambda: tokens(explorer) == ["咖啡"], timeout=PATIENCE_MS)


def test_a_killed_engine_is_noticed_and_starts_again_where_it_was(
    start: Start, settle: Settle, press: Press, qtbot: QtBot
) -> None:
    explorer = start()
    settle(explorer)
    press(explorer, Qt.Key.Key_Right)
    pid = explorer.engine.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    qtbot.waitUntil(lambda: explorer.engine.pid is None, timeout=PATIENCE_MS)
    press(explorer, Qt.Key.Key_1, Qt.Key.Key_Right)  # whoever steps now meets a dead engine
    qtbot.waitUntil(lambda: any(code.startswith("engine.") for code in codes(explorer)), timeout=PATIENCE_MS)
    assert tokens(explorer) == ["豆浆"]
    view = explorer.session.view
    assert view is not None
    assert view.distribution is not None  # from what was kept
    (card,) = explorer.window.messages.findChildren(MessageCard)
    again = next(button for button in card.findChildren(QPushButton) if button.text() == "Start again")
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    settle(explorer)
    assert explorer.engine.pid not in (None, pid)
    assert codes(explorer) == []
    press(explorer, Qt.Key.Key_Right)
    assert tokens(explorer) == ["豆浆", "。"]


def test_stop_ends_a_run_after_the_pass_in_progress(start: Start, settle: Settle, gate: Gate, qtbot: QtBot) -> None:
    """C30: what was finished stays, the stop is on record, and the next step works."""
    gate.allow(2)
    explorer = start(opener=OPENER)
    qtbot.waitUntil(
        lambda: explorer.session.view is not None and explorer.session.view.distribution is not None,
        timeout=PATIENCE_MS,
    )
    explorer.session.run("greedy")
    qtbot.waitUntil(lambda: gate.begun == 3, timeout=PATIENCE_MS)
    assert explorer.window.actions_["stop"].isEnabled()
    assert not explorer.window.actions_["greedy"].isEnabled()
    explorer.window.actions_["stop"].trigger()
    qtbot.waitUntil(lambda: not explorer.session.running, timeout=PATIENCE_MS)
    assert explorer.window.banner.event_shown is not None
    assert explorer.window.banner.event_shown.kind == "cancelled"
    gate.allow(1000)
    settle(explorer)
    assert tokens(explorer) == ["豆浆", "。"]
    assert explorer.window.actions_["greedy"].isEnabled()
    explorer.session.greedy()
    settle(explorer)
    assert tokens(explorer) == ["豆浆", "。", "<eos>"]


def test_stop_twice_ends_a_pass_that_does_not_return(start: Start, settle: Settle, gate: Gate, qtbot: QtBot) -> None:
    gate.allow(1)
    gate.ignore_cancel()
    explorer = start(opener=OPENER)
    qtbot.waitUntil(
        lambda: explorer.session.view is not None and explorer.session.view.distribution is not None,
        timeout=PATIENCE_MS,
    )
    explorer.session.greedy()  # its child's candidates never come
    qtbot.waitUntil(lambda: gate.begun == 2 and explorer.session.computing, timeout=PATIENCE_MS)
    explorer.window.actions_["stop"].trigger()
    qtbot.waitUntil(lambda: not explorer.session.busy, timeout=PATIENCE_MS)
    explorer.session.greedy()
    qtbot.waitUntil(lambda: explorer.session.busy, timeout=PATIENCE_MS)
    explorer.window.actions_["stop"].trigger()
    qtbot.waitUntil(lambda: not explorer.engine.alive, timeout=PATIENCE_MS)
    settle(explorer)
    assert {"engine.stopped", "engine.ended"} & {*codes(explorer)}
    gate.allow(1000)
    explorer.models.restart()
    settle(explorer)
    explorer.session.greedy()
    settle(explorer)
    assert tokens(explorer) == ["豆浆", "。"]


def test_loading_can_be_cancelled_and_the_model_before_still_works(
    start: Start, settle: Settle, gate: Gate, press: Press, qtbot: QtBot
) -> None:
    explorer = start(opener=OPENER)
    settle(explorer)
    gate.hold_loads()
    explorer.models.open(ModelRef("lesson:eos-tree"))
    qtbot.waitUntil(lambda: (gate.folder / "loading").exists(), timeout=PATIENCE_MS)
    assert explorer.window.models._cancel.isVisibleTo(explorer.window.models)
    press_key_while_loading(explorer, qtbot)
    explorer.models.cancel()
    settle(explorer)
    assert not explorer.models.loading
    assert tokens(explorer) == ["豆浆"]
    press(explorer, Qt.Key.Key_Right)
    assert tokens(explorer) == ["豆浆", "。"]


def press_key_while_loading(explorer: Explorer, qtbot: QtBot) -> None:
    """The window steps the old model while another one is being loaded."""
    explorer.session.greedy()
    qtbot.waitUntil(lambda: explorer.session.settled and explorer.session.current != ROOT, timeout=PATIENCE_MS)


def test_a_model_that_cannot_be_loaded_is_explained_and_changes_nothing(
    lesson: Explorer, settle: Settle, press: Press, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF nothing of the kind")
    lesson.models.open(ModelRef(str(broken)))
    settle(lesson)
    assert any(code.startswith("model.") for code in codes(lesson))
    press(lesson, Qt.Key.Key_Right)
    assert tokens(lesson) == ["豆浆"]


def test_another_model_begins_a_session_of_its_own(start: Start, settle: Settle) -> None:
    explorer = start()
    settle(explorer)
    before = explorer.session.session
    explorer.models.open(ModelRef("lesson:eos-tree"))
    settle(explorer)
    after = explorer.session.session
    assert before is not None
    assert after is not None
    assert (before.model.identity.name, after.model.identity.name) == ("breakfast", "eos-tree")


def test_a_process_gets_ready_for_a_model_that_is_installed(
    start: Start, settle: Settle, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = ModelEntry("lesson:breakfast", "built in", None, 0, None, "installed", "")
    available = ModelEntry("smollm2-135m", "a wheel", None, 1, None, "available", "")
    entries = [lesson, available]
    monkeypatch.setattr("explorer.models.catalog.list_models", lambda: tuple(entries))
    monkeypatch.setattr("explorer.engine.client.LEAST_FREE_BYTES", 0)
    asked: list[Engine] = []
    prepare = Engine.prepare
    monkeypatch.setattr(Engine, "prepare", lambda engine: (asked.append(engine), prepare(engine))[1])
    explorer = start(opener=OPENER)
    settle(explorer)
    assert not asked  # of what is here nothing needs one
    entries[1] = replace(available, state="installed")
    explorer.models.refresh_entries()
    qtbot.waitUntil(lambda: explorer.engine._spare is not None)
    assert asked == [explorer.engine]


def test_bars_follow_a_slider_before_it_is_let_go(lesson: Explorer, settle: Settle, qtbot: QtBot) -> None:
    window = lesson.window
    row = window.settings.row("temperature")
    slider = row.findChild(QSlider)
    assert slider is not None
    slider.setSliderDown(True)
    slider.setValue(50)
    shown = window.candidates.model
    qtbot.waitUntil(
        lambda: shown.distribution is not None and abs(float(shown.distribution.sampling_probs[0]) - 0.8668) < 1e-3
    )
    settle(lesson)
    assert lesson.session.last is None  # nothing is in force while the slider is held
    slider.setSliderDown(False)
    settle(lesson)
    assert lesson.session.settings.sampling.get("temperature") == 0.5
    assert lesson.session.settings.sources["temperature"] == "user"
    lesson.session.undo()
    settle(lesson)
    assert slider.value() == 100
    assert float(shown.distribution.sampling_probs[0]) == pytest.approx(0.6652, abs=1e-4)


def test_another_language_builds_the_window_anew_around_the_same_session(
    start: Start, settle: Settle, press: Press
) -> None:
    explorer = start()
    settle(explorer)
    press(explorer, Qt.Key.Key_Right)
    session = explorer.session.session
    assert session is not None
    try:
        explorer.choose_language("zh_CN")
        settle(explorer)
        again = explorer.session.session
        assert again is not None
        assert again.id == session.id
        assert tokens(explorer) == ["豆浆"]
        assert explorer.window.candidates.model.rowCount() == 9
        press(explorer, Qt.Key.Key_Right)
        assert tokens(explorer) == ["豆浆", "。"]
    finally:
        set_language("en")


def test_a_read_only_library_is_said_and_steps_go_on_unsaved(start: Start, settle: Settle, tmp_path: Path) -> None:
    library = tmp_path / "no" / "library.sqlite"
    library.parent.mkdir()
    library.write_bytes(b"this is no database, and must never be written over")
    explorer = start(library)
    settle(explorer)
    assert any(code.startswith("store.") for code in codes(explorer))
    explorer.session.greedy()
    settle(explorer)
    assert tokens(explorer) == ["豆浆"]
    assert library.read_bytes() == b"this is no database, and must never be written over"


def test_a_library_that_cannot_be_opened_stays_said(start: Start, settle: Settle, press: Press, tmp_path: Path) -> None:
    """The window works on a temporary one, and a step saved there does not make the warning go away."""
    (tmp_path / "no folder").touch()
    explorer = start(tmp_path / "no folder" / "library.sqlite")
    settle(explorer)
    press(explorer, Qt.Key.Key_Right)
    assert tokens(explorer) == ["豆浆"]
    (message,) = explorer.window.messages.messages
    assert message.code.startswith("store.")
    assert "temporary" in message.text()


def test_closing_asks_only_where_steps_would_be_lost(lesson: Explorer, press: Press) -> None:
    press(lesson, Qt.Key.Key_Right)
    assert lesson.window.may_close()
    change = lesson.session.last
    assert change is not None
    lesson.session.last = replace(change, unsaved=2)
    asked: list[str] = []

    def answer(button: str) -> None:
        (box,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, QMessageBox) and w.isVisible()]
        asked.append(box.text())
        next(b for b in box.buttons() if b.text() == button).click()

    for button, closes in (("Stay", False), ("Close and lose them", True)):
        QTimer.singleShot(0, lesson.window, partial(answer, button))
        assert lesson.window.may_close() is closes
    assert len(asked) == 2
    assert "2 commands" in asked[0]
    lesson.session.last = change


def test_export_writes_the_session(lesson: Explorer, settle: Settle, press: Press, tmp_path: Path) -> None:
    press(lesson, Qt.Key.Key_Right)
    for name in ("json", "csv"):
        lesson.exports.export_data(tmp_path / f"session.{name}", name)
    settle(lesson)
    assert "豆浆" in (tmp_path / "session.json").read_text(encoding="utf-8")
    assert "豆浆" in (tmp_path / "session.csv").read_text(encoding="utf-8-sig")


def test_opening_another_session_asks_where_steps_would_be_lost(lesson: Explorer, settle: Settle, press: Press) -> None:
    press(lesson, Qt.Key.Key_Right)
    session, change = lesson.session.session, lesson.session.last
    assert session is not None
    assert session.id is not None
    assert change is not None
    lesson.session.last = replace(change, unsaved=2)

    def stay() -> None:
        (box,) = [w for w in QApplication.topLevelWidgets() if isinstance(w, QMessageBox) and w.isVisible()]
        next(b for b in box.buttons() if b.text() == "Stay").click()

    QTimer.singleShot(0, lesson.window, stay)
    lesson.library.open(session.id)
    settle(lesson)
    assert lesson.session.session is session
    lesson.session.last = change
