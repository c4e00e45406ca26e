"""The tree on a picture: all of it, what is in sight, or one path; painted by what paints the canvas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QPainter

from explorer.export.document import ExportError
from explorer.export.picture import PictureOptions
from explorer.i18n import N_
from explorer.messages import UserMessage
from explorer.tree import ROOT
from ui.export.subject import PictureSubject, only_path, scene_of
from ui.theme import Colours
from ui.tree.frame import Frame, Level
from ui.tree.overview import OverviewPainter
from ui.tree.painting import paint_tree


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
        self.frame: Frame = self.scene.picture(colours) if view is None else self.scene.frame(view, colours)
        self.frame.limited = self.clipped or coarse  # a picture of all is looked at closely, however much it is
        self.size = self.frame.camera.view

    @property
    def steps(self) -> int:
        """About how often painting it begins a node or a text beside it."""
        return 3 * len(self.frame.boxes) if self.frame.with_text else 1

    def paint(self, painter: QPainter, pixel_ratio: float) -> None:
        """Paint it at the origin; ``pixel_ratio`` is how fine the pixels of an overview are."""
        if self.frame.level == Level.DOTS:
            OverviewPainter().paint(painter, self.frame, pixel_ratio)
        else:
            paint_tree(painter, self.frame)

    @property
    def node_count(self) -> int:
        """How many nodes are in the picture; a phrase has many in one box."""
        return self.frame.node_count(self.frame.boxes)

    def nodes(self) -> Iterator[tuple[int, QRectF]]:
        """Every node of the picture with its place."""
        frame = self.frame
        return frame.node_rects(frame.boxes if self.clipped else np.arange(len(frame.plan.heads)))


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
    return replace(subject, hidden=hidden, current=node_id)
