"""A step of a beam search as marks on the tree: beams, the best ending, what fell, the greedy path."""

from __future__ import annotations

from explorer.i18n import tr
from explorer.tree import NodeId
from ui.beams.shown import SearchShown
from ui.beams.words import fate_words
from ui.format import decimal
from ui.tree.overlay import Mark, TreeOverlay


def search_overlay(shown: SearchShown, place: int) -> TreeOverlay:
    """The overlay after the step at ``place``; a node that is several things at once shows the one that says most."""
    marks: dict[NodeId, Mark] = {}
    badges: dict[NodeId, str] = {}
    notes: dict[NodeId, str] = {}
    for step in shown.steps[: place + 1]:
        ranks = {row.node: row.rank for row in step.rows}
        for row in step.rows:
            if row.fate == "fell":
                marks[row.node] = "fallen"
            notes[row.node] = tr("beam search, step {step}: no. {rank}, {fate}").format(
                step=step.number, rank=row.rank, fate=fate_words(row, ranks)
            )
    step = shown.steps[place]
    pool = [ending for ending in step.endings if not ending.displaced]
    live = [row for row in step.rows if row.fate == "kept"]
    for row in live:
        marks |= dict.fromkeys(_path(shown, row.node), "beam")
        badges[row.node] = decimal(row.score)
    marks |= dict.fromkeys(shown.greedy[: place + 1], "greedy")
    for ending in reversed(pool):
        marks[ending.node] = "finished"
        badges[ending.node] = decimal(ending.score)
    if pool:
        marks |= dict.fromkeys(_path(shown, pool[0].node), "best")
    caption = tr("Beam search: step {step} of {steps}").format(step=step.number, steps=shown.steps[-1].number)
    return TreeOverlay(marks=marks, badges=badges, caption=caption, notes=notes)


def _path(shown: SearchShown, node: NodeId) -> list[NodeId]:
    """The nodes from the start (left out) to ``node``."""
    found = []
    while node != shown.start:
        found.append(node)
        node = shown.parents[node]
    return found
