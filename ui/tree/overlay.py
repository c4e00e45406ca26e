"""What a search or a query lays over the tree: marks on nodes, short texts beside them, a caption."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

Mark = Literal["greedy", "beam", "best", "fallen", "finished", "run", "match"]
"""What a node is to the thing that is shown: on the greedy path, on a beam that is still kept, on the best sequence
found, fallen out of the search, the end of a finished sequence, passed by a sampled run, found by a query."""
MATCH: Final = "match"
MARKS: tuple[Mark, ...] = get_args(Mark)


@dataclass(frozen=True)
class TreeOverlay:
    """Marks by node id (a node has one at most: give it the one that says most), badges by node id, a caption.

    A badge is a few characters (``"12"``, ``"×3"``, ``"−1.24"``) shown in a chip at the node whatever its mark is;
    already formatted and translated. ``caption`` is one line above the tree. ``notes`` adds lines to the tooltips.
    Ids that are not in the tree, or not shown in it, do no harm. Treat the mappings as immutable: a new state is a
    new overlay.
    """

    marks: Mapping[int, Mark] = field(default_factory=dict)
    badges: Mapping[int, str] = field(default_factory=dict)
    caption: str = ""
    notes: Mapping[int, str] = field(default_factory=dict)
