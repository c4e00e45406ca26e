"""What the canvas says about a node: marks beside its box, and the whole of it for tooltips and screen readers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from explorer.i18n import N_, tr
from explorer.text import Vocabulary
from explorer.tree import ROOT
from ui.format import LogUnit, count, elide_middle, logarithm, path_probability, percent
from ui.text.path_cells import edge_lines
from ui.tree.marks import STYLES
from ui.tree.mirror import TreeMirror
from ui.tree.overlay import Mark
from ui.tree.reading import Reading

LONGEST_TEXT = 300

STOP_WORDS: Mapping[str, str] = {
    "eos": N_("end"),
    "max_new_tokens": N_("limit"),
    "max_length": N_("limit"),
    "stop_string": N_("stop text"),
    "grammar_end": N_("grammar complete"),
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
    "grammar_end": N_("Stopped here because the document is complete: the grammar allows nothing more."),
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


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What is known of a node beside what the tree recorded: the kind of its ``stop`` event, another ``reading`` of the
    tree, how many nodes are ``folded`` away below it, the user's star and note, the overlay's mark and note."""

    stop: str | None = None
    reading: Reading | None = None
    folded: int = 0
    star: bool = False
    note: str = ""
    mark: Mark | None = None
    overlay_note: str = ""


def describe_node(
    mirror: TreeMirror, vocabulary: Vocabulary | None, node_id: int, unit: LogUnit, facts: NodeFacts | str | None = None
) -> list[str]:
    """Everything to be said of a node, a line each: its text, its path's values, its own, what others laid over it."""
    facts = facts if isinstance(facts, NodeFacts) else NodeFacts(stop=facts)
    stop, ended = facts.stop, facts.stop == "eos"
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
    lines += _reading_lines(facts.reading, node_id, unit)
    lines += _children_lines(mirror, node_id, facts)
    return lines + _laid_over_lines(facts)


def _reading_lines(reading: Reading | None, node_id: int, unit: LogUnit) -> list[str]:
    """What another reading of the tree says of a node."""
    if reading is None:
        return []
    ids = np.array([node_id], dtype=np.int64)
    edge, path, entropy = (float(v[0]) for v in (reading.edge(ids), reading.path_logprob(ids), reading.entropy(ids)))
    lines = []
    if node_id != ROOT and math.isnan(edge):
        lines.append(tr("{reading}: not known here").format(reading=reading.name))
    elif node_id != ROOT:
        step = percent(min(1.0, edge)) if edge > 0 else tr("excluded")
        if math.isnan(path):
            lines.append(tr("{reading}: step {step}").format(reading=reading.name, step=step))
        else:
            whole = tr("excluded") if math.isinf(path) else path_probability(path)
            lines.append(tr("{reading}: step {step}, path {path}").format(reading=reading.name, step=step, path=whole))
    if not math.isnan(entropy):
        lines.append(tr("Entropy of the next token: {entropy}").format(entropy=logarithm(entropy, unit)))
    return lines


def _children_lines(mirror: TreeMirror, node_id: int, facts: NodeFacts) -> list[str]:
    children = mirror.children_of(node_id)
    lines = []
    if children:
        seen = math.fsum(float(mirror.model_prob[child]) for child in children)
        lines.append(
            tr("{count} branches hold {seen} of the model's probability here; unseen {unseen}").format(
                count=count(len(children)), seen=percent(seen), unseen=percent(max(0.0, 1 - seen))
            )
        )
    if facts.reading is not None:
        unseen = float(facts.reading.unseen(np.array([node_id], dtype=np.int64))[0])
        if children and not math.isnan(unseen):
            lines.append(
                tr("{reading}: unseen {unseen}").format(reading=facts.reading.name, unseen=percent(max(0.0, unseen)))
            )
    if facts.folded:
        lines.append(tr("Folded: {count} nodes below are out of sight.").format(count=count(facts.folded)))
    return lines


def _laid_over_lines(facts: NodeFacts) -> list[str]:
    lines = [facts.overlay_note] if facts.overlay_note else []
    if facts.mark is not None:
        lines.insert(0, tr("Marked: {mark}").format(mark=tr(STYLES[facts.mark].name)))
    if facts.star:
        lines.append(tr("Starred"))
    if facts.note:
        lines.append(tr("Note: {note}").format(note=elide_middle(facts.note, LONGEST_TEXT)))
    return lines
