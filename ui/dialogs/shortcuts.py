"""Every command with its keys, and a way to change them."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.i18n import tr
from ui.action_list import ACTIONS, ActionSpec
from ui.actions import Actions
from ui.format import tooltip
from ui.panels.common import GRID, describe, plain_label, push_button


class ShortcutsDialog(QDialog):
    """Lists commands and keys; `keys` are the user's own after the dialog was accepted."""

    def __init__(self, parent: QWidget, actions: Actions, keys: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keys"))
        self._actions = actions
        self._keys = dict(keys)
        self._table = QTableWidget(len(ACTIONS), 2)
        self._table.setHorizontalHeaderLabels([tr("Command"), tr("Keys")])
        self._table.verticalHeader().hide()
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._table.setTabKeyNavigation(False)
        describe(self._table, tr("Commands and keys"), tr("Choose a command to change its keys below."))
        self._edit = QKeySequenceEdit()
        self._edit.setMaximumSequenceLength(1)
        describe(self._edit, tr("New key"), tr("Click here and press the key for the chosen command."))
        self._conflict = plain_label()
        self._build()
        self._fill()
        self._table.currentCellChanged.connect(lambda *_: self._chosen_changed())
        self._table.setCurrentCell(0, 0)

    @property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The user's own key sequences by action name."""
        return dict(self._keys)

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(plain_label(tr("Key for the chosen command:"), wrap=False))
        row.addWidget(self._edit, 1)
        row.addWidget(push_button(tr("Use"), tr("Give the chosen command this key."), self._use))
        row.addWidget(push_button(tr("Default"), tr("Give the chosen command its first keys again."), self._default))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.button(QDialogButtonBox.StandardButton.Ok).setText(tr("OK"))
        buttons.button(QDialogButtonBox.StandardButton.Ok).setToolTip(tooltip(tr("Keep these keys.")))
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setText(tr("Cancel"))
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setToolTip(tooltip(tr("Leave the keys as they were.")))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 3 * GRID)
        layout.addWidget(
            plain_label(tr("Single keys work while no text is being edited. Esc leaves an editor."), quiet=True)
        )
        layout.addWidget(self._table)
        layout.addWidget(self._conflict)
        layout.addLayout(row)
        layout.addWidget(buttons)
        self.resize(150 * GRID, 140 * GRID)

    def _fill(self) -> None:
        for row, spec in enumerate(ACTIONS):
            action = self._actions[spec.name]
            name, keys = QTableWidgetItem(action.text()), QTableWidgetItem("  ".join(self._native(spec)))
            for item in (name, keys):
                item.setToolTip(tooltip(action.whatsThis()))
                item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
            self._table.setItem(row, 0, name)
            self._table.setItem(row, 1, keys)

    def _native(self, spec: ActionSpec) -> list[str]:
        sequences = self._keys.get(spec.name, spec.keys)
        return [QKeySequence(text).toString(QKeySequence.SequenceFormat.NativeText) for text in sequences]

    def _chosen(self) -> ActionSpec:
        return ACTIONS[max(0, self._table.currentRow())]

    def _chosen_changed(self) -> None:
        self._edit.clear()
        self._conflict.setText("")

    def _use(self) -> None:
        text = self._edit.keySequence().toString(QKeySequence.SequenceFormat.PortableText)
        if not text:
            return
        for spec in ACTIONS:
            if spec is not self._chosen() and text in self._keys.get(spec.name, spec.keys):
                taken = self._actions[spec.name].text()
                self._conflict.setText(
                    tr("{key} belongs to “{command}”; give that one another key first.").format(key=text, command=taken)
                )
                return
        self._keys[self._chosen().name] = (text,)
        self._fill()
        self._chosen_changed()

    def _default(self) -> None:
        self._keys.pop(self._chosen().name, None)
        self._fill()
        self._chosen_changed()
