"""Writes what stands beside boxes: figures, values of paths, stops, folds, badges; never one over another."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen, QTransform

from explorer.i18n import tr
from explorer.tree import ROOT
from ui.format import count, percent
from ui.tree.edges import BEND_SHARE
from ui.tree.frame import Frame, Level
from ui.tree.marks import STYLES
from ui.tree.mirror import NO_NODE
from ui.tree.room import Room
from ui.tree.words import path_label, stop_mark

PAPER_ALPHA = 215  # behind figures that an edge may cross
_GAP = 6.0


class _Box(NamedTuple):
    """The place of a box, px at scale 1 from the origin of the picture."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    @property
    def middle(self) -> tuple[float, float]:
        return self.left + self.width / 2, self.top + self.height / 2


class NotePainter:
    """Paints the texts of one `Frame`. All lengths are px at scale 1: the painter is scaled once for all of them.

    Whoever comes first gets the room, so what matters most comes first; what finds no room is left out, for it is in
    the tooltip, too.
    """

    def __init__(self, painter: QPainter, frame: Frame) -> None:
        self._painter = painter
        self._frame = frame
        self._scale = frame.text_scale
        self._figures = frame.labels.figures
        self._width = frame.labels.figures.width
        self._height = frame.labels.figures.height
        colours = frame.colours
        self._paper = QColor(colours.surface)
        self._paper.setAlpha(PAPER_ALPHA)
        self._surface, self._border = QColor(colours.surface), QColor(colours.border)
        self._text, self._quiet, self._accent = QColor(colours.text), QColor(colours.quiet), QColor(colours.accent)
        self._inked: QColor | None = None  # the colour that the painter writes in
        self._outlined = frame.current_heads | frame.overlay.marks.keys()
        self._room = Room()
        boxes = frame.boxes
        heads = frame.plan.heads[boxes]
        columns = ((values / self._scale).tolist() for values in frame.rects(boxes))
        self._boxes = dict(zip(heads.tolist(), map(_Box, *columns), strict=True))
        for head, box in self._boxes.items():
            rim = max(0.0, self._outset(head) - 1)
            left, top, width, height = box
            self._room.claim(left - rim, top - rim, left + width + rim, top + height + rim)
        self._told: set[int] = set()  # boxes behind which the probability of their path stands
        self._claim_bends()
        tails = frame.outline.tail[heads].astype(np.int64)
        self._tails = dict(zip(heads.tolist(), tails.tolist(), strict=True))
        tokens = frame.tokens_in(heads.tolist())
        self._edges = dict(zip(tokens.tolist(), frame.reading.edge(tokens).tolist(), strict=True))
        self._paths = dict(zip(heads.tolist(), frame.reading.path_logprob(tails).tolist(), strict=True))

    def paint(self) -> None:
        """Everything that finds room."""
        painter, frame = self._painter, self._frame
        painter.setTransform(QTransform.fromScale(self._scale, self._scale))
        painter.setFont(self._figures.font)
        heads = list(self._boxes)
        current = [head for head in heads if self._tails[head] == frame.current]
        for head in heads:
            if head in frame.overlay.badges:
                self._paint_badge(head)
        for head in current + heads:
            self._paint_behind(head)
        self._paint_path_value(frame.current)
        if frame.level >= Level.FIGURES:
            for head in heads:
                if head != frame.outline.top:
                    self._paint_step(head)
                if self._tails[head] != head:
                    self._paint_phrase_steps(head)
        painter.resetTransform()

    def _outset(self, head: int) -> float:
        """How far the outlines of a box reach beyond it."""
        if head not in self._outlined:
            return 0.0
        on_path = head in self._frame.current_heads
        return (3.0 if on_path else 0.0) + (3.0 if self._frame.mark_of(head) is not None else 0.0)

    def _claim_bends(self) -> None:
        """Where edges swing across the tree nothing may be written. In leaf slots that grow to the right they do so
        only where nobody else stands."""
        frame, scale = self._frame, self._scale
        if not frame.down and frame.options.layout == "leaf-slot":
            return
        plan, edges = frame.plan, frame.edges[frame.edges > 0]
        parents = plan.parent[edges]
        start = frame.along(plan.along[parents]) + plan.length[parents] * scale
        turn = np.maximum(start, frame.along(plan.turn[edges])) if frame.options.layout == "tidy" else start
        bent = turn + (frame.along(plan.along[edges]) - turn) * BEND_SHARE
        came, goes = frame.across(plan.across[parents]), frame.across(plan.across[edges])
        view = frame.camera.view
        limit = view.width() if frame.down else view.height()
        low, high = np.maximum(np.minimum(came, goes), 0.0), np.minimum(np.maximum(came, goes), limit)
        columns = ((values / scale).tolist() for values in (turn, bent, low, high))
        for near, far, bottom, top in zip(*columns, strict=True):
            if bottom < top:
                self._room.claim(*((bottom, near, top, far) if frame.down else (near, bottom, far, top)))

    # --- beside boxes ------------------------------------------------------------------------------------------------

    def _paint_badge(self, head: int) -> None:
        """The badge of the overlay, on the upper right corner."""
        badge = self._frame.overlay.badges[head]
        if not badge:
            return
        box, mark = self._boxes[head], self._frame.mark_of(head)
        colour = self._text if mark is None else STYLES[mark].colour(self._frame.colours)
        self._chip(box.right - self._width(badge) - 2, box.top - 7.5 - self._outset(head), badge, colour, colour)

    def _paint_path_value(self, node_id: int) -> None:
        """The probability of the whole path under the current node, unless it stands behind it already."""
        frame = self._frame
        if node_id in (ROOT, NO_NODE) or node_id not in frame.outline:
            return
        head = int(frame.outline.head[node_id])
        if head not in self._boxes or head in self._told:
            return
        text = path_words(self._path_of(node_id), frame.stop_of(node_id) == "eos")
        rect, scale = frame.rect_of(node_id), self._scale
        box = _Box(rect.left() / scale, rect.top() / scale, rect.width() / scale, rect.height() / scale)
        away = 7.5 + self._outset(head)
        for middle in (box.bottom + away, box.top - away):
            left = box.middle[0] - self._width(text) / 2 if frame.down else box.left + _GAP
            if self._chip(left, middle, text, self._accent, self._accent):
                return

    def _path_of(self, node_id: int) -> float:
        return float(self._frame.reading.path_logprob(np.array([node_id], dtype=np.int64))[0])

    def _paint_behind(self, head: int) -> None:
        """Behind a box: why generation stopped there, what is folded away, for a leaf the probability of its path."""
        frame, tail = self._frame, self._tails[head]
        if head in self._told:
            return
        stop = frame.stop_of(tail) if tail != ROOT else None
        if frame.outline.kids[tail]:
            if stop is not None:  # Somebody went on past the stop: no room for words beside the edge.
                self._paint_bar(self._boxes[head])
            return
        folded = frame.outline.is_folded(tail)
        texts: list[tuple[str, bool]] = []
        if stop is not None:
            texts.append((stop_mark(stop), True))
        if folded:
            texts.append((folded_words(frame, tail), True))
        elif tail != ROOT:
            texts.append((path_words(self._paths[head], stop == "eos"), False))
        ink = self._accent if frame.current == tail else self._quiet
        if self._write_behind(head, texts, ink) and not folded:
            self._told.add(head)

    def _write_behind(self, head: int, texts: list[tuple[str, bool]], ink: QColor) -> bool:
        """Texts one behind the other: to the right of a box, or below it. Whether all found room."""
        box, down = self._boxes[head], self._frame.down
        along = 9.0 + self._outset(head)
        for text, framed in texts:
            width = self._width(text)
            left, middle = box.middle[0] - width / 2, box.bottom + along
            if not down:
                left, middle = box.right + along, box.middle[1]
            if framed:
                done = self._chip(left, middle, text, self._text, self._border)
            else:
                done = self._take(left, middle, width, self._height)
                if done:
                    self._write(left, middle, text, ink)
            if not done:
                return False
            along += self._height + 4 if down else width + (8 if framed else 0) + _GAP
        return True

    def _paint_phrase_steps(self, head: int) -> None:
        """The probabilities of the further tokens of a phrase: below each, or beside it, where they are not wider."""
        down, outset, box = self._frame.down, self._outset(head), self._boxes[head]
        for segment in self._frame.segments_of(head)[1:]:
            if segment.elided:
                continue
            text = step_words(self._edges[segment.nodes[0]])
            width = self._width(text)
            if down:
                left = box.left + segment.left + segment.width + 4 + outset
                middle = box.top + segment.top + segment.height / 2
            else:
                left = box.left + segment.left + (segment.width - width) / 2
                middle = box.top + segment.top + segment.height + 7 + outset
            if (down or width <= segment.width) and self._take(left, middle, width, 11.0):
                self._write(left, middle, text, self._quiet)

    def _paint_bar(self, box: _Box) -> None:
        across, down = box.middle
        area = QRectF(across - 8, box.bottom + 4, 16, 3) if self._frame.down else QRectF(box.right + 5, down - 8, 3, 16)
        self._painter.fillRect(area, self._text)

    def _paint_step(self, head: int) -> None:
        """The probability of the step into a box, on the side of its edge where the edge does not run."""
        frame, box = self._frame, self._boxes[head]
        text = step_words(self._edges[head])
        width, height = self._width(text), 12.0
        across, place = frame.plan.across, frame.plan.index[head]
        sides = (1, -1) if across[place] > across[frame.plan.parent[place]] else (-1, 1)
        for side in sides:
            if frame.down:
                left, middle = box.middle[0] + (4.5 if side > 0 else -4.5 - width), box.top - 12
            else:
                left, middle = box.left - 7 - width, box.middle[1] + side * 9.5
            if self._take(left, middle, width, height):
                self._painter.fillRect(QRectF(left - 1, middle + 1 - height / 2, width + 2, height - 2), self._paper)
                self._write(left, middle, text, self._quiet)
                return

    # --- writing -----------------------------------------------------------------------------------------------------

    def _chip(self, left: float, middle: float, text: str, ink: QColor, border: QColor) -> bool:
        """A small framed text, if it finds room."""
        width, height = self._width(text) + 8, self._height
        if not self._take(left, middle, width, height):
            return False
        painter = self._painter
        painter.setPen(QPen(border, 1))
        painter.setBrush(self._surface)
        painter.drawRoundedRect(QRectF(left, middle - height / 2, width, height), 4, 4)
        self._inked = None
        self._write(left + 4, middle, text, ink)
        return True

    def _take(self, left: float, middle: float, width: float, height: float) -> bool:
        """Claim an area, ``middle`` being half-way down it."""
        return self._room.take(left, middle - height / 2, left + width, middle + height / 2)

    def _write(self, left: float, middle: float, text: str, ink: QColor) -> None:
        if ink is not self._inked:
            self._painter.setPen(ink)
            self._inked = ink
        self._painter.drawText(QPointF(left, middle + self._figures.drop), text)


def step_words(probability: float) -> str:
    """The probability of a step as it stands at its edge."""
    if math.isnan(probability):
        return "?"
    return percent(min(1.0, probability)) if probability > 0 else tr("excluded")


def path_words(logprob: float, ended: bool) -> str:
    """The probability of a path as it stands behind a leaf."""
    if math.isnan(logprob):
        return "?"
    return tr("excluded") if math.isinf(logprob) else path_label(logprob, ended)


def folded_words(frame: Frame, node_id: int) -> str:
    """How many nodes a folded node hides, and how much of what follows it the hidden children hold."""
    hidden = frame.outline.hidden_below[node_id]
    unseen = float(frame.reading.unseen(np.array([node_id], dtype=np.int64))[0])
    if math.isnan(unseen):
        return tr("+{count}").format(count=count(hidden))
    return tr("+{count} · {mass}").format(count=count(hidden), mass=percent(1 - unseen))
