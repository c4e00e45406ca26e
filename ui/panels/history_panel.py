"""The history: every command of the session, where it stands, what was undone; a click goes there."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QAction, QFont, QGuiApplication, QKeyEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QListView, QToolButton, QVBoxLayout, QWidget

from explorer.i18n import N_, tr
from explorer.journal import NOT_UNDOABLE
from explorer.store.records import REDO, REVERSED, UNDO, CommandRecord
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
    "query": N_("Question"),
    "score": N_("Score a text"),
    "study": N_("Run statistics"),
    "branch": N_("Branch off the past"),
    "stop": N_("Stop"),
    UNDO: N_("Undo"),
    REDO: N_("Redo"),
    "environment": N_("The model moved to another environment"),
}
_STATES: dict[str, str] = {"done": "", "undone": N_("undone"), "abandoned": N_("undone, then left behind")}
_HERE: Final = "▸ "
NOWHERE: Final = -1
"""Where a row leads that the session cannot go to."""


class HistoryModel(QAbstractListModel):
    """The beginning, then one row a command, newest last."""

    def __init__(self) -> None:
        super().__init__()
        self._commands: tuple[CommandRecord, ...] = ()
        self._vocabulary: Vocabulary | None = None
        self._here = 0  # the row where the session stands

    def rowCount(self, parent: _Index | None = None) -> int:
        inside = parent is not None and parent.isValid()
        return 0 if inside or self._vocabulary is None else len(self._commands) + 1

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = index.row()
        command = self._commands[row - 1] if row else None
        if role == Qt.ItemDataRole.DisplayRole:
            line = tr("The beginning") if command is None else self._line(command)
            return f"{_HERE}{line}" if row == self._here else line
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(*([] if command is None else self._facts(command)), self._advice(row))
        if role == Qt.ItemDataRole.FontRole and row == self._here:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.ForegroundRole and command is not None and command.state != "done":
            return QGuiApplication.palette().brush(QPalette.ColorRole.PlaceholderText)
        return None

    @property
    def here(self) -> int:
        """The row of the last command that is in force, 0 where there is none."""
        return self._here

    def target(self, row: int) -> int:
        """The command to go to with a click on a row, 0 for the beginning; `NOWHERE` where it leads to nothing."""
        if row == 0:
            return 0
        command = self._commands[row - 1]
        return command.seq if command.kind not in NOT_UNDOABLE and command.state != "abandoned" else NOWHERE

    def set_commands(self, commands: tuple[CommandRecord, ...], vocabulary: Vocabulary) -> None:
        old, same = self._commands, self._vocabulary is vocabulary
        if not same or len(commands) < len(old) or any(a.at != b.at for a, b in zip(old, commands, strict=False)):
            self.beginResetModel()
            self._commands, self._vocabulary, self._here = commands, vocabulary, _here(commands)
            self.endResetModel()
            return
        self._commands = commands[: len(old)]
        self._tell([row for row, (a, b) in enumerate(zip(old, commands, strict=False), 1) if a is not b])
        if len(commands) > len(old):
            self.beginInsertRows(QModelIndex(), len(old) + 1, len(commands))
            self._commands = commands
            self.endInsertRows()
        here, self._here = self._here, _here(commands)
        if here != self._here:
            self._tell([here, self._here])

    def _tell(self, rows: list[int]) -> None:
        """Other things are said in some rows, and perhaps in those between."""
        if rows:
            self.dataChanged.emit(self.index(min(rows), 0), self.index(max(rows), 0))

    def _line(self, command: CommandRecord) -> str:
        parts = [tr(KIND_LABELS.get(command.kind, command.kind))]
        if command.kind in (UNDO, REDO):
            seqs = command.details.get(REVERSED) or [0]
            ends = str(seqs[0]) if len(seqs) == 1 else f"{seqs[0]}–{seqs[-1]}"
            parts.append(tr("command {number}").format(number=ends))
        elif command.steps:
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

    def _advice(self, row: int) -> str:
        """What a click would do."""
        if row == self._here:
            return tr("The session stands here.")
        if self.target(row) != NOWHERE:
            if row < self._here:
                return tr("Click: undo everything after this. Nothing is lost: redo brings it again.")
            return tr("Click: redo as far as this, with exactly the recorded outcomes.")
        if self._commands[row - 1].state == "abandoned":
            return tr("Left behind when something else was done. The timeline shows it, and branches off it.")
        return ""


def _here(commands: tuple[CommandRecord, ...]) -> int:
    """The row of the last command that undo would take back; 0 where there is none."""
    done = (n for n in range(len(commands), 0, -1) if _in_force(commands[n - 1]))
    return next(done, 0)


def _in_force(command: CommandRecord) -> bool:
    return command.state == "done" and command.kind not in NOT_UNDOABLE


class HistoryPanel(QWidget):
    """Shows the commands; whoever listens goes where a click points."""

    wanted = Signal(int)
    """Undo or redo until this command is the last in force; 0 is the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self._model = HistoryModel()
        self._list = _HistoryList()
        self._list.setModel(self._model)
        self._list.setUniformItemSizes(True)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._list.clicked.connect(self._go)
        self._list.entered_by_key.connect(self._go)
        describe(
            self._list,
            tr("History"),
            tr(
                "Every command of this session in order. A click, or Enter, goes there: everything after it is undone, "
                "or what was undone is redone from the record, without the model."
            ),
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
        """The whole history; where the session stands is kept in sight."""
        self._model.set_commands(commands, vocabulary)
        self._list.scrollTo(self._model.index(self._model.here, 0))

    def _go(self, index: QModelIndex) -> None:
        target = self._model.target(index.row())
        if target != NOWHERE and index.row() != self._model.here:
            self.wanted.emit(target)


class _HistoryList(QListView):
    """Enter does what a click does, on every platform."""

    entered_by_key = Signal(QModelIndex)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.entered_by_key.emit(self.currentIndex())
        else:
            super().keyPressEvent(event)


def kind_label(kind: str) -> str:
    """A command kind in the current language."""
    return tr(KIND_LABELS.get(kind, kind))
