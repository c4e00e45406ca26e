"""The text of the current path with its choice of colours and their legend."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QMenu, QVBoxLayout, QWidget

from explorer.events import NodeView
from explorer.i18n import tr
from explorer.text import Vocabulary
from explorer.tree import HowChosen
from ui.format import LogUnit
from ui.text.colouring import COLOUR_CHOICES, HOW_NAMES, ColourBy
from ui.text.grammar_line import GrammarLine
from ui.text.legend import ColourLegend
from ui.text.path_cells import PathCells
from ui.text.token_area import NOTHING
from ui.theme import MapName


class PathText(QWidget):
    """The path to the current node as text, one cell a token. Click a token to go there."""

    token_activated = Signal(int)
    """Id of the node to go to; 0 (the root) for a prompt token."""
    token_hovered = Signal(int)
    """Id of the node under the pointer, -1 when it left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.colour_box = QComboBox(self)
        self.cells = PathCells(self)
        self.legend = ColourLegend(self)
        self.grammar = GrammarLine(self)
        label = QLabel(tr("Colour by"), self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setBuddy(self.colour_box)
        for place, choice in enumerate(COLOUR_CHOICES):
            self.colour_box.addItem(tr(choice.name), choice.key)
            self.colour_box.setItemData(place, tr(choice.help), Qt.ItemDataRole.ToolTipRole)
        self.colour_box.setAccessibleName(tr("Colour the tokens by"))
        header = QHBoxLayout()
        header.setContentsMargins(8, 4, 8, 4)
        header.setSpacing(8)
        header.addWidget(label)
        header.addWidget(self.colour_box)
        header.addWidget(self.legend)
        header.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(header)
        layout.addWidget(self.grammar)
        layout.addWidget(self.cells, 1)
        self._add_actions()
        self.colour_box.currentIndexChanged.connect(self._recolour)
        self.cells.cell_activated.connect(self._activate)
        self.cells.cell_hovered.connect(self._hover)
        self.cells.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.cells.customContextMenuRequested.connect(self._open_menu)
        self._recolour()
        self.set_view(None)

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """The vocabulary behind the tokens, for their bytes."""
        self.cells.vocabulary = vocabulary

    def set_view(self, view: NodeView | None) -> None:
        """Show the path to another node; None where no session is open."""
        self.cells.set_view(view)
        self.grammar.set_view(view)
        self._copy_text.setEnabled(view is not None and bool(view.text))
        self._copy_all.setEnabled(view is not None)
        self._copy_ids.setEnabled(view is not None)
        self._explain()

    def set_log_unit(self, unit: LogUnit) -> None:
        """Show logarithms in nats or bits."""
        self.cells.unit = unit
        self.grammar.set_log_unit(unit)
        self._explain()

    def set_colour_map(self, name: MapName) -> None:
        """Colour by cividis or by viridis."""
        self.cells.map_name = name
        self.cells.viewport().update()
        self.legend.set_colour_map(name)

    def colour_by(self) -> ColourBy:
        """What the tokens are coloured by."""
        return self.cells.colour_by

    def set_colour_by(self, by: ColourBy) -> None:
        """Choose what the tokens are coloured by."""
        self.colour_box.setCurrentIndex([choice.key for choice in COLOUR_CHOICES].index(by))

    def highlight_node(self, node_id: int) -> None:
        """Outline the token of a node that is hovered elsewhere; -1 for none."""
        self.cells.highlight(self.cells.cell_of(node_id))

    def _add_actions(self) -> None:
        self._copy_text = QAction(tr("Copy the generated text"), self.cells)
        self._copy_text.setShortcut(QKeySequence.StandardKey.Copy)
        self._copy_text.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self._copy_all = QAction(tr("Copy prompt and text"), self.cells)
        self._copy_ids = QAction(tr("Copy token ids"), self.cells)
        self._copy_text.triggered.connect(self._put_text)
        self._copy_all.triggered.connect(self._put_all)
        self._copy_ids.triggered.connect(self._put_ids)
        self.cells.addActions([self._copy_text, self._copy_all, self._copy_ids])

    @Slot()
    def _recolour(self) -> None:
        choice = COLOUR_CHOICES[self.colour_box.currentIndex()]
        self.colour_box.setToolTip(tr(choice.help))
        self.cells.set_colour_by(choice.key)
        self._explain()

    def _explain(self) -> None:
        view = self.cells.view
        present = {edge.how for edge in view.edges} if view is not None else set()
        hows: list[HowChosen] = [how for how in HOW_NAMES if how in present]
        self.legend.explain(self.cells.colour_by, self.cells.unit, hows)

    @Slot(int)
    def _activate(self, cell: int) -> None:
        self.token_activated.emit(self.cells.node_of(cell))

    @Slot(int)
    def _hover(self, cell: int) -> None:
        self.token_hovered.emit(NOTHING if cell == NOTHING else self.cells.node_of(cell))

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        if self.cells.view is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions(self.cells.actions())
        menu.popup(self.cells.viewport().mapToGlobal(position))

    @Slot()
    def _put_text(self) -> None:
        if self.cells.view is not None:
            QGuiApplication.clipboard().setText(self.cells.view.text)

    @Slot()
    def _put_all(self) -> None:
        if self.cells.view is not None:
            prompt = "".join(piece.text for piece in self.cells.view.prompt_pieces)
            QGuiApplication.clipboard().setText(prompt + self.cells.view.text)

    @Slot()
    def _put_ids(self) -> None:
        if self.cells.view is not None:
            ids = (*self.cells.view.context.prompt_ids, *self.cells.view.context.generated_ids)
            QGuiApplication.clipboard().setText(", ".join(map(str, ids)))
