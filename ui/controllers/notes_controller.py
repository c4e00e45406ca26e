"""Stars and notes on nodes: given by key or menu, shown by the canvas, listed in the bar above it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QObject, QRect, Qt, Slot
from PySide6.QtWidgets import QMenu

from explorer.annotations import NO_ANNOTATION, Annotation
from explorer.events import Change
from explorer.i18n import tr
from explorer.tree import ROOT, NodeId
from ui.controllers.session_controller import SessionController
from ui.format import count, elide_middle, tooltip
from ui.growth.note_form import NoteForm
from ui.main_window import MainWindow
from ui.session_thread import OpenedSession

_MOST_LISTED = 40
_LABEL_LENGTH = 28


class NotesController(QObject):
    """Keeps what is noted in the session that is open."""

    def __init__(self, window: MainWindow, session: SessionController) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._annotations: Mapping[NodeId, Annotation] = {}
        self.form = NoteForm(window.tree)
        self.form.start_requested.connect(self._save)
        self.form.closed.connect(self._focus_tree)
        window.view_bar.notes_menu.setToolTipsVisible(True)
        window.view_bar.notes_menu.aboutToShow.connect(self._list)
        window.actions_.connect_all({"star": session.toggle_star, "note": lambda: self.edit_note(session.current)})
        session.opened.connect(self._opened)
        session.changed.connect(self._changed)
        session.activity_changed.connect(self._enable)
        self._enable()

    def at(self, node_id: NodeId) -> Annotation:
        """What is noted at a node."""
        return self._annotations.get(node_id, NO_ANNOTATION)

    def edit_note(self, node_id: NodeId) -> None:
        """Ask for the note of a node."""
        tree = self._window.tree
        if self._session.session is None or self._session.in_past or node_id not in tree.scene.mirror:
            return
        where = tr("at the prompt") if node_id == ROOT else tr("at “{token}”").format(token=self._label(node_id))
        self.form.set_where(where, tr("The node that the note belongs to."))
        self.form.edit(node_id, self.at(node_id).note)
        place = tree.node_rect(node_id).toAlignedRect()
        self.form.open_at(place if tree.rect().intersects(place) else QRect(0, 0, 1, 1))

    @Slot()
    def _save(self) -> None:
        self._session.annotate(self.form.node, note=self.form.text)
        self.form.close_form()

    @Slot()
    def _focus_tree(self) -> None:
        self._window.tree.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- showing -----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _opened(self, opened: OpenedSession) -> None:
        self.form.hide()
        self._take(opened.annotations)

    @Slot(list)
    def _changed(self, changes: list[Change]) -> None:
        for change in changes:
            if change.annotations is not None:
                self._take(change.annotations)
        if any(change.hidden or change.revealed for change in changes):
            self._count()
            if not self.form.isHidden() and self.form.node not in self._window.tree.scene.mirror:
                self.form.close_form()

    def _take(self, annotations: Mapping[NodeId, Annotation]) -> None:
        self._annotations = annotations
        self._window.tree.annotate({node_id: (a.star, a.note) for node_id, a in annotations.items()})
        self._count()
        self._enable()

    def _count(self) -> None:
        self._window.view_bar.set_notes(len(self._listed()))

    @Slot()
    def _enable(self) -> None:
        ready = self._session.session is not None and not self._session.in_past
        self._window.actions_.enable(ready, "star", "note")

    def _listed(self) -> list[NodeId]:
        """The nodes that have a star or a note and are in the tree: stars first, then in order of creation."""
        mirror = self._window.tree.scene.mirror
        return sorted((n for n in self._annotations if n in mirror), key=lambda n: (not self.at(n).star, n))

    @Slot()
    def _list(self) -> None:
        menu, nodes = self._window.view_bar.notes_menu, self._listed()
        menu.clear()
        for node_id in nodes[:_MOST_LISTED]:
            self._add(menu, node_id)
        if len(nodes) > _MOST_LISTED:
            more = menu.addAction(
                tr("{number} more: look through the notes").format(number=count(len(nodes) - _MOST_LISTED))
            )
            more.triggered.connect(self._find_notes)

    def _add(self, menu: QMenu, node_id: NodeId) -> None:
        annotation, tree = self.at(node_id), self._window.tree
        mark = "★" if annotation.star else "☆"
        label = tr("(prompt)") if node_id == ROOT else f"“{self._text(node_id)}”"
        note = elide_middle(" ".join(annotation.note.split()), 2 * _LABEL_LENGTH)
        text = f"{mark} {label}  –  {note}" if note else f"{mark} {label}"
        entry = menu.addAction(text.replace("&", "&&"), partial(self._session.select, node_id))
        entry.setToolTip(tooltip(*tree.description(node_id)))

    @Slot()
    def _find_notes(self) -> None:
        self._window.view_bar.set_query({"scope": "notes", "regex": False})
        self._window.view_bar.focus_find()

    def _text(self, node_id: NodeId) -> str:
        text = " ".join(self._window.tree.scene.text_of(node_id).split())
        return text if len(text) <= _LABEL_LENGTH else "…" + text[1 - _LABEL_LENGTH :]

    def _label(self, node_id: NodeId) -> str:
        return elide_middle(self._window.tree.scene.label_of(node_id), _LABEL_LENGTH)
