"""What is written into boxes: the labels of tokens and of the prompt, in the canvas's fonts."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontInfo

from explorer.text import Vocabulary
from ui.format import token_label
from ui.text.token_label import LabelPainter
from ui.theme import monospace_font
from ui.tree.figures import Figures

_LEAST_SIZE = 8


class TokenLabels:
    """Labels by token id, how wide they are, and who paints them. ``figures`` is the type beside boxes."""

    def __init__(self, font: QFont) -> None:
        self.vocabulary: Vocabulary | None = None
        self.prompt = ""
        self._known: dict[int, str] = {}
        self.set_font(font)

    def set_font(self, font: QFont) -> None:
        """Write in another font; labels in a fixed-width one of its size."""
        self.font = QFont(font)
        written = monospace_font(font)
        written.setPixelSize(max(_LEAST_SIZE, QFontInfo(font).pixelSize()))
        self.painter = LabelPainter(written)
        self.figures = Figures(font)

    def set_vocabulary(self, vocabulary: Vocabulary | None) -> None:
        """Take another vocabulary; without one, ids are written."""
        self.vocabulary = vocabulary
        self._known.clear()

    def of(self, token_id: int) -> str:
        """The label of a token."""
        label = self._known.get(token_id)
        if label is None:
            label = self._known[token_id] = token_label(self.vocabulary, token_id)
        return label

    def is_special(self, token_id: int) -> bool:
        return self.vocabulary is not None and self.vocabulary.is_special(token_id)

    def width(self, token_id: int) -> float:
        """The width of a token's label, px at scale 1."""
        return self.painter.width(self.of(token_id), self.is_special(token_id))

    @property
    def prompt_width(self) -> float:
        return self.painter.width(self.prompt)
