"""What the canvas says about a node: marks beside its box, and the whole of it for tooltips and screen readers."""

from __future__ import annotations

import math
from collections.abc import Mapping

from explorer.i18n import N_, tr
from explorer.text import Vocabulary
from explorer.tree import ROOT
from ui.format import LogUnit, count, elide_middle, logarithm, path_probability, percent
from ui.text.path_cells import edge_lines
from ui.tree.mirror import TreeMirror

LONGEST_TEXT = 300

STOP_WORDS: Mapping[str, str] = {
    "eos": N_("end"),
    "max_new_tokens": N_("limit"),
    "max_length": N_("limit"),
    "stop_string": N_("stop text"),
    "context_window": N_("context full"),
    "no_candidates": N_("no candidates"),
    "cancelled": N_("cancelled"),
    "error": N_("error"),
}
_STOP_MEANINGS: Mapping[str, str] = {
    "eos": N_("The model ended the text here."),
    "max_new_tokens": N_("Stopped here by the limit of new tokens; the model did not end the text."),
    "max_length": N_("Stopped here by the limit of the whole length; the model did not end the text."),
    "stop_string": N_("Stopped here because the text contains a stop string."),
    "context_window": N_("Stopped here because the model's context window is full."),
    "no_candidates": N_("Stopped here because the settings removed every token."),
    "cancelled": N_("Generation was cancelled here."),
    "error": N_("Generation failed here."),
}


def stop_mark(kind: str) -> str:
    """A word for the mark of a stop event."""
    return tr(STOP_WORDS.get(kind, kind))


def path_label(logprob: float, ended: bool) -> str:
    """The probability of a path in a word and a number: of a beginning, or of a complete text."""
    text = tr("complete {probability}") if ended else tr("prefix {probability}")
    return text.format(probability=path_probability(logprob))


def path_text(mirror: TreeMirror, vocabulary: Vocabulary | None, node_id: int) -> str:
    """The generated text up to a node."""
    ids = [mirror.nodes[node].token_id for node in mirror.path(node_id)[1:]]
    if vocabulary is None:
        return " ".join(f"#{token_id}" for token_id in ids)
    return vocabulary.decode(ids)


def describe_node(
    mirror: TreeMirror, vocabulary: Vocabulary | None, node_id: int, unit: LogUnit, stop: str | None
) -> list[str]:
    """Everything to be said of a node, a line each: its text, its path's values, its own. ``stop`` is the kind of the
    stop event recorded there."""
    ended = stop == "eos"
    if node_id == ROOT:
        lines = [tr("The prompt: every branch starts here.")]
    else:
        text = path_text(mirror, vocabulary, node_id)
        logprob = float(mirror.path_logprob[node_id])
        lines = [
            "“" + elide_middle(text, LONGEST_TEXT) + "”",
            tr("Path: {count} tokens, model log-probability {logarithm}, {label}").format(
                count=count(int(mirror.depth[node_id])),
                logarithm=logarithm(logprob, unit),
                label=path_label(logprob, ended),
            ),
            tr("The probability that the model writes exactly this text and then ends it.")
            if ended
            else tr("The probability that a text of the model begins like this, whatever follows."),
            *edge_lines(mirror.nodes[node_id].edge, unit),
        ]
        if stop is not None:
            lines.append(tr(_STOP_MEANINGS.get(stop, stop)))
    children = mirror.children_of(node_id)
    if children:
        seen = math.fsum(float(mirror.model_prob[child]) for child in children)
        lines.append(
            tr("{count} branches hold {seen} of the model's probability here; unseen {unseen}").format(
                count=count(len(children)), seen=percent(seen), unseen=percent(max(0.0, 1 - seen))
            )
        )
    return lines
