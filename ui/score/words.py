"""Scored texts in words: what they add up to, where the free run leaves them, what is still to come."""

from __future__ import annotations

import math

from explorer.i18n import listed, sentences, tr
from explorer.scoring.totals import Totals
from ui.format import LogUnit, count, decimal, logarithm
from ui.growth.words import finish_help
from ui.score.shown import TextName, TextShown


def text_title(name: TextName, number: int) -> str:
    """A scored text in one line of a list."""
    if name.start:
        return tr("Text {number}: “{begins}” after “{start}”").format(
            number=number, begins=name.begins, start=name.start
        )
    return tr("Text {number}: “{begins}”").format(number=number, begins=name.begins)


def totals_words(totals: Totals, unit: LogUnit) -> str:
    """What a text adds up to, in one line."""
    if not totals.tokens:
        return tr("No token has a score yet.")
    parts = [tr("{count} tokens").format(count=count(totals.tokens))]
    if totals.impossible:
        parts.append(
            tr("perplexity infinite: the model rules {count} of them out").format(count=count(totals.impossible))
        )
        return listed(parts)
    assert totals.perplexity is not None
    assert totals.mean_loss is not None
    parts.append(tr("perplexity {value}").format(value=_figure(totals.perplexity)))
    parts.append(tr("loss {value} per token").format(value=logarithm(totals.mean_loss, unit)))
    for bits, text in (
        (totals.bits_per_character, tr("{bits} bits per character")),
        (totals.bits_per_byte, tr("{bits} per byte")),
    ):
        if bits is not None:
            parts.append(text.format(bits=decimal(bits, 3)))
    return listed(parts)


def totals_help() -> tuple[str, ...]:
    """The definitions behind `totals_words`, a line each."""
    return (
        tr("Loss: minus the logarithm of a token's probability (its surprisal), the mean over the text."),
        tr("Perplexity: e to the mean loss in nats; as hard as choosing among so many equally likely tokens."),
        tr(
            "Per character and per byte the loss can be compared between models with other tokenizers; perplexity and "
            "loss per token cannot."
        ),
    )


def progress_words(shown: TextShown) -> str:
    """How far the work is."""
    done = len(shown.tokens) - shown.prompt_tokens
    if done < shown.total:
        return tr("Scoring: {done} of {total} tokens").format(done=count(done), total=count(shown.total))
    return tr("Free run: {count} tokens").format(count=count(len(shown.free_pieces)))


def result_words(shown: TextShown, unit: LogUnit) -> str:
    """What came of it in few words, for the strip over the tree."""
    totals = shown.totals
    if totals.impossible or totals.perplexity is None:
        return totals_words(totals, unit)
    return tr("{count} tokens scored, perplexity {value}").format(
        count=count(totals.tokens), value=_figure(totals.perplexity)
    )


def departure_words(shown: TextShown) -> str:
    """Where the free run leaves the text."""
    if shown.plan.free == "none":
        return tr("No free run was asked for.")
    free = shown.free
    if free is None:
        return "" if shown.running else tr("It broke off before the free run.")
    if free.departure is None:
        return tr("The free run writes this text itself: it never leaves it.")
    place = shown.prompt_tokens + free.departure
    if not free.tokens and free.stop is not None:
        return tr("The free run ends before token {place}, where the text goes on.").format(place=count(place + 1))
    given = shown.tokens[place]
    return tr("The free run leaves the text at token {place}: it takes “{free}” instead of “{given}”.").format(
        place=count(place + 1), free=given.free_choice, given=given.token
    )


def notes(shown: TextShown) -> str:
    """What else has to be said of a text."""
    said = []
    if not shown.joined:
        said.append(
            tr("Read by itself: together with what stands before it the tokenizer would cut the border otherwise.")
        )
    if shown.ended_by == "cancelled":
        said.append(tr("You stopped it; what was scored is kept."))
    elif shown.ended_by == "error":
        said.append(tr("An error ended it; what was scored is kept."))
    elif shown.ended_by is None and not shown.running:
        said.append(tr("It broke off; what was scored is kept."))
    return sentences(said)


def free_help(shown: TextShown) -> tuple[str, ...]:
    """What the free run is, a line each."""
    kind = (
        tr("What the model writes by itself from the same place, drawn with seed {seed}.").format(seed=shown.plan.seed)
        if shown.plan.free == "sample"
        else tr("What the model writes by itself from the same place, always its best token.")
    )
    after = tr(
        "Up to the departure both have the same tokens. From there on the free run reads its own tokens and the scores "
        "those of the text: the same place no longer means the same question."
    )
    stop = shown.free.stop if shown.free is not None else None
    return (kind, after, finish_help(stop, running=False) if stop is not None else "")


def _figure(value: float) -> str:
    return decimal(value, 2) if math.isinf(value) or value < 1e6 else f"{value:.3g}"
