"""What the session thread tells the window about comparisons: whole values, made there, shown here."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.comparison.differences import Difference
from explorer.comparison.divergence import Divergences
from explorer.decoding.params import Settings
from explorer.text import PathPiece
from explorer.tree import NodeId


@dataclass(frozen=True, slots=True)
class Side:
    """One thing to compare: settings at the current node, or another session of the library where it stands.

    ``key`` names it among the choices.
    """

    key: str
    title: str
    settings: Settings | None = None
    session_id: int | None = None


@dataclass(frozen=True, slots=True)
class PairRow:
    """One token under both; probabilities in a draw. ``fate``: kept, gained, lost, out."""

    token_id: int
    token: str
    a: float
    b: float
    fate: str


@dataclass(frozen=True, slots=True, eq=False)
class StepShown:
    """Both distributions of one step. ``figures`` None where they cannot be compared token by token, or nothing can be
    drawn; ``remarks`` say why, and what else limits the comparison. ``exact`` False: the true figures may be larger."""

    a: Side
    b: Side
    differences: tuple[Difference, ...]
    figures: Divergences | None
    exact: bool
    kept: tuple[int, int]
    shared: int
    gained: int
    lost: int
    rows: tuple[PairRow, ...]
    remarks: tuple[str, ...]
    texts: PathsShown | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PathShown:
    """One text: its name, its tokens, their nodes in the tree (empty for another session's), and what ended it."""

    name: str
    pieces: tuple[PathPiece, ...]
    nodes: tuple[NodeId, ...]
    stop: str | None
    parts: int | None
    """The place of the token at which it parts from the other; None where it does not."""


@dataclass(frozen=True, slots=True, eq=False)
class PathsShown:
    """Two texts side by side, and where and why they part, in words."""

    a: PathShown
    b: PathShown
    words: tuple[str, ...]
    running: bool = False
