"""Two configurations side by side: what differs, both distributions here, and the texts they lead to."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QTabWidget, QToolButton, QVBoxLayout, QWidget

from explorer.decoding.choice import MAX_SEED
from explorer.i18n import tr
from explorer.search.sample_plans import LENGTH
from ui.compare.paths_view import PathsView
from ui.compare.shown import PathsShown, Side, StepShown
from ui.compare.table import PairTable
from ui.compare.words import counts_words, difference_label, differences_words, figures_help, figures_words
from ui.format import LogUnit, tooltip
from ui.growth.fields import SeedField, whole_box
from ui.panels.common import GRID, compact, describe, plain_label, push_button, tool_button

_FIRST_LENGTH = 32


class ComparePanel(QWidget):
    """Shows what it is given; knows no session."""

    sides_chosen = Signal()
    """Other sides are to be compared; see `sides`."""
    isolate_requested = Signal(str)
    """The name of the setting that alone shall differ."""
    keep_requested = Signal()
    """The settings in force are to stay among the choices."""
    draw_requested = Signal()
    """A run of each is to be drawn; see `seed` and `length`."""
    node_activated = Signal(int)
    node_hovered = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._step: StepShown | None = None
        self._unit: LogUnit = "nats"
        self._sides: tuple[Side, ...] = ()
        self.table = PairTable()
        self.paths = PathsView()
        self.texts = PathsView()
        self._differ = plain_label()
        self._figures = plain_label()
        self._counts = plain_label(quiet=True)
        self._remarks = plain_label(quiet=True)
        self._empty = plain_label(tr("Open a session: it is compared at its current node."), quiet=True)
        self._build_head()
        self._build_path_head()
        self._build_body()
        self.paths.node_activated.connect(self.node_activated)
        self.paths.node_hovered.connect(self.node_hovered)
        self.set_paths(None)
        self.set_step(None)

    # --- building ----------------------------------------------------------------------------------------------------

    def _build_head(self) -> None:
        self._boxes = QComboBox(), QComboBox()
        names = (tr("A"), tr("B"))
        for box, name in zip(self._boxes, names, strict=True):
            compact(box)
            describe(box, name, tr("Settings to compare at the current node, or another session where it stands."))
            box.activated.connect(lambda _: self.sides_chosen.emit())
        swap = tool_button("⇄", tr("Swap A and B."), self.swap)
        keep = tool_button(
            "＋",
            tr("Keep the settings in force among these choices. Then change them, and compare."),
            self.keep_requested.emit,
        )
        self._isolate = QToolButton()
        self._isolate.setText(tr("Isolate one"))
        self._isolate.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        describe(
            self._isolate,
            tr("Isolate one"),
            tr("Make the pair that differs in one setting alone: A, and A with that one as B has it."),
        )
        self._menu = QMenu(self._isolate)
        self._isolate.setMenu(self._menu)
        self._head = QHBoxLayout()
        self._head.setSpacing(GRID)
        self._head.addWidget(plain_label("A", wrap=False))
        self._head.addWidget(self._boxes[0], 1)
        self._head.addWidget(swap)
        self._head.addWidget(plain_label("B", wrap=False))
        self._head.addWidget(self._boxes[1], 1)
        self._head.addWidget(keep)
        self._head.addWidget(self._isolate)

    def _build_path_head(self) -> None:
        self._seed = SeedField()
        self._seed.next_requested.connect(lambda: self._seed.set_seed(min(MAX_SEED, self._seed.seed + 1)))
        self._length = whole_box(LENGTH)
        self._length.setValue(_FIRST_LENGTH)
        self._draw = push_button(
            tr("Draw both"),
            tr("Draw a text of each from the current node with the same numbers. One undo takes both back."),
            self.draw_requested.emit,
        )
        self._path_head = QHBoxLayout()
        self._path_head.setSpacing(GRID)
        self._path_head.addWidget(plain_label(tr("Seed"), wrap=False))
        self._path_head.addWidget(self._seed, 1)
        self._path_head.addWidget(plain_label(tr("Tokens"), wrap=False))
        self._path_head.addWidget(self._length)
        self._path_head.addWidget(self._draw)

    def _build_body(self) -> None:
        step, along = QWidget(), QWidget()
        inner = QVBoxLayout(step)
        inner.setContentsMargins(0, GRID, 0, 0)
        inner.setSpacing(GRID)
        for label in (self._figures, self._counts, self._remarks):
            inner.addWidget(label)
        inner.addWidget(self.table, 1)
        inner.addWidget(self.texts, 1)
        inner.addStretch(0)
        path = QVBoxLayout(along)
        path.setContentsMargins(0, GRID, 0, 0)
        path.setSpacing(GRID)
        path.addLayout(self._path_head)
        path.addWidget(self.paths, 1)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(step, tr("At this node"))
        self.tabs.addTab(along, tr("Along the path"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        layout.setSpacing(GRID)
        layout.addLayout(self._head)
        layout.addWidget(self._differ)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self._empty)
        layout.addStretch(0)

    # --- contents ----------------------------------------------------------------------------------------------------

    def set_sides(self, sides: Sequence[Side], a: str, b: str) -> None:
        """What may be compared, and the keys of the two that are."""
        if tuple(sides) != self._sides:
            self._sides = tuple(sides)
            for box in self._boxes:
                box.clear()
                for side in sides:
                    box.addItem(side.title, side.key)
        for box, key in zip(self._boxes, (a, b), strict=True):
            box.setCurrentIndex(max(0, box.findData(key)))

    def set_waiting(self) -> None:
        """Where nothing was compared yet: it is being compared now."""
        self._empty.setText(tr("Comparing…"))

    def set_step(self, step: StepShown | None) -> None:
        """Show both sides at the current node."""
        self._step = step
        for widget in (self._differ, self.tabs):
            widget.setVisible(step is not None)
        self._empty.setVisible(step is None)
        self._menu.clear()
        self.table.pairs.set_rows(() if step is None else step.rows)
        texts = None if step is None else step.texts
        self.texts.setVisible(texts is not None)
        self.texts.set_paths(texts, "")
        if step is not None:
            between = step.a.session_id is not None or step.b.session_id is not None
            for one in step.differences if len(step.differences) > 1 and not between else ():
                action = self._menu.addAction(difference_label(one))
                action.triggered.connect(lambda _=False, name=one.name: self.isolate_requested.emit(name))
            self.table.setVisible(bool(step.rows))
            self._counts.setVisible(bool(step.rows))
            self._counts.setText(counts_words(step.kept, step.shared, step.gained, step.lost))
            self._remarks.setText("\n".join(step.remarks))
            self._remarks.setVisible(bool(step.remarks))
            self._differ.setText(differences_words(step.differences))
        self._isolate.setEnabled(not self._menu.isEmpty())
        self._say()
        self._refresh_draw()

    def set_paths(self, paths: PathsShown | None) -> None:
        """Show the two texts that were drawn last."""
        self.paths.set_paths(
            paths, tr("Nothing drawn yet. Both draw with the same numbers, so that only the settings can part them.")
        )

    def set_ready(self, ready: bool) -> None:
        """Whether a run can be drawn now."""
        self._ready = ready
        self._refresh_draw()

    def set_log_unit(self, unit: LogUnit) -> None:
        """Say divergences in nats or bits."""
        self._unit = unit
        self._say()

    def swap(self) -> None:
        a, b = self._boxes
        here, there = a.currentIndex(), b.currentIndex()
        a.setCurrentIndex(there)
        b.setCurrentIndex(here)
        self.sides_chosen.emit()

    @property
    def sides(self) -> tuple[str, str]:
        """The keys of A and B."""
        return str(self._boxes[0].currentData()), str(self._boxes[1].currentData())

    @property
    def step(self) -> StepShown | None:
        return self._step

    @property
    def seed(self) -> int:
        return self._seed.seed

    @property
    def length(self) -> int:
        return self._length.value()

    @property
    def said(self) -> tuple[str, str, str, str]:
        """The differences, the figures, the counts, the remarks."""
        return self._differ.text(), self._figures.text(), self._counts.text(), self._remarks.text()

    @property
    def isolate_menu(self) -> QMenu:
        return self._menu

    # --- inside ------------------------------------------------------------------------------------------------------

    _ready = False

    def _say(self) -> None:
        step = self._step
        figures = None if step is None else step.figures
        self._figures.setText("" if step is None else figures_words(figures, exactly=step.exact, unit=self._unit))
        self._figures.setToolTip(tooltip(*figures_help(figures)))
        self._figures.setVisible(figures is not None)

    def _refresh_draw(self) -> None:
        step = self._step
        of_settings = step is not None and step.a.settings is not None and step.b.settings is not None
        self._draw.setEnabled(self._ready and of_settings)
