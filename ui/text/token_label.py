"""How one token's label looks everywhere: quiet marks for whitespace, chips for bytes, pills for special tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from ui.format import ELLIPSIS
from ui.theme import blend, contrast, ink_on

RunKind = Literal["text", "mark", "hex"]

_RUN = re.compile(
    r"<(?P<hex>0x[0-9A-F]{2}(?: 0x[0-9A-F]{2})*)>"
    r"|(?P<mark>[·⏎→]+|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8})"
)
_CHIP_PADDING = 3.0
_PILL_PADDING = 6.0
_CACHED_LABELS = 20_000


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of a label that is drawn in one way."""

    text: str
    kind: RunKind


@dataclass(frozen=True, slots=True)
class PlacedRun:
    """A run with its left edge and width in px, relative to the label's left edge."""

    text: str
    kind: RunKind
    left: float
    width: float


@lru_cache(maxsize=_CACHED_LABELS)
def label_runs(label: str) -> tuple[Run, ...]:
    """A label of `Vocabulary.label` taken apart: plain text, marks and escapes, groups of bytes (``E4 BD``)."""
    runs: list[Run] = []
    end = 0
    for match in _RUN.finditer(label):
        if match.start() > end:
            runs.append(Run(label[end : match.start()], "text"))
        if match["hex"]:
            runs.append(Run(match["hex"].replace("0x", ""), "hex"))
        else:
            runs.append(Run(match["mark"], "mark"))
        end = match.end()
    if end < len(label):
        runs.append(Run(label[end:], "text"))
    return tuple(runs)


@lru_cache(maxsize=1024)
def _quiet_ink(ink: int, background: int) -> QColor:
    strong, behind = QColor.fromRgb(ink), QColor.fromRgb(background)
    for percent in range(55, 100, 5):
        colour = blend(strong, behind, percent / 100)
        if contrast(colour, behind) >= 4.5:
            return colour
    return strong


@dataclass(frozen=True, slots=True)
class Inks:
    """The colours of a label on its background: ``strong`` for text, ``quiet`` for marks and outlines."""

    strong: QColor
    quiet: QColor

    @classmethod
    def on(cls, background: QColor, strong: QColor | None = None) -> Inks:
        """Inks with a contrast of at least 4.5:1 where ``strong`` has it; the default is black or white."""
        ink = ink_on(background) if strong is None else strong
        return cls(ink, _quiet_ink(ink.rgb(), background.rgb()))


class LabelPainter:
    """Measures and paints token labels in one font, with a cache of what it measured."""

    def __init__(self, font: QFont) -> None:
        self.font = font
        self._metrics = QFontMetricsF(font)
        self._chip_font = QFont(font)
        if font.pixelSize() > 0:
            self._chip_font.setPixelSize(max(1, round(font.pixelSize() * 0.85)))
        else:
            self._chip_font.setPointSizeF(font.pointSizeF() * 0.85)
        self._chip_metrics = QFontMetricsF(self._chip_font)
        self._placed: dict[tuple[str, bool, float], tuple[PlacedRun, ...]] = {}
        self._widths: dict[tuple[str, bool], float] = {}
        self.height = self._metrics.height()
        self._drop = (self._metrics.ascent() - self._metrics.descent()) / 2  # of the baseline below the middle

    def width(self, label: str, special: bool = False) -> float:
        """The width in px a label takes when nothing is left out."""
        key = (label, special)
        width = self._widths.get(key)
        if width is None:
            width = sum(self._run_width(run.text, run.kind) for run in label_runs(label))
            width += 2 * _PILL_PADDING if special else 0.0
            self._remember(self._widths)
            self._widths[key] = width
        return width

    def paint(self, painter: QPainter, rect: QRectF, label: str, special: bool, inks: Inks) -> None:
        """Paint a label at the left of ``rect``, centred vertically, its middle left out where it is too long."""
        runs = self._fitted(label, special, rect.width())
        if not runs:
            return
        left = rect.left()
        if special:
            self._paint_pill(painter, rect, runs[-1].left + runs[-1].width + 2 * _PILL_PADDING, inks)
            left += _PILL_PADDING
        middle = rect.top() + rect.height() / 2
        for run in runs:
            if run.kind == "hex":
                self._paint_chip(painter, QPointF(left + run.left, middle), run, inks)
            else:
                painter.setFont(self.font)
                painter.setPen(inks.quiet if run.kind == "mark" else inks.strong)
                painter.drawText(QPointF(left + run.left, middle + self._drop), run.text)

    def _paint_pill(self, painter: QPainter, rect: QRectF, width: float, inks: Inks) -> None:
        height = min(rect.height() - 2, self._metrics.height() + 2)
        pill = QRectF(rect.left() + 0.5, rect.center().y() - height / 2, width - 1, height)
        painter.setPen(QPen(inks.quiet, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(pill, height / 2, height / 2)

    def _paint_chip(self, painter: QPainter, left_middle: QPointF, run: PlacedRun, inks: Inks) -> None:
        height = self._chip_metrics.height() + 1
        chip = QRectF(left_middle.x() + 0.5, left_middle.y() - height / 2, run.width - 2, height)
        painter.setPen(QPen(inks.quiet, 1, Qt.PenStyle.DotLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(chip, 3, 3)
        painter.setFont(self._chip_font)
        painter.setPen(inks.strong)
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, run.text)

    def _run_width(self, text: str, kind: RunKind) -> float:
        if kind == "hex":
            return self._chip_metrics.horizontalAdvance(text) + 2 * _CHIP_PADDING + 2
        return self._metrics.horizontalAdvance(text)

    def _fitted(self, label: str, special: bool, width: float) -> tuple[PlacedRun, ...]:
        whole = self.width(label, special)
        key = (label, special, whole if whole <= width else round(width))
        runs = self._placed.get(key)
        if runs is None:
            inner = width - (2 * _PILL_PADDING if special else 0.0)
            parts = label_runs(label) if whole <= width else self._elided(label_runs(label), inner)
            runs = tuple(self._place(parts))
            self._remember(self._placed)
            self._placed[key] = runs
        return runs

    def _place(self, runs: tuple[Run, ...]) -> Iterator[PlacedRun]:
        left = 0.0
        for run in runs:
            width = self._run_width(run.text, run.kind)
            yield PlacedRun(run.text, run.kind, left, width)
            left += width

    def _elided(self, runs: tuple[Run, ...], width: float) -> tuple[Run, ...]:
        """As much of the beginning and of the end as fits, with an ellipsis between."""
        atoms = [
            Run(text, run.kind) for run in runs for text in (run.text.split() if run.kind == "hex" else list(run.text))
        ]
        free = width - self._metrics.horizontalAdvance(ELLIPSIS)
        head: list[Run] = []
        tail: list[Run] = []
        while atoms:
            take_head = len(head) <= len(tail)
            atom = atoms[0] if take_head else atoms[-1]
            free -= self._run_width(atom.text, atom.kind)
            if free < 0:
                break
            atoms.pop(0 if take_head else -1)
            if take_head:
                head.append(atom)
            else:
                tail.insert(0, atom)
        return _joined([*head, Run(ELLIPSIS, "mark"), *tail])

    @staticmethod
    def _remember(cache: dict[tuple[str, bool], float] | dict[tuple[str, bool, float], tuple[PlacedRun, ...]]) -> None:
        if len(cache) >= _CACHED_LABELS:
            cache.clear()


def _joined(runs: list[Run]) -> tuple[Run, ...]:
    joined: list[Run] = []
    for run in runs:
        if joined and joined[-1].kind == run.kind and run.kind != "hex":
            joined[-1] = Run(joined[-1].text + run.text, run.kind)
        else:
            joined.append(run)
    return tuple(joined)
