"""Small helpers every panel uses, so that tooltips, names and plain text are never forgotten."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QComboBox, QFormLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from ui.format import tooltip

GRID = 4
"""Spacing unit in pixels."""


def describe(widget: QWidget, name: str, help_text: str) -> None:
    """Give ``widget`` its accessible name and the tooltip that says what it is."""
    widget.setAccessibleName(name)
    widget.setAccessibleDescription(help_text)
    widget.setToolTip(tooltip(*help_text.split("\n")))


def plain_label(text: str = "", *, wrap: bool = True, quiet: bool = False) -> QLabel:
    """A label that shows its text as it is, whatever it looks like, and lets it be copied."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(wrap)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if wrap:
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)  # which a policy made anew forgets
        label.setSizePolicy(policy)
    if quiet:
        label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    return label


def compact(box: QComboBox) -> None:
    """Let a box be narrower than its longest entry, which the open list shows in full."""
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(8)


def add_row(form: QFormLayout, text: str, field: QWidget) -> None:
    """A row of a form; the label belongs to its field for screen readers too."""
    label = plain_label(text, wrap=False)
    label.setBuddy(field)
    form.addRow(label, field)


def push_button(text: str, help_text: str, slot: Callable[[], object]) -> QPushButton:
    """A button with a tooltip; ``slot`` is called without arguments."""
    button = QPushButton(text)
    describe(button, text.replace("&", ""), help_text)
    button.clicked.connect(lambda _checked=False: slot())
    return button


def tool_button(text: str, help_text: str, slot: Callable[[], object]) -> QToolButton:
    """A small flat button whose face is ``text``; its accessible name is its tooltip's first sentence."""
    button = QToolButton()
    button.setText(text)
    button.setAutoRaise(True)
    describe(button, re.split(r"\. |。", help_text)[0].rstrip("."), help_text)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setMinimumSize(QSize(6 * GRID, 6 * GRID))
    button.clicked.connect(lambda _checked=False: slot())
    return button
