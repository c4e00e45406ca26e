"""Which entries the legend of a tree has: only for what occurs in it."""

from __future__ import annotations

import numpy as np

from explorer.i18n import tr
from ui.tree.arrays import Ids
from ui.tree.colours import quantity, scale_words
from ui.tree.frame import Frame
from ui.tree.legend import HowEntry, LegendEntry, MarkEntry, PlainEntry, ScaleEntry
from ui.tree.mirror import HOWS
from ui.tree.options import TreeViewOptions
from ui.tree.overlay import MARKS
from ui.tree.reading import Reading


def legend_entries(frame: Frame) -> list[LegendEntry]:
    """The colour scale first, then signs, then what was laid over the tree."""
    outline, options, reading = frame.outline, frame.options, frame.reading
    mirror = outline.mirror
    shown = np.flatnonzero(outline.shown)
    below = shown[1:]  # the top has the lowest id
    entries: list[LegendEntry] = []
    low, high = scale_words(options.colour_by, frame.unit)
    if low:
        entries.append(ScaleEntry(quantity(options.colour_by, reading), low, high, frame.node_colours.map_name))
    present = np.bincount(mirror.how[below], minlength=len(HOWS))
    coloured = options.colour_by == "how"
    entries.extend(HowEntry(how, coloured) for number, how in enumerate(HOWS) if present[number])
    if mirror.forced[below].any():
        entries.append(PlainEntry("forced", tr("forced")))
    if not reading.recorded and reading.excluded(below).any():
        entries.append(PlainEntry("excluded", tr("excluded")))
    if _any_unknown(options, reading, shown, below):
        entries.append(PlainEntry("unknown", tr("not known")))
    if options.width_by_probability and len(below):
        entries.append(PlainEntry("width", tr("probable")))
    if options.labels and len(below):
        entries.append(PlainEntry("unseen", tr("share of what follows that is in the tree")))
    marks = {mark for node_id, mark in frame.overlay.marks.items() if node_id in outline}
    entries.extend(MarkEntry(mark) for mark in MARKS if mark in marks)
    if any(star for node_id, (star, _) in frame.annotations.items() if node_id in outline):
        entries.append(PlainEntry("star", tr("starred")))
    if any(note for node_id, (_, note) in frame.annotations.items() if node_id in outline):
        entries.append(PlainEntry("note", tr("note")))
    return entries


def _any_unknown(options: TreeViewOptions, reading: Reading, shown: Ids, below: Ids) -> bool:
    if options.colour_by == "entropy":
        return bool(np.isnan(reading.entropy(shown)).any())
    if reading.recorded:  # every edge of the tree has its own
        return False
    return options.colour_by in ("probability", "surprisal") and bool(np.isnan(reading.edge(below)).any())
