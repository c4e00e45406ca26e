"""Connects the actions, and keeps each enabled only while it can do something."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QInputDialog

from explorer.i18n import LANGUAGES, tr, tr_in
from explorer.paths import model_cache
from explorer.tree import ROOT
from ui.action_list import ACTIONS
from ui.actions import OWN_ESCAPE
from ui.controllers.library_controller import LibraryController
from ui.controllers.model_controller import ModelController
from ui.controllers.session_controller import SessionController
from ui.controllers.view_controller import ViewController
from ui.dialogs.command_palette import CommandPalette, PaletteEntry
from ui.dialogs.pages import about_page
from ui.dialogs.shortcuts import ShortcutsDialog
from ui.main_window import MainWindow
from ui.panels.history_panel import kind_label
from ui.preferences import Preferences

_NEEDS_SESSION = (
    *("greedy", "draw", "pick", "run_greedy", "run_draw", "run_n_greedy", "run_n_draw"),
    *("expand", "sample_runs", "beam", "query", "score"),
    *(f"pick_{n}" for n in range(1, 10)),
)
_LONGEST_RUN = 100_000


class ActionController(QObject):
    """The table of what every action does."""

    def __init__(
        self,
        window: MainWindow,
        preferences: Preferences,
        session: SessionController,
        views: ViewController,
        models: ModelController,
        library: LibraryController,
        library_path: Path,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._preferences = preferences
        self._session = session
        self._views = views
        self._models = models
        self._library = library
        self.library_path = library_path
        actions = window.actions_
        actions.connect_all({**self._session_slots(), **self._window_slots()})
        self._set_run_length(preferences.run_length)
        actions.enable(False, "save_again", "restart_engine")  # until there is something to save or to start
        window.candidates.find_edit.setProperty(OWN_ESCAPE, True)
        session.activity_changed.connect(self.refresh)
        self.refresh()

    def _session_slots(self) -> dict[str, Callable[[], object]]:
        """What steps, walks and edits."""
        session, views, preferences = self._session, self._views, self._preferences
        return {
            "save_again": session.save_again,
            "undo": session.undo,
            "redo": session.redo,
            "delete_branch": session.delete_branch,
            "copy_text": views.copy_text,
            "parent": session.parent_node,
            "greedy": session.greedy,
            "draw": session.draw,
            "go_on": session.go_on,
            "run_greedy": lambda: session.run("greedy"),
            "run_draw": lambda: session.run("sample"),
            "run_n_greedy": lambda: session.run("greedy", preferences.run_length),
            "run_n_draw": lambda: session.run("sample", preferences.run_length),
            "stop": session.stop,
            "pick": views.pick_current,
            "sibling_previous": partial(self._sibling, -1),
            "sibling_next": partial(self._sibling, 1),
            "root": session.root,
            **{f"pick_{n}": partial(views.pick_rank, n) for n in range(1, 10)},
        }

    def _window_slots(self) -> dict[str, Callable[[], object]]:
        """What shows, opens and explains."""
        window, models = self._window, self._models
        return {
            "new_session": self._edit_prompt,
            "open_session": lambda: self._show("sessions"),
            "quit": window.close,
            "find": self._find,
            "edit_prompt": self._edit_prompt,
            "settings": lambda: self._show("settings"),
            "fit": window.tree.fit,
            "zoom_in": window.tree.zoom_in,
            "zoom_out": window.tree.zoom_out,
            "center": self._center,
            "reset_layout": window.reset_layout,
            "palette": self.open_palette,
            "models": lambda: self._show("models"),
            "open_folder": window.models.choose_folder,
            "open_gguf": window.models.choose_gguf,
            "open_hub": self._open_hub,
            "open_table": window.models.choose_table,
            "open_lesson": models.open_lesson,
            "get_smollm2": models.get_default,
            "restart_engine": models.restart,
            "run_length": self._ask_run_length,
            "leave_editor": self._leave_editor,
            "candidate_up": lambda: window.candidates.move_current(-1),
            "candidate_down": lambda: window.candidates.move_current(1),
            "shortcuts": self._edit_keys,
            "welcome": window.welcome.show,
            "about": lambda: about_page(window, self.library_path, model_cache()).open(),
        }

    def open_palette(self) -> None:
        """Every command by name."""
        CommandPalette(self._window, self._entries()).open()

    @Slot()
    def refresh(self) -> None:
        """Enable what can do something now."""
        session, actions = self._session, self._window.actions_
        opened, free = session.session is not None, session.free
        current = session.current
        actions.enable(free, *_NEEDS_SESSION)
        # While commands are on their way, where they lead is not known here yet.
        elsewhere = current != ROOT or session.busy
        actions.enable(opened and elsewhere, "parent", "root", "sibling_previous", "sibling_next")
        actions.enable(free and current != ROOT, "delete_branch")
        actions.enable(opened, "export", "copy_picture", "copy_text", "find", "fit", "center")
        actions.enable(opened, "candidate_up", "candidate_down")
        stopped = session.view is not None and session.view.stop is not None
        actions.enable(free and stopped, "go_on")
        actions.enable(session.undo_kind is not None and free, "undo")
        actions.enable(session.redo_kind is not None and free, "redo")
        actions.enable(session.busy, "stop")
        actions.enable(not session.busy, "leave_editor")  # the same key
        self._word_undo()

    def _word_undo(self) -> None:
        actions, session = self._window.actions_, self._session
        undone, redone = session.undo_kind, session.redo_kind
        actions["undo"].setText(tr("Undo: {command}").format(command=kind_label(undone)) if undone else tr("Undo"))
        actions["redo"].setText(tr("Redo: {command}").format(command=kind_label(redone)) if redone else tr("Redo"))

    def _entries(self) -> Iterable[PaletteEntry]:
        for spec in ACTIONS:
            action = self._window.actions_[spec.name]
            number = spec.number or self._preferences.run_length
            texts = (tr(spec.text), *(tr_in(language, spec.text) for language in LANGUAGES))
            names = dict.fromkeys(text.format(number=number) for text in texts)
            yield PaletteEntry(action, tuple(names))

    def _show(self, dock: str) -> None:
        self._window.show_dock(dock)
        widget = self._window.docks[dock].widget()
        following = widget.nextInFocusChain()
        if following is not None:
            following.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _edit_prompt(self) -> None:
        self._window.show_dock("prompt")
        self._window.prompt.edit_prompt()

    def _find(self) -> None:
        self._window.show_dock("candidates")
        self._window.candidates.focus_find()

    def _open_hub(self) -> None:
        self._window.show_dock("models")
        self._window.models.edit_hub_name()

    def _sibling(self, by: int) -> None:
        target = self._window.tree.sibling_of(self._session.current, by)
        if target is not None:
            self._session.select(target)

    def _center(self) -> None:
        view = self._session.view
        self._window.tree.center_on(ROOT if view is None else view.node_id)

    def _leave_editor(self) -> None:
        focus = QApplication.focusWidget()
        if focus is not None and focus.window() is self._window:
            self._window.tree.setFocus(Qt.FocusReason.OtherFocusReason)

    def _ask_run_length(self) -> None:
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle(tr("Number of tokens to run"))
        dialog.setLabelText(tr("Tokens a run takes at most:"))
        dialog.setInputMode(QInputDialog.InputMode.IntInput)
        dialog.setIntRange(1, _LONGEST_RUN)
        dialog.setIntValue(self._preferences.run_length)
        dialog.setOkButtonText(tr("OK"))
        dialog.setCancelButtonText(tr("Cancel"))
        if dialog.exec():
            self._preferences.run_length = dialog.intValue()
            self._set_run_length(dialog.intValue())
        dialog.deleteLater()

    def _set_run_length(self, tokens: int) -> None:
        for name in ("run_n_greedy", "run_n_draw"):
            self._window.actions_.set_number(name, tokens)

    def _edit_keys(self) -> None:
        dialog = ShortcutsDialog(self._window, self._window.actions_, self._preferences.keys)
        if dialog.exec():
            self._preferences.keys = dialog.keys
            self._window.actions_.set_keys(dialog.keys)
        dialog.deleteLater()
