"""How a picture of a tree is to look, whoever asks for it and whatever paints it. Knows no window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.tree import NodeId

PictureContent = Literal["tree", "view", "path"]
PictureTheme = Literal["publication", "light", "dark"]
PictureLayout = Literal["leaf-slot", "tidy"]
PictureOrientation = Literal["right", "down"]

LEAST_SCALE, MOST_SCALE = 0.05, 8.0


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """Wishes for a picture.

    ``content``: the whole tree, what is in sight of it (where somebody looks at it), or only the path to ``node``; no
    node means the one that is current. ``scale``: pixels of the file for every pixel on the screen; of a vector format
    the size in CSS pixels (1/96 inch). ``title`` is printed above the tree unless it is empty. ``stamp``: lines with
    model, settings, seed, date and program version. ``layout``, ``orientation`` and
    ``phrases`` (chains without branching in one box) None: as the tree is looked at where it comes from, else every
    leaf in a row of its own, growing to the right, with phrases.
    """

    content: PictureContent = "tree"
    node: NodeId | None = None
    scale: float = 1.0
    transparent: bool = False
    title: str = ""
    legend: bool = True
    stamp: bool = True
    theme: PictureTheme = "publication"
    layout: PictureLayout | None = None
    orientation: PictureOrientation | None = None
    phrases: bool | None = None
