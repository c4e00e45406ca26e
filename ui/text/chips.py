"""The tokens of a prompt as chips: what the model really sees, one cell a token."""

from __future__ import annotations

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from explorer.i18n import listed, tr
from explorer.text import PathPiece
from ui.format import count, tooltip
from ui.text.token_area import CellStyle, TokenArea
from ui.text.token_label import Inks
from ui.theme import Colours


def piece_lines(piece: PathPiece) -> list[str]:
    """What there is to say about a token as such, for tooltips."""
    lines = [tr("Token {label}").format(label=piece.label), tr("Id {id}").format(id=piece.token_id)]
    if piece.special:
        lines.append(tr("A special token: it steers the model and is not part of the text."))
    if piece.incomplete:
        lines.append(tr("It leaves a character unfinished; a later token completes it."))
    return lines


class TokenChips(TokenArea):
    """Read-only chips of any tokens, wrapping and scrolling."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Tokens of the prompt"))
        self.set_pieces([])

    def set_pieces(self, pieces: list[PathPiece]) -> None:
        """Show other tokens."""
        hint = "" if pieces else tr("The tokens of the prompt appear here as you write it.")
        self.show_pieces(pieces, hint=hint)
        self.setAccessibleDescription(
            tr("{count} tokens").format(count=count(len(pieces))) if pieces else hint,
        )

    def cell_style(self, cell: int, colours: Colours) -> CellStyle:
        tint = QColor(colours.window)
        return CellStyle(Inks.on(tint, QColor(colours.text)), tint=tint)

    def cell_tooltip(self, cell: int) -> str:
        place = tr("Token {place} of {count}").format(place=count(cell + 1), count=count(len(self.pieces)))
        return tooltip(place, *piece_lines(self.pieces[cell]))

    def cell_description(self, cell: int) -> str:
        return listed(piece_lines(self.pieces[cell]))
