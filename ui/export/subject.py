"""What a picture is made of: a tree and how it is looked at, as values that nobody changes. Any thread may paint it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from PySide6.QtGui import QFont

from explorer.export.document import NodeRow, SessionDocument
from explorer.export.picture import PictureOptions
from explorer.export.rows import last_stops, vocabulary_of
from explorer.i18n import tr
from explorer.text import Vocabulary
from explorer.tree import ROOT, Edge, Node
from ui.export.stamp import Provenance, printable
from ui.format import LogUnit, elide_middle
from ui.theme import MapName
from ui.tree.camera import Camera
from ui.tree.canvas import TreeCanvas
from ui.tree.options import TreeViewOptions
from ui.tree.overlay import TreeOverlay
from ui.tree.scene import TreeScene
from ui.tree.weights import TreeWeights

LONGEST_PROMPT = 40


@dataclass(frozen=True, eq=False)
class PictureSubject:
    """A tree, how it is looked at, and where it comes from. ``camera`` None: there is no window it is seen through."""

    prompt_label: str
    nodes: tuple[Node, ...]
    hidden: frozenset[int]
    current: int
    stops: Mapping[int, str]
    end_tokens: frozenset[int]
    vocabulary: Vocabulary | None
    provenance: Provenance
    options: TreeViewOptions = field(default_factory=TreeViewOptions)
    map_name: MapName = "cividis"
    unit: LogUnit = "nats"
    overlay: TreeOverlay | None = None
    weights: TreeWeights | None = None
    annotations: Mapping[int, tuple[bool, str]] = field(default_factory=dict)
    folded: frozenset[int] = frozenset()
    focus: int | None = None
    camera: Camera | None = None


def subject_of_document(document: SessionDocument, options: PictureOptions) -> PictureSubject:
    """The tree of a stored session as a window would show it at first, laid out as ``options`` wish.

    Raises `SettingsError` for damaged settings.
    """
    prompt = printable(str(document.prompt["text"]))
    return PictureSubject(
        prompt_label=elide_middle(prompt, LONGEST_PROMPT) or tr("(prompt)"),
        nodes=tuple(map(_node_of, document.nodes)),
        hidden=frozenset(row.node for row in document.nodes if row.hidden),
        current=document.current,
        stops=last_stops(document.stops),
        end_tokens=frozenset(document.model.get("eos_token_ids", ())),
        vocabulary=vocabulary_of(document.nodes),
        provenance=Provenance.of_document(document),
        options=_view_options(options),
    )


def _view_options(options: PictureOptions) -> TreeViewOptions:
    view = TreeViewOptions()
    return replace(
        view,
        layout=options.layout or view.layout,
        orientation=options.orientation or view.orientation,
        phrases=view.phrases if options.phrases is None else options.phrases,
    )


def subject_of_canvas(canvas: TreeCanvas, provenance: Provenance) -> PictureSubject:
    """What a window shows at this moment. Later changes of it do not reach the subject."""
    scene, camera = canvas.scene, canvas.look.camera
    mirror = scene.mirror
    nodes = tuple(mirror.nodes.values())
    return PictureSubject(
        prompt_label=scene.prompt_label,
        nodes=nodes,
        hidden=frozenset(node.id for node in nodes if node.id not in mirror),
        current=scene.current,
        stops=dict(scene.stops),
        end_tokens=scene.end_tokens,
        vocabulary=scene.vocabulary,
        provenance=provenance,
        options=scene.options,
        map_name=scene.map_name,
        unit=scene.unit,
        overlay=scene.overlay,
        weights=scene.weights,
        annotations=dict(scene.annotations),
        folded=canvas.folded,
        focus=canvas.focus_node,
        camera=camera,
    )


def _node_of(row: NodeRow) -> Node:
    edge = Edge(
        logit=_log(row.logit),
        model_logprob=_log(row.model_logprob),
        sampling_logprob=None if row.excluded else _log(row.sampling_logprob),
        rank=row.rank,
        how=row.chosen,
        u=row.u,
        draw_index=row.draw_index,
    )
    return Node(row.node, row.parent, row.id, row.depth, edge)


def _log(value: float | None) -> float:
    return -math.inf if value is None else value


def scene_of(subject: PictureSubject, font: QFont) -> TreeScene:
    """The scene that paints a subject; belongs to the thread that made it. ``font`` has its size in pixels: points
    are larger on finer paper."""
    scene = TreeScene(font)
    scene.set_vocabulary(subject.vocabulary)
    scene.map_name, scene.unit = subject.map_name, subject.unit
    scene.set_options(subject.options)
    scene.reset(subject.prompt_label, subject.nodes, subject.hidden, subject.current, subject.stops, subject.end_tokens)
    scene.set_weights(subject.weights)
    scene.annotate(subject.annotations)
    scene.set_overlay(subject.overlay)
    scene.set_folded(subject.folded)
    if subject.focus is not None and subject.focus in scene.mirror:
        scene.set_focus(subject.focus)
    return scene


def only_path(subject: PictureSubject, node_id: int) -> frozenset[int]:
    """What is to be hidden so that only the path to a node stays. Raises KeyError where there is no such node."""
    parents = {node.id: node.parent for node in subject.nodes}
    kept = set()
    while node_id != ROOT:
        kept.add(node_id)
        node_id = parents[node_id]
    return frozenset(parents.keys() - kept)
