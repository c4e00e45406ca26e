"""A picture of a tree on any paint device: what the canvas shows, and what exporters write.

`paint_tree` needs no widget and keeps no pixels. To draw a tree, or a part of it, at any size:

    scene = canvas.scene                        # or a TreeScene of its own, filled by `reset`, on any thread
    frame = scene.picture(colours, scale=1.0)   # the whole tree; `region` (px at scale 1) for a part of it
    painter.begin(device)                       # QImage, QPdfWriter, QPicture ...
    paint_tree(painter, frame)

The picture's left top corner is the painter's origin and one unit is one px at ``scale``; ``frame.camera.view`` is its
size. The painter is moved to every box with `QPainter.setTransform`, so one that is to paint elsewhere on its device
must put every transform on top of its own (`ui.export.painters.FilePainter` does). The ground is not painted: pictures
may be transparent. ``LegendLayout(legend_entries(frame), font)`` (`ui.tree.legend`, `ui.tree.key`) is the legend.

Nothing is left out at ``scale`` 1: all boxes carry their tokens, however many they are. Below the scales in
`ui.tree.frame` words go first and then shapes, as on the screen; ``least_level`` of `TreeScene.picture` overrules that.
"""

from __future__ import annotations

from PySide6.QtGui import QPainter

from ui.tree.edges import EdgePainter
from ui.tree.frame import Frame
from ui.tree.labelled import LabelledBoxes
from ui.tree.notes import NotePainter
from ui.tree.plain import PlainPainter


def paint_tree(painter: QPainter, frame: Frame) -> None:
    """Paint edges, boxes and texts of ``frame`` in the painter's present coordinates."""
    if not frame.with_text:
        PlainPainter(painter, frame).paint()
        return
    EdgePainter(painter, frame).paint()
    LabelledBoxes(painter, frame).paint()
    NotePainter(painter, frame).paint()
