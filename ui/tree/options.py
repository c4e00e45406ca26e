"""How a tree is looked at: what the user chooses in the view bar and what the preferences keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LayoutName = Literal["leaf-slot", "tidy"]
Orientation = Literal["right", "down"]
TreeColour = Literal["probability", "surprisal", "entropy", "how", "share", "none"]


@dataclass(frozen=True, slots=True)
class TreeViewOptions:
    """Everything about a view of a tree that does not depend on the tree. Immutable; use `dataclasses.replace`.

    ``layout``: "leaf-slot" gives every leaf a row of its own, "tidy" lets subtrees slide together (Reingold and
    Tilford's aesthetic). ``orientation``: which way the tree grows. ``colour_by``: "probability" and "surprisal" are
    those of the step under the reading in force (see `ui.tree.weights`), "entropy" is that of the distribution after
    the node, "how" how the token came to be taken, "share" the sampling probability recorded with the step.
    ``phrases`` merges chains without branching into one box, ``labels`` writes tokens into boxes.
    """

    layout: LayoutName = "leaf-slot"
    orientation: Orientation = "right"
    colour_by: TreeColour = "probability"
    width_by_probability: bool = True
    phrases: bool = True
    labels: bool = True
