"""Draws and edits the rows of the list of sessions."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QLineEdit, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from explorer.i18n import tr
from ui.library.model import SUMMARY, SessionsModel
from ui.library.row_painter import RowLook, RowPainter
from ui.panels.common import describe

_Index = QModelIndex | QPersistentModelIndex


class SessionDelegate(QStyledItemDelegate):
    """All rows have the same height; the title is edited in place, the star changes with a click."""

    star_clicked = Signal(int)

    def __init__(self, view: QListView, model: SessionsModel) -> None:
        super().__init__(view)
        self._view = view
        self._model = model
        self.take_style()

    def take_style(self) -> None:
        """Derive fonts and colours from the view's."""
        self.rows = RowPainter(self._view.font(), self._view.palette())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        summary = self._model.line(index.row())
        state, flag = option.state, QStyle.StateFlag
        session_id = self._model.ids[index.row()]
        look = RowLook(
            selected=bool(state & flag.State_Selected),
            focused=self._view.hasFocus(),
            hovered=bool(state & flag.State_MouseOver),
            current=index.row() == self._view.currentIndex().row(),
            opened=session_id == self._model.open_id,
            starrable=self._model.writable and not self._model.filter.trash,
        )
        today = datetime.now().astimezone().date()
        rect = option.rect
        self.rows.paint(painter, rect, summary, self._model.picture(session_id), look, self._model.terms, today)

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(40, self.rows.height(tagged=self._model.tagged))

    def editorEvent(
        self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: _Index
    ) -> bool:
        if isinstance(event, QMouseEvent) and event.button() == Qt.MouseButton.LeftButton:
            on_star = self.rows.star_rect(option.rect).contains(event.position().toPoint())
            if on_star and self._model.writable and not self._model.filter.trash:
                if event.type() == QEvent.Type.MouseButtonRelease:
                    self.star_clicked.emit(self._model.ids[index.row()])
                return True
        return super().editorEvent(event, model, option, index)

    # --- the title ---------------------------------------------------------------------------------------------------

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: _Index) -> QWidget:
        editor = QLineEdit(parent)
        describe(editor, tr("Title"), tr("Enter keeps the new title, Escape leaves it as it was."))
        return editor

    def setEditorData(self, editor: QWidget, index: _Index) -> None:
        summary = index.data(SUMMARY)
        if isinstance(editor, QLineEdit) and summary is not None:
            editor.setText(summary.title)
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: _Index) -> None:
        if isinstance(editor, QLineEdit):
            model.setData(model.index(index.row(), 0), editor.text())

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:  # noqa: N802 - Qt's name
        editor.setGeometry(self.rows.title_rect(option.rect))
