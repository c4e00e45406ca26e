"""What can be done to the tree: folding, focusing, zooming, and the menus of its nodes and of its ground."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QPoint, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu

from explorer.i18n import tr
from explorer.tree import ROOT, NodeId
from ui.controllers.export_controller import ExportController
from ui.controllers.notes_controller import NotesController
from ui.controllers.session_controller import SessionController
from ui.controllers.view_controller import ViewController
from ui.main_window import MainWindow
from ui.menu_list import SEPARATOR, TREE_OPTIONS
from ui.tree.copied import path_ids, path_table
from ui.tree.mirror import NO_NODE

_GROUND = ("fit", "whole_tree", "unfold_all", SEPARATOR, "find_in_tree", SEPARATOR, "export", "copy_picture")
_NEEDS_SESSION = ("fold", "focus_subtree", "zoom_branch", "zoom_path")


class TreeController(QObject):
    """Keys act on the current node, the menu of a node on that node."""

    def __init__(
        self,
        window: MainWindow,
        session: SessionController,
        views: ViewController,
        notes: NotesController,
        exports: ExportController,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._tree = window.tree
        self._session = session
        self._views = views
        self._notes = notes
        self._exports = exports
        self._exporting: NodeId | None = None
        window.actions_.connect_all(
            {
                "fold": lambda: self.fold(session.current),
                "unfold_all": self._tree.unfold_all,
                "focus_subtree": lambda: self._tree.focus_on(session.current),
                "whole_tree": lambda: self._tree.focus_on(None),
                "zoom_branch": lambda: self.zoom_to_branch(session.current),
                "zoom_path": lambda: self.zoom_to_path(session.current),
            }
        )
        self._tree.context_menu_requested.connect(self.open_menu)
        for signal in (self._tree.folds_changed, self._tree.focus_changed, session.activity_changed):
            signal.connect(self._enable)
        session.shown.connect(self._export_waiting)
        self._enable()

    # --- what can be done --------------------------------------------------------------------------------------------

    def fold(self, node_id: NodeId) -> None:
        """Fold a node, or unfold it; of a leaf, the nearest branching above it."""
        mirror = self._tree.scene.mirror
        while node_id in mirror and node_id != ROOT and not mirror.children[node_id]:
            node_id = int(mirror.parent[node_id])
        self._tree.toggle_fold(node_id)

    def zoom_to_branch(self, node_id: NodeId) -> None:
        """Bring a node and everything below it into sight."""
        self._tree.zoom_to([node_id, *self._tree.scene.outline.below(node_id).tolist()])

    def zoom_to_path(self, node_id: NodeId) -> None:
        """Bring the way from the prompt to a node into sight."""
        self._tree.zoom_to(self._tree.scene.mirror.path(node_id))

    def export_path(self, node_id: NodeId) -> None:
        """Ask for a picture of the path to a node, which becomes the current one."""
        if node_id == self._tree.scene.current:
            self._exports.open_dialog("path")
        else:
            self._exporting = node_id
            self._session.select(node_id)

    @Slot()
    def _export_waiting(self) -> None:
        node_id, self._exporting = self._exporting, None
        if node_id is not None and node_id == self._tree.scene.current:
            self._exports.open_dialog("path")

    def _run(self, node_id: NodeId, how: str) -> None:
        self._session.select(node_id)
        self._session.run("greedy" if how == "greedy" else "sample")

    @Slot()
    def _enable(self) -> None:
        actions, opened = self._window.actions_, self._session.session is not None
        actions.enable(opened, *_NEEDS_SESSION)
        actions.enable(bool(self._tree.folded), "unfold_all")
        actions.enable(self._tree.focus_node is not None, "whole_tree")

    # --- menus -------------------------------------------------------------------------------------------------------

    @Slot(int, QPoint)
    def open_menu(self, node_id: NodeId, at: QPoint) -> None:
        """The menu of a node, or of the ground where it is -1."""
        menu = QMenu(self._window)
        menu.setToolTipsVisible(True)
        if node_id == NO_NODE:
            self._fill_ground(menu)
        else:
            self._fill_node(menu, node_id)
        menu.exec(at)
        menu.deleteLater()

    def _fill_ground(self, menu: QMenu) -> None:
        actions = self._window.actions_
        for name in _GROUND:
            if name == SEPARATOR:
                menu.addSeparator()
            else:
                menu.addAction(actions[name])
        options = menu.addMenu(tr("View options"))
        actions.fill_sections(options, TREE_OPTIONS)

    def _fill_node(self, menu: QMenu, node_id: NodeId) -> None:
        add = partial(self._add, menu, node_id)
        free = self._session.free
        add(tr("Go here"), partial(self._session.select, node_id), enabled=node_id != self._session.current)
        add(tr("Run from here, greedy"), partial(self._run, node_id, "greedy"), "run_greedy", enabled=free)
        add(tr("Run from here, drawn"), partial(self._run, node_id, "sample"), "run_draw", enabled=free)
        self._views.node_menu_opening.emit(menu, node_id)
        self._fill_search(menu, node_id)
        menu.addSeparator()
        self._fill_looks(menu, node_id)
        menu.addSeparator()
        star, note = (self._notes.at(node_id).star, self._notes.at(node_id).note)
        toggle, edit = partial(self._session.toggle_star, node_id), partial(self._notes.edit_note, node_id)
        present = not self._session.in_past
        add(tr("Take the star away") if star else tr("Star"), toggle, "star", enabled=present)
        add(tr("Change the note…") if note else tr("Note…"), edit, "note", enabled=present)
        menu.addSeparator()
        self._fill_copies(menu.addMenu(tr("Copy")), node_id)
        add(tr("Export a picture of the path…"), partial(self.export_path, node_id))
        if node_id != ROOT:
            menu.addSeparator()
            delete = partial(self._session.delete_branch, node_id)
            add(tr("Delete branch"), delete, "delete_branch", enabled=free)

    def _fill_search(self, menu: QMenu, node_id: NodeId) -> None:
        beam = self._window.actions_["beam"]

        def search() -> None:
            self._session.select(node_id)
            beam.trigger()

        self._add(menu, node_id, beam.text(), search, "beam", enabled=beam.isEnabled())

    def _fill_looks(self, menu: QMenu, node_id: NodeId) -> None:
        add, tree = partial(self._add, menu, node_id), self._tree
        branches = bool(tree.scene.mirror.children[node_id])
        folded = node_id in tree.folded
        add(tr("Unfold") if folded else tr("Fold"), partial(tree.toggle_fold, node_id), "fold", enabled=branches)
        if tree.focus_node == node_id:
            add(tr("Whole tree"), partial(tree.focus_on, None), "whole_tree")
        elif node_id != ROOT:
            add(tr("Only this subtree"), partial(tree.focus_on, node_id), "focus_subtree")
        add(tr("Zoom to the branch"), partial(self.zoom_to_branch, node_id), "zoom_branch")
        add(tr("Zoom to the path"), partial(self.zoom_to_path, node_id), "zoom_path")

    def _fill_copies(self, menu: QMenu, node_id: NodeId) -> None:
        add, scene = partial(self._add, menu, node_id), self._tree.scene
        copy = QGuiApplication.clipboard().setText
        generated = node_id != ROOT
        add(tr("Text of the path"), lambda: copy(scene.text_of(node_id)), enabled=generated)
        add(tr("Token ids of the path"), lambda: copy(path_ids(scene.mirror, node_id)), enabled=generated)
        add(
            tr("Values of the path, a row a token"),
            lambda: copy(path_table(scene.mirror, scene.vocabulary, node_id)),
            enabled=generated,
        )
        add(tr("Everything said of this node"), lambda: copy("\n".join(scene.description(node_id))))

    def _add(
        self,
        menu: QMenu,
        node_id: NodeId,
        text: str,
        slot: Callable[[], object],
        action: str = "",
        *,
        enabled: bool = True,
    ) -> QAction:
        """An entry; where the keys of a window's ``action`` would do the same, they stand beside it."""
        entry = QAction(text, menu)
        entry.triggered.connect(lambda _checked=False: slot())
        entry.setEnabled(enabled)
        if action:
            of_window = self._window.actions_[action]
            entry.setIcon(of_window.icon())
            keys = of_window.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            if keys and node_id == self._session.current:
                entry.setText(f"{text}\t{keys}")
        menu.addAction(entry)
        return entry
