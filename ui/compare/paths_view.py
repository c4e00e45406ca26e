"""Two texts side by side, a cell a token, with where and why they part."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from explorer.i18n import listed, tr
from ui.compare.shown import PathShown, PathsShown
from ui.format import tooltip
from ui.growth.words import finish_word
from ui.panels.common import GRID, plain_label
from ui.text.chips import piece_lines
from ui.text.token_area import NOTHING, CellStyle, TokenArea
from ui.text.token_label import Inks
from ui.theme import Colours


class PathCells(TokenArea):
    """One text: the tokens before the parting are quiet, the one at which it parts has a dashed frame."""

    node_activated = Signal(int)
    node_hovered = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._path: PathShown | None = None
        self.cell_activated.connect(lambda cell: self._tell(self.node_activated, cell))
        self.cell_hovered.connect(self._hover)

    def set_path(self, path: PathShown | None) -> None:
        self._path = path
        pieces = () if path is None else path.pieces
        hint = "" if path is None or path.stop is None else f"⏹ {finish_word(path.stop, running=False)}"
        self.show_pieces(pieces, hint=hint)
        self.set_cursor(0 if pieces else NOTHING)

    def cell_style(self, cell: int, colours: Colours) -> CellStyle:
        parts = None if self._path is None else self._path.parts
        before = parts is None or cell < parts
        tint = QColor(colours.window if before else colours.accent_soft)
        return CellStyle(Inks.on(tint, QColor(colours.text)), tint=tint, dashed=cell == parts)

    def cell_lines(self, cell: int) -> list[str]:
        lines = piece_lines(self.pieces[cell])
        if self._path is not None and cell == self._path.parts:
            lines.append(tr("Here the texts part."))
        return lines

    def cell_tooltip(self, cell: int) -> str:
        return tooltip(*self.cell_lines(cell))

    def cell_description(self, cell: int) -> str:
        return listed(self.cell_lines(cell))

    def _tell(self, signal: object, cell: int) -> None:
        if self._path is not None and 0 <= cell < len(self._path.nodes):
            signal.emit(self._path.nodes[cell])  # type: ignore[attr-defined]  # a bound signal

    def _hover(self, cell: int) -> None:
        known = self._path is not None and 0 <= cell < len(self._path.nodes)
        self.node_hovered.emit(self._path.nodes[cell] if known and self._path is not None else NOTHING)


class PathsView(QWidget):
    """Hidden texts cost nothing: it is laid out when it is shown."""

    node_activated = Signal(int)
    node_hovered = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = PathCells(tr("Text of A")), PathCells(tr("Text of B"))
        self._names = plain_label(quiet=True), plain_label(quiet=True)
        self._words = plain_label()
        grid = QGridLayout()
        grid.setSpacing(GRID)
        for column, (name, cells) in enumerate(zip(self._names, (self.a, self.b), strict=True)):
            grid.addWidget(name, 0, column)
            grid.addWidget(cells, 1, column)
            grid.setColumnStretch(column, 1)
            cells.node_activated.connect(self.node_activated)
            cells.node_hovered.connect(self.node_hovered)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, GRID, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self._words)
        layout.addLayout(grid, 1)

    def set_paths(self, paths: PathsShown | None, invitation: str) -> None:
        """Show two texts; ``invitation`` where there are none."""
        self._words.setText(invitation if paths is None else "\n".join(paths.words))
        for side, name, cells, path in (
            ("A", self._names[0], self.a, None if paths is None else paths.a),
            ("B", self._names[1], self.b, None if paths is None else paths.b),
        ):
            name.setText("" if path is None else f"{side}: {path.name}")
            cells.set_path(path)
            cells.setVisible(path is not None)

    @property
    def said(self) -> str:
        return self._words.text()
