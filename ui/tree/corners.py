"""The small widgets in the corners of the canvas: legend, buttons, map, and the way back from a part of the tree."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QWidget

from explorer.tree import ROOT
from ui.tree.breadcrumb import Breadcrumb
from ui.tree.camera import FOOT
from ui.tree.frame import Frame
from ui.tree.key import legend_entries
from ui.tree.legend import TreeLegend
from ui.tree.minimap import Minimap
from ui.tree.scene import TreeScene
from ui.tree.zoom_buttons import ZoomButtons

GAP = 8
_LEAST_WIDTH, _LEAST_HEIGHT = 480, 320  # of a canvas that has room for a map


class Corners:
    """Legend bottom left, buttons and map bottom right, breadcrumb top left."""

    def __init__(self, canvas: QWidget) -> None:
        self._canvas = canvas
        self.legend = TreeLegend(canvas)
        self.buttons = ZoomButtons(canvas)
        self.minimap = Minimap(canvas)
        self.breadcrumb = Breadcrumb(canvas)

    def tell(self, scene: TreeScene, frame: Frame) -> None:
        """Say what is shown now."""
        self.legend.explain(legend_entries(frame) if scene.is_open else [])
        top = scene.outline.top
        self.breadcrumb.show_text(None if top == ROOT else scene.text_of(top))
        self.arrange()

    def follow(self, frame: Frame, is_open: bool) -> None:
        """Show on the map what the canvas shows."""
        canvas = self._canvas
        roomy = canvas.width() >= _LEAST_WIDTH and canvas.height() >= _LEAST_HEIGHT
        self.minimap.show_view(frame, needed=is_open and roomy and len(frame.plan.heads) > 1)

    def arrange(self) -> None:
        """Put everything into its corner."""
        width, height = self._canvas.width(), self._canvas.height()
        buttons, legend = self.buttons, self.legend
        buttons.move(width - buttons.width() - GAP, height - buttons.height() - GAP)
        self.minimap.fit_beside(width)
        across, down = self.minimap.width(), self.minimap.height()
        self.minimap.move(width - across - GAP, height - buttons.height() - down - 2 * GAP)
        legend.set_most_width(width - max(buttons.width(), across) - 3 * GAP)
        legend.move(GAP, height - legend.height() - GAP)
        self.breadcrumb.move(GAP, GAP)

    @property
    def foot(self) -> float:
        """How much of the canvas's foot is covered."""
        return max(FOOT, float(self.legend.height() + 2 * GAP))

    def caption_area(self) -> QRectF:
        """Where one line of text may stand at the top."""
        top = self.breadcrumb.geometry().bottom() + GAP if not self.breadcrumb.isHidden() else GAP
        return QRectF(GAP, top, self._canvas.width() - 2 * GAP, 26)
