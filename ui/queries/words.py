"""Queries in words: what was asked, what is known by now, why it ended."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.i18n import N_, tr
from explorer.search.query import QueryEnd, QueryPlan
from ui.format import count, percent
from ui.queries.shown import QueryShown

_ENDS: Mapping[QueryEnd, str] = {
    "settled": N_("the bounds are as near as was asked for"),
    "max_nodes": N_("the limit of passes is reached; more passes would bring the bounds nearer"),
    "exhausted": N_("nothing is left to look at"),
    "stopped": N_("the text had ended here"),
    "cancelled": N_("stopped by you"),
    "error": N_("an error ended it"),
}


def question_words(plan: QueryPlan) -> str:
    """What was asked, in one line."""
    pattern = f"/{plan.pattern}/" if plan.regex else f"“{plan.pattern}”"
    if plan.where == "start":
        return tr("begins with {pattern}").format(pattern=pattern)
    return tr("has {pattern} within {count} tokens").format(pattern=pattern, count=count(plan.within))


def bounds_words(shown: QueryShown) -> str:
    """What is known of the probability."""
    low, high = percent(shown.lower), percent(shown.upper)
    return low if low == high else tr("{low} to {high}").format(low=low, high=high)


def answer_words(shown: QueryShown) -> str:
    """The answer in a sentence."""
    by_model = shown.plan.reading == "model"
    said = tr("By the model the probability is {bounds}.") if by_model else tr("Under the settings it is {bounds}.")
    text = said.format(bounds=bounds_words(shown))
    looked = tr("{count} nodes looked at").format(count=count(shown.looked))
    if shown.ended_by is None:
        return f"{text} {looked}…"
    return tr("{answer} {looked}: {why}.").format(answer=text, looked=looked, why=tr(_ENDS[shown.ended_by]))
