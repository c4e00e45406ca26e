"""What the canvas shows, apart from how it is looked at: the tree's mirror, its boxes and places, labels, marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QFont

from explorer.events import Change
from explorer.text import Vocabulary
from explorer.tree import ROOT, Node
from ui.format import LogUnit
from ui.theme import Colours, MapName
from ui.tree.camera import Camera
from ui.tree.colours import NodeColours
from ui.tree.frame import Frame, Level
from ui.tree.geometry import Plan, TreeGeometry
from ui.tree.labels import TokenLabels
from ui.tree.marks import NUMBERS
from ui.tree.mirror import NO_NODE, mirror_of
from ui.tree.motion import Motion
from ui.tree.options import TreeViewOptions
from ui.tree.outline import Outline
from ui.tree.overlay import MATCH, TreeOverlay
from ui.tree.placement import Placement
from ui.tree.reading import Reading
from ui.tree.sight import Sight
from ui.tree.weights import TreeWeights
from ui.tree.words import NodeFacts, describe_node, path_text

MOST_ONE_BY_ONE, SHARE_ONE_BY_ONE = 16, 800
"""New nodes up to which each is fitted into the picture by itself, and the part of a large tree; more are quicker laid
out anew."""
PICTURE_MARGIN = 16.0
_NOTHING = TreeOverlay()


class TreeScene:
    """The state behind the pictures of one tree; needs fonts, but no widget. ``is_open`` is False before the first
    `reset`."""

    def __init__(self, font: QFont, *, gradual: bool = False) -> None:
        """``gradual``: long layouts are done in slices between events, as `Placement` says; for what is looked at."""
        self.is_open = False
        self.current = ROOT
        self.hovered = NO_NODE
        self.map_name: MapName = "cividis"
        self.unit: LogUnit = "nats"
        self.options = TreeViewOptions()
        self.overlay: TreeOverlay | None = None
        self._matches: tuple[int, ...] = ()
        self._laid_over = _NOTHING
        self.annotations: dict[int, tuple[bool, str]] = {}
        self.mirror = mirror_of((), ())
        self.outline = Outline(self.mirror)
        self.placement = Placement(self.outline, gradual=gradual)
        self.weights: TreeWeights | None = None
        self.stops: dict[int, str] = {}
        self.end_tokens: frozenset[int] = frozenset()
        self._reading = Reading(self.mirror, None)
        self._node_colours: NodeColours | None = None
        self._sight: Sight | None = None
        self.labels = TokenLabels(font)
        self._measure()

    # --- contents ----------------------------------------------------------------------------------------------------

    def reset(
        self,
        prompt_label: str,
        nodes: Sequence[Node],
        hidden: frozenset[int],
        current: int,
        stops: Mapping[int, str],
        end_tokens: frozenset[int],
    ) -> None:
        """Show another tree. What was laid over the one before, its folds and its focus go with it."""
        self.is_open = True
        self.current, self.hovered = current, NO_NODE
        self.mirror = mirror_of(nodes, hidden)
        self.overlay, self._matches, self._laid_over, self.annotations = None, (), _NOTHING, {}
        self.labels.prompt = prompt_label
        self.stops = dict(stops)
        self.end_tokens = end_tokens
        self.outline = Outline(self.mirror)
        self.outline.phrases = self.options.phrases
        self.set_weights(None)
        self._set_apart()
        self.outline.rebuild()
        self.placement.attach(self.outline)
        self._measure()

    def apply(self, change: Change) -> None:
        """Take over what one command changed, the current node excepted."""
        many = max(MOST_ONE_BY_ONE, self.mirror.size // SHARE_ONE_BY_ONE)
        back = sorted(node_id for node_id in change.revealed if node_id not in self.mirror)  # parents first
        anew = bool(change.hidden) or len(change.added) + len(back) > many
        for node in change.added:
            self.mirror.add(node)
            if not anew:
                self._grow(node.id)
        for node_id in back:
            self.mirror.reveal((node_id,))
            if not anew:
                self._grow(node_id)
        self.mirror.hide(change.hidden)
        stopped = {node_id: event.kind for node_id, event in change.stops}
        self.stops.update(stopped)
        if self.hovered not in self.mirror:
            self.hovered = NO_NODE
        if self.outline.top not in self.mirror:
            self.outline.top = ROOT
        if anew:
            self._set_apart()
            self._rebuild()
            return
        ended = [node.id for node in change.added if node.token_id in self.end_tokens]
        self.outline.set_alone([*stopped, *ended], True)
        if change.added or back:
            self.placement.keep_up()
        self.geometry.update()

    def set_stops(self, stops: Mapping[int, str]) -> None:
        """Other stop events than those told so far: their kinds by node."""
        nodes = {node_id for node_id in (*self.stops, *stops) if self.stops.get(node_id) != stops.get(node_id)}
        self.stops = dict(stops)
        self._refresh_alone(nodes)
        self.geometry.update()

    def set_current(self, node_id: int) -> bool:
        """Make a node the current one and see that it is shown. Whether the picture is another one now."""
        before, self.current = self.current, node_id
        version = self.outline.version
        if node_id != before:
            self._reveal(node_id)
            self._refresh_alone((before, node_id))
        if self.outline.version != version:
            self.geometry.update()
        return self.outline.version != version

    def _reveal(self, node_id: int) -> None:
        """Open the folds and leave the focus that keep a node out of sight."""
        if node_id not in self.mirror or node_id in self.outline:
            return
        path = set(self.mirror.path(node_id))
        if self.outline.top not in path:
            self.outline.top = ROOT
        opened = self.outline.folded & (path - {node_id})
        self.outline.folded -= opened
        self._refresh_alone(opened)
        self._rebuild()

    # --- how it is shown ---------------------------------------------------------------------------------------------

    def set_options(self, options: TreeViewOptions) -> None:
        """Look at the same tree in another way."""
        before, self.options = self.options, options
        self._node_colours = None
        if options.phrases != before.phrases:
            self.outline.phrases = options.phrases
            self._rebuild()
        if options.orientation != before.orientation:
            self._measure()
        if options.layout != before.layout:
            self.placement.choose(options.layout)
            self.geometry.moved()

    def set_overlay(self, overlay: TreeOverlay | None) -> None:
        """Lay other marks and badges over the tree."""
        self.overlay = overlay
        self._lay_over()

    def set_matches(self, node_ids: Iterable[int]) -> None:
        """Mark nodes as found, whatever the overlay marks them as."""
        self._matches = tuple(node_ids)
        self._lay_over()

    def _lay_over(self) -> None:
        before, overlay = self._laid_over, self.overlay or _NOTHING
        if self._matches:
            overlay = replace(overlay, marks={**overlay.marks, **dict.fromkeys(self._matches, MATCH)})
        self._laid_over = overlay
        self.outline.set_marks({node_id: NUMBERS[mark] for node_id, mark in self._laid_over.marks.items()})
        self._refresh_alone(before.badges.keys() | self._laid_over.badges.keys())
        self.geometry.update()

    def set_weights(self, weights: TreeWeights | None) -> None:
        """Show the tree by other numbers."""
        self.weights = weights
        self._reading = Reading(self.mirror, weights)
        self._node_colours = None

    @property
    def down(self) -> bool:
        """Whether the tree grows downwards; else to the right."""
        return self.options.orientation == "down"

    @property
    def reading(self) -> Reading:
        return self._reading

    def annotate(self, annotations: Mapping[int, tuple[bool, str]]) -> None:
        """Stars and notes in place of those before."""
        before, self.annotations = self.annotations, dict(annotations)
        self._refresh_alone(before.keys() | annotations.keys())
        self.geometry.update()

    def set_folded(self, folded: Iterable[int]) -> bool:
        """Fold these nodes and no others. Whether anything changed."""
        after = {node_id for node_id in folded if node_id in self.mirror and self.mirror.children[node_id]}
        if after == self.outline.folded:
            return False
        changed = after ^ self.outline.folded
        self.outline.folded = after
        self._refresh_alone(changed)
        self._rebuild()
        return True

    def set_focus(self, node_id: int) -> bool:
        """Show the subtree of a node alone (of the root: the whole tree). Whether anything changed."""
        if node_id == self.outline.top:
            return False
        self.outline.top = node_id
        self._rebuild()
        return True

    def set_font(self, font: QFont) -> None:
        """Take another font for labels and figures."""
        self.labels.set_font(font)
        self._measure()

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """Take another vocabulary for the labels."""
        self.labels.set_vocabulary(vocabulary)
        self._measure()

    @property
    def vocabulary(self) -> Vocabulary | None:
        return self.labels.vocabulary

    @property
    def prompt_label(self) -> str:
        return self.labels.prompt

    # --- pictures ----------------------------------------------------------------------------------------------------

    def frame(self, camera: Camera, colours: Colours, motion: Motion | None = None) -> Frame:
        """What is seen by ``camera``, on its way where nodes are moving."""
        plan = self.geometry.plan
        if motion is not None:
            plan = motion.moved_plan(plan)
        return Frame(
            mirror=self.mirror,
            outline=self.outline,
            sight=self._sight_of(plan, camera),
            segments_of=self.geometry.segments,
            options=self.options,
            reading=self._reading,
            node_colours=self._colours(colours),
            colours=colours,
            labels=self.labels,
            current=self.current,
            hovered=self.hovered,
            stop_of=self.stop_of,
            overlay=self._laid_over,
            annotations=self.annotations,
            unit=self.unit,
        )

    def shows_anything(self, camera: Camera) -> bool:
        """Whether ``camera`` sees any box."""
        return len(self._sight_of(self.geometry.plan, camera).boxes) > 0

    def _sight_of(self, plan: Plan, camera: Camera) -> Sight:
        """What a camera sees; worked out once as long as plan and camera stay."""
        sight = self._sight
        if sight is None or (sight.plan, sight.camera, sight.down) != (plan, camera, self.down):
            sight = self._sight = Sight(plan, camera, self.down)
        return sight

    def picture(
        self,
        colours: Colours,
        scale: float = 1.0,
        region: QRectF | None = None,
        least_level: Level = Level.DOTS,
    ) -> Frame:
        """The whole tree with a margin, or a ``region`` of it (px at scale 1), for `ui.tree.painting.paint_tree`.

        Its size is ``frame.camera.view``, its left top corner the painter's origin. A layout that is still under way is
        finished first; nothing is hovered.
        """
        if self.placement.working:
            self.placement.finish()
            self.geometry.moved()
        extent = self.geometry.extent()
        if region is None:
            margin = PICTURE_MARGIN
            region = QRectF(-margin, -margin, extent.width() + 2 * margin, extent.height() + 2 * margin)
        view = QSizeF(region.width() * scale, region.height() * scale)
        camera = Camera(scale, -region.topLeft() * scale, view, extent, fixed=(scale, scale))
        frame = self.frame(camera, colours)
        frame.hovered, frame.limited, frame.least_level = NO_NODE, False, least_level
        return frame

    def description(self, node_id: int) -> list[str]:
        """Everything to be said of a node, a line each."""
        star, note = self.annotations.get(node_id, (False, ""))
        facts = NodeFacts(
            stop=self.stop_of(node_id),
            reading=None if self._reading.recorded else self._reading,
            folded=self.outline.hidden_below.get(node_id, 0),
            star=star,
            note=note,
            mark=self._laid_over.marks.get(node_id),
            overlay_note=self._laid_over.notes.get(node_id, ""),
        )
        return describe_node(self.mirror, self.vocabulary, node_id, self.unit, facts)

    def text_of(self, node_id: int) -> str:
        """The generated text up to a node."""
        return path_text(self.mirror, self.vocabulary, node_id)

    def label_of(self, node_id: int) -> str:
        """The label of the token of a node that is not the root."""
        return self.labels.of(int(self.mirror.token[node_id]))

    def place_of(self, node_id: int) -> QRectF:
        """The box that stands for a node, px at scale 1; null outside the picture."""
        shown = self.outline.shown_ancestor(node_id) if node_id in self.mirror else None
        return QRectF() if shown is None else self.bounds_of([shown])

    def bounds_of(self, node_ids: Iterable[int]) -> QRectF:
        """The place of the boxes that stand for some nodes, px at scale 1; null where none is in the picture."""
        found = {self.outline.shown_ancestor(node_id) for node_id in node_ids if node_id in self.mirror}
        heads = sorted({int(self.outline.head[node_id]) for node_id in found if node_id is not None})
        return self.geometry.bounds(np.array(heads, dtype=np.int64)) if heads else QRectF()

    def stop_of(self, node_id: int) -> str | None:
        """The kind of the stop event at a node."""
        if int(self.mirror.token[node_id]) in self.end_tokens:
            return "eos"
        return self.stops.get(node_id)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _grow(self, node_id: int) -> None:
        """Take in a leaf that the mirror has taken in."""
        self.outline.add(node_id)
        self.placement.add(node_id)

    def _rebuild(self) -> None:
        self.outline.rebuild()
        self.placement.rebuild()
        self.geometry.update()

    def _measure(self) -> None:
        labels = self.labels
        self.geometry = TreeGeometry(
            self.outline, self.placement, labels.width, labels.prompt_width, self.options.orientation
        )

    def _set_apart(self) -> None:
        """Say anew of every node whether it has a box of its own."""
        mirror = self.mirror
        ends = np.fromiter(self.end_tokens, dtype=np.int64, count=len(self.end_tokens))
        alone = np.isin(mirror.token, ends)
        single = [*self.stops, *self.annotations, *self._laid_over.badges, *self.outline.folded, self.current]
        alone[[node_id for node_id in single if node_id < mirror.size]] = True
        self.outline.set_all_alone(alone)

    def _stands_alone(self, node_id: int) -> bool:
        return (
            node_id == self.current
            or self.stop_of(node_id) is not None
            or node_id in self.annotations
            or node_id in self._laid_over.badges
            or node_id in self.outline.folded
        )

    def _refresh_alone(self, node_ids: Iterable[int]) -> None:
        known = [node_id for node_id in node_ids if 0 <= node_id < self.mirror.size]
        apart = {node_id for node_id in known if self._stands_alone(node_id)}
        self.outline.set_alone(apart, True)
        self.outline.set_alone(set(known) - apart, False)

    def _colours(self, colours: Colours) -> NodeColours:
        found = self._node_colours
        if found is None or found.colours is not colours or found.map_name != self.map_name:
            found = NodeColours(self.options.colour_by, self.map_name, colours, self.mirror, self._reading)
            self._node_colours = found
        return found
