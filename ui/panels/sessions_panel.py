"""The library: every session ever explored, newest first."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QLineEdit, QListView, QVBoxLayout, QWidget

from explorer.i18n import tr
from explorer.store.records import SessionSummary
from ui.format import elide_middle, tooltip
from ui.panels.common import GRID, describe, plain_label, push_button

_Index = QModelIndex | QPersistentModelIndex
_SUMMARY = int(Qt.ItemDataRole.UserRole)


class SessionsModel(QAbstractListModel):
    """One row a session."""

    def __init__(self) -> None:
        super().__init__()
        self._summaries: list[SessionSummary] = []
        self.open_id: int | None = None

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._summaries)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        summary = self._summaries[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return summary.title if role == Qt.ItemDataRole.EditRole else self._line(summary)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(
                summary.title,
                elide_middle(summary.prompt_text, 400),
                tr("Model: {model}").format(model=summary.model_name),
                tr("{nodes} nodes, {steps} steps").format(nodes=summary.nodes, steps=summary.steps),
                tr("Last changed: {time}").format(time=summary.updated.astimezone().strftime("%Y-%m-%d %H:%M")),
            )
        if role == _SUMMARY:
            return summary
        return None

    def set_summaries(self, summaries: list[SessionSummary]) -> None:
        self.beginResetModel()
        self._summaries = summaries
        self.endResetModel()

    def set_open(self, session_id: int | None) -> None:
        """Which session is open; its row is marked."""
        self.open_id = session_id
        if self._summaries:
            self.dataChanged.emit(self.index(0), self.index(len(self._summaries) - 1))

    def _line(self, summary: SessionSummary) -> str:
        mark = "▸ " if summary.id == self.open_id else ""
        updated = summary.updated.astimezone()
        today = updated.date() == datetime.now(updated.tzinfo).date()
        when = updated.strftime("%H:%M" if today else "%Y-%m-%d")
        title = elide_middle(" ".join(summary.title.split()) or tr("(empty prompt)"), 48)
        facts = tr("{model} · {nodes} nodes · {when}").format(model=summary.model_name, nodes=summary.nodes, when=when)
        return f"{mark}{title}\n{facts}"


class SessionsPanel(QWidget):
    """A list with a filter; the open one is renamed in the line below it."""

    open_requested = Signal(int)
    new_requested = Signal()
    rename_requested = Signal(str)
    delete_requested = Signal(object)  # SessionSummary

    def __init__(self) -> None:
        super().__init__()
        self._model = SessionsModel()
        self._filtered = QSortFilterProxyModel(self)
        self._filtered.setSourceModel(self._model)
        self._filtered.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._search = QLineEdit()
        self._search.setPlaceholderText(tr("Filter the sessions…"))
        self._search.setClearButtonEnabled(True)
        describe(self._search, tr("Filter the sessions"), tr("Show only sessions whose title or model contains this."))
        self._list = QListView()
        self._list.setModel(self._filtered)
        self._list.setSpacing(GRID // 2)
        self._list.setWordWrap(True)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        describe(
            self._list, tr("Sessions"), tr("Enter or a double click opens a session; the one open stays as it is.")
        )
        self._empty = plain_label(
            tr("No session yet. Start one from the prompt panel; it is saved by itself."), quiet=True
        )
        self._title = QLineEdit()
        describe(
            self._title,
            tr("Title of the open session"),
            tr("Type another title and press Enter. Open a session to rename it."),
        )
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        self._open = push_button(tr("Open"), tr("Open the chosen session."), self._open_chosen)
        self._delete = push_button(
            tr("Delete"), tr("Remove the chosen session from the library for good."), self._delete_chosen
        )
        new = push_button(tr("New"), tr("Go to the prompt and start another session."), self.new_requested.emit)
        for button in (self._open, new, self._delete):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        for widget in (self._search, self._empty, self._list, self._title):
            layout.addWidget(widget)
        layout.addLayout(buttons)
        self._search.textChanged.connect(self._filtered.setFilterFixedString)
        self._list.activated.connect(lambda _index: self._open_chosen())
        self._list.selectionModel().currentChanged.connect(lambda *_: self._chosen_changed())
        self._title.returnPressed.connect(self._rename_chosen)
        self._chosen_changed()

    def set_summaries(self, summaries: list[SessionSummary]) -> None:
        """What the library holds, newest first; the chosen row stays chosen."""
        chosen = self.chosen()
        self._model.set_summaries(summaries)
        self._empty.setVisible(not summaries)
        wanted = chosen.id if chosen is not None else self._model.open_id
        if wanted is not None:
            self.choose(wanted)
        self._chosen_changed()

    def set_open(self, session_id: int | None) -> None:
        self._model.set_open(session_id)
        self._chosen_changed()

    def chosen(self) -> SessionSummary | None:
        """The session the list's cursor is on."""
        index = self._list.currentIndex()
        summary = index.data(_SUMMARY) if index.isValid() else None
        return summary if isinstance(summary, SessionSummary) else None

    def choose(self, session_id: int) -> None:
        """Put the list's cursor on a session."""
        for row in range(self._filtered.rowCount()):
            index = self._filtered.index(row, 0)
            if index.data(_SUMMARY).id == session_id:
                self._list.setCurrentIndex(index)

    def _chosen_changed(self) -> None:
        summary = self.chosen()
        for widget in (self._open, self._delete):
            widget.setEnabled(summary is not None)
        self._title.setEnabled(summary is not None and summary.id == self._model.open_id)
        if not self._title.hasFocus() or summary is None:
            self._title.setText(summary.title if summary is not None else "")

    def _open_chosen(self) -> None:
        summary = self.chosen()
        if summary is not None:
            self.open_requested.emit(summary.id)

    def _rename_chosen(self) -> None:
        summary = self.chosen()
        if summary is not None:
            self.rename_requested.emit(self._title.text())

    def _delete_chosen(self) -> None:
        summary = self.chosen()
        if summary is not None:
            self.delete_requested.emit(summary)
