"""What the list of sessions says, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime

from explorer.i18n import listed, tr
from explorer.store.records import SessionSummary
from ui.format import count, elide_middle, tooltip
from ui.tree.words import stop_mark

_BEFORE_A_MATCH = 10
_LONGEST_TITLE = 60
_MEGABYTE = 1_000_000


def title_of(summary: SessionSummary) -> str:
    """The title on one line; of a session without one what stands for it."""
    return " ".join(summary.title.split()) or tr("(empty prompt)")


def short_title(title: str) -> str:
    """A title as it is quoted in a sentence."""
    return elide_middle(" ".join(title.split()) or tr("(empty prompt)"), _LONGEST_TITLE)


def when(moment: datetime, today: date) -> str:
    """A time of day for today, a day for the rest."""
    local = moment.astimezone()
    return local.strftime("%H:%M") if local.date() == today else local.strftime("%Y-%m-%d")


def steps_of(summary: SessionSummary) -> str:
    if summary.steps == 1:
        return tr("1 step")
    return tr("{count} steps").format(count=count(summary.steps))


def ends_of(summary: SessionSummary) -> str:
    """How texts of the session ended, each way once."""
    return listed(dict.fromkeys(stop_mark(kind) for kind in summary.stops))


def facts_of(summary: SessionSummary) -> str:
    """Steps, how it ended, and the model: the most telling first, for the end may be cut."""
    return " · ".join(part for part in (steps_of(summary), ends_of(summary), summary.model_name) if part)


def tip_of(summary: SessionSummary) -> str:
    """Everything the list knows of a session."""
    ends = ends_of(summary)
    return tooltip(
        title_of(summary),
        elide_middle(" ".join(summary.prompt_text.split()), 400),
        tr("Model: {model}").format(model=summary.model_name),
        tr("{nodes} nodes, {steps} steps").format(nodes=count(summary.nodes), steps=count(summary.steps)),
        tr("Ended by: {ends}").format(ends=ends) if ends else "",
        tr("Tags: {tags}").format(tags=listed(summary.tags)) if summary.tags else "",
        tr("Note: {note}").format(note=elide_middle(" ".join(summary.note.split()), 400)) if summary.note else "",
        tr("Begun: {time}").format(time=_minute(summary.created)),
        tr("Last changed: {time}").format(time=_minute(summary.updated)),
        "" if summary.trashed is None else tr("In the trash since: {time}").format(time=_minute(summary.trashed)),
    )


def spoken(summary: SessionSummary, today: date, *, opened: bool) -> str:
    """A row for a screen reader."""
    return listed(
        (
            tr("open now") if opened else "",
            tr("starred") if summary.starred else "",
            title_of(summary),
            steps_of(summary),
            ends_of(summary),
            summary.model_name,
            when(summary.updated, today),
            tr("tags: {tags}").format(tags=listed(summary.tags)) if summary.tags else "",
            tr("has a note") if summary.note else "",
        )
    )


def excerpt_pieces(text: str, terms: Sequence[str]) -> list[tuple[str, bool]]:
    """An excerpt in pieces, each with whether it is one of the terms; what stands far before the first is left out."""
    found = [term for term in terms if term]
    if not found:
        return [(text, False)]
    longest_first = sorted(found, key=len, reverse=True)
    pattern = re.compile("|".join(re.escape(term) for term in longest_first), re.IGNORECASE)
    first = pattern.search(text)
    if first is not None and first.start() > _BEFORE_A_MATCH + 1:
        text = "…" + text[first.start() - _BEFORE_A_MATCH :].lstrip()
    pieces, end = [], 0
    for match in pattern.finditer(text):
        if match.start() > end:
            pieces.append((text[end : match.start()], False))
        pieces.append((match.group(), True))
        end = match.end()
    if end < len(text):
        pieces.append((text[end:], False))
    return pieces


def sessions_count(number: int) -> str:
    """So many sessions."""
    return tr("1 session") if number == 1 else tr("{count} sessions").format(count=count(number))


def size_words(size: int) -> str:
    """Bytes as people say them, upwards from kilobytes."""
    if size < _MEGABYTE:
        return tr("{size} kB").format(size=count(max(1, round(size / 1000))))
    return tr("{size} MB").format(size=count(round(size / _MEGABYTE)))


def _minute(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")
