"""The tree on a picture: all of it, what is in sight, or one path; painted by what paints the canvas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtCore import QObject, QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont, QPainter

from explorer.export.document import ExportError
from explorer.export.picture import PictureOptions
from explorer.i18n import N_
from explorer.messages import UserMessage
from explorer.tree import ROOT
from ui.export.subject import PictureSubject, only_path, scene_of
from ui.theme import Colours
from ui.tree.detail import DetailPainter
from ui.tree.frame import Frame
from ui.tree.geometry import Camera
from ui.tree.motion import Motion
from ui.tree.overview import OverviewPainter

_EDGE = 4.0  # px around everything for what is drawn around a box


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
        if view is None:
            extent = self.scene.geometry.extent()
            self.size = QSizeF(extent.width() + 2 * _EDGE, extent.height() + 2 * _EDGE)
            view = Camera(1.0, QPointF(_EDGE, _EDGE), self.size, extent)
        else:
            self.size = view.view
        self.clipped = options.content == "view"
        self._owner = QObject()
        self.frame: Frame = self.scene.frame(view, colours, Motion(self._owner))
        if not self.clipped and not coarse:
            self.frame.detailed = True  # however many there are: a picture is looked at closely

    @property
    def steps(self) -> int:
        """About how often painting it begins a node."""
        return 2 * len(self.frame.edge_ids) if self.frame.detailed else 1

    def paint(self, painter: QPainter, pixel_ratio: float) -> None:
        """Paint it at the origin; ``pixel_ratio`` is how fine the pixels of an overview are."""
        if self.frame.detailed:
            DetailPainter(painter, self.frame).paint()
        else:
            OverviewPainter().paint(painter, self.frame, pixel_ratio)

    def nodes(self) -> Iterator[tuple[int, QRectF]]:
        """Every node of the picture with its box."""
        frame = self.frame
        ids = frame.box_ids if self.clipped else frame.mirror.ids()
        height = frame.rect_of(ROOT).height()
        lefts, middles, rights = frame.x(ids).tolist(), frame.y(ids).tolist(), frame.right(ids).tolist()
        for node_id, left, middle, right in zip(ids.tolist(), lefts, middles, rights, strict=True):
            yield node_id, QRectF(left, middle - height / 2, right - left, height)


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
