"""Writes what stands beside boxes: figures, values of paths, stops, folds, badges; never one over another."""

from __future__ import annotations

import math

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


class NotePainter:
    """Paints the texts of one `Frame`. All lengths are px at scale 1 unless they are called screen px.

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
        self._paper = QColor(frame.colours.surface)
        self._paper.setAlpha(PAPER_ALPHA)
        self._room = Room()
        boxes = frame.boxes
        heads = frame.plan.heads[boxes]
        columns = (values.tolist() for values in frame.rects(boxes))
        self._rects = {
            head: QRectF(*rect) for head, *rect in zip(heads.tolist(), *columns, strict=True)
        }  # on the screen
        for head, rect in self._rects.items():
            rim = max(0.0, self._outset(head) - 1) * self._scale
            self._room.claim(rect.left() - rim, rect.top() - rim, rect.right() + rim, rect.bottom() + rim)
        self._told: set[int] = set()  # boxes behind which the probability of their path stands
        self._claim_bends()
        tails = frame.outline.tail[heads].astype(np.int64)
        self._tails = dict(zip(heads.tolist(), tails.tolist(), strict=True))
        tokens = frame.tokens_in(heads.tolist())
        self._edges = dict(zip(tokens.tolist(), frame.reading.edge(tokens).tolist(), strict=True))
        self._paths = dict(zip(heads.tolist(), frame.reading.path_logprob(tails).tolist(), strict=True))

    def paint(self) -> None:
        """Everything that finds room."""
        self._painter.setFont(self._figures.font)
        heads = list(self._rects)
        current = [head for head in heads if self._tails[head] == self._frame.current]
        for head in heads:
            self._paint_badge(head)
        for head in current + heads:
            self._paint_behind(head)
        self._paint_path_value(self._frame.current)
        if self._frame.level >= Level.FIGURES:
            for head in heads:
                if head != self._frame.outline.top:
                    self._paint_step(head)
                if self._tails[head] != head:
                    self._paint_phrase_steps(head)
        self._painter.resetTransform()

    def _outset(self, head: int) -> float:
        """How far the outlines of a box reach beyond it."""
        on_path = head in self._frame.current_heads
        return (3.0 if on_path else 0.0) + (3.0 if self._frame.mark_of(head) is not None else 0.0)

    def _claim_bends(self) -> None:
        """Where edges swing across the tree nothing may be written. In leaf slots that grow to the right they do so
        only where nobody else stands."""
        frame = self._frame
        if not frame.down and frame.options.layout == "leaf-slot":
            return
        plan, edges = frame.plan, frame.edges[frame.edges > 0]
        parents = plan.parent[edges]
        start = frame.along(plan.along[parents]) + plan.length[parents] * self._scale
        turn = np.maximum(start, frame.along(plan.turn[edges])) if frame.options.layout == "tidy" else start
        bent = turn + (frame.along(plan.along[edges]) - turn) * BEND_SHARE
        came, goes = frame.across(plan.across[parents]), frame.across(plan.across[edges])
        width, height = frame.camera.view.width(), frame.camera.view.height()
        limit = width if frame.down else height
        low, high = np.maximum(np.minimum(came, goes), 0.0), np.minimum(np.maximum(came, goes), limit)
        for near, far, bottom, top in zip(turn.tolist(), bent.tolist(), low.tolist(), high.tolist(), strict=True):
            if bottom < top:
                self._room.claim(*((bottom, near, top, far) if frame.down else (near, bottom, far, top)))

    # --- beside boxes ------------------------------------------------------------------------------------------------

    def _paint_badge(self, head: int) -> None:
        """The badge of the overlay, on the upper right corner."""
        badge = self._frame.overlay.badges.get(head, "")
        if not badge:
            return
        rect = self._rects[head]
        mark = self._frame.mark_of(head)
        colours = self._frame.colours
        colour = QColor(colours.text) if mark is None else STYLES[mark].colour(colours)
        left = rect.right() - (self._width(badge) + 2) * self._scale
        above = (7.5 + self._outset(head)) * self._scale
        self._chip(QPointF(left, rect.top() - above), badge, colour, colour)

    def _paint_path_value(self, node_id: int) -> None:
        """The probability of the whole path under the current node, unless it stands behind it already."""
        frame = self._frame
        if node_id in (ROOT, NO_NODE) or node_id not in frame.outline:
            return
        head = int(frame.outline.head[node_id])
        if head not in self._rects or head in self._told:
            return
        text = path_words(self._path_of(node_id), frame.stop_of(node_id) == "eos")
        rect = frame.rect_of(node_id)
        accent = QColor(frame.colours.accent)
        away = (7.5 + self._outset(head)) * self._scale
        for top in (rect.bottom() + away, rect.top() - away):
            left = rect.center().x() - self._width(text) / 2 * self._scale if frame.down else rect.left() + _GAP
            if self._chip(QPointF(left, top), text, accent, accent):
                return

    def _path_of(self, node_id: int) -> float:
        return float(self._frame.reading.path_logprob(np.array([node_id], dtype=np.int64))[0])

    def _paint_behind(self, head: int) -> None:
        """Behind a box: why generation stopped there, what is folded away, for a leaf the probability of its path."""
        frame, tail = self._frame, self._tails[head]
        if head in self._told:
            return
        stop = frame.stop_of(tail) if tail != ROOT else None
        folded = frame.outline.is_folded(tail)
        if frame.outline.kids[tail]:
            if stop is not None:  # Somebody went on past the stop: no room for words beside the edge.
                self._paint_bar(self._rects[head])
            return
        colours = frame.colours
        texts: list[tuple[str, bool]] = []
        if stop is not None:
            texts.append((stop_mark(stop), True))
        if folded:
            texts.append((folded_words(frame, tail), True))
        elif tail != ROOT:
            texts.append((path_words(self._paths[head], stop == "eos"), False))
        ink = colours.accent if frame.current == tail else colours.quiet
        if self._write_behind(head, texts, QColor(ink)) and not folded:
            self._told.add(head)

    def _write_behind(self, head: int, texts: list[tuple[str, bool]], ink: QColor) -> bool:
        """Texts one behind the other: to the right of a box, or below it. Whether all found room."""
        scale, colours, rect = self._scale, self._frame.colours, self._rects[head]
        along = (9.0 + self._outset(head)) * scale
        for text, framed in texts:
            if self._frame.down:
                place = QPointF(rect.center().x() - self._width(text) / 2 * scale, rect.bottom() + along)
            else:
                place = QPointF(rect.right() + along, rect.center().y())
            if framed:
                done = self._chip(place, text, QColor(colours.text), QColor(colours.border))
            else:
                done = self._text(place, text, ink)
            if not done:
                return False
            along += (self._height + 4 if self._frame.down else self._width(text) + (8 if framed else 0) + _GAP) * scale
        return True

    def _paint_phrase_steps(self, head: int) -> None:
        """The probabilities of the further tokens of a phrase: below each, or beside it, where they are not wider."""
        frame, scale = self._frame, self._scale
        outset = self._outset(head)
        for segment in frame.segments_of(head)[1:]:
            if segment.elided:
                continue
            text = step_words(self._edges[segment.nodes[0]])
            width = self._width(text)
            part = frame.part_of(head, self._rects[head], segment)
            if frame.down:
                middle = QPointF(part.right() + (4 + outset) * scale, part.center().y())
            else:
                middle = QPointF(part.center().x() - width / 2 * scale, part.bottom() + (7 + outset) * scale)
            if (frame.down or width <= segment.width) and self._take(middle, width, 11.0):
                self._write(width, 11.0, text, QColor(frame.colours.quiet))

    def _paint_bar(self, rect: QRectF) -> None:
        scale = self._scale
        if self._frame.down:
            bar = QRectF(rect.center().x() - 8 * scale, rect.bottom() + 4 * scale, 16 * scale, 3 * scale)
        else:
            bar = QRectF(rect.right() + 5 * scale, rect.center().y() - 8 * scale, 3 * scale, 16 * scale)
        self._painter.resetTransform()
        self._painter.fillRect(bar, QColor(self._frame.colours.text))

    def _paint_step(self, head: int) -> None:
        """The probability of the step into a box, on the side of its edge where the edge does not run."""
        frame, rect, scale = self._frame, self._rects[head], self._scale
        text = step_words(self._edges[head])
        width, height = self._width(text), 12.0
        box = int(frame.plan.index[head])
        towards = frame.plan.across[box] - frame.plan.across[frame.plan.parent[box]]
        for side in (1, -1) if towards > 0 else (-1, 1):
            if frame.down:
                left = rect.center().x() + (4.5 if side > 0 else -4.5 - width) * scale
                middle = QPointF(left, rect.top() - 12 * scale)
            else:
                middle = QPointF(rect.left() - (7 + width) * scale, rect.center().y() + side * 9.5 * scale)
            if self._take(middle, width, height):
                self._painter.fillRect(QRectF(-1, 1, width + 2, height - 2), self._paper)
                self._write(width, height, text, QColor(frame.colours.quiet))
                return

    # --- writing -----------------------------------------------------------------------------------------------------

    def _text(self, left_middle: QPointF, text: str, ink: QColor) -> bool:
        width, height = self._width(text), self._height
        if not self._take(left_middle, width, height):
            return False
        self._write(width, height, text, ink)
        return True

    def _chip(self, left_middle: QPointF, text: str, ink: QColor, border: QColor) -> bool:
        """A small framed text, if it finds room."""
        width, height = self._width(text) + 8, self._height
        if not self._take(left_middle, width, height):
            return False
        painter = self._painter
        painter.setPen(QPen(border, 1))
        painter.setBrush(QColor(self._frame.colours.surface))
        painter.drawRoundedRect(QRectF(0, 0, width, height), 4, 4)
        self._write(width, height, text, ink)
        return True

    def _take(self, left_middle: QPointF, width: float, height: float) -> bool:
        """Claim an area and move the painter to its left top corner."""
        scale = self._scale
        left, top = left_middle.x(), left_middle.y() - height / 2 * scale
        if not self._room.take(left, top, left + width * scale, top + height * scale):
            return False
        self._painter.setTransform(QTransform(scale, 0, 0, scale, left, top))
        return True

    def _write(self, width: float, height: float, text: str, ink: QColor) -> None:
        """In the middle of an area that the painter was moved to."""
        left = (width - self._width(text)) / 2
        self._painter.setPen(ink)
        self._painter.drawText(QPointF(left, height / 2 + self._figures.drop), text)


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
