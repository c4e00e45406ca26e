"""Labels that change with a moving control: what they ask of the window, and that they read the same."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtGui import QColor, QGuiApplication, QHelpEvent, QImage
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ui.format import tooltip
from ui.text.live_label import LiveLabel


class Events(QObject):
    """Counts what a widget is sent."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.seen: list[QEvent.Type] = []
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.seen.append(event.type())
        return False

    def taken(self) -> set[QEvent.Type]:
        QApplication.processEvents()
        seen, self.seen = set(self.seen), []
        return seen


def placed(qtbot: QtBot, label: LiveLabel, width: int = 300) -> tuple[QWidget, Events]:
    parent = QWidget()
    qtbot.addWidget(parent)
    layout = QVBoxLayout(parent)
    layout.addWidget(label)
    layout.addStretch(1)
    parent.resize(width, 200)
    parent.show()
    qtbot.waitExposed(parent)
    events = Events(parent)
    events.taken()
    return parent, events


def test_a_text_that_needs_no_more_room_disturbs_nobody(qtbot: QtBot) -> None:
    label = LiveLabel()
    label.set_text("model 23.4%")
    _parent, events = placed(qtbot, label)
    label.set_text("model 1.2%")
    assert label.text() == label.accessibleDescription() == "model 1.2%"
    assert not events.taken() & {QEvent.Type.LayoutRequest, QEvent.Type.Paint}
    label.set_text("model 23.5%")
    assert QEvent.Type.LayoutRequest not in events.taken()


def test_a_longer_text_asks_for_room(qtbot: QtBot) -> None:
    label = LiveLabel()
    _parent, events = placed(qtbot, label)
    before = label.sizeHint().width()
    label.set_text("a longer text")
    assert QEvent.Type.LayoutRequest in events.taken()
    assert label.sizeHint().width() == before + label.fontMetrics().horizontalAdvance("a longer text")


def test_a_wrapped_text_asks_only_for_other_lines(qtbot: QtBot) -> None:
    label = LiveLabel(wrap=True)
    label.set_text("It can be drawn.")
    _parent, events = placed(qtbot, label, 200)
    one = label.height()
    label.set_text("It can be taken.")
    assert QEvent.Type.LayoutRequest not in events.taken()
    label.set_text("Removed by Top-p 0.90: it would have needed 0.98. Min-p would have removed it too, 你好 🙂.")
    assert QEvent.Type.LayoutRequest in events.taken()
    assert label.height() > one
    assert label.height() == label.heightForWidth(label.width())


LONG = "Removed by Top-p: it would have needed 0.98.\n🙂 你好 Min-p <0.02> would have removed it too, by 0.004 or less."


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_where_there_is_no_room_it_says_so(qtbot: QtBot, lines: int) -> None:
    label = LiveLabel(wrap=True)
    qtbot.addWidget(label)
    label.set_text(LONG)
    label.setToolTip(tooltip("0.04 < 0.10"))
    height = label.fontMetrics().lineSpacing()
    label.setFixedSize(200, lines * height + height // 2)
    shown = label.shown_text()
    assert shown.endswith("…")
    assert LONG.replace("\n", " ").startswith(shown.removesuffix("…").replace("\n", " ").rstrip())
    again = LiveLabel(wrap=True)
    qtbot.addWidget(again)
    again.set_text(shown)
    assert again.heightForWidth(200) <= label.height()
    label.show()
    QApplication.sendEvent(label, QHelpEvent(QEvent.Type.ToolTip, QPoint(1, 1), label.mapToGlobal(QPoint(1, 1))))
    assert "Min-p &lt;0.02&gt; would" in QToolTip.text()
    assert "0.04 &lt; 0.10" in QToolTip.text()
    QToolTip.hideText()
    label.setFixedHeight(label.heightForWidth(200))
    assert label.shown_text() == LONG


@pytest.mark.parametrize("text", ["model 23.4%", "你好 🙂", "−1.23×10⁻⁷"])
def test_it_looks_like_a_label(qtbot: QtBot, text: str) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    layout = QHBoxLayout(parent)
    live, plain = LiveLabel(), QLabel(text)
    live.set_text(text)
    for label in (live, plain):
        label.setFixedSize(120, 24)
        layout.addWidget(label)
    parent.show()
    shots = [label.grab().toImage().convertToFormat(QImage.Format.Format_RGB32) for label in (live, plain)]
    assert shots[0] == shots[1]


def test_figures_end_at_the_right(qtbot: QtBot) -> None:
    label = LiveLabel(right=True)
    label.set_text("sampling 100%")
    label.set_text("▌")
    _parent = placed(qtbot, label)
    image = label.grab().toImage()
    middle = image.height() // 2
    dark = [x for x in range(image.width()) if image.pixelColor(x, middle).lightness() < 128]
    assert dark[0] > image.width() - label.fontMetrics().horizontalAdvance("▌") - 2


def test_ink(qtbot: QtBot) -> None:
    label = LiveLabel()
    label.set_text("███")
    _parent = placed(qtbot, label)
    label.set_ink(QColor(255, 0, 0))
    image = label.grab().toImage()
    assert image.pixelColor(6, image.height() // 2) == QColor(255, 0, 0)


def test_its_menu_copies_the_text(qtbot: QtBot) -> None:
    label = LiveLabel()
    label.set_text("model 23.4%")
    _parent = placed(qtbot, label)
    (copy,) = label.actions()
    copy.trigger()
    assert QGuiApplication.clipboard().text() == "model 23.4%"


def test_another_font_forgets_what_was_wide(qtbot: QtBot) -> None:
    label = LiveLabel()
    label.set_text("a text that was long")
    label.set_text("short")
    _parent = placed(qtbot, label)
    font = label.font()
    font.setPointSizeF(font.pointSizeF() + 1)
    label.setFont(font)
    assert label.sizeHint().width() == label.fontMetrics().horizontalAdvance("short")
