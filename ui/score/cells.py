"""The scored text, a cell a token, and what the model wrote by itself."""

from __future__ import annotations

import math
from functools import lru_cache

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from explorer.i18n import listed, tr
from explorer.scoring.judging import TokenScore
from ui.format import LogUnit, count, exact, logarithm, percent, tooltip
from ui.score.colouring import BUCKET_SIGNS, Scale, ScaleName, ScoreColour, bucket_of, colour_place, scale_of
from ui.score.shown import TextShown, TokenShown
from ui.text.chips import piece_lines
from ui.text.path_cells import TINT_SHARE
from ui.text.token_area import NOTHING, CellStyle, TokenArea
from ui.text.token_label import Inks
from ui.theme import Colours, MapName, blend, map_colour

_STEPS = 64


@lru_cache(maxsize=512)
def _style(colours: Colours, name: MapName, step: int | None, sign: str, departs: bool, gone: bool) -> CellStyle:
    surface = QColor(colours.surface)
    colour = None if step is None else map_colour(name, colours, step / _STEPS)
    tint = None if colour is None else blend(colour, surface, TINT_SHARE)
    inks = Inks.on(tint or surface, QColor(colours.quiet if gone else colours.text))
    return CellStyle(inks, tint=tint, bar=colour, glyph=sign, dashed=departs)


class ScoreCells(TokenArea):
    """One cell a token of a `TextShown`; the cell where the free run leaves it has a dashed frame."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Scored text"))
        self.unit: LogUnit = "nats"
        self.map_name: MapName = "cividis"
        self._text: TextShown | None = None
        self._by: ScoreColour = "probability"
        self._scale_name: ScaleName = "fixed"
        self._scale = Scale(0.0, 1.0)

    @property
    def scale(self) -> Scale:
        return self._scale

    def set_colour(self, by: ScoreColour, scale: ScaleName) -> None:
        """Colour by something else, or on another scale."""
        self._by, self._scale_name = by, scale
        self._rescale()

    def set_text(self, text: TextShown | None) -> None:
        """Show another text, or more of it."""
        same = text is not None and self._text is not None and text.group == self._text.group
        cursor, at = self.cursor_cell, self.verticalScrollBar().value()
        self._text = text
        pieces = () if text is None else text.pieces
        self.show_pieces(pieces)
        if same:  # the eye stays where it is
            self.verticalScrollBar().setValue(at)
        self.set_cursor(cursor if same and cursor < len(pieces) else 0 if pieces else NOTHING)
        self.setAccessibleDescription("".join(piece.text for piece in pieces[:200]))
        self._rescale()

    def _rescale(self) -> None:
        tokens = () if self._text is None else self._text.tokens
        self._scale = scale_of(self._by, self._scale_name, (token.row.score for token in tokens))
        self.show_glyphs(0 if self._by == "rank" else None)
        self.viewport().update()

    # --- what a cell looks like and says -----------------------------------------------------------------------------

    def cell_style(self, cell: int, colours: Colours) -> CellStyle:
        assert self._text is not None
        score = self._text.tokens[cell].row.score
        if score is None:
            return _style(colours, self.map_name, None, "", False, True)
        place = colour_place(self._by, self._scale, score)
        sign = BUCKET_SIGNS[bucket_of(score.rank)] if self._by == "rank" else ""
        step = None if place is None else round(place * _STEPS)
        return _style(colours, self.map_name, step, sign, cell == self._text.departure, False)

    def cell_lines(self, cell: int) -> list[str]:
        """Everything to be said of a token, a line each."""
        assert self._text is not None
        token = self._text.tokens[cell]
        place = tr("Token {place} of {count}").format(
            place=count(cell + 1), count=count(self._text.prompt_tokens + self._text.total)
        )
        lines = [place, *piece_lines(self.pieces[cell])]
        lines += score_lines(token, self.unit)
        if cell == self._text.departure:
            lines.append(tr("Here the free run leaves the text."))
        return lines

    def cell_tooltip(self, cell: int) -> str:
        return tooltip(*self.cell_lines(cell))

    def cell_description(self, cell: int) -> str:
        return listed(self.cell_lines(cell))


def score_lines(token: TokenShown, unit: LogUnit) -> list[str]:
    """A token's score, a line each, for tooltips."""
    score = token.row.score
    if score is None:
        return [tr("Nothing stands before it, so it has no score.")]
    lines = [_probability_line(score, unit), tr("Rank {rank}").format(rank=count(score.rank))]
    lines.append(tr("Entropy before it {entropy}").format(entropy=logarithm(score.entropy, unit)))
    if score.rank == 1:
        lines.append(tr("The model's first choice."))
    else:
        preferred = tr("The model preferred {token} with {percent}.")
        lines.append(preferred.format(token=token.preferred, percent=percent(math.exp(score.preferred_logprob))))
    if score.sampling_logprob is None:
        lines.append(tr("The settings in force rule it out."))
    return lines


def _probability_line(score: TokenScore, unit: LogUnit) -> str:
    if score.model_logprob == -math.inf:
        return tr("Probability 0: the model rules it out, and its surprisal is infinite.")
    return tr("Probability {percent}, surprisal {surprisal} ({exact} nats)").format(
        percent=percent(math.exp(score.model_logprob)),
        surprisal=logarithm(score.surprisal, unit),
        exact=exact(score.surprisal),
    )


class FreeCells(TokenArea):
    """What the free run wrote after it had left the text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Free run"))

    def cell_style(self, cell: int, colours: Colours) -> CellStyle:
        tint = QColor(colours.window)
        return CellStyle(Inks.on(tint, QColor(colours.text)), tint=tint, dashed=cell == 0)

    def cell_tooltip(self, cell: int) -> str:
        return tooltip(*piece_lines(self.pieces[cell]))

    def cell_description(self, cell: int) -> str:
        return listed(piece_lines(self.pieces[cell]))
