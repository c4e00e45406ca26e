"""The line above the rulers: which number, where it comes from, taking its token, and how close one looks."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QWidget

from explorer.decoding.ruler import LARGEST_U
from explorer.i18n import tr
from ui.panels.common import GRID, compact, describe, plain_label, tool_button
from ui.ruler.axis import DrawMark

_OWN = "own"
_MOST_DRAWS = 30


class RulerControls(QWidget):
    """Tells what the user wants of it; shows what it is told."""

    u_typed = Signal(float)
    u_refused = Signal()
    mark_chosen = Signal(object)
    """`DrawMark`."""
    pick_wanted = Signal()
    zoom_wanted = Signal(float)
    """A factor: below 1 closer."""
    fit_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._u: float | None = None
        self._marks: tuple[DrawMark, ...] = ()
        self._sources: tuple[tuple[DrawMark, ...], DrawMark | None] | None = None
        self.edit = QLineEdit()
        describe(
            self.edit,
            tr("The number u"),
            tr(
                "A draw is one random number u, at least 0 and below 1; the token whose interval holds it is taken. "
                "Drag it on a ruler, move it with the arrow keys, or type one: that only shows what another draw would "
                "give, the session stays as it is."
            ),
        )
        self.source = QComboBox()
        compact(self.source)
        self.source.setMinimumContentsLength(4)
        self.edit.setMinimumWidth(20 * GRID)
        self.edit.setMaximumWidth(52 * GRID)
        describe(
            self.source,
            tr("Where u comes from"),
            tr("A draw made at this place, the draw that the seed gives next, or a number of your own."),
        )
        self.pick = tool_button(
            tr("Pick"),
            tr("Pick the token that u hits under the settings now. It counts as picked by hand, not as drawn."),
            self.pick_wanted.emit,
        )
        self.pick.setAutoRaise(False)
        self.pick.setMinimumWidth(self.pick.sizeHint().width())
        closer = tool_button("+", tr("Look closer (+, or Ctrl and the wheel)."), lambda: self.zoom_wanted.emit(0.5))
        self.farther = tool_button("−", tr("Look from farther away (−)."), lambda: self.zoom_wanted.emit(2.0))
        self.fit = tool_button(tr("All"), tr("Show the whole interval from 0 to 1 (0)."), self.fit_wanted.emit)
        label = plain_label(tr("u ="), wrap=False)
        label.setBuddy(self.edit)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID)
        for widget, stretch in ((label, 0), (self.edit, 5), (self.source, 3), (self.pick, 0)):
            layout.addWidget(widget, stretch)
        for button in (self.farther, closer, self.fit):
            layout.addWidget(button)
        self.edit.editingFinished.connect(self._typed)
        self.source.activated.connect(self._chosen)

    def show_u(self, u: float | None, *, can_pick: bool) -> None:
        """The number in force; None where there is none."""
        if u != self._u or not self.edit.hasFocus():  # else what the user is typing would be gone
            self._u = u
            self.edit.setText("" if u is None else repr(u))
            self.edit.setCursorPosition(0)
        self.edit.setEnabled(u is not None)
        self.pick.setEnabled(can_pick)

    def show_zoomed(self, zoomed: bool) -> None:
        """Whether something is out of sight."""
        self.farther.setEnabled(zoomed)
        self.fit.setEnabled(zoomed)

    def show_sources(self, marks: tuple[DrawMark, ...], chosen: DrawMark | None) -> None:
        """The draws to choose from, the last ones where there are many; None chosen: a number of the user's own."""
        if (marks, chosen) == self._sources:
            return
        self._sources = marks, chosen
        draws = [mark for mark in marks if mark.token is not None][-_MOST_DRAWS:]
        self._marks = (*draws, *(mark for mark in marks if mark.token is None))
        self.source.clear()
        for place, mark in enumerate(self._marks):
            name = tr("Next: #{number}") if mark.token is None else tr("#{number}: {label}")
            self.source.addItem(name.format(number=mark.number, label=mark.token), place)
        if chosen is None or chosen not in self._marks:
            self.source.addItem(tr("My own"), _OWN)
            self.source.setCurrentIndex(self.source.count() - 1)
        else:
            self.source.setCurrentIndex(self._marks.index(chosen))
        self.source.setEnabled(bool(marks))

    def _typed(self) -> None:
        text = self.edit.text().strip().replace(",", ".")
        if self._u is None or text == repr(self._u):
            return
        try:
            u = float(text)
        except ValueError:
            u = -1.0
        if 0 <= u < 1:
            self.u_typed.emit(min(u, LARGEST_U))
        else:
            self.edit.setText(repr(self._u))
            self.u_refused.emit()

    def _chosen(self, index: int) -> None:
        place = self.source.itemData(index)
        if isinstance(place, int):
            self.mark_chosen.emit(self._marks[place])
