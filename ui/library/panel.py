"""The library: every session ever explored, found again by what is in it, and kept in order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QKeyCombination, QPoint, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from explorer.i18n import sentences, tr
from explorer.messages import UserMessage
from explorer.store.records import SessionSummary
from ui.library.filter_bar import FilterBar
from ui.library.model import SessionsModel
from ui.library.notice import Banner, EmptyPlace, Offer
from ui.library.query import ListFilter, Listing
from ui.library.session_list import SessionList
from ui.library.session_menu import fill_menu
from ui.library.strip import Strip
from ui.library.verbs import VERBS, fits
from ui.library.words import sessions_count
from ui.panels.common import GRID, describe, plain_label, push_button

_LEAST_BUTTON = 15 * GRID
_SAME_KEY = {QKeyCombination(Qt.KeyboardModifier.ShiftModifier, Qt.Key.Key_Asterisk): Qt.Key.Key_Asterisk}


class LibraryPanel(QWidget):
    """Shows what it is given and asks for what it is told: controllers do the rest."""

    filter_changed = Signal()
    """Something else is looked for: see `filter`."""
    asked = Signal(str)
    """A verb of `ui.library.verbs`, for what is chosen: see `chosen`."""
    tag_toggled = Signal(str, bool)
    """Put a tag on what is chosen, or take it away."""
    star_clicked = Signal(int)
    new_requested = Signal()
    import_requested = Signal()
    empty_requested = Signal()
    retry_requested = Signal()
    came_into_sight = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.model = SessionsModel(self)
        self.list = SessionList(self.model)
        self.bar = FilterBar()
        self.strip = Strip()
        self.empty = EmptyPlace()
        self.unindexed = plain_label(quiet=True)
        self.unindexed.hide()
        self.read_only = Banner(tr("Why?"), tr("Say why the library can only be read, and what helps."), self._tell_why)
        self.trash_banner = Banner(
            tr("Empty…"), tr("Delete everything in the trash for good, after a question."), self.empty_requested.emit
        )
        self._reason: UserMessage | None = None
        self._listing: Listing | None = None
        self._places = QStackedWidget()
        self._places.addWidget(self.list)
        self._places.addWidget(self.empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        for widget in (self.bar, self.read_only, self.trash_banner, self.unindexed):
            layout.addWidget(widget)
        layout.addWidget(self._places, 1)
        layout.addWidget(self.strip)
        layout.addLayout(self._buttons())
        self._connect()
        self._show_empty(tr("Reading the library…"))

    def _buttons(self) -> QHBoxLayout:
        self._main = push_button("", "", self._do_main)
        new = push_button(tr("New"), tr("Go to the prompt and start another session."), self.new_requested.emit)
        bring = push_button(
            tr("Import…"),
            tr("Take over sessions from files that were shared (*.ttsession)."),
            self.import_requested.emit,
        )
        self._more = QToolButton()
        self._more.setText(tr("More"))
        describe(self._more, tr("More"), tr("Rename, tag, note, duplicate, export or delete the chosen sessions."))
        self._more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self._more)
        self._menu.aboutToShow.connect(lambda: self._fill(self._menu))
        self._more.setMenu(self._menu)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        for button in (self._main, new, bring):
            button.setMinimumWidth(_LEAST_BUTTON)  # three of them and the menu fit the narrowest dock
        for widget in (self._main, new, bring, self._more):
            buttons.addWidget(widget)
        self.import_button = bring
        return buttons

    def _connect(self) -> None:
        self.bar.changed.connect(self.filter_changed)
        self.bar.edit.left.connect(self._enter_list)
        self.list.selection_changed.connect(self._chosen_changed)
        self.list.open_requested.connect(self._do_main)
        self.list.menu_requested.connect(self._open_menu)
        self.list.delegate.star_clicked.connect(self.star_clicked)
        keys = {verb.key for verb in VERBS.values() if verb.key is not None} | _SAME_KEY.keys()
        self.list.set_keys({key: partial(self._press, key) for key in keys})
        self._chosen_changed()

    # --- for controllers ---------------------------------------------------------------------------------------------

    @property
    def filter(self) -> ListFilter:
        return self.bar.filter

    @property
    def listing(self) -> Listing | None:
        """What is listed; None until the library has been read."""
        return self._listing

    @property
    def writable(self) -> bool:
        return self._reason is None and self._listing is not None

    def chosen(self) -> list[int]:
        """The numbers of the chosen sessions, from top to bottom."""
        return self.list.chosen()

    def choose(self, session_ids: Sequence[int]) -> None:
        """Choose those of the sessions that are listed, and bring the first into sight."""
        self.list.choose(list(session_ids))
        if self.list.currentIndex().isValid():
            self.list.scrollTo(self.list.currentIndex())

    def set_listing(self, listing: Listing) -> None:
        """Show what was found; what was chosen stays so, else what has taken its place."""
        chosen, current = self.list.chosen(), self.list.current()
        row, top = self.list.currentIndex().row(), self.list.verticalScrollBar().value()
        same_filter = self._listing is not None and self._listing.filter == listing.filter
        self._listing, self._reason = listing, listing.reason
        if bool(listing.tags) != self.model.tagged:
            self.list.scheduleDelayedItemsLayout()  # rows get a line more, or lose it
        if self.model.set_listing(listing):
            self.list.choose(chosen, current)
            if same_filter:
                self._stay_near(row, top)
        self.bar.set_library(listing.tags, listing.trashed, len(listing.ids), writable=self.writable)
        self._show_banners(listing)
        self._choose_place(listing)
        self._chosen_changed()

    def set_problem(self, message: UserMessage) -> None:
        """The library could not be read: say so in place of the list."""
        retry = (tr("Try again"), tr("Read the library again."), self.retry_requested.emit)
        self._show_empty(message.text(), retry)

    def set_open(self, session_id: int | None) -> None:
        """Which session is open; it is marked, and chosen where nothing else is."""
        self.model.set_open(session_id)
        if session_id is not None and not self.list.chosen():
            self.list.choose([session_id])

    # --- what is shown -----------------------------------------------------------------------------------------------

    def _stay_near(self, row: int, top: int) -> None:
        self.list.verticalScrollBar().setValue(top)
        if row >= 0 and not self.list.chosen() and self.model.ids:
            self.list.choose([self.model.ids[min(row, len(self.model.ids) - 1)]])

    def _show_banners(self, listing: Listing) -> None:
        self.read_only.show_text(tr("This library can only be read.") if listing.reason is not None else "")
        waits = listing.unindexed and listing.reason is None
        unread = tr("Not looked through yet: the texts of {sessions}. What is in them comes by itself.")
        self.unindexed.setText(unread.format(sessions=sessions_count(listing.unindexed)) if waits else "")
        self.unindexed.setVisible(bool(waits))
        in_trash = listing.filter.trash and bool(listing.trashed)
        kept = tr("In the trash: {sessions}. They stay until it is emptied.")
        self.trash_banner.show_text(
            kept.format(sessions=sessions_count(listing.trashed)) if in_trash else "", offers=listing.reason is None
        )

    def _choose_place(self, listing: Listing) -> None:
        if listing.ids:
            self._places.setCurrentWidget(self.list)
        elif listing.filter.narrows:
            everything = (tr("Show all"), tr("Look for nothing in particular."), self._show_all)
            self._show_empty(tr("No session fits what is looked for."), everything)
        elif listing.filter.trash:
            self._show_empty(tr("The trash is empty. What is deleted in the list comes here first."))
        else:
            new = (tr("New session"), tr("Go to the prompt and start a session."), self.new_requested.emit)
            text = sentences(
                (
                    tr("No session yet."),
                    tr("Start one from the prompt; it is saved by itself."),
                    tr("Or drop a shared session here (*.ttsession)."),
                )
            )
            self._show_empty(text, new)

    def _show_empty(self, text: str, *offers: Offer) -> None:
        self.empty.show_text(text, offers)
        self._places.setCurrentWidget(self.empty)

    def _show_all(self) -> None:
        self.bar.set_filter(ListFilter(trash=self.filter.trash))

    def _tell_why(self) -> None:
        if self._reason is not None:
            self.strip.say(sentences(self._reason.sentences()[::2]))

    # --- what is done ------------------------------------------------------------------------------------------------

    def fits(self, name: str) -> bool:
        """Whether a verb can be done now."""
        return fits(
            VERBS[name], len(self.chosen()), self._lines(), trash=self.model.filter.trash, writable=self.writable
        )

    def do(self, name: str) -> None:
        """Ask for a verb, where it can be done."""
        if self.fits(name):
            self.asked.emit(name)

    def _lines(self) -> list[SessionSummary]:
        return self.list.chosen_lines()

    def _do_main(self) -> None:
        self.do("restore" if self.model.filter.trash else "open")

    def _press(self, key: QKeyCombination) -> None:
        wanted = QKeyCombination(_SAME_KEY[key]) if key in _SAME_KEY else key
        for name, verb in VERBS.items():
            if verb.key == wanted and self.fits(name):
                self.asked.emit(name)
                return

    def _chosen_changed(self) -> None:
        verb = VERBS["restore" if self.model.filter.trash else "open"]
        self._main.setText(tr(verb.text))
        describe(self._main, tr(verb.text), tr(verb.help))
        self._main.setEnabled(self.fits(verb.name))
        self._more.setEnabled(bool(self.chosen()))

    def _enter_list(self) -> None:
        if self.model.ids:
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
            if not self.list.chosen():
                self.list.choose([self.model.ids[0]])

    def _fill(self, menu: QMenu) -> None:
        tags = self._listing.tags if self._listing is not None else {}
        fill_menu(menu, self._lines(), tags, self.fits, self.do, self.tag_toggled.emit, trash=self.model.filter.trash)

    def _open_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        self._fill(menu)
        menu.exec(place)
        menu.deleteLater()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.came_into_sight.emit()
