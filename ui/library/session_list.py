"""The list of sessions itself: several chosen at once, keys of its own, pictures of what is in sight."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QKeyCombination,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from explorer.i18n import tr
from explorer.store.records import SessionSummary
from ui.library.delegate import SessionDelegate
from ui.library.model import SessionsModel
from ui.panels.common import describe

_Index = QModelIndex | QPersistentModelIndex
_PICTURES_AFTER_MS = 60  # of standing still
_OPENING_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class SessionList(QListView):
    """Shows a `SessionsModel`."""

    open_requested = Signal()
    menu_requested = Signal(object)
    """A global position, for a menu about what is chosen."""
    pictures_wanted = Signal(list)
    selection_changed = Signal()

    def __init__(self, model: SessionsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sessions = model
        self._own_keys: dict[QKeyCombination, Callable[[], object]] = {}
        self.delegate = SessionDelegate(self, model)
        self.setModel(model)
        self.setItemDelegate(self.delegate)
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        describe(
            self,
            tr("Sessions"),
            tr("Enter or a double click opens a session; the one that is open stays as it is, saved."),
        )
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PICTURES_AFTER_MS)
        self._timer.timeout.connect(self._ask_pictures)
        self.doubleClicked.connect(lambda _: self.open_requested.emit())
        self.verticalScrollBar().valueChanged.connect(lambda _: self._timer.start())
        model.dataChanged.connect(lambda *_: self._timer.start())
        model.modelReset.connect(self._timer.start)

    def set_keys(self, keys: Mapping[QKeyCombination, Callable[[], object]]) -> None:
        """What keys do while the list has the focus, before the window's own actions with these keys."""
        self._own_keys = dict(keys)

    # --- what is chosen ----------------------------------------------------------------------------------------------

    def chosen(self) -> list[int]:
        """The numbers of the chosen sessions, from top to bottom."""
        ids = self.sessions.ids
        return [ids[row] for row in sorted(index.row() for index in self.selectionModel().selectedRows())]

    def current(self) -> int | None:
        """The session the cursor is on."""
        index = self.currentIndex()
        return self.sessions.ids[index.row()] if index.isValid() else None

    def chosen_lines(self) -> list[SessionSummary]:
        """The lines of the chosen sessions, as far as they have been read."""
        lines = (self.sessions.summary(session_id) for session_id in self.chosen())
        return [line for line in lines if line is not None]

    def choose(self, session_ids: list[int], current: int | None = None) -> None:
        """Choose those of the sessions that are listed, with the cursor on ``current`` or the first of them."""
        rows = [row for session_id in session_ids if (row := self.sessions.row_of(session_id)) is not None]
        selection = QItemSelection()
        for row in rows:
            selection.select(self.sessions.index(row), self.sessions.index(row))
        at = None if current is None else self.sessions.row_of(current)
        if at is None and rows:
            at = rows[0]
        if at is not None:
            self.selectionModel().setCurrentIndex(self.sessions.index(at), QItemSelectionModel.SelectionFlag.NoUpdate)
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    @property
    def editing(self) -> bool:
        """Whether a title is being edited."""
        return self.state() == QAbstractItemView.State.EditingState

    def edit_title(self) -> None:
        """Edit the title of the session the cursor is on, in place."""
        index = self.currentIndex()
        if index.isValid() and self.sessions.line(index.row()) is not None:
            self.scrollTo(index)
            self.edit(index)

    def rect_of(self, session_id: int) -> QRect:
        """Where a session's row lies; empty where it is out of sight."""
        row = self.sessions.row_of(session_id)
        return QRect() if row is None else self.visualRect(self.sessions.index(row))

    # --- pictures ----------------------------------------------------------------------------------------------------

    def _ask_pictures(self) -> None:
        height = max(1, self.delegate.rows.height(tagged=self.sessions.tagged))
        first = self.indexAt(QPoint(1, 1))
        if not self.isVisible() or not first.isValid():
            return
        rows = range(first.row(), first.row() + self.viewport().height() // height + 2)
        wishes = self.sessions.pictures_wanted(rows)
        if wishes:
            self.pictures_wanted.emit(wishes)

    # --- events ------------------------------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        override = event.type() == QEvent.Type.ShortcutOverride and not self.editing
        if override and isinstance(event, QKeyEvent) and event.keyCombination() in self._own_keys:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        work = self._own_keys.get(event.keyCombination())
        if self.editing:
            event.accept()  # a line edit passes Enter on, once it has taken it
        elif work is not None:
            work()
        elif event.key() in _OPENING_KEYS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self.open_requested.emit()
        else:
            super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:  # noqa: N802 - Qt's name
        """Letters are keys of the window; the search box finds titles."""

    def dataChanged(self, top: _Index, bottom: _Index, roles: Sequence[int] = ()) -> None:  # noqa: N802 - Qt's name
        """All rows are equally high, so nothing is laid out anew, as a list otherwise does."""
        QAbstractItemView.dataChanged(self, top, bottom, list(roles))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard and self.currentIndex().isValid():
            place = self.visualRect(self.currentIndex()).center()
            self.menu_requested.emit(self.viewport().mapToGlobal(place))
        else:
            self.menu_requested.emit(event.globalPos())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "delegate"):
            self.delegate.take_style()
            self.sessions.forget_pictures()
            self.scheduleDelayedItemsLayout()
            self._timer.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._timer.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:  # noqa: N802 - Qt's name
        super().selectionChanged(selected, deselected)
        self.selection_changed.emit()
