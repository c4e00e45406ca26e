"""What is shown of a tree, and how: contents, options, folds, focus, and what lies over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

from explorer.events import Change
from explorer.text import Vocabulary
from explorer.tree import ROOT, Node
from ui.format import LogUnit
from ui.theme import MapName
from ui.tree.mirror import NO_NODE
from ui.tree.options import TreeViewOptions
from ui.tree.overlay import TreeOverlay
from ui.tree.surface import TreeSurface
from ui.tree.weights import TreeWeights


class TreeView(TreeSurface):
    """The contents of a `TreeSurface`, changed so that the eye can follow, and told to whoever must know."""

    options_changed = Signal(object)
    """`TreeViewOptions` were set."""
    folds_changed = Signal()
    """Nodes were folded or unfolded; see `folded`."""
    focus_changed = Signal(int)
    """The node whose subtree alone is shown now; -1 for the whole tree."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scene.placement.settled.connect(self._settled)
        self._corners.breadcrumb.whole_requested.connect(self._leave_focus)
        self._corners.breadcrumb.up_requested.connect(self._widen_focus)
        self._tell()

    # --- contents ----------------------------------------------------------------------------------------------------

    def reset(
        self,
        prompt_label: str,
        nodes: Sequence[Node],
        hidden: frozenset[int],
        current: int,
        *,
        stops: Mapping[int, str] | None = None,
        end_tokens: frozenset[int] = frozenset(),
    ) -> None:
        """Show another tree: its nodes in order of creation, and which of them are hidden.

        ``stops`` gives the kinds of stop events by node, ``end_tokens`` the ids that end a text.
        """
        self._motion.stop()
        focus, folded = self.focus_node, self.folded
        self.scene.reset(prompt_label, nodes, hidden, current, stops or {}, end_tokens)
        self._place_first()
        self._tell()
        self._announce(focus, folded)

    def apply(self, change: Change) -> None:
        """Take over what one command changed."""
        focus, folded = self.focus_node, self.folded
        with self._rearrangement(self.scene.current):
            self.scene.apply(change)
            self.scene.set_current(change.state.current)
        self._follow()
        self._tell()
        self._announce(focus, folded)

    def set_stops(self, stops: Mapping[int, str]) -> None:
        """Show other stop events than those told so far; their kinds by node."""
        if stops == self.scene.stops:
            return
        with self._rearrangement(self.scene.current):
            self.scene.set_stops(stops)
        self._tell()

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """The vocabulary behind the tokens; None before a session is open."""
        self.scene.set_vocabulary(vocabulary)
        self._measured()

    def set_current(self, node_id: int) -> None:
        """Mark the current node and bring it into sight, also out of folded branches."""
        if node_id == self.scene.current:
            self._follow()
            return
        focus, folded = self.focus_node, self.folded
        with self._rearrangement(self.scene.current):
            self.scene.set_current(node_id)
        self._follow()
        self._tell()
        self._announce(focus, folded)

    def _announce(self, focus: int | None, folded: frozenset[int]) -> None:
        """Tell if folds and focus are others than they were."""
        if self.folded != folded:
            self.folds_changed.emit()
        if self.focus_node != focus:
            self.focus_changed.emit(NO_NODE if self.focus_node is None else self.focus_node)

    def set_log_unit(self, unit: LogUnit) -> None:
        """Say logarithms in nats or bits."""
        self.scene.unit = unit
        self._tell()

    def set_colour_map(self, name: MapName) -> None:
        """Colour by cividis or by viridis."""
        self.scene.map_name = name
        self._tell()

    def set_animated(self, animated: bool) -> None:
        """Whether nodes slide and the view glides."""
        self._motion.enabled = self.look.animated = animated
        self._motion.stop()

    def highlight_node(self, node_id: int) -> None:
        """Show the path of a node that is hovered elsewhere; -1 for none."""
        self.scene.hovered = node_id if node_id in self.scene.mirror else NO_NODE
        self._look_elsewhere()

    def description(self, node_id: int) -> list[str]:
        """Everything to be said of a node, a line each."""
        return self.scene.description(node_id)

    # --- how it is shown ---------------------------------------------------------------------------------------------

    @property
    def options(self) -> TreeViewOptions:
        return self.scene.options

    def set_options(self, options: TreeViewOptions) -> None:
        """Look at the same tree in another way."""
        if options == self.scene.options:
            return
        turned = options.orientation != self.scene.options.orientation
        with self._rearrangement(self.scene.current, moving=not turned):
            self.scene.set_options(options)
        if turned:
            self._place_first()
        self._tell()
        self.options_changed.emit(options)

    @property
    def overlay(self) -> TreeOverlay | None:
        """What lies over the tree."""
        return self.scene.overlay

    def set_overlay(self, overlay: TreeOverlay | None) -> None:
        """Lay marks, badges and a caption over the tree; None takes them away."""
        with self._rearrangement(self.scene.current):
            self.scene.set_overlay(overlay)
        self._tell()

    def set_matches(self, node_ids: Iterable[int]) -> None:
        """Mark nodes as found, over whatever else lies over the tree; none takes the marks away."""
        with self._rearrangement(self.scene.current):
            self.scene.set_matches(node_ids)
        self._tell()

    def unfold_all(self) -> None:
        """Show everything that was folded again."""
        self._fold((), self.scene.current)

    def set_weights(self, weights: TreeWeights | None) -> None:
        """Show the tree by other numbers; None goes back to the model probabilities recorded with the edges."""
        self.scene.set_weights(weights)
        self._tell()

    def annotate(self, annotations: Mapping[int, tuple[bool, str]]) -> None:
        """Put stars and notes on nodes, by id, in place of those before: ``(star, note)``; the note may be empty."""
        with self._rearrangement(self.scene.current):
            self.scene.annotate(annotations)
        self._tell()

    @property
    def folded(self) -> frozenset[int]:
        """Nodes whose descendants are out of sight."""
        return frozenset(self.scene.outline.folded)

    def fold(self, node_id: int) -> None:
        """Put the descendants of a node out of sight. A leaf cannot be folded."""
        self._fold(self.folded | {node_id}, node_id)

    def unfold(self, node_id: int) -> None:
        """Show the descendants of a node again, apart from those below other folded nodes."""
        self._fold(self.folded - {node_id}, node_id)

    @Slot(int)
    def toggle_fold(self, node_id: int) -> None:
        """Fold a node, or unfold it."""
        self._fold(self.folded ^ {node_id}, node_id)

    def _fold(self, folded: Iterable[int], anchor: int) -> None:
        before = self.folded
        with self._rearrangement(anchor):
            changed = self.scene.set_folded(folded)
        if changed:
            self._tell()
            self._announce(self.focus_node, before)

    @property
    def focus_node(self) -> int | None:
        """The node whose subtree alone is shown; None for the whole tree."""
        return None if self.scene.outline.top == ROOT else self.scene.outline.top

    def focus_on(self, node_id: int | None) -> None:
        """Show the subtree of a node alone; None (or the root) shows the whole tree again."""
        focus = ROOT if node_id is None or node_id not in self.scene.mirror else node_id
        before = self.scene.outline.top
        self._motion.stop()
        if not self.scene.set_focus(focus):
            return
        self._measured()
        self.look.place_first(self.scene.place_of(before if focus == ROOT else focus).center())
        self._tell()
        self._announce(None if before == ROOT else before, self.folded)

    @Slot()
    def _leave_focus(self) -> None:
        self.focus_on(None)

    @Slot()
    def _widen_focus(self) -> None:
        self.focus_on(int(self.scene.mirror.parent[self.scene.outline.top]))

    @Slot()
    def _settled(self) -> None:
        """A layout that took its time is there."""
        with self._rearrangement(self.scene.current):
            self.scene.geometry.moved()

    # --- saying ------------------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        """Bring legend, breadcrumb and description up to date after a change of the tree or of how it is shown."""
        self._refresh()
        self._corners.tell(self.scene, self._frame())
        if self._corners.foot != self.look.foot:
            self.look.foot = self._corners.foot
            self._measured()
            self.look.refit()
        self._tell_position()

    def _tell_position(self) -> None:
        if self.scene.current not in self.scene.mirror:
            return
        text = "\n".join(self.description(self.scene.current))
        self.setAccessibleDescription(text)
        if QAccessible.isActive() and self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))
