"""Short pages to read: when something looks wrong, and about the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QScrollArea, QVBoxLayout, QWidget

from explorer import __version__
from explorer.i18n import N_, tr
from ui.format import tooltip
from ui.panels.common import GRID, plain_label

_TROUBLES: tuple[tuple[str, str], ...] = (
    (
        N_("Nothing is generated."),
        N_(
            "A limit on tokens in all counts the prompt: with a prompt of 300 tokens, a limit of 20 leaves no room. "
            "Use “At most new tokens”. A stop string that the text begins with has the same effect."
        ),
    ),
    (
        N_("The text repeats itself."),
        N_(
            "Greedy decoding and low temperatures like loops: a phrase makes itself more probable each time. Draw at a "
            "higher temperature, set a repetition penalty slightly above 1, or forbid repeated n-grams."
        ),
    ),
    (
        N_("The answer has nothing to do with the question."),
        N_(
            "A chat model expects its chat template around the messages. Use the Chat tab of the prompt panel; the "
            "tokens below it show exactly what the model reads."
        ),
    ),
    (
        N_("There are words in angle brackets in the text."),
        N_(
            "They are control tokens, such as <|im_end|>. The tree shows them since the model predicts them like any "
            "other token; the end of a turn is one of them."
        ),
    ),
    (
        N_("The text breaks off in the middle of a sentence."),
        N_(
            "The banner under the path says which rule ended it. A limit cuts; only an end token means that the model "
            "itself was done. Raise the limit, or go on anyway."
        ),
    ),
    (
        N_("Two programs give different text for the same prompt."),
        N_(
            "Compare the token ids first, then every setting: a library may switch on filters by itself (transformers "
            "keeps 50 tokens when sampling), apply filters in another order, or begin the prompt with another token."
        ),
    ),
    (
        N_("It is slow."),
        N_(
            "The first token of a long prompt costs the most; later ones reuse what was computed. Close other "
            "programs, leave one core free, take a smaller model, or bfloat16 on a graphics card."
        ),
    ),
    (
        N_("A habit that helps"),
        N_(
            "Fix the seed, change one setting at a time, run several times, and compare distributions rather than one "
            "sample of text."
        ),
    ),
)


class PageDialog(QDialog):
    """Headed paragraphs of plain text."""

    def __init__(self, parent: QWidget, title: str, paragraphs: Sequence[tuple[str, str]]) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setSpacing(GRID)
        for heading, text in paragraphs:
            head = plain_label(heading)
            font = head.font()
            font.setBold(True)
            head.setFont(font)
            column.addWidget(head)
            column.addWidget(plain_label(text))
            column.addSpacing(2 * GRID)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(inside)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setAccessibleName(title)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        close.setText(tr("Close"))
        close.setToolTip(tooltip(tr("Close this page.")))
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(scroll)
        layout.addWidget(buttons)
        self.resize(140 * GRID, 130 * GRID)


def troubleshooting_page(parent: QWidget) -> PageDialog:
    """What commonly surprises people, and why."""
    paragraphs = [(tr(heading), tr(text)) for heading, text in _TROUBLES]
    return PageDialog(parent, tr("When something looks wrong"), paragraphs)


def about_page(parent: QWidget, library: Path, models: Path) -> PageDialog:
    """Version, licence, and where things are kept."""
    paragraphs = [
        (
            tr("Token Tree Explorer {version}").format(version=__version__),
            tr("Looks inside decoding, one token at a time."),
        ),
        (tr("Licence"), tr("Apache License 2.0")),
        (tr("Your sessions"), str(library)),
        (tr("Models"), str(models)),
        (
            tr("Privacy"),
            tr("Models run on this computer. The network is used only to fetch a model that you asked for."),
        ),
    ]
    return PageDialog(parent, tr("About"), paragraphs)
