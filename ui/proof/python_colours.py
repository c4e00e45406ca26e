"""Python source in quiet colours: comments and texts stand apart from code."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit

from ui.theme import colours_of

# A docstring of one line, a text, a comment; in this order, so that a # within a text begins no comment.
_PARTS: Final = re.compile(r"(\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')|(#.*)")
_WORDS: Final = re.compile(
    r"\b(?:assert|class|def|elif|else|for|from|global|if|import|in|lambda|return|with|None|True|False)\b"
)


class PythonColours(QSyntaxHighlighter):
    """For the scripts that this program writes: none of their texts spans lines."""

    def __init__(self, edit: QPlainTextEdit) -> None:
        document = edit.document()
        assert isinstance(document, QTextDocument)
        super().__init__(document)
        colours = colours_of(edit)
        self._text, self._comment, self._word = (
            _format(ink) for ink in (colours.sampling_text, colours.quiet, colours.model_text)
        )

    def highlightBlock(self, text: str) -> None:  # noqa: N802 - Qt's name
        for found in _WORDS.finditer(text):
            self._colour(text, found, self._word)
        for found in _PARTS.finditer(text):
            self._colour(text, found, self._comment if found.group(2) else self._text)

    def _colour(self, text: str, found: re.Match[str], ink: QTextCharFormat) -> None:
        self.setFormat(_units(text[: found.start()]), _units(found.group()), ink)


def _units(text: str) -> int:
    """Its length as Qt counts: in UTF-16, where an emoji takes two."""
    return len(text) + sum(character > "\uffff" for character in text)


def _format(ink: str) -> QTextCharFormat:
    result = QTextCharFormat()
    result.setForeground(QColor(ink))
    return result
