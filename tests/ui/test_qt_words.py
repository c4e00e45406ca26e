"""Qt's own words in the language of the window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from ui.qt_words import QtWords


@pytest.fixture
def words(qapp: QApplication) -> Iterator[QtWords]:
    parent = QObject()
    words = QtWords(qapp, parent)
    yield words
    words.choose("en")


def menu_of_a_text_field(qtbot: QtBot) -> list[str]:
    edit = QLineEdit("text")
    qtbot.addWidget(edit)
    return [action.text().partition("\t")[0] for action in edit.createStandardContextMenu().actions()]


def test_menus_of_text_fields_follow_the_language(words: QtWords, qtbot: QtBot) -> None:
    before = menu_of_a_text_field(qtbot)
    assert "&Copy" in before
    words.choose("zh_CN")
    assert "复制(&C)" in menu_of_a_text_field(qtbot)
    words.choose("en")
    assert menu_of_a_text_field(qtbot) == before


def test_keys_are_called_what_is_printed_on_them(words: QtWords) -> None:
    words.choose("zh_CN")
    for keys in ("Ctrl+Return", "Backspace", "Alt+Up", "Space"):
        assert QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) == keys
