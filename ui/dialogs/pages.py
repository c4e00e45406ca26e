"""Short pages to read: when something looks wrong, and about the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from explorer import __version__
from explorer.i18n import N_, tr
from ui.format import tooltip
from ui.panels.common import GRID, plain_label

_TROUBLES: tuple[tuple[str, str, str], ...] = (
    (
        "nothing",
        N_("Nothing is generated."),
        N_(
            "A limit on tokens in all counts the prompt: with a prompt of 300 tokens, a limit of 20 leaves no room. "
            "Use “At most new tokens”. A stop string that the text begins with has the same effect."
        ),
    ),
    (
        "repeats",
        N_("The text repeats itself."),
        N_(
            "Greedy decoding and low temperatures like loops: a phrase makes itself more probable each time. Draw at a "
            "higher temperature, set a repetition penalty slightly above 1, or forbid repeated n-grams."
        ),
    ),
    (
        "template",
        N_("The answer has nothing to do with the question."),
        N_(
            "A chat model expects its chat template around the messages. Use the Chat tab of the prompt panel; the "
            "tokens below it show exactly what the model reads."
        ),
    ),
    (
        "specials",
        N_("There are words in angle brackets in the text."),
        N_(
            "They are control tokens, such as <|im_end|>. The tree shows them since the model predicts them like any "
            "other token; the end of a turn is one of them."
        ),
    ),
    (
        "cut",
        N_("The text breaks off in the middle of a sentence."),
        N_(
            "The banner under the path says which rule ended it. A limit cuts; only an end token means that the model "
            "itself was done. Raise the limit, or go on anyway."
        ),
    ),
    (
        "differs",
        N_("Two programs give different text for the same prompt."),
        N_(
            "Compare the token ids first, then every setting: a library may switch on filters by itself (transformers "
            "keeps 50 tokens when sampling), apply filters in another order, or begin the prompt with another token."
        ),
    ),
    (
        "no_effect",
        N_("A setting seems to do nothing."),
        N_(
            "At temperature 0, and with top-k 1, the best token is taken whatever the other filters leave. A filter "
            "also does nothing where it would have kept all that was left; “Why?” says so for every one of them."
        ),
    ),
    (
        "unlikely",
        N_("Unlikely tokens turn up although a filter is on."),
        N_(
            "Filters run one after the other. In the order of transformers the temperature comes first: at a high one "
            "all tokens come close, and top-p or min-p keep more of them. In the order of llama.cpp the temperature "
            "comes last. “Why?” shows what each order keeps."
        ),
    ),
    (
        "endless",
        N_("The text never ends."),
        N_(
            "Only an end token ends a text by itself. Penalties and n-gram rules look at the prompt as well: in a chat "
            "template the end token occurs already, and they make it unlikely or forbid it. Look at its bar among the "
            "candidates: what holds it back is named there."
        ),
    ),
    (
        "no_tokens",
        N_("No token is left to choose from."),
        N_(
            "Every filter may take tokens away, and together they may take all. The stop names the one that took the "
            "last; relax it, or pick a token by hand. A grammar leaves few to begin with."
        ),
    ),
    (
        "slow",
        N_("It is slow."),
        N_(
            "The first token of a long prompt costs the most; later ones reuse what was computed. Close other "
            "programs, leave one core free, take a smaller model, or bfloat16 on a graphics card."
        ),
    ),
    (
        "habit",
        N_("A habit that helps"),
        N_(
            "Fix the seed, change one setting at a time, run several times, and compare distributions rather than one "
            "sample of text."
        ),
    ),
)


class PageDialog(QDialog):
    """Headed paragraphs of plain text; the one at place ``first`` is in sight when it opens."""

    def __init__(self, parent: QWidget, title: str, paragraphs: Sequence[tuple[str, str]], first: int = 0) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setSpacing(GRID)
        self._heads: list[QLabel] = []
        for heading, text in paragraphs:
            head = plain_label(heading)
            font = head.font()
            font.setBold(True)
            head.setFont(font)
            self._heads.append(head)
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
        self._scroll, self._first = scroll, first
        self.resize(140 * GRID, 130 * GRID)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._first:
            QTimer.singleShot(0, self, self._go)  # once the paragraphs have their places

    def _go(self) -> None:
        self._scroll.verticalScrollBar().setValue(self._heads[self._first].y() - GRID)


def troubleshooting_page(parent: QWidget, entry: str = "") -> PageDialog:
    """What commonly surprises people, and why; opened at an entry."""
    paragraphs = [(tr(heading), tr(text)) for _, heading, text in _TROUBLES]
    names = [name for name, _, _ in _TROUBLES]
    first = names.index(entry) if entry in names else 0
    return PageDialog(parent, tr("When something looks wrong"), paragraphs, first)


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
