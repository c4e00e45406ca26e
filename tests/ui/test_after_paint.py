"""`AfterPaint`: what may wait is done in the next turns, in order, the latest of each name."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from ui.after_paint import AfterPaint


def test_work_is_done_in_the_next_turn_and_only_the_latest_of_a_name(qtbot: QtBot) -> None:
    after, done = AfterPaint(), list[str]()
    for name, text in (("bars", "old"), ("tree", "tree"), ("bars", "new")):
        after.do(name, partial(done.append, text))
    assert after.pending
    assert not done
    qtbot.waitUntil(lambda: not after.pending)
    assert done == ["tree", "new"]


def test_what_waits_can_be_done_at_once_and_may_ask_for_more(qtbot: QtBot) -> None:
    after, done = AfterPaint(), list[str]()
    after.do("first", lambda: after.do("second", partial(done.append, "second")))
    after.flush()
    assert done == ["second"]
    assert not after.pending


def test_every_work_has_a_turn_of_its_own(qtbot: QtBot) -> None:
    after, done = AfterPaint(), list[str]()
    for name in ("first", "second"):
        after.do(name, partial(done.append, name))
    turns = []
    while after.pending:
        QCoreApplication.processEvents()
        turns.append(tuple(done))
    assert {len(done) for done in turns} >= {1, 2}
