"""What can be done with the token of the current row: pick it, copy something of it."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu

from explorer.i18n import tr
from ui.candidates.row import copied_values, token_bytes
from ui.candidates.table import CandidateTable
from ui.format import hex_bytes, token_label


class TokenActions(QObject):
    """The context menu of the list."""

    picked = Signal(int)

    def __init__(self, table: CandidateTable) -> None:
        super().__init__(table)
        self._table = table
        self._model = table.candidates
        entries = (
            (tr("Pick this token"), self.pick),
            (tr("Copy token"), self._copy_label),
            (tr("Copy id"), self._copy_id),
            (tr("Copy bytes"), self._copy_bytes),
            (tr("Copy values"), self._copy_values),
        )
        self.actions: list[QAction] = []
        for text, slot in entries:
            action = QAction(text, self)
            action.triggered.connect(slot)
            self.actions.append(action)

    @Slot(QPoint)
    def open_menu(self, position: QPoint) -> None:
        """The menu of the row at a position of the list."""
        row = self._table.indexAt(position).row()
        if row < 0 or self._model.token(row) is None:
            return
        self._table.go_to(row)
        menu = QMenu(self._table)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions(self.actions)
        menu.addSeparator()
        menu.addActions(self._table.column_actions)
        menu.popup(self._table.viewport().mapToGlobal(position))

    @Slot()
    def pick(self) -> None:
        token_id = self._table.current_token()
        if token_id is not None:
            self.picked.emit(token_id)

    @Slot()
    def _copy_label(self) -> None:
        token_id, vocabulary = self._table.current_token(), self._model.vocabulary
        if token_id is not None:
            text = token_label(None, token_id) if vocabulary is None else vocabulary.decode([token_id])
            QGuiApplication.clipboard().setText(text)

    @Slot()
    def _copy_id(self) -> None:
        token_id = self._table.current_token()
        if token_id is not None:
            QGuiApplication.clipboard().setText(str(token_id))

    @Slot()
    def _copy_bytes(self) -> None:
        token_id = self._table.current_token()
        if token_id is not None:
            QGuiApplication.clipboard().setText(hex_bytes(token_bytes(self._model.vocabulary, token_id)))

    @Slot()
    def _copy_values(self) -> None:
        index = self._table.currentIndex()
        if index.isValid() and not self._model.is_others(index.row()):
            QGuiApplication.clipboard().setText(copied_values(self._model.row(index.row())))
