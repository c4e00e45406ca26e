"""What there is to say about the whole distribution: how many tokens stay, how undecided it is, what is not known."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from explorer.decoding.pipeline import Distribution
from explorer.i18n import N_, sentences, tr
from ui.candidates.painter import MODEL_BAR, SAMPLING_BAR
from ui.candidates.stages import stage_label
from ui.format import LogUnit, count, logarithm, percent
from ui.text.live_label import LiveLabel
from ui.theme import colours_of, figures_font

_CAPTIONS = (
    (N_("Kept"), N_("How many tokens can be drawn under the settings in force, of all the tokens there are")),
    (
        N_("Model entropy"),
        N_("How undecided the model is about the next token, all tokens counted; 0 means certain"),
    ),
    (
        N_("Sampling entropy"),
        N_("How undecided a draw is, after all settings in force; 0 means that only one token can come"),
    ),
)


class Swatch(QWidget):
    """A sample of a bar as the list draws it, the legend of its hue."""

    def __init__(self, kind: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._kind = kind
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(12, MODEL_BAR)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = colours_of(self)
        painter = QPainter(self)
        height = MODEL_BAR if self._kind == "model" else SAMPLING_BAR
        colour = colours.model if self._kind == "model" else colours.sampling
        painter.fillRect(QRectF(0, (self.height() - height) / 2, self.width(), height), QColor(colour))
        painter.end()


class Summary(QWidget):
    """Three figures in a row, and a notice where something is out of the ordinary."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = [LiveLabel(self) for _ in _CAPTIONS]
        self._captions = [QLabel(tr(caption), self) for caption, _ in _CAPTIONS]
        self.notice = QLabel(self)
        for label in (*self._captions, self.notice):
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.notice.setWordWrap(True)
        self.notice.setContentsMargins(8, 4, 8, 4)
        self.notice.setAutoFillBackground(True)
        grid = QGridLayout()
        grid.setContentsMargins(8, 4, 8, 4)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(0)
        for place, (caption, value) in enumerate(zip(self._captions, self._values, strict=True)):
            if place:
                grid.addWidget(Swatch("model" if place == 1 else "sampling", self), 0, 3 * place)
            grid.addWidget(caption, 0, 3 * place + 1)
            grid.addWidget(value, 1, 3 * place + 1)
            grid.setColumnMinimumWidth(3 * place + 2, 8)
            grid.setColumnStretch(3 * place + 2, 1)
            caption.setToolTip(tr(_CAPTIONS[place][1]))
            value.setToolTip(tr(_CAPTIONS[place][1]))
            value.setAccessibleName(tr(_CAPTIONS[place][0]))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(grid)
        layout.addWidget(self.notice)
        self.show_distribution(None, "nats")
        self._dress()

    def show_distribution(self, distribution: Distribution | None, unit: LogUnit) -> None:
        """Show the figures of a distribution; dashes for None."""
        texts = ["–", "–", "–"]
        notice = ""
        if distribution is not None:
            kept = count(distribution.kept + distribution.unseen_kept)
            kept_of = tr("about {kept} of {count}") if distribution.unseen_kept else tr("{kept} of {count}")
            texts = [
                kept_of.format(kept=kept, count=count(distribution.vocab_size)),
                logarithm(distribution.model_entropy, unit),
                logarithm(distribution.sampling_entropy, unit),
            ]
            notice = _notice(distribution)
        for label, text in zip(self._values, texts, strict=True):
            label.set_text(text)
        self.notice.setText(notice)
        self.notice.setVisible(bool(notice))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._dress()

    def _dress(self) -> None:
        colours = colours_of(self)
        for caption in self._captions:
            _ink(caption, colours.quiet)
            caption.setFont(figures_font(self.font(), 0.9))
        for value in self._values:
            value.setFont(figures_font(self.font()))
        _ink(self.notice, colours.text)
        palette = QPalette(self.notice.palette())
        palette.setColor(QPalette.ColorRole.Window, QColor(colours.warning_soft))
        self.notice.setPalette(palette)


def _notice(distribution: Distribution) -> str:
    """What the user must know to read the list rightly; empty where it is plain."""
    parts = []
    if distribution.kept + distribution.unseen_kept == 0:
        parts.append(
            tr("No candidates left: {stage} removed every token. Relax it, or pick a token by hand.").format(
                stage=stage_label(distribution.no_candidates_stage or "")
            )
        )
    if distribution.truncated:
        listed = len(distribution.token_ids)
        parts.append(
            tr(
                "Only the best {listed} tokens were stored; the unseen {count} hold {mass} of the model's probability."
            ).format(
                listed=count(listed),
                count=count(distribution.vocab_size - listed),
                mass=percent(distribution.unseen_model_mass),
            )
        )
        low, high = distribution.unseen_sampling_bounds
        if low < high:
            parts.append(
                tr("A draw would take one of these with {low} to {high}; sampling probabilities are estimates.").format(
                    low=percent(low), high=percent(high)
                )
            )
        if distribution.unresolved:
            parts.append(
                tr("What the settings do to {count} of them is not known.").format(
                    count=count(len(distribution.unresolved))
                )
            )
    return sentences(parts)


def _ink(label: QLabel, colour: str) -> None:
    palette = QPalette(label.palette())
    palette.setColor(QPalette.ColorRole.WindowText, QColor(colour))
    label.setPalette(palette)
