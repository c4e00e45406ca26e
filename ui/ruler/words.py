"""What a ruler says in words: beside it, on hovering, to a screen reader."""

from __future__ import annotations

from explorer.decoding.ruler import Hit, Piece, Ruler
from explorer.i18n import listed, tr
from ui.candidates.stages import stage_label
from ui.format import count, exact, percent, tooltip
from ui.ruler.sight import edge_texts
from ui.ruler.strip import LabelOf


def interval_text(low: float, high: float) -> str:
    """``[0.582, 0.809)``: the lower end belongs to it, the upper one to the next."""
    return "[{}, {})".format(*edge_texts(low, high))


def hit_text(ruler: Ruler, hit: Hit | None, label_of: LabelOf) -> str:
    """What a number hits, for a screen reader."""
    if hit is None:
        return emptied_text(ruler)
    if hit.token_id is None:
        return tr("It falls among the tokens that are not stored")
    text = tr("It takes {label}, {percent}, the interval {interval}").format(
        label=label_of(hit.token_id)[0], percent=percent(hit.probability), interval=interval_text(hit.low, hit.high)
    )
    return text if hit.settled else listed((text, unsettled_text()))


def emptied_text(ruler: Ruler) -> str:
    """Why nothing can be drawn."""
    if ruler.emptied_by is None:
        return tr("Nothing can be drawn")
    return tr("Nothing can be drawn: {stage} removed the last token").format(stage=stage_label(ruler.emptied_by))


def unsettled_text() -> str:
    return tr("not certain: tokens that are not stored could shift it")


def piece_tooltip(ruler: Ruler, piece: Piece, near: tuple[int, int] | None, label_of: LabelOf) -> str:
    """What lies under the pointer; ``near`` are the first and last interval that share its pixel."""
    if piece.first is None or piece.last is None:
        low, high = ruler.unseen_bounds
        return tooltip(
            tr("About {count} tokens that were not stored.").format(count=count(ruler.unseen_kept)),
            tr("A draw takes one of them with {low} to {high}; here stands the estimate, {estimate}.").format(
                low=percent(low), high=percent(high), estimate=percent(1 - ruler.seen)
            ),
            tr("Load the session's model to see every token."),
        )
    if piece.count == 1:
        return _interval_tooltip(ruler, piece.first, label_of)
    lines = [
        tr("{count} intervals, each narrower than a pixel, together {percent}").format(
            count=count(piece.count), percent=percent(piece.high - piece.low)
        )
    ]
    if near is not None:
        first, last = max(near[0], piece.first), min(near[1], piece.last)
        labels = [label_of(int(ruler.token_ids[index]))[0] for index in (first, last)]
        if first == last:
            lines.append(tr("Here: {label}").format(label=labels[0]))
        elif first < last:
            lines.append(
                tr("Here: {count} of them, from {first} to {last}").format(
                    count=count(last - first + 1), first=labels[0], last=labels[1]
                )
            )
    lines.append(tr("Zoom in to tell them apart: Ctrl and the wheel, + and −, or a double click."))
    return tooltip(*lines)


def _interval_tooltip(ruler: Ruler, index: int, label_of: LabelOf) -> str:
    low, high, token_id = float(ruler.low[index]), float(ruler.high[index]), int(ruler.token_ids[index])
    return tooltip(
        tr("Token {label}, id {id}").format(label=label_of(token_id)[0], id=token_id),
        tr("Every u from {low} up to, not including, {high} takes it").format(low=repr(low), high=repr(high)),
        tr("Sampling probability {percent} ({exact})").format(percent=percent(high - low), exact=exact(high - low)),
        tr("Rank {rank} by the model, place {place} on this ruler").format(
            rank=count(int(ruler.ranks[index])), place=count(index + 1)
        ),
    )


def copied_row(title: str, u: float, hit: Hit, label_of: LabelOf) -> str:
    """What a ruler says in full, tab-separated under its names."""
    label = "" if hit.token_id is None else label_of(hit.token_id)[0]
    token_id = "" if hit.token_id is None else str(hit.token_id)
    names = ("ruler", "u", "id", "token", "low", "high", "sampling_prob")
    values = (title, repr(u), token_id, label, repr(hit.low), repr(hit.high), repr(hit.probability))
    return "\t".join(names) + "\n" + "\t".join(values)
