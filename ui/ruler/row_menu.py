"""What can be done with one ruler, as a menu."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from explorer.i18n import tr
from ui.ruler.row import RulerRow
from ui.ruler.shelf import Shelf


class RowMenu(QMenu):
    """Keeps and names rulers by itself; the rest it tells."""

    looked_at = Signal(object)
    """`Sight`."""
    picked = Signal(int)
    copied = Signal()
    moved = Signal(int)
    removed = Signal()

    def __init__(self, row: RulerRow, shelf: Shelf, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        spec = row.spec
        self._add_hit(row)
        if spec is not None and spec.kind in ("now", "drawn"):
            keep = self.addAction(tr("Keep this ruler"), lambda: shelf.keep(spec.sampling))
            keep.setEnabled(not shelf.full and not shelf.holds(spec.sampling))
        if spec is not None and spec.kind == "kept":
            self.addSeparator()
            self.addAction(tr("Rename (F2)"), row.rename)
            up = self.addAction(tr("Move up (Alt+Up)"), lambda: self.moved.emit(-1))
            up.setEnabled(spec.place > 0)
            down = self.addAction(tr("Move down (Alt+Down)"), lambda: self.moved.emit(1))
            down.setEnabled(spec.place < len(shelf.kept) - 1)
            self.addAction(tr("Remove (Delete)"), self.removed.emit)
        if shelf.removed is not None:
            self.addSeparator()
            name = shelf.removed[1].title.replace("&", "&&")
            self.addAction(tr("Bring back “{name}”").format(name=name), shelf.bring_back)

    def _add_hit(self, row: RulerRow) -> None:
        """What can be done with the interval that u hits."""
        hit = row.hit
        if hit is None:
            return
        sight = row.sight.near(hit.low, hit.high)
        self.addAction(tr("Look at what u hits"), lambda: self.looked_at.emit(sight))
        token_id = hit.token_id
        if token_id is not None:
            label = row.label_of(token_id)[0].replace("&", "&&")
            self.addAction(tr("Pick {label}").format(label=label), lambda: self.picked.emit(token_id))
            self.addAction(tr("Copy values"), self.copied.emit)
