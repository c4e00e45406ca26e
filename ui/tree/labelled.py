"""Paints the boxes of a tree near enough to read: tokens, phrases, how each was chosen, what was laid over them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QTransform

from explorer.tree import ROOT
from ui.format import ELLIPSIS
from ui.text.token_label import Inks
from ui.theme import blend, figures_font
from ui.tree.boxes import BOX_PADDING, COUNT_LINE, PHRASE_PADDING, SEGMENT_PADDING, Segment, count_width
from ui.tree.frame import Frame
from ui.tree.marks import mark_pen, paint_note, paint_sign, paint_star
from ui.tree.mirror import HOWS
from ui.tree.shapes import DASHES, paint_how

TINT_SHARE = 0.22
SIGN_SIZE = 7.0
MARK_SIZE = 13.0
UNSEEN_WIDTH = 3.0
_FADED_INK = 0.62  # of the text colour on branches that are excluded


class LabelledBoxes:
    """Paints the boxes of one `Frame`. Every box is painted in px at scale 1, the painter moved to it and scaled."""

    def __init__(self, painter: QPainter, frame: Frame) -> None:
        self._painter = painter
        self._frame = frame
        colours = frame.colours
        self._surface, self._text = QColor(colours.surface), QColor(colours.text)
        self._accent, self._border = QColor(colours.accent), QColor(colours.border)
        self._count_font = figures_font(frame.labels.font, 0.78)
        heads = frame.plan.heads[frame.boxes]
        tails = frame.outline.tail[heads].astype(np.int64)
        tokens = frame.tokens_in(heads.tolist())
        self._places = dict(zip(tokens.tolist(), frame.node_colours.places(tokens).tolist(), strict=True))
        self._faded = dict(zip(tokens.tolist(), frame.reading.excluded(tokens).tolist(), strict=True))
        self._unseen = dict(zip(heads.tolist(), frame.reading.unseen(tails).tolist(), strict=True))

    def paint(self) -> None:
        """All boxes in sight."""
        frame = self._frame
        scale = frame.text_scale
        left, top, width, height = (values.tolist() for values in frame.rects(frame.boxes))
        heads = frame.plan.heads[frame.boxes].tolist()
        for head, x, y, w, h in zip(heads, left, top, width, height, strict=True):
            self._painter.setTransform(QTransform(scale, 0, 0, scale, x, y))
            self._paint_box(head, QRectF(0, 0, w / scale, h / scale))
        self._painter.resetTransform()

    # --- the box -----------------------------------------------------------------------------------------------------

    def _paint_box(self, head: int, box: QRectF) -> None:
        self._paint_outlines(head, box)
        if self._frame.outline.tail[head] == head:
            self._paint_single(head, box)
        else:
            self._paint_phrase(head, box)
        self._paint_unseen(head, box)
        self._paint_signs(head, box)

    def _paint_outlines(self, head: int, box: QRectF) -> None:
        """Around the box: the path it lies on, and the mark of the overlay."""
        frame, painter = self._frame, self._painter
        on_path = head in frame.current_heads
        outside = 2.0
        if on_path:
            width = 2.5 if head == frame.current else 1.5
            painter.setPen(QPen(self._accent, width))
            painter.setBrush(self._surface)
            grown = box.adjusted(-outside, -outside, outside, outside)
            painter.drawRoundedRect(grown, 6 + outside, 6 + outside)
            outside += 2.5
        mark = frame.mark_of(head)
        if mark is not None:
            painter.setPen(mark_pen(mark, frame.colours, 2.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-outside, -outside, outside, outside), 6 + outside, 6 + outside)
        if frame.outline.is_folded(int(frame.outline.tail[head])):
            self._paint_stack(box)

    def _paint_stack(self, box: QRectF) -> None:
        """The edges of further boxes behind a folded one."""
        painter = self._painter
        painter.setPen(QPen(self._border, 1.25))
        painter.setBrush(self._surface)
        for shift in (5.0, 2.5):
            moved = box.translated(0, shift) if self._frame.down else box.translated(shift, 0)
            painter.drawRoundedRect(moved.adjusted(1, 1, -1, -1), 6, 6)

    def _paint_single(self, head: int, box: QRectF) -> None:
        frame, painter = self._frame, self._painter
        colour = self._colour(head)
        pen = QPen(colour, 1.25)
        if head != ROOT and bool(frame.mirror.forced[head]):
            pen.setDashPattern(DASHES)
        tint = self._tint(head)
        painter.setPen(pen)
        painter.setBrush(tint)
        painter.drawRoundedRect(box, 6, 6)
        inks = self._inks(head, tint)
        inner = box.adjusted(BOX_PADDING, 0, -BOX_PADDING + 2, 0)
        if head == ROOT:
            frame.labels.painter.paint(painter, inner, frame.prompt_label, False, inks)
            return
        token_id = int(frame.mirror.token[head])
        label, special = frame.labels.of(token_id), frame.labels.is_special(token_id)
        frame.labels.painter.paint(painter, inner, label, special, inks)
        at = QPointF(box.center().x(), box.top()) if frame.down else QPointF(box.left(), box.center().y())
        paint_how(painter, at, SIGN_SIZE, HOWS[int(frame.mirror.how[head])], inks.strong, self._surface)

    def _colour(self, node_id: int) -> QColor:
        if node_id == ROOT and not self._frame.node_colours.of_nodes:
            return self._border
        if node_id in self._places:
            colours = self._frame.node_colours
            return (colours.faded if self._faded[node_id] else colours.palette)[self._places[node_id]]
        return self._frame.node_colours.colour_of(node_id)

    def _tint(self, node_id: int) -> QColor:
        if node_id == ROOT and not self._frame.node_colours.of_nodes:
            return QColor(self._frame.colours.window)
        return _blended(self._colour(node_id).rgb(), self._surface.rgb(), TINT_SHARE)

    def _inks(self, head: int, tint: QColor) -> Inks:
        faded = self._faded.get(head, False)
        ink = _blended(self._text.rgb(), self._surface.rgb(), _FADED_INK) if faded else self._text
        return _inks_on(tint.rgb(), ink.rgb())

    # --- phrases -----------------------------------------------------------------------------------------------------

    def _paint_phrase(self, head: int, box: QRectF) -> None:
        """A chain of tokens in one box, each on its own tint, and how many they are."""
        frame, painter = self._frame, self._painter
        painter.setPen(QPen(_blended(self._colour(head).rgb(), self._border.rgb(), 0.5), 1.25))
        painter.setBrush(self._surface)
        painter.drawRoundedRect(box, 6, 6)
        segments = frame.segments_of(head)
        before = ""
        for segment in segments:
            how = HOWS[int(frame.mirror.how[segment.nodes[0]])]
            self._paint_segment(segment, head)
            if how != before:
                self._paint_how_of(segment, how == HOWS[int(frame.mirror.how[head])] and segment is segments[0])
            before = HOWS[int(frame.mirror.how[segment.nodes[-1]])]
        self._paint_count(box, sum(len(segment.nodes) for segment in segments))

    def _paint_segment(self, segment: Segment, head: int) -> None:
        frame, painter = self._frame, self._painter
        area = QRectF(segment.left, segment.top, segment.width, segment.height)
        inside = area.adjusted(4, 0.5, -4, -0.5) if frame.down else area.adjusted(0.5, 3, -0.5, -3)
        if segment.elided:
            painter.setPen(QColor(frame.colours.quiet))
            painter.setFont(frame.labels.painter.font)
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, ELLIPSIS)
            return
        node_id = segment.nodes[0]
        tint = self._tint(node_id)
        painter.fillRect(inside, tint)
        if bool(frame.mirror.forced[node_id]):
            pen = QPen(self._text, 1)
            pen.setDashPattern(DASHES)
            painter.setPen(pen)
            painter.drawLine(inside.bottomLeft(), inside.bottomRight())
        token_id = int(frame.mirror.token[node_id])
        label, special = frame.labels.of(token_id), frame.labels.is_special(token_id)
        padding = BOX_PADDING if frame.down else SEGMENT_PADDING
        if not frame.down:
            padding = max(padding, (area.width() - frame.labels.width(token_id)) / 2)
        inner = area.adjusted(padding, 0, 1.5 - min(padding, BOX_PADDING), 0)
        frame.labels.painter.paint(painter, inner, label, special, self._inks(head, tint))

    def _paint_how_of(self, segment: Segment, first: bool) -> None:
        """The sign of how a token was chosen, where it is another than that of the token before."""
        frame = self._frame
        if frame.down:
            at = QPointF(segment.left + segment.width / 2, 0.0) if first else QPointF(0.0, segment.top + 10)
        else:
            at = QPointF(0.0, segment.height / 2) if first else QPointF(segment.left, segment.height)
        how = HOWS[int(frame.mirror.how[segment.nodes[0]])]
        paint_how(self._painter, at, SIGN_SIZE if first else SIGN_SIZE - 1.5, how, self._text, self._surface)

    def _paint_count(self, box: QRectF, count: int) -> None:
        painter = self._painter
        width = count_width(count) - 6
        if self._frame.down:
            pill = QRectF(box.center().x() - width / 2, box.bottom() - COUNT_LINE - 1, width, COUNT_LINE - 2)
        else:
            pill = QRectF(box.right() - width - PHRASE_PADDING + 1, box.center().y() - 7, width, 14)
        painter.setPen(QPen(self._border, 1))
        painter.setBrush(QColor(self._frame.colours.window))
        painter.drawRoundedRect(pill, 7, 7)
        painter.setFont(self._count_font)
        painter.setPen(QColor(self._frame.colours.quiet))
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, str(count))

    # --- signs on the box --------------------------------------------------------------------------------------------

    def _paint_unseen(self, head: int, box: QRectF) -> None:
        """A bar at the end from which the children spring: full as far as their probabilities reach, empty for what
        no child holds."""
        unseen = self._unseen[head]
        tail = int(self._frame.outline.tail[head])
        if np.isnan(unseen) or not self._frame.mirror.children[tail]:
            return
        painter = self._painter
        if self._frame.down:
            bar = QRectF(box.left() + 6, box.bottom() - UNSEEN_WIDTH, box.width() - 12, UNSEEN_WIDTH)
            full = QRectF(bar.left(), bar.top(), bar.width() * (1 - unseen), bar.height())
        else:
            bar = QRectF(box.right() - UNSEEN_WIDTH, box.top() + 4, UNSEEN_WIDTH, box.height() - 8)
            full = QRectF(
                bar.left(), bar.bottom() - bar.height() * (1 - unseen), bar.width(), bar.height() * (1 - unseen)
            )
        painter.fillRect(bar, self._border)
        painter.fillRect(full, QColor(self._frame.colours.model_text))

    def _paint_signs(self, head: int, box: QRectF) -> None:
        """What was laid over the node, and what the user noted, on the upper border."""
        frame, painter = self._frame, self._painter
        mark = frame.mark_of(head)
        left = box.left() + 9
        if mark is not None:
            paint_sign(painter, QPointF(left, box.top() - 2), MARK_SIZE, mark, frame.colours)
            left += MARK_SIZE + 2
        star, note = frame.annotations.get(head, (False, ""))
        if star:
            paint_star(painter, QPointF(left, box.top() - 1), MARK_SIZE, frame.colours)
            left += MARK_SIZE + 1
        if note:
            paint_note(painter, QPointF(left, box.top() - 1), MARK_SIZE - 3, frame.colours)


@lru_cache(maxsize=2048)
def _blended(colour: int, background: int, share: float) -> QColor:
    return blend(QColor.fromRgb(colour), QColor.fromRgb(background), share)


@lru_cache(maxsize=1024)
def _inks_on(tint: int, ink: int) -> Inks:
    return Inks.on(QColor.fromRgb(tint), QColor.fromRgb(ink))
