"""The bar above the tree: what is looked for in it, what was starred and noted, how it is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QMenu, QToolButton, QWidget

from explorer.i18n import N_, tr
from ui.actions import OWN_ESCAPE, Actions
from ui.format import count, tooltip
from ui.menu_list import TREE_OPTIONS
from ui.panels.common import GRID, describe, plain_label, tool_button

SCOPES: Mapping[str, str] = {"text": N_("Text"), "token": N_("Token"), "notes": N_("Notes")}
"""What is looked through, by the names of `explorer.search.finding`."""
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class TreeFindEdit(QLineEdit):
    """Enter goes on, Shift+Enter back, Escape clears the line."""

    walked = Signal(int)
    """1 for the next match, -1 for the one before."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty(OWN_ESCAPE, True)
        self.setClearButtonEnabled(True)
        self.setMinimumWidth(24 * GRID)
        self.setMaximumWidth(100 * GRID)
        self.setPlaceholderText(tr("Find in the tree"))
        self.setAccessibleName(tr("Find in the tree"))
        self.set_problem("")

    def set_problem(self, text: str) -> None:
        """What is wrong with what was typed; nothing where it is empty."""
        self.setToolTip(
            tooltip(
                text,
                tr("Text: in the generated text, also across tokens; the token that completes it is marked."),
                tr("Token: in single tokens. Notes: in what you noted. Letter case is ignored."),
                tr("Enter or F3 goes to the next match, Shift with them to the one before, Esc clears."),
            )
        )
        self.setAccessibleDescription(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER:
            self.walked.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class ViewBar(QWidget):
    """No behaviour but its own: controllers ask and fill it."""

    query_changed = Signal()
    """Something else is looked for now: see `query`."""
    walked = Signal(int)
    """1 for the next match, -1 for the one before."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.edit = TreeFindEdit()
        self.scope = QComboBox()
        for name, label in SCOPES.items():
            self.scope.addItem(tr(label), name)
        describe(self.scope, tr("Where to look"), tr("In the text of the paths, in single tokens, or in your notes."))
        self.regex = tool_button(
            ".*",
            tr("Regular expression. As in Rust: no look-around, no backreferences; ^ is the beginning of the text."),
            lambda: None,
        )
        self.regex.setCheckable(True)
        self.outcome = plain_label(wrap=False, quiet=True)
        self.outcome.setAccessibleName(tr("Matches"))
        self.previous, self.following = QToolButton(), QToolButton()
        for button, name, face in (
            (self.previous, "find_previous", "▲"),
            (self.following, "find_next", "▼"),
        ):
            button.setDefaultAction(actions[name])
            actions[name].setIconText(face)
            button.setAccessibleName(actions[name].text())
        self.notes = QToolButton()
        self.notes.setText("★")
        self.notes_menu = QMenu(self.notes)
        describe(self.notes, tr("Stars and notes"), tr("Go to a node that you starred or noted something at."))
        self.options = QToolButton()
        self.options.setText(tr("View"))
        options = QMenu(self.options)
        actions.fill_sections(options, TREE_OPTIONS)
        describe(self.options, tr("View options"), tr("Layout, direction and colours of the tree, and what it shows."))
        for button, menu in ((self.notes, self.notes_menu), (self.options, options)):
            button.setMenu(menu)
            button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        for button in (self.regex, self.previous, self.following, self.notes, self.options):
            button.setAutoRaise(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._arrange()
        self.set_outcome("")
        self.set_notes(0)
        self.edit.textChanged.connect(self.query_changed)
        self.scope.currentIndexChanged.connect(self.query_changed)
        self.regex.toggled.connect(self.query_changed)
        self.edit.walked.connect(self.walked)

    def _arrange(self) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self.edit, 1)
        for widget in (self.scope, self.regex, self.outcome, self.previous, self.following):
            layout.addWidget(widget)
        layout.addStretch()
        for widget in (self.notes, self.options):
            layout.addWidget(widget)

    # --- what is looked for ------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        return self.edit.text()

    def query(self) -> dict[str, Any]:
        """What to remember of the search: where, and whether by regular expression."""
        return {"scope": self.scope.currentData(), "regex": self.regex.isChecked()}

    def set_query(self, values: Mapping[str, Any]) -> None:
        """Take what was remembered; what makes no sense counts as unset."""
        place = self.scope.findData(values.get("scope"))
        self.scope.setCurrentIndex(max(0, place))
        self.regex.setChecked(values.get("regex") is True)

    @Slot()
    def focus_find(self) -> None:
        """Put the cursor into the line, ready to type over what is there."""
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.edit.selectAll()

    # --- what came of it ---------------------------------------------------------------------------------------------

    def set_outcome(self, text: str, problem: str = "") -> None:
        """What stands beside the line; ``problem`` says at length what is wrong with what was typed."""
        self.outcome.setText(text)
        self.outcome.setToolTip(tooltip(problem) if problem else "")
        quiet = QPalette.ColorRole.PlaceholderText
        self.outcome.setForegroundRole(QPalette.ColorRole.WindowText if problem else quiet)
        self.edit.set_problem(problem)
        for widget in (self.outcome, self.previous, self.following):
            widget.setVisible(bool(self.text))

    def set_notes(self, number: int) -> None:
        """How many nodes have a star or a note."""
        self.notes.setText(f"★ {count(number)}" if number else "★")
        self.notes.setEnabled(number > 0)
