"""Messages and what can be done about them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Slot

from explorer.i18n import N_, tr
from explorer.messages import UserMessage
from ui.bridge import Bridge
from ui.controllers.library_controller import LibraryController
from ui.controllers.model_controller import ModelController
from ui.controllers.session_controller import SessionController
from ui.main_window import MainWindow
from ui.panels.message_area import MessageAction

# The library has another state of this session, or none: trying again cannot help, and nothing may be lost.
_NEEDS_COPY = frozenset({"store.conflict", "store.missing"})
_DAMAGED = frozenset({"store.damaged", "store.damage_found"})
_ENDED_CODES = frozenset({"engine.crashed", "engine.stopped", "engine.ended", "engine.start"})


class MessageController(QObject):
    """Brings every message to the message area, with a button that does what it suggests."""

    def __init__(
        self,
        window: MainWindow,
        bridge: Bridge,
        session: SessionController,
        models: ModelController,
        library: LibraryController,
        recover: Callable[[Path], object],
    ) -> None:
        """``recover`` gets out of a damaged library what is left."""
        super().__init__(window)
        self._window = window
        self._session = session
        self._models = models
        self._library = library
        self._recover = recover
        self._unsaved_codes: set[str] = set()
        bridge.failed.connect(self.show_message)
        models.failed.connect(self.show_message)
        models.loading_changed.connect(self._loading_changed)
        bridge.happened.connect(self._take_event)

    @Slot(object)
    def show_message(self, message: UserMessage) -> None:
        """Show a message; that a model which has ended is not loaded, is said with the way to start it again.

        That a library is damaged is said once, however many of its pages are met.
        """
        shown = ((shown.code, shown.params.get("path")) for shown in self._window.messages.messages)
        if message.code == "store.damaged" and ("store.damage_found", message.params.get("path")) in shown:
            return
        status = self._models.status
        if message.code == "engine.not_live" and status is not None and status.state == "ended":
            message = _ended()
        self._window.messages.show_message(message, self._actions(message))

    @Slot(bool)
    def _loading_changed(self, loading: bool) -> None:
        if loading:
            self._window.messages.dismiss("model.", "engine.")

    @Slot(str, object)
    def _take_event(self, name: str, value: Any) -> None:
        if name == "trouble":
            for message in value:
                self.show_message(message)
        elif name in ("library", "library_failed"):
            if value is not None:
                self.show_message(value)
        elif name == "saving":
            self._window.status.set_saved(value.unsaved, value.error)
            if value.error is not None:
                self._unsaved_codes.add(value.error.code)
                self.show_message(value.error)
            elif value.unsaved == 0:
                # Only what was said of saving: that the library could not be opened stays true.
                self._window.messages.dismiss(*self._unsaved_codes)
                self._unsaved_codes.clear()
            self._window.actions_.enable(value.unsaved > 0, "save_again")
        elif name == "engine":
            self._engine_changed(value.state)

    def _engine_changed(self, state: str) -> None:
        messages = self._window.messages
        if state == "ready":
            messages.dismiss("engine.")
        elif state == "ended":
            messages.dismiss("engine.not_live")
            if not any(m.code.startswith("engine.") for m in messages.messages):
                self.show_message(_ended())

    def _actions(self, message: UserMessage) -> tuple[MessageAction, ...]:
        code = message.code
        if code == "engine.not_live" or code == "model.not_here":
            return (MessageAction(tr("Load its model"), tr("Load the session's own model."), self._library.load_model),)
        if code == "engine.no_model" or code.startswith("model."):
            show = tr("Show what can be opened.")
            return (MessageAction(tr("Models…"), show, self._window.actions_["models"].trigger),)
        if code in _ENDED_CODES:
            start = tr("Start the model's process again.")
            return (MessageAction(tr("Start again"), start, self._models.restart),)
        if code in _NEEDS_COPY:
            copy = tr("Write everything of this session, with what is not saved yet, as another session.")
            return (MessageAction(tr("Save as a copy"), copy, self._save_copy),)
        if code in _DAMAGED and "path" in message.params:
            recover = tr("Put what is left of it into a new library; the damaged file stays as it is.")
            path = Path(message.params["path"])
            return (MessageAction(tr("Recover…"), recover, partial(self._recover, path)),)
        if code.startswith("store."):
            again = tr("Write to the library what could not be written.")
            return (MessageAction(tr("Try to save again"), again, self._session.save_again),)
        if code.startswith("prompt."):
            edit = tr("Put the cursor into the prompt.")
            return (MessageAction(tr("Edit the prompt"), edit, self._window.actions_["edit_prompt"].trigger),)
        return ()

    def _save_copy(self) -> None:
        last, opened = self._session.last, self._session.session
        state = last.state if last is not None else opened.state if opened is not None else None
        if state is not None:
            self._session.save_copy(tr("{title} (copy)").format(title=state.title))


def _ended() -> UserMessage:
    return UserMessage(
        "engine.ended",
        N_("The model's process has ended."),
        N_("The session and its tree are safe; what was recorded can be looked at. New steps need the model."),
        N_("Start it again; you go on where you were."),
    )
