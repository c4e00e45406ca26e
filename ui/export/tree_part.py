"""The tree on a picture: all of it, what is in sight, or one path; painted by what paints the canvas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from explorer.export.document import ExportError
from explorer.export.picture import PictureOptions
from explorer.i18n import N_
from explorer.messages import UserMessage
from explorer.tree import ROOT
from ui.export.subject import PictureSubject, only_path, scene_of
from ui.theme import Colours, figures_font
from ui.tree.frame import Frame, Level
from ui.tree.notes import folded_words
from ui.tree.overview import OverviewPainter
from ui.tree.painting import paint_tree
from ui.tree.scene import TreeScene
from ui.tree.words import path_label, stop_mark

_RIM = 8.0  # px around everything, for bands and outlines
_RIM_ABOVE = 16.0  # for signs and badges on the upper borders of boxes
_FARTHEST = 400.0  # px behind the last box that a text of another box may reach past its own
_BEHIND = 16.0  # px between a box and the text behind it, at most
_CHIP = 14.0  # px that a frame and a gap add to a text


class TreePart:
    """One frame of the tree and its size in pixels at scale 1."""

    def __init__(
        self, subject: PictureSubject, options: PictureOptions, colours: Colours, font: QFont, *, coarse: bool = False
    ) -> None:
        """Raises `ExportError` where there is no such node."""
        view = subject.camera if options.content == "view" else None
        if options.content == "path":
            subject = _path_alone(subject, subject.current if options.node is None else options.node)
        self.scene = scene_of(subject, font)
        self.clipped = view is not None
        if view is None:
            self.frame: Frame = self.scene.picture(colours, region=_inked_region(self.scene, colours, font))
        else:
            self.frame = self.scene.frame(view, colours)
        self.frame.limited = self.clipped or coarse  # a picture of all is looked at closely, however much it is
        self.size = self.frame.camera.view

    @property
    def steps(self) -> int:
        """About how many texts it has: tokens, and figures beside them."""
        return 3 * self.node_count if self.frame.with_text else 1

    def paint(self, painter: QPainter, pixel_ratio: float | None) -> None:
        """Paint it at the origin; ``pixel_ratio`` is how fine the pixels of an overview are, None where there are none
        and it is drawn with lines."""
        if self.frame.level == Level.DOTS and pixel_ratio is not None:
            OverviewPainter().paint(painter, self.frame, pixel_ratio)
        else:
            paint_tree(painter, self.frame)

    @property
    def node_count(self) -> int:
        """How many nodes are in the picture; a phrase has many in one box."""
        return self.frame.node_count(self.frame.boxes)

    def nodes(self) -> Iterator[tuple[int, float, float, float, float]]:
        """Every node of the picture with its left, top, width and height."""
        frame = self.frame
        return frame.node_places(frame.boxes if self.clipped else np.arange(len(frame.plan.heads)))


def _inked_region(scene: TreeScene, colours: Colours, font: QFont) -> QRectF:
    """The whole tree with the texts behind its leaves, px at scale 1: nothing cut, and little paper left over."""
    frame = scene.picture(colours)
    plan, extent = frame.plan, scene.geometry.extent()
    metrics = QFontMetricsF(figures_font(font, 0.82))
    top = QRectF(-_RIM, -_RIM_ABOVE, extent.width() + 2 * _RIM, extent.height() + _RIM_ABOVE + _RIM)
    ends = plan.along + plan.length
    if frame.down:
        near = np.flatnonzero((plan.across < _FARTHEST) | (plan.across > extent.width() - _FARTHEST))
        halves = np.array([max(_text_widths(frame, metrics, int(box)), default=0.0) / 2 for box in near.tolist()])
        left = float((plan.across[near] - halves).min()) - _RIM
        right = float((plan.across[near] + halves).max()) + _RIM
        return QRectF(min(top.left(), left), top.top(), max(top.right(), right) - min(top.left(), left), top.height())
    near = np.flatnonzero(ends > ends.max() - _FARTHEST)
    texts = np.array([sum(_text_widths(frame, metrics, int(box))) for box in near.tolist()])
    top.setRight(float((ends[near] + np.where(texts > 0, texts + _BEHIND, 0.0)).max()) + _RIM)
    return top


def _text_widths(frame: Frame, metrics: QFontMetricsF, box: int) -> list[float]:
    """How wide the texts behind a leaf are, as `ui.tree.notes` writes them."""
    tail = int(frame.outline.tail[frame.plan.heads[box]])
    if frame.outline.kids[tail] or tail == ROOT:
        return []
    stop = frame.stop_of(tail)
    widths = [] if stop is None else [metrics.horizontalAdvance(stop_mark(stop)) + _CHIP]
    if frame.outline.is_folded(tail):
        return [*widths, metrics.horizontalAdvance(folded_words(frame, tail)) + _CHIP]
    logprob = float(frame.reading.path_logprob(np.array([tail], dtype=np.int64))[0])
    return [*widths, metrics.horizontalAdvance(path_label(logprob, stop == "eos"))]


def _path_alone(subject: PictureSubject, node_id: int) -> PictureSubject:
    try:
        hidden = only_path(subject, node_id)
    except KeyError:
        hidden = frozenset()
    if node_id in subject.hidden or (node_id != ROOT and not hidden and node_id not in {n.id for n in subject.nodes}):
        raise ExportError(
            UserMessage(
                "picture.no_node",
                N_("There is no node {node} in the tree."),
                N_("Nothing was written."),
                N_("Choose a node that the tree shows."),
                {"node": node_id},
            )
        )
    # Every token for itself, whatever is folded where the whole tree is looked at.
    options = replace(subject.options, phrases=False)
    return replace(subject, hidden=hidden, current=node_id, options=options, folded=frozenset(), focus=None)
