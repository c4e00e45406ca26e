"""Every text a widget shows or tells, and a translation that makes those that nobody translated visible."""

from __future__ import annotations

import gettext
import html
import re
from collections.abc import Iterable, Iterator

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QBuffer,
    QByteArray,
    QIODevice,
    QModelIndex,
    QObject,
    Qt,
)
from PySide6.QtGui import QAction
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QDockWidget,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QProgressBar,
    QStatusBar,
    QTabBar,
    QWidget,
)

from ui.text.token_area import TokenArea

BEGIN, END = "⟦", "⟧"
_PLACEHOLDER = re.compile(r"(\{[^{}]*\})")
# A text may be cut in the middle of a sentence: for a name, or where its place is too narrow.
_MARKED = re.compile(rf"{BEGIN}[^{BEGIN}{END}…]*(?:…[^{BEGIN}{END}\n]*(?:{END}|…(?=\n|$))|{END}|…|$)")
_TAG = re.compile(r"<[^<>]*>")
_PAINTED = re.compile(r"<text\b[^>]*>(.*?)</text>", re.DOTALL)
_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)
_MOST_ROWS = 60


class MarkedTranslation(gettext.NullTranslations):
    """Puts ⟦ ⟧ around every translated text but what is filled in, which must be translated for itself."""

    def gettext(self, message: str) -> str:
        parts = _PLACEHOLDER.split(message)
        return "".join(part if _PLACEHOLDER.fullmatch(part) or not part else BEGIN + part + END for part in parts)


def untranslated(text: str, known: Iterable[str]) -> str:
    """What is left of a text without its translated parts, the ``known`` ones, and all that has no letters."""
    if text.startswith("<qt>"):
        text = html.unescape(_TAG.sub("\n", text))
    text = _MARKED.sub("\n", text)
    names = sorted(known, key=len, reverse=True)
    for name in names:
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "\n", text)
    cut = (word.removesuffix("…") if word.endswith("…") else " " for word in text.split())
    whole = {begin for begin in cut if any(name.startswith(begin) for name in names)}
    words = (word for word in text.split() if word.removesuffix("…") not in whole)
    return " ".join(word for word in words if any(character.isalpha() for character in word))


def told(root: QWidget) -> Iterator[tuple[str, str]]:
    """Where and what: the texts of a widget and of everything in it, shown or not."""
    for thing in (root, *root.findChildren(QObject)):
        texts: list[str] = []
        if isinstance(thing, QWidget):
            texts += _of_widget(thing)
        elif isinstance(thing, QAction):
            texts += [thing.text(), thing.iconText(), thing.toolTip(), thing.statusTip(), thing.whatsThis()]
        name = f"{type(thing).__name__} {thing.objectName()}".strip()
        yield from ((name, text) for text in texts if text)


def painted(root: QWidget) -> str:
    """All text that painting a widget really puts there, its own drawing included; an SVG keeps it as text.

    In the order of painting, in pieces: a line, a stretch in one font, or the letter under a mnemonic's line.
    """
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture = QSvgGenerator()
    picture.setOutputDevice(buffer)
    picture.setSize(root.size())
    root.render(picture)
    pieces = _PAINTED.findall(bytes(data.data()).decode("utf-8", "replace"))
    return "\n".join(html.unescape(piece).strip() for piece in pieces)


def _of_widget(widget: QWidget) -> Iterator[str]:
    yield from (widget.toolTip(), widget.statusTip(), widget.whatsThis())
    yield from (widget.accessibleName(), widget.accessibleDescription())
    if widget.isWindow() or isinstance(widget, QDockWidget):
        yield widget.windowTitle()
    if isinstance(widget, QLabel | QAbstractButton):
        yield widget.text()
    elif isinstance(widget, QGroupBox | QMenu):
        yield widget.title()
    elif isinstance(widget, QLineEdit | QPlainTextEdit):
        yield widget.placeholderText()
    elif isinstance(widget, QAbstractSpinBox):
        yield str(widget.property("specialValueText"))
        yield str(widget.property("suffix") or "")
    elif isinstance(widget, QComboBox):
        for place in range(widget.count()):
            yield widget.itemText(place)
            yield str(widget.itemData(place, Qt.ItemDataRole.ToolTipRole) or "")
    elif isinstance(widget, QTabBar):
        yield from (widget.tabText(place) for place in range(widget.count()))
        yield from (widget.tabToolTip(place) for place in range(widget.count()))
    elif isinstance(widget, QProgressBar) and widget.isTextVisible():
        yield widget.text()
    elif isinstance(widget, QStatusBar):
        yield widget.currentMessage()
    if isinstance(widget, TokenArea):
        for cell in range(len(widget.pieces)):
            yield widget.cell_tooltip(cell)
            yield widget.cell_description(cell)
    if isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from _of_model(widget.model())


def _of_model(model: QAbstractItemModel) -> Iterator[str]:
    root = QModelIndex()
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(root)  # private there
    for column in range(columns):
        for role in _ROLES:
            yield str(model.headerData(column, Qt.Orientation.Horizontal, role) or "")
            for row in range(min(_MOST_ROWS, model.rowCount(root))):
                yield str(model.index(row, column, root).data(role) or "")
