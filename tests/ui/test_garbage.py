"""Cyclic garbage is looked for in the GUI thread, and in no other."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from typing import ClassVar

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ui.garbage import GuiCollector


class Knot:
    """Garbage that only a search finds; remembers which thread found it."""

    ended: ClassVar[list[threading.Thread]] = []

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        self.ended.append(threading.current_thread())


@pytest.fixture
def collector(qapp: QApplication) -> Iterator[GuiCollector]:
    Knot.ended.clear()
    parent = QObject()
    collector = GuiCollector(parent)
    yield collector
    collector.close()


def test_a_worker_that_allocates_ends_nobodys_garbage(collector: GuiCollector, qtbot: QtBot) -> None:
    Knot()
    worker = threading.Thread(target=lambda: [[number] for number in range(100_000)])
    worker.start()
    worker.join()
    assert Knot.ended == []
    kept = [[number] for number in range(2 * gc.get_threshold()[0])]  # so much is worth a search
    qtbot.waitUntil(lambda: bool(Knot.ended))
    assert Knot.ended == [threading.main_thread()]
    assert kept


def test_python_searches_again_when_the_last_has_closed(collector: GuiCollector) -> None:
    assert not gc.isenabled()
    second = GuiCollector(collector)
    second.close()
    assert not gc.isenabled()
    collector.close()
    assert gc.isenabled()


def test_all_is_looked_through_once_there_is_a_quarter_more_of_it(collector: GuiCollector) -> None:
    def age() -> None:
        for _ in range(gc.get_threshold()[2] + 2):
            gc.collect(1)

    knot = Knot()
    age()
    del knot  # too old for the quick searches
    collector.look()
    age()
    assert Knot.ended == []
    more = [[number] for number in range(sys.getallocatedblocks())]
    age()
    collector.look()
    assert len(Knot.ended) == 1
    assert more


def test_what_the_start_leaves_behind_is_never_looked_through(collector: GuiCollector) -> None:
    def age() -> None:
        for _ in range(gc.get_threshold()[1] + 2):
            gc.collect(0)

    before = gc.get_freeze_count()
    kept = [[number] for number in range(1000)]
    age()
    collector.look()
    assert gc.get_freeze_count() > before + len(kept)
    knot = Knot()
    age()
    del knot
    collector.look()  # what came later is
    assert len(Knot.ended) == 1
    collector.close()
    assert gc.get_freeze_count() == 0
