"""The history: every command of the session, what undo takes back next, what was undone."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QListView, QToolButton, QVBoxLayout, QWidget

from explorer.i18n import N_, tr
from explorer.store.records import CommandRecord
from explorer.text import Vocabulary
from ui.format import elide_middle, how_label, logarithm, token_label, tooltip
from ui.panels.common import GRID, describe

_Index = QModelIndex | QPersistentModelIndex

KIND_LABELS: dict[str, str] = {
    "step": N_("Step"),
    "run": N_("Run"),
    "pick": N_("Pick"),
    "settings": N_("Change the settings"),
    "seed": N_("Change the seed"),
    "rename": N_("Rename"),
    "annotate": N_("Star or note"),
    "delete": N_("Delete a branch"),
    "expand": N_("Expand"),
    "beam": N_("Beam search"),
    "sample": N_("Sample runs"),
    "stop": N_("Stop"),
    "environment": N_("The model moved to another environment"),
}
_STATES: dict[str, str] = {"done": "", "undone": N_("undone"), "abandoned": N_("undone, then left behind")}


class HistoryModel(QAbstractListModel):
    """One row a command, newest last."""

    def __init__(self) -> None:
        super().__init__()
        self._commands: tuple[CommandRecord, ...] = ()
        self._vocabulary: Vocabulary | None = None

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._commands)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        command = self._commands[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._line(command)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(*self._facts(command))
        return None

    def set_commands(self, commands: tuple[CommandRecord, ...], vocabulary: Vocabulary) -> None:
        old, self._vocabulary = self._commands, vocabulary
        if len(commands) > len(old) and all(a is b for a, b in zip(old, commands, strict=False)):
            self.beginInsertRows(QModelIndex(), len(old), len(commands) - 1)
            self._commands = commands
            self.endInsertRows()
            return
        self.beginResetModel()
        self._commands = commands
        self.endResetModel()

    def _line(self, command: CommandRecord) -> str:
        parts = [tr(KIND_LABELS.get(command.kind, command.kind))]
        if command.steps:
            parts.append(elide_middle(token_label(self._vocabulary, command.steps[-1].token_id), 24))
        elif command.stops:
            parts.append(command.stops[-1].event.explanation().sentences()[0])
        line = f"{command.seq}. " + " · ".join(parts)
        state = _STATES[command.state]
        return tr("{command} ({state})").format(command=line, state=tr(state)) if state else line

    def _facts(self, command: CommandRecord) -> list[str]:
        facts = [self._line(command), command.at.astimezone().strftime("%Y-%m-%d %H:%M:%S")]
        for step in command.steps[-1:]:
            facts.append(how_label(step.how))
            facts.append(tr("rank {rank}, log p {logp}").format(rank=step.rank, logp=logarithm(step.model_logprob)))
            if step.u is not None:
                facts.append(
                    tr("seed {seed}, draw #{index}, u = {u:.6f}").format(
                        seed=step.seed, index=step.draw_index, u=step.u
                    )
                )
        return facts


class HistoryPanel(QWidget):
    """Read only: undo and redo are actions of the window."""

    def __init__(self) -> None:
        super().__init__()
        self._model = HistoryModel()
        self._list = QListView()
        self._list.setModel(self._model)
        self._list.setUniformItemSizes(True)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        describe(
            self._list,
            tr("History"),
            tr("Every command of this session in order. Undo and redo replay what was recorded, without the model."),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        self._buttons = QHBoxLayout()
        layout.addLayout(self._buttons)
        layout.addWidget(self._list, 1)

    def add_button(self, action: QAction) -> QToolButton:
        """A button above the list for an action of the window."""
        button = QToolButton()
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._buttons.addWidget(button)
        return button

    def set_commands(self, commands: tuple[CommandRecord, ...], vocabulary: Vocabulary) -> None:
        """The whole history; the newest is kept in sight."""
        self._model.set_commands(commands, vocabulary)
        self._list.scrollToBottom()


def kind_label(kind: str) -> str:
    """A command kind in the current language."""
    return tr(KIND_LABELS.get(kind, kind))
