"""The sessions as a Qt list: every row's number is known, lines and pictures come as they are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QStringListModel, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QPixmap

from explorer.store.records import SessionSummary
from ui.library.query import ListFilter, Listing, PictureWish
from ui.library.shelf import PAGE
from ui.library.words import spoken, tip_of, title_of

_Index = QModelIndex | QPersistentModelIndex
_MOST_LINES = 4000
_MOST_PICTURES = 600
SUMMARY = int(Qt.ItemDataRole.UserRole)
"""The role of a row's `SessionSummary`; None while it is not read yet."""


class SessionsModel(QStringListModel):
    """One row a session. Rows that are looked at and not read yet are asked for, a page at a time.

    Qt itself counts the rows, as so many empty strings: a list asks for their number at every row it lays out, and ten
    thousand questions to Python take longer than a frame.
    """

    wanted = Signal(list)
    """Numbers of sessions whose lines are to be read."""
    renamed = Signal(int, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ids: tuple[int, ...] = ()
        self._row_of: dict[int, int] = {}
        self._lines: dict[int, SessionSummary] = {}
        self._fresh: set[int] = set()  # whose lines were read since the library last changed
        self._asked: set[int] = set()
        self._missing: set[int] = set()
        self._pictures: dict[int, tuple[datetime, QPixmap]] = {}
        self._painting: set[PictureWish] = set()
        self.filter = ListFilter()
        self.terms: tuple[str, ...] = ()
        self.open_id: int | None = None
        self.tagged = False
        self.writable = True
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._ask)

    # --- contents ----------------------------------------------------------------------------------------------------

    def set_listing(self, listing: Listing) -> bool:
        """Show what was found; whether rows came, went or changed places."""
        same = listing.ids == self._ids
        if listing.terms != self.terms:
            self._lines.clear()  # the excerpts are others
        self._ids = listing.ids
        self._row_of = {session_id: row for row, session_id in enumerate(listing.ids)}
        self.filter, self.terms = listing.filter, listing.terms
        self.tagged, self.writable = bool(listing.tags), listing.reason is None
        self._fresh.clear()
        self._asked.clear()
        self._keep(listing.lines)
        if not same:
            self.setStringList([""] * len(self._ids))  # the view looks at everything anew
        elif self._ids:
            self.dataChanged.emit(self.index(0), self.index(len(self._ids) - 1))
        return not same

    def set_lines(self, lines: Iterable[SessionSummary]) -> None:
        """Lines that were asked for."""
        came = list(lines)
        self._keep(came)
        self._changed(summary.id for summary in came)

    def forget_asked(self) -> None:
        """What was asked for does not come: it may be asked for again."""
        self._asked.clear()

    def set_pictures(self, pictures: Iterable[tuple[PictureWish, QImage]]) -> None:
        came = list(pictures)
        for wish, image in came:
            self._painting.discard(wish)
            self._pictures.pop(wish.session, None)
            self._pictures[wish.session] = (wish.updated, QPixmap.fromImage(image))
        for surplus in list(self._pictures)[: max(0, len(self._pictures) - _MOST_PICTURES)]:
            del self._pictures[surplus]
        self._changed(wish.session for wish, _ in came)

    def forget_pictures(self) -> None:
        """They have the colours of another theme."""
        self._pictures.clear()
        self._painting.clear()

    def set_open(self, session_id: int | None) -> None:
        """Which session is open; its row is marked."""
        before, self.open_id = self.open_id, session_id
        self._changed(number for number in (before, session_id) if number is not None)

    # --- asking ------------------------------------------------------------------------------------------------------

    @property
    def ids(self) -> tuple[int, ...]:
        return self._ids

    def row_of(self, session_id: int) -> int | None:
        """Where a session stands, None where it is not listed."""
        return self._row_of.get(session_id)

    def summary(self, session_id: int) -> SessionSummary | None:
        """A session's line as far as it has been read."""
        return self._lines.get(session_id)

    def line(self, row: int) -> SessionSummary | None:
        """The line of a row; where it is not read yet or may have changed, it is asked for."""
        session_id = self._ids[row]
        if session_id not in self._fresh and session_id not in self._asked:
            self._missing.add(row)
            self._timer.start()
        return self._lines.get(session_id)

    def picture(self, session_id: int) -> QPixmap | None:
        """A session's picture, maybe of a moment ago."""
        known = self._pictures.get(session_id)
        return None if known is None else known[1]

    def pictures_wanted(self, rows: Sequence[int]) -> list[PictureWish]:
        """Which of the rows' pictures are not there or of an earlier state; they count as asked for from here on."""
        wishes = []
        for row in rows:
            summary = self._lines.get(self._ids[row]) if row < len(self._ids) else None
            if summary is None or summary.nodes == 0:
                continue
            wish, known = PictureWish(summary.id, summary.updated), self._pictures.get(summary.id)
            if (known is None or known[0] != summary.updated) and wish not in self._painting:
                self._painting.add(wish)
                wishes.append(wish)
        return wishes

    # --- for the view ------------------------------------------------------------------------------------------------

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
        return flags | Qt.ItemFlag.ItemIsEditable if self.writable and not self.filter.trash else flags

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        summary = self.line(index.row())
        if summary is None:
            return "…" if role == Qt.ItemDataRole.DisplayRole else None
        if role == SUMMARY:
            return summary
        if role == Qt.ItemDataRole.DisplayRole:
            return title_of(summary)
        if role == Qt.ItemDataRole.EditRole:
            return summary.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_of(summary)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(summary, datetime.now().astimezone().date(), opened=summary.id == self.open_id)
        return None

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: N802 - Qt's name
        summary = self._lines.get(self._ids[index.row()])
        if role != Qt.ItemDataRole.EditRole or summary is None or not isinstance(value, str):
            return False
        if value != summary.title:
            self.renamed.emit(summary.id, value)
        return True

    # --- inside ------------------------------------------------------------------------------------------------------

    def _keep(self, lines: Iterable[SessionSummary]) -> None:
        for summary in lines:
            self._lines.pop(summary.id, None)
            self._lines[summary.id] = summary
            self._fresh.add(summary.id)
            self._asked.discard(summary.id)
        for surplus in list(self._lines)[: max(0, len(self._lines) - _MOST_LINES)]:
            del self._lines[surplus]
            self._fresh.discard(surplus)

    def _ask(self) -> None:
        pages = {row // PAGE for row in self._missing if row < len(self._ids)}
        self._missing.clear()
        for page in sorted(pages):
            ids = [n for n in self._ids[page * PAGE : (page + 1) * PAGE] if n not in self._fresh]
            if ids:
                self._asked.update(ids)
                self.wanted.emit(ids)

    def _changed(self, session_ids: Iterable[int]) -> None:
        rows = sorted(self._row_of[session_id] for session_id in session_ids if session_id in self._row_of)
        if rows:
            self.dataChanged.emit(self.index(rows[0]), self.index(rows[-1]))
