"""The bar of a piece of work: what it says, and that it waits for the window's frame."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ui.work_bar import WorkBar


class Paints(QObject):
    times = 0

    def eventFilter(self, _: QObject, event: QEvent) -> bool:
        self.times += event.type() == QEvent.Type.Paint
        return False


def test_says_the_share_that_is_done(qtbot: QtBot) -> None:
    bar = WorkBar()
    qtbot.addWidget(bar)
    bar.show_work(1, 4)
    assert bar.value() == bar.maximum() // 4
    bar.show_work(9, 4)
    assert bar.value() == bar.maximum()


def test_work_of_unknown_length_has_no_value(qtbot: QtBot) -> None:
    bar = WorkBar()
    qtbot.addWidget(bar)
    bar.show_work(3, 4)
    for total in (None, 0):
        bar.show_work(3, total)
        assert bar.minimum() == bar.maximum() == 0


def test_waits_for_the_windows_next_frame(qtbot: QtBot) -> None:
    bar, paints = WorkBar(), Paints()
    qtbot.addWidget(bar)
    bar.resize(200, 20)
    bar.show()
    bar.show_work(0, 100)
    QApplication.processEvents()
    bar.installEventFilter(paints)
    for done in range(0, 101, 10):
        bar.show_work(done, 100)
    assert paints.times == 0
    QApplication.processEvents()
    assert paints.times == 1
