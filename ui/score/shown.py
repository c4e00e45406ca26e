"""What the session thread tells the window about scored texts: whole values, made there, shown here."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.scoring.report import ScoreRow
from explorer.scoring.scored import FreeRun, ScoreEnd, ScorePlan
from explorer.scoring.totals import Landmarks, Totals
from explorer.text import PathPiece
from explorer.tree import NodeId


@dataclass(frozen=True, slots=True)
class TokenShown:
    """One token of a scored text. ``node`` is its own (the root for tokens of the prompt), ``before`` the node whose
    bars weighed it; the others are labels, empty where there is nothing."""

    node: NodeId
    before: NodeId
    row: ScoreRow
    token: str
    preferred: str
    free_choice: str
    free: str


@dataclass(frozen=True, slots=True)
class TextName:
    """A scored text in the list: how it begins, and after which token it stands (empty: the prompt)."""

    group: int
    begins: str
    start: str


@dataclass(frozen=True, slots=True, eq=False)
class TextShown:
    """A scored text as far as it is; ``tokens`` and ``pieces`` go together, those of the prompt first where they were
    scored. ``marks`` are places among them. ``free_pieces`` are what the free run wrote after it left the text."""

    group: int
    plan: ScorePlan
    tokens: tuple[TokenShown, ...]
    pieces: tuple[PathPiece, ...]
    totals: Totals
    marks: Landmarks
    free: FreeRun | None
    free_pieces: tuple[PathPiece, ...]
    prompt_tokens: int
    total: int
    joined: bool
    ended_by: ScoreEnd | None
    running: bool

    @property
    def departure(self) -> int | None:
        """The place where the free run leaves the text: past the last token where the run ends behind it."""
        if self.free is None or self.free.departure is None:
            return None
        return self.prompt_tokens + self.free.departure


@dataclass(frozen=True, slots=True, eq=False)
class TextsShown:
    """The scored texts of a session, newest last, and the one that is looked at."""

    names: tuple[TextName, ...]
    shown: TextShown | None
