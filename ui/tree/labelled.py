"""Paints the boxes of a tree near enough to read: tokens, phrases, how each was chosen, what was laid over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QTransform

from explorer.tree import ROOT, HowChosen
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


@dataclass(frozen=True, slots=True)
class _Look:
    """How tokens of one colour are painted; made once for all that have it."""

    tint: QColor
    inks: Inks
    border: QPen
    dashed: QPen
    """The border of a forced token."""
    phrase: QPen
    """The border of a phrase that begins with such a token."""


class LabelledBoxes:
    """Paints the boxes of one `Frame`. Every box is painted in px at scale 1, the painter moved to it and scaled."""

    def __init__(self, painter: QPainter, frame: Frame) -> None:
        self._painter = painter
        self._frame = frame
        colours = frame.colours
        self._surface, self._text = QColor(colours.surface), QColor(colours.text)
        self._window, self._quiet = QColor(colours.window), QColor(colours.quiet)
        self._accent, self._border = QColor(colours.accent), QColor(colours.border)
        self._seen = QColor(colours.model_text)
        self._count_font, self._count_pen = figures_font(frame.labels.font, 0.78), QPen(self._border, 1)
        self._heads = frame.plan.heads[frame.boxes]
        self._tails = frame.outline.tail[self._heads].astype(np.int64)
        tokens = frame.tokens_in(self._heads.tolist())
        keys = zip(frame.node_colours.places(tokens).tolist(), frame.reading.excluded(tokens).tolist(), strict=True)
        self._keys: dict[int, tuple[int, bool]] = dict(zip(tokens.tolist(), keys, strict=True))
        self._looks: dict[tuple[int, bool], _Look] = {}
        self._around = {*frame.current_heads, *frame.overlay.marks}  # boxes with outlines of their own
        self._around.update(int(frame.outline.head[node]) for node in frame.outline.folded if node in frame.outline)

    def paint(self) -> None:
        """All boxes in sight."""
        frame = self._frame
        scale = frame.text_scale
        unseen = np.where(frame.mirror.children[self._tails] > 0, frame.reading.unseen(self._tails), np.nan)
        columns = (self._heads, self._tails, unseen, *frame.rects(frame.boxes))
        rows = zip(*(values.tolist() for values in columns), strict=True)
        for head, tail, missing, x, y, width, height in rows:
            self._painter.setTransform(QTransform(scale, 0, 0, scale, x, y))
            box = QRectF(0, 0, width / scale, height / scale)
            if head in self._around:
                self._paint_outlines(head, box)
            if tail == head:
                self._paint_single(head, box)
            else:
                self._paint_phrase(head, box)
            if missing == missing:
                self._paint_unseen(missing, box)
            if head in frame.overlay.marks or head in frame.annotations:
                self._paint_signs(head, box)
        self._painter.resetTransform()

    # --- the box -----------------------------------------------------------------------------------------------------

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
        look = self._look(head)
        painter.setPen(look.dashed if head != ROOT and frame.mirror.forced[head] else look.border)
        painter.setBrush(look.tint)
        painter.drawRoundedRect(box, 6, 6)
        width, height = box.width(), box.height()
        inner = QRectF(BOX_PADDING, 0, width - 2 * BOX_PADDING + 2, height)
        if head == ROOT:
            frame.labels.painter.paint(painter, inner, frame.prompt_label, False, look.inks)
            return
        token_id = int(frame.mirror.token[head])
        label, special = frame.labels.of(token_id), frame.labels.is_special(token_id)
        frame.labels.painter.paint(painter, inner, label, special, look.inks)
        at = QPointF(width / 2, 0.0) if frame.down else QPointF(0.0, height / 2)
        paint_how(painter, at, SIGN_SIZE, HOWS[frame.mirror.how[head]], look.inks.strong, self._surface)

    def _look(self, node_id: int) -> _Look:
        key = self._keys.get(node_id) or self._key_of(node_id)
        if node_id == ROOT:  # which may have a look of its own
            return self._new_look(node_id, *key)
        look = self._looks.get(key)
        if look is None:
            look = self._looks[key] = self._new_look(node_id, *key)
        return look

    def _key_of(self, node_id: int) -> tuple[int, bool]:
        """The place in the palette, and whether it is the faded one, of a token that is not written."""
        ids = np.array([node_id], dtype=np.int64)
        return int(self._frame.node_colours.places(ids)[0]), bool(self._frame.reading.excluded(ids)[0])

    def _new_look(self, node_id: int, place: int, faded: bool) -> _Look:
        colours, surface = self._frame.node_colours, self._surface.rgb()
        colour = (colours.faded if faded else colours.palette)[place]
        tint = _blended(colour.rgb(), surface, TINT_SHARE)
        ink = _blended(self._text.rgb(), surface, _FADED_INK) if faded else self._text
        if node_id == ROOT and not colours.of_nodes:
            colour, tint = self._border, self._window
        border = QPen(colour, 1.25)
        dashed = QPen(border)
        dashed.setDashPattern(DASHES)
        phrase = QPen(_blended(colour.rgb(), self._border.rgb(), 0.5), 1.25)
        return _Look(tint, _inks_on(tint.rgb(), ink.rgb()), border, dashed, phrase)

    # --- phrases -----------------------------------------------------------------------------------------------------

    def _paint_phrase(self, head: int, box: QRectF) -> None:
        """A chain of tokens in one box, each on its own tint, and how many they are."""
        frame, painter = self._frame, self._painter
        painter.setPen(self._look(head).phrase)
        painter.setBrush(self._surface)
        painter.drawRoundedRect(box, 6, 6)
        segments = frame.segments_of(head)
        hows, before = frame.mirror.how, -1
        for segment in segments:
            how = int(hows[segment.nodes[0]])
            self._paint_segment(segment)
            if how != before:
                self._paint_how_of(segment, HOWS[how], segment is segments[0])
            before = int(hows[segment.nodes[-1]])
        self._paint_count(box, sum(len(segment.nodes) for segment in segments))

    def _paint_segment(self, segment: Segment) -> None:
        frame, painter, down = self._frame, self._painter, self._frame.down
        area = QRectF(segment.left, segment.top, segment.width, segment.height)
        if segment.elided:
            painter.setPen(self._quiet)
            painter.setFont(frame.labels.painter.font)
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, ELLIPSIS)
            return
        node_id = segment.nodes[0]
        look = self._look(node_id)
        inside = area.adjusted(4, 0.5, -4, -0.5) if down else area.adjusted(0.5, 3, -0.5, -3)
        painter.fillRect(inside, look.tint)
        if frame.mirror.forced[node_id]:
            pen = QPen(self._text, 1)
            pen.setDashPattern(DASHES)
            painter.setPen(pen)
            painter.drawLine(inside.bottomLeft(), inside.bottomRight())
        token_id = int(frame.mirror.token[node_id])
        label, special = frame.labels.of(token_id), frame.labels.is_special(token_id)
        padding = BOX_PADDING
        if not down:
            padding = max(SEGMENT_PADDING, (segment.width - frame.labels.width(token_id)) / 2)
        inner = area.adjusted(padding, 0, 1.5 - min(padding, BOX_PADDING), 0)
        frame.labels.painter.paint(painter, inner, label, special, look.inks)

    def _paint_how_of(self, segment: Segment, how: HowChosen, first: bool) -> None:
        """The sign of how a token was chosen, where it is another than that of the token before."""
        if self._frame.down:
            at = QPointF(segment.left + segment.width / 2, 0.0) if first else QPointF(0.0, segment.top + 10)
        else:
            at = QPointF(0.0, segment.height / 2) if first else QPointF(segment.left, segment.height)
        paint_how(self._painter, at, SIGN_SIZE if first else SIGN_SIZE - 1.5, how, self._text, self._surface)

    def _paint_count(self, box: QRectF, count: int) -> None:
        painter = self._painter
        width = count_width(count) - 6
        if self._frame.down:
            pill = QRectF(box.center().x() - width / 2, box.bottom() - COUNT_LINE - 1, width, COUNT_LINE - 2)
        else:
            pill = QRectF(box.right() - width - PHRASE_PADDING + 1, box.center().y() - 7, width, 14)
        painter.setPen(self._count_pen)
        painter.setBrush(self._window)
        painter.drawRoundedRect(pill, 7, 7)
        painter.setFont(self._count_font)
        painter.setPen(self._quiet)
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, str(count))

    # --- signs on the box --------------------------------------------------------------------------------------------

    def _paint_unseen(self, unseen: float, box: QRectF) -> None:
        """A bar at the end from which the children spring: full as far as their probabilities reach, empty for what
        no child holds."""
        width, height = box.width(), box.height()
        if self._frame.down:
            bar = QRectF(6, height - UNSEEN_WIDTH, width - 12, UNSEEN_WIDTH)
            full = QRectF(6, height - UNSEEN_WIDTH, (width - 12) * (1 - unseen), UNSEEN_WIDTH)
        else:
            share = (height - 8) * (1 - unseen)
            bar = QRectF(width - UNSEEN_WIDTH, 4, UNSEEN_WIDTH, height - 8)
            full = QRectF(width - UNSEEN_WIDTH, height - 4 - share, UNSEEN_WIDTH, share)
        self._painter.fillRect(bar, self._border)
        self._painter.fillRect(full, self._seen)

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
