"""A distribution in numbers, for the model and for a draw, each with what it is and is not."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from explorer.decoding.statistics import Figures
from explorer.i18n import N_, tr
from ui.format import LogUnit, count, decimal, elide_middle, logarithm, percent, tooltip
from ui.panels.common import GRID, plain_label
from ui.theme import colours_of, figures_font

_DASH = "–"
_LONGEST_LABEL = 24


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One row: its name and what it means, the model's and a draw's value, and both in full where they are rounded."""

    name: str
    meaning: str
    model: str
    sampling: str
    exact: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class TokenFigures:
    """A token and its surprisals, in nats; None where it cannot be drawn."""

    label: str
    model: float
    sampling: float | None


@dataclass(frozen=True, slots=True)
class PathFigures:
    """How many tokens the path has, and its perplexities; None where they say nothing."""

    tokens: int
    model: float | None
    sampling: float | None


def figure_rows(
    model: Figures,
    sampling: Figures | None,
    marked: TokenFigures | None,
    taken: TokenFigures | None,
    path: PathFigures,
    unit: LogUnit,
) -> list[FigureRow]:
    """Everything there is to say, as text."""
    rows = [
        FigureRow(
            tr("Entropy"),
            tr(
                "How undecided the choice is: the mean surprisal of the candidates. 0 means that only one can come. It "
                "is the model's indecision about the next token, not whether it is right."
            ),
            logarithm(model.entropy, unit),
            _about(sampling, "" if sampling is None else logarithm(sampling.entropy, unit)),
            (repr(model.entropy), "" if sampling is None else repr(sampling.entropy)),
        ),
        FigureRow(
            tr("Perplexity"),
            tr(
                "The exponential of the entropy, also called the effective number of candidates: as undecided as a "
                "fair choice among so many."
            ),
            decimal(model.effective),
            _about(sampling, "" if sampling is None else decimal(sampling.effective)),
            (repr(model.effective), "" if sampling is None else repr(sampling.effective)),
        ),
        FigureRow(
            tr("Highest probability"),
            tr("The probability of the most likely candidate."),
            percent(model.maximum),
            _DASH if sampling is None else percent(sampling.maximum),
            (repr(model.maximum), "" if sampling is None else repr(sampling.maximum)),
        ),
        FigureRow(
            tr("Candidates"),
            tr("How many tokens have a probability above 0: for the model, and in a draw after all settings."),
            count(model.count),
            _about(sampling, "" if sampling is None else count(sampling.count)),
        ),
    ]
    for name, token in ((N_("Surprisal of {label}"), marked), (N_("Surprisal of {label}, taken here"), taken)):
        if token is not None:
            label = elide_middle(token.label, _LONGEST_LABEL)
            rows.append(_surprisal_row(tr(name).format(label=label), token, unit))
    if path.tokens:
        rows.append(_path_row(path))
    return rows


def _surprisal_row(name: str, token: TokenFigures, unit: LogUnit) -> FigureRow:
    return FigureRow(
        name,
        tr(
            "Minus the logarithm of its probability: how surprising this token is as an outcome. 0 means certain; in "
            "bits, every further bit halves the probability. A filtered token has none in a draw."
        ),
        logarithm(token.model, unit),
        _DASH if token.sampling is None else logarithm(token.sampling, unit),
        (repr(token.model), "" if token.sampling is None else repr(token.sampling)),
    )


def _path_row(path: PathFigures) -> FigureRow:
    return FigureRow(
        tr("Perplexity of the path ({number} tok)").format(number=count(path.tokens)),
        tr(
            "The exponential of the mean surprisal of the tokens from the prompt to here. Under the settings of each "
            "step tokens that a filter had removed are left out."
        ),
        _perplexity(path.model),
        _perplexity(path.sampling),
        ("" if path.model is None else repr(path.model), "" if path.sampling is None else repr(path.sampling)),
    )


def _perplexity(value: float | None) -> str:
    return _DASH if value is None else decimal(value) if math.isfinite(value) else "∞"


def _about(figures: Figures | None, text: str) -> str:
    if figures is None:
        return _DASH
    return tr("about {number}").format(number=text) if figures.estimated else text


class FiguresTable(QWidget):
    """Three columns: what, for the model, for a draw."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[FigureRow] = []
        self._labels: list[tuple[QLabel, QLabel, QLabel]] = []
        self._heads = (plain_label("", wrap=False), plain_label(tr("Model")), plain_label(tr("Sampling")))
        self._heads[1].setToolTip(
            tooltip(tr("Softmax of the raw logits over the whole vocabulary, no setting applied."))
        )
        self._heads[2].setToolTip(tooltip(tr("What a draw uses, after all settings in force.")))
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        self._grid.setHorizontalSpacing(3 * GRID)
        self._grid.setVerticalSpacing(GRID // 2)
        self._grid.setColumnStretch(0, 1)
        for column, head in enumerate(self._heads):
            self._style(head, column)
            self._grid.addWidget(head, 0, column)
        self._grid.setRowStretch(100, 1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._dress()

    def show_rows(self, rows: list[FigureRow]) -> None:
        """Show other figures."""
        before, self.rows = self.rows, rows
        while len(self._labels) < len(rows):
            self._add_row()
        for place, labels in enumerate(self._labels):
            row = rows[place] if place < len(rows) else None
            for label in labels:
                label.setVisible(row is not None)
            if row is not None and before[place : place + 1] != [row]:
                self._fill(labels, row)

    def _add_row(self) -> None:
        labels = (plain_label(), plain_label(wrap=False), plain_label(wrap=False))
        for column, label in enumerate(labels):
            self._style(label, column)
            self._grid.addWidget(label, len(self._labels) + 1, column)
        self._labels.append(labels)
        self._dress()

    def _fill(self, labels: tuple[QLabel, QLabel, QLabel], row: FigureRow) -> None:
        for label, text, exact in zip(labels, (row.name, row.model, row.sampling), ("", *row.exact), strict=True):
            label.setText(text)
            label.setToolTip(tooltip(row.meaning, exact))
        labels[1].setAccessibleName(tr("{name}, model").format(name=row.name))
        labels[2].setAccessibleName(tr("{name}, sampling").format(name=row.name))

    def _style(self, label: QLabel, column: int) -> None:
        right = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        label.setAlignment(right | Qt.AlignmentFlag.AlignTop)

    def _dress(self) -> None:
        colours = colours_of(self)
        inks = (colours.text, colours.model_text, colours.sampling_text)
        for labels in (self._heads, *self._labels):
            for label, ink in zip(labels, inks, strict=True):
                palette = QPalette(label.palette())
                palette.setColor(QPalette.ColorRole.WindowText, QColor(ink))
                label.setPalette(palette)
                label.setFont(figures_font(self.font()))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._dress()
