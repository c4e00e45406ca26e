"""Keeps the list of sessions in step with the library: what is looked for, what others change, lines and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Slot

from explorer.messages import UserMessage
from ui.bridge import Bridge, Job
from ui.controllers.session_controller import SessionController
from ui.library.query import Listing, PictureWish
from ui.library.shelf import Shelf
from ui.library.thread import LibraryThread
from ui.main_window import MainWindow
from ui.session_thread import OpenedSession

_LIST_AFTER_MS = 400  # of the session's standing still


class SessionsController(QObject):
    """Between the library's panel and its thread. The list is read while it is in sight, and only then."""

    def __init__(self, window: MainWindow, bridge: Bridge, thread: LibraryThread, session: SessionController) -> None:
        super().__init__(window)
        self._panel = window.sessions
        self._thread = thread
        self._listing: Job[Shelf] | None = None
        self._stale = True
        self._to_choose: tuple[int, ...] = ()
        self.path: Path | None = None
        """The library that is listed; None until the session thread has opened it, or made it."""
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_LIST_AFTER_MS)
        self._timer.timeout.connect(self.refresh)
        panel = self._panel
        panel.filter_changed.connect(self._read)
        panel.retry_requested.connect(self._read)
        panel.came_into_sight.connect(self._came_into_sight)
        panel.model.wanted.connect(self._read_lines)
        panel.list.pictures_wanted.connect(self._paint)
        session.opened.connect(self._opened)
        session.changed.connect(self._timer.start)
        bridge.happened.connect(self._take_event)

    @Slot()
    def refresh(self) -> None:
        """The library may have changed: read the list anew, now or when it comes into sight."""
        if self._panel.isVisible():
            self._read()
        else:
            self._stale = True

    def choose(self, session_ids: tuple[int, ...]) -> None:
        """Read the list anew, and choose these sessions in it."""
        self._to_choose = session_ids
        self.refresh()

    # --- inside ------------------------------------------------------------------------------------------------------

    def _turn_to(self, path: Path) -> None:
        if self.path is not None and path != self.path:
            self._panel.set_open(None)
        self.path = path
        self._thread.post("turn to a library", lambda shelf, job: shelf.turn_to(path))
        self.refresh()

    @Slot()
    def _came_into_sight(self) -> None:
        if self._stale:
            self._read()

    @Slot()
    def _read(self) -> None:
        """The latest question wins: one that waits is dropped."""
        if self.path is None:
            return
        self._stale = False
        self._timer.stop()
        if self._listing is not None:
            self._listing.cancel.cancel()
        asked = self._panel.filter

        def done(listing: Listing) -> None:
            if self._listing is job:
                self._listing = None
                self._show(listing)

        def failed(message: UserMessage) -> None:
            if self._listing is job:
                self._listing = None
                self._panel.set_problem(message)

        job = self._listing = self._thread.post(
            "list sessions", lambda shelf, job: shelf.listing(asked), done=done, failed=failed
        )

    def _show(self, listing: Listing) -> None:
        self._panel.set_listing(listing)
        to_choose, self._to_choose = self._to_choose, ()
        if to_choose:
            self._panel.choose(to_choose)

    @Slot(list)
    def _read_lines(self, ids: list[int]) -> None:
        model = self._panel.model
        words = model.filter.words
        self._thread.post(
            "lines",
            lambda shelf, job: shelf.lines(ids, words),
            done=lambda lines: model.set_lines(lines) if model.filter.words == words else None,
            failed=lambda _: model.forget_asked(),
        )

    @Slot(list)
    def _paint(self, wishes: list[PictureWish]) -> None:
        view = self._panel.list
        ink, ratio = view.delegate.rows.ink, view.devicePixelRatioF()
        self._thread.post(
            "pictures",
            lambda shelf, job: shelf.pictures(wishes, ink, ratio),
            done=lambda pictures: self._panel.model.set_pictures(pictures),
            failed=lambda _: None,  # a list without a picture is a list all the same
        )

    @Slot(object)
    def _opened(self, opened: OpenedSession) -> None:
        self._panel.set_open(opened.id)
        self._timer.start()
        # From now on texts are indexed in the background; before, the first session came first.
        self._thread.post("open the library", lambda shelf, job: shelf.store is None, failed=lambda _: None)

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name == "library_changed":
            self.refresh()
        elif name == "library_path":
            self._turn_to(value)
