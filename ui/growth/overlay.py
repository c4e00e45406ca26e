"""Sampled runs as marks on the tree: which nodes they pass, and how many they are where they part."""

from __future__ import annotations

from explorer.i18n import tr
from ui.format import count
from ui.growth.shown import BatchShown
from ui.tree.overlay import TreeOverlay


def runs_overlay(shown: BatchShown) -> TreeOverlay:
    """The overlay of one batch. A number stands where it changes: along a chain it would only repeat itself."""
    total, passes = len(shown.batch.runs), shown.passes
    note = tr("{number} of {total} sampled runs come through here")
    return TreeOverlay(
        marks=dict.fromkeys(passes, "run"),
        badges={node: f"×{count(passes[node])}" for node in shown.partings},
        notes={node: note.format(number=count(number), total=count(total)) for node, number in passes.items()},
    )
