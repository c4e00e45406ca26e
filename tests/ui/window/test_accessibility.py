"""Every control explains itself: a tooltip, a name for screen readers, and a way to it by keyboard."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTextEdit,
    QWidget,
)

from ui.app import Explorer
from ui.dialogs.command_palette import CommandPalette
from ui.dialogs.pages import about_page
from ui.dialogs.shortcuts import ShortcutsDialog
from ui.help.window import HelpWindow
from ui.library.note_dialog import NoteDialog
from ui.library.recovery_dialog import RecoveryDialog

CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
)
COMPOUND = (QAbstractSpinBox, QComboBox, QAbstractItemView, QLineEdit, QTabBar)


def controls(root: QWidget) -> Iterator[QWidget]:
    """What a user can operate; parts that Qt itself puts inside another control count with that one."""
    for widget in root.findChildren(QWidget):
        own_part = widget.objectName().startswith("qt_") or any(isinstance(a, COMPOUND) for a in ancestors(widget))
        if isinstance(widget, CONTROLS) and not isinstance(widget, QScrollBar) and not own_part:
            yield widget


def ancestors(widget: QWidget) -> Iterator[QWidget]:
    parent = widget.parentWidget()
    while parent is not None:
        yield parent
        parent = parent.parentWidget()


def accessible_name(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface is not None else ""


def described(widget: QWidget) -> str:
    path = " < ".join(type(ancestor).__name__ for ancestor in ancestors(widget))
    return f"{type(widget).__name__} {widget.objectName()!r} {accessible_name(widget)!r} in {path}"


def without_name(root: QWidget) -> list[str]:
    return [described(widget) for widget in controls(root) if not accessible_name(widget).strip()]


def without_tooltip(root: QWidget) -> list[str]:
    # A dock's close and float buttons are Qt's own.
    return [described(widget) for widget in controls(root) if not teaches(widget) and not _is_qts_own(widget)]


def teaches(widget: QWidget) -> bool:
    """A tooltip of its own, or of the items it shows."""
    if isinstance(widget, QAbstractItemView) and widget.model().rowCount():
        return bool(widget.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole) or widget.toolTip())
    return bool(widget.toolTip())


def without_keyboard(root: QWidget) -> list[str]:
    tab = Qt.FocusPolicy.TabFocus.value
    return [
        described(widget)
        for widget in controls(root)
        if not widget.focusPolicy().value & tab and not _is_qts_own(widget) and widget.isVisibleTo(root)
    ]


def _is_qts_own(widget: QWidget) -> bool:
    return type(widget).__name__ in ("QDockWidgetTitleButton", "QToolBarExtension", "CloseButton")


def test_every_control_of_the_window_has_a_name(lesson: Explorer) -> None:
    assert without_name(lesson.window) == []


def test_every_control_of_the_window_has_a_tooltip_that_teaches(lesson: Explorer) -> None:
    assert without_tooltip(lesson.window) == []


def test_every_control_of_the_window_is_reached_by_keyboard(lesson: Explorer) -> None:
    assert without_keyboard(lesson.window) == []


def test_dialogs_explain_themselves_too(lesson: Explorer) -> None:
    window = lesson.window
    dialogs = [
        CommandPalette(window, []),
        ShortcutsDialog(window, window.actions_, {}),
        HelpWindow(window, "en"),
        about_page(window, lesson.library_path, lesson.library_path),
        NoteDialog(window, "A session", "A note"),
        RecoveryDialog(window, "A report"),
    ]
    for dialog in dialogs:
        assert without_name(dialog) == []
        assert without_tooltip(dialog) == []
        dialog.deleteLater()


def test_text_that_looks_like_markup_is_shown_as_it_is(lesson: Explorer) -> None:
    """Token text is plain text everywhere: no label of the window guesses."""
    guessing = [
        described(label)
        for label in lesson.window.findChildren(QLabel)
        if label.textFormat() != Qt.TextFormat.PlainText and not label.objectName().startswith("qt_")
    ]
    assert guessing == []
