"""The dialog that shows a path as Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from explorer.export.python_script import Script
from ui.proof.script_dialog import ScriptDialog
from ui.proof.work import NodeScript
from ui.theme import monospace_font

SOURCE = "# 你好 🙂 <b>\nimport torch\n\nTEXT = '🙂 # no comment'  # 🙂 a comment\n"


@pytest.fixture
def dialog(qtbot: QtBot) -> Iterator[ScriptDialog]:
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = ScriptDialog(parent, NodeScript(7, 3, Script(SOURCE, "loop")), Path("a") / "path.py")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    dialog.show()
    yield dialog
    dialog.close()


def test_the_source_as_it_is_read_only_in_a_monospaced_face(dialog: ScriptDialog, qtbot: QtBot) -> None:
    assert dialog.text.toPlainText() == SOURCE
    assert dialog.text.isReadOnly()
    assert dialog.text.font().family() == monospace_font(dialog.font()).family()


def test_copy(dialog: ScriptDialog, qtbot: QtBot) -> None:
    qtbot.mouseClick(dialog.copy_button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == SOURCE
    assert dialog.said.text() == "Copied."


@pytest.mark.parametrize(("typed", "written"), [("my.py", "my.py"), ("mine", "mine.py")])
def test_save(
    dialog: ScriptDialog, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, typed: str, written: str
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / typed), ""))
    with qtbot.waitSignal(dialog.save_requested) as asked:
        qtbot.mouseClick(dialog.save_button, Qt.MouseButton.LeftButton)
    assert asked.args == [tmp_path / written]


def test_a_save_that_was_thought_better_of_asks_for_nothing(
    dialog: ScriptDialog, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    with qtbot.assertNotEmitted(dialog.save_requested):
        qtbot.mouseClick(dialog.save_button, Qt.MouseButton.LeftButton)


def test_comments_and_texts_are_coloured_where_they_stand(dialog: ScriptDialog, qtbot: QtBot) -> None:
    """Emoji take two of Qt's places; a # within a text begins no comment."""
    block = dialog.text.document().findBlockByNumber(3)
    line = block.text()
    spans = {
        line.encode("utf-16-le")[2 * span.start : 2 * (span.start + span.length)].decode("utf-16-le")
        for span in block.layout().formats()
    }
    assert spans == {"'🙂 # no comment'", "# 🙂 a comment"}
