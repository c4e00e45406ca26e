"""Scoring as the session thread does it, and what it tells the window meanwhile. No widgets here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from explorer.growth import ScoreProgress, score_text, scored_texts
from explorer.progress import CancelToken
from explorer.scoring.report import ScoreRow, rows_of
from explorer.scoring.scored import ScoredText, ScorePlan
from explorer.scoring.totals import landmarks_of, totals_of
from explorer.text import PathPiece, TokenIds, path_pieces
from explorer.tree import ROOT, NodeId
from ui.format import elide_middle
from ui.panels.node_table import one_line
from ui.score.shown import TextName, TextShown, TextsShown, TokenShown

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session

_LABEL_LENGTH = 24
_BEGINNING = 40


def scoring(
    session: Session,
    text: str,
    plan: ScorePlan,
    start: NodeId,
    cancel: CancelToken,
    tell: Callable[[TextName, TextShown], None],
) -> Iterator[ScoreProgress]:
    """Score a text after a node, telling after every chunk how far it is. Raises what `score_text` raises."""
    found = session.continuation(start, text)
    for one in score_text(session, found.ids, plan, start=start, joined=found.joined, cancel=cancel):
        tell(_named(session, one.text), shown(session, one.text, running=one.text.ended_by is None))
        yield one


def recorded_texts(session: Session, group: int | None) -> TextsShown:
    """The session's scored texts that are not undone; the one of ``group`` in full, or else the newest."""
    texts = [text for text in scored_texts(session.commands) if text.scores]
    if not texts:
        return TextsShown((), None)
    wanted = next((text for text in texts if text.group == group), texts[-1])
    return TextsShown(tuple(_named(session, text) for text in texts), shown(session, wanted, running=False))


def shown(session: Session, text: ScoredText, *, running: bool) -> TextShown:
    """One scored text in full."""
    prompt = session.state.prompt.ids
    rows = rows_of(text, prompt)
    return TextShown(
        group=text.group,
        plan=text.plan,
        tokens=_tokens(session, text, rows),
        pieces=tuple(_pieces(session, text, rows)),
        totals=totals_of(session.vocabulary, text.scores),
        marks=landmarks_of([row.score for row in rows], len(text.prompt)),
        free=text.free,
        free_pieces=_free_pieces(session, text),
        prompt_tokens=len(text.prompt),
        total=text.total,
        joined=text.joined,
        ended_by=text.ended_by,
        running=running,
    )


def _named(session: Session, text: ScoredText) -> TextName:
    begins = one_line(session.vocabulary.decode(text.token_ids[:_BEGINNING]))
    start = ""
    if text.start != ROOT:
        start = elide_middle(session.vocabulary.label(session.tree.node(text.start).token_id), _LABEL_LENGTH)
    return TextName(text.group, begins if len(begins) <= _BEGINNING else begins[: _BEGINNING - 1] + "…", start)


def _tokens(session: Session, text: ScoredText, rows: tuple[ScoreRow, ...]) -> tuple[TokenShown, ...]:
    label = session.vocabulary.label
    before = len(text.prompt)
    tokens = []
    for place, row in enumerate(rows):
        own = ROOT if row.of_prompt else text.nodes[place - before]
        parent = ROOT if row.of_prompt else text.nodes[place - before - 1] if place > before else text.start
        score = row.score
        free_choice = "" if score is None or score.chosen is None else label(score.chosen)
        tokens.append(
            TokenShown(
                node=own,
                before=parent,
                row=row,
                token=label(row.token_id),
                preferred="" if score is None else label(score.preferred),
                free_choice=free_choice,
                free="" if row.free_token is None else label(row.free_token),
            )
        )
    return tuple(tokens)


def _pieces(session: Session, text: ScoredText, rows: tuple[ScoreRow, ...]) -> list[PathPiece]:
    lead = () if text.prompt else session.prefix(text.start)
    ids: TokenIds = (*lead, *(row.token_id for row in rows))
    return path_pieces(session.vocabulary, ids)[len(lead) :]


def _free_pieces(session: Session, text: ScoredText) -> tuple[PathPiece, ...]:
    if text.free is None or text.free.departure is None:
        return ()
    lead = session.prefix(text.start) + text.token_ids[: text.free.departure]
    ids = tuple(token.token_id for token in text.free.tokens)
    return tuple(path_pieces(session.vocabulary, lead + ids)[len(lead) :])
