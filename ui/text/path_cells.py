"""The cells of a path: prompt tokens quietly, generated ones coloured by what was recorded of them."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from explorer.events import NodeView
from explorer.i18n import listed, tr
from explorer.text import Vocabulary
from explorer.tree import ROOT, Edge, HowChosen
from ui.format import LogUnit, count, exact, hex_bytes, how_label, logarithm, path_probability, percent, tooltip
from ui.text.chips import piece_lines
from ui.text.colouring import HOW_GLYPHS, ColourBy, how_colour, map_place
from ui.text.token_area import NOTHING, CellStyle, TokenArea
from ui.text.token_label import Inks
from ui.theme import Colours, MapName, blend, map_colour

TINT_SHARE = 0.28  # of the full colour behind the text; the bar below the text has all of it
_STEPS = 255


@lru_cache(maxsize=4096)
def _generated_style(
    colours: Colours, map_name: MapName, step: int | None, how: HowChosen | None, forced: bool, cut: bool
) -> CellStyle:
    """The style of a generated token: ``step`` on the colour map, or the colour of ``how``, or none."""
    colour = how_colour(how, colours) if how else None
    if step is not None:
        colour = map_colour(map_name, colours, step / _STEPS)
    surface = QColor(colours.surface)
    tint = None if colour is None else blend(colour, surface, TINT_SHARE)
    inks = Inks.on(tint or surface, QColor(colours.text))
    return CellStyle(inks, tint=tint, bar=colour, glyph=HOW_GLYPHS[how] if how else "", dashed=forced, struck=cut)


@lru_cache(maxsize=4)
def _prompt_style(colours: Colours) -> CellStyle:
    return CellStyle(Inks.on(QColor(colours.surface), QColor(colours.quiet)))


class PathCells(TokenArea):
    """One cell a token of a `NodeView`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Text of the current path"))
        self.vocabulary: Vocabulary | None = None
        self.unit: LogUnit = "nats"
        self.map_name: MapName = "cividis"
        self._colour_by: ColourBy = "model"
        self._view: NodeView | None = None
        self._prompt_cells = 0
        self._ends: tuple[int, ...] = ()
        self._cell_of_node: dict[int, int] = {}

    @property
    def view(self) -> NodeView | None:
        return self._view

    @property
    def colour_by(self) -> ColourBy:
        return self._colour_by

    def set_colour_by(self, by: ColourBy) -> None:
        self._colour_by = by
        self.show_glyphs(self._prompt_cells if by == "how" else None)
        self.viewport().update()

    def set_view(self, view: NodeView | None) -> None:
        """Show another path, or an invitation."""
        moved = view is not None and (self._view is None or view.node_id != self._view.node_id)
        self._view = view
        if view is None:
            self._prompt_cells, self._ends, self._cell_of_node = 0, (), {}
            hint = tr("No session is open. Write a prompt, or open one of the sessions.")
            self.show_pieces((), hint=hint)
            self.setAccessibleDescription(hint)
            return
        self._prompt_cells = len(view.prompt_pieces)
        self.show_glyphs(self._prompt_cells if self._colour_by == "how" else None)
        self._ends = tuple(accumulate(len(piece.text) for piece in view.pieces))
        self._cell_of_node = {node: self._prompt_cells + place for place, node in enumerate(view.path)}
        hint = "" if view.pieces or view.stop else tr("Nothing generated yet: take a step, or pick a candidate.")
        self.show_pieces((*view.prompt_pieces, *view.pieces), hint=hint, follow_end=moved)
        self.setAccessibleDescription(view.text or hint)

    def node_of(self, cell: int) -> int:
        """The tree node of a cell; prompt tokens belong to the root."""
        if self._view is None or cell < self._prompt_cells:
            return ROOT
        return self._view.path[cell - self._prompt_cells]

    def cell_of(self, node_id: int) -> int:
        """The cell of a node of this path, -1 for any other."""
        return self._cell_of_node.get(node_id, NOTHING)

    def edge_of(self, cell: int) -> Edge | None:
        """What was recorded when a token was taken; None for prompt tokens."""
        place = cell - self._prompt_cells
        if self._view is None or not 0 <= place < len(self._view.edges):
            return None
        return self._view.edges[place]

    def is_cut(self, cell: int) -> bool:
        """Whether a stop string cut this whole token off the text."""
        view, place = self._view, cell - self._prompt_cells
        if view is None or view.stop is None or view.stop.kind != "stop_string" or place < 0:
            return False
        start = self._ends[place - 1] if place else 0
        return start >= len(view.text)

    # --- what a cell looks like and says -----------------------------------------------------------------------------

    def cell_style(self, cell: int, colours: Colours) -> CellStyle:
        if cell < self._prompt_cells:
            return _prompt_style(colours)
        edge = self.edge_of(cell)
        if edge is None:
            return _generated_style(colours, self.map_name, None, None, False, self.is_cut(cell))
        place = map_place(self._colour_by, edge)
        step = None if place is None else round(place * _STEPS)
        how = edge.how if self._colour_by == "how" else None
        return _generated_style(colours, self.map_name, step, how, edge.forced, self.is_cut(cell))

    def cell_lines(self, cell: int) -> list[str]:
        """Everything to be said of a token, a line each."""
        lines = piece_lines(self.pieces[cell])
        if self.vocabulary is not None:
            data = self.vocabulary.piece(self.pieces[cell].token_id)
            lines.append(tr("Bytes {bytes}").format(bytes=hex_bytes(data)))
        if cell < self._prompt_cells:
            place = tr("Prompt token {place} of {count}")
            lines.insert(0, place.format(place=count(cell + 1), count=count(self._prompt_cells)))
            return lines
        edge = self.edge_of(cell)
        if edge is not None:
            lines.extend(edge_lines(edge, self.unit))
        if self.is_cut(cell):
            lines.append(tr("Cut off the text: it belongs to the stop string or follows it."))
        return lines

    def cell_tooltip(self, cell: int) -> str:
        return tooltip(*self.cell_lines(cell))

    def cell_description(self, cell: int) -> str:
        return listed(self.cell_lines(cell))


def edge_lines(edge: Edge, unit: LogUnit) -> list[str]:
    """What was recorded when a token was taken, a line each, for tooltips."""
    values = {
        "percent": percent(math.exp(edge.model_logprob)),
        "logarithm": logarithm(edge.model_logprob, unit),
        "exact": exact(edge.model_logprob),
    }
    lines = [tr("Model probability {percent}, log {logarithm} ({exact} nats)").format(**values)]
    if edge.sampling_logprob is None:
        lines.append(tr("Sampling probability: excluded by a filter, taken all the same (forced)"))
    else:
        values = {
            "percent": percent(math.exp(edge.sampling_logprob)),
            "logarithm": logarithm(edge.sampling_logprob, unit),
            "exact": exact(edge.sampling_logprob),
        }
        lines.append(tr("Sampling probability {percent}, log {logarithm} ({exact} nats)").format(**values))
    if edge.grammar_logmass is not None:
        left = tr("The grammar left {mass} of the model's probability at this step")
        lines.append(left.format(mass=path_probability(edge.grammar_logmass)))
    lines.append(tr("Rank {rank}, logit {logit}").format(rank=count(edge.rank), logit=exact(edge.logit)))
    if edge.u is None:
        lines.append(tr("Chosen: {how}").format(how=how_label(edge.how)))
    else:
        chosen = tr("Chosen: {how} (u = {u}, draw {index})")
        lines.append(chosen.format(how=how_label(edge.how), u=exact(edge.u), index=edge.draw_index))
    return lines
