"""What the canvas shows, apart from how it is looked at: the tree's mirror, its geometry, labels, marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtGui import QFont, QFontInfo

from explorer.events import Change
from explorer.text import Vocabulary
from explorer.tree import ROOT, Node
from ui.format import LogUnit, token_label
from ui.text.token_label import LabelPainter
from ui.theme import Colours, MapName, monospace_font
from ui.tree.detail import box_width, root_width
from ui.tree.frame import Frame
from ui.tree.geometry import Camera, TreeGeometry
from ui.tree.mirror import NO_NODE, mirror_of
from ui.tree.motion import Motion
from ui.tree.options import TreeViewOptions
from ui.tree.overlay import TreeOverlay
from ui.tree.weights import TreeWeights
from ui.tree.words import describe_node


class TreeScene:
    """The state behind the pictures of one tree. ``is_open`` is False before the first `reset`."""

    def __init__(self, font: QFont) -> None:
        self.is_open = False
        self.current = ROOT
        self.hovered = NO_NODE
        self.map_name: MapName = "cividis"
        self.unit: LogUnit = "nats"
        self.options = TreeViewOptions()
        self.overlay: TreeOverlay | None = None
        self.weights: TreeWeights | None = None
        self.annotations: dict[int, tuple[bool, str]] = {}
        self.folded: set[int] = set()
        self.focus: int | None = None
        self.mirror = mirror_of((), ())
        self._vocabulary: Vocabulary | None = None
        self._known_labels: dict[int, str] = {}
        self._prompt_label = ""
        self._stops: dict[int, str] = {}
        self._end_tokens: frozenset[int] = frozenset()
        self.set_font(font)

    def reset(
        self,
        prompt_label: str,
        nodes: Sequence[Node],
        hidden: frozenset[int],
        current: int,
        stops: Mapping[int, str],
        end_tokens: frozenset[int],
    ) -> None:
        """Show another tree."""
        self.is_open = True
        self.current, self.hovered = current, NO_NODE
        self.mirror = mirror_of(nodes, hidden)
        self._prompt_label = prompt_label
        self._stops = dict(stops)
        self._end_tokens = end_tokens
        self._measure()

    def apply(self, change: Change) -> None:
        """Take over what one command changed, the current node excepted."""
        for node in change.added:
            self.mirror.add(node)
            self.geometry.add(node.id)
        self.mirror.reveal(change.revealed)
        self.mirror.hide(change.hidden)
        self._stops.update((node_id, event.kind) for node_id, event in change.stops)
        if self.hovered not in self.mirror:
            self.hovered = NO_NODE

    def set_font(self, font: QFont) -> None:
        """Take another font for labels and figures."""
        self._font = QFont(font)
        labels = monospace_font(font)
        labels.setPixelSize(max(8, QFontInfo(font).pixelSize()))
        self._labels = LabelPainter(labels)
        self._measure()

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """Take another vocabulary for the labels."""
        self._vocabulary = vocabulary
        self._known_labels.clear()
        self._measure()

    def frame(self, camera: Camera, colours: Colours, motion: Motion) -> Frame:
        """One picture, seen by ``camera``."""
        shift_x, shift_y = motion.shifts()
        return Frame(
            mirror=self.mirror,
            geometry=self.geometry,
            camera=camera,
            colours=colours,
            map_name=self.map_name,
            font=self._font,
            labels=self._labels,
            label_of=self._label_of,
            is_special=self._is_special,
            prompt_label=self._prompt_label,
            current=self.current,
            hovered=self.hovered,
            stop_of=self._stop_of,
            shift_x=shift_x,
            shift_y=shift_y,
        )

    def description(self, node_id: int) -> list[str]:
        """Everything to be said of a node, a line each."""
        return describe_node(self.mirror, self._vocabulary, node_id, self.unit, self._stop_of(node_id))

    def _stop_of(self, node_id: int) -> str | None:
        if int(self.mirror.token[node_id]) in self._end_tokens:
            return "eos"
        return self._stops.get(node_id)

    def _measure(self) -> None:
        self.geometry = TreeGeometry(self.mirror, self._box_width, root_width(self._labels.width(self._prompt_label)))

    def _box_width(self, token_id: int) -> float:
        return box_width(self._labels.width(self._label_of(token_id), self._is_special(token_id)))

    def _label_of(self, token_id: int) -> str:
        label = self._known_labels.get(token_id)
        if label is None:
            label = self._known_labels[token_id] = token_label(self._vocabulary, token_id)
        return label

    def _is_special(self, token_id: int) -> bool:
        return self._vocabulary is not None and self._vocabulary.is_special(token_id)
