"""DOT, the language of Graphviz: how a tree is written in it.

Source of the grammar: https://graphviz.org/doc/info/lang.html. Every backslash is doubled, as a label wants it; in its
other strings Graphviz itself keeps both. It reads ``&amp;`` in a label as HTML does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from explorer import __version__
from explorer.export.document import FORMAT, VERSION, NodeRow, SessionDocument
from explorer.export.rows import (
    EDGE_FIELDS,
    NODE_FIELDS,
    ExportedTree,
    last_stops,
    noted_values,
    present_values,
    stops_by_node,
    vocabulary_of,
)
from explorer.i18n import N_
from explorer.text import Vocabulary
from explorer.tree import ROOT

_LONGEST_PROMPT = 60


class DotExporter:
    """The tree as a graph that ``dot`` draws; `read_dot` is its inverse. Values that do not exist are left out."""

    name = "dot"
    suffix = ".dot"
    label = N_("DOT: the tree as a graph, for Graphviz")

    def write(self, document: SessionDocument, file: BinaryIO) -> None:
        for line in _lines(document):
            file.write((line + "\n").encode("utf-8"))


def _lines(document: SessionDocument) -> Iterator[str]:
    tree = ExportedTree.of(document)
    vocabulary = vocabulary_of(tree.nodes)
    stops, last = stops_by_node(tree.stops), last_stops(tree.stops)
    yield f"// Exported by Token Tree Explorer {__version__}"
    yield f'digraph "session {document.session}" {{'
    yield f"  graph {_attributes(_facts(document))}"
    yield '  node [shape="box", style="rounded", fontname="monospace"]'
    yield '  edge [fontname="sans-serif", fontsize="10"]'
    for node, values in [(ROOT, _prompt_values(document)), *_node_values(tree, vocabulary)]:
        if node in stops:
            values |= {"stop": last[node], "stops": stops[node]}
        yield f"  n{node} {_attributes(values)}"
    for row in tree.nodes:
        yield f"  n{row.parent} -> n{row.node} {_attributes(_edge_values(row))}"
    yield "}"


def _facts(document: SessionDocument) -> dict[str, Any]:
    """What is said of the session as a whole."""
    return {
        "rankdir": "LR",
        "format": FORMAT,
        "version": VERSION,
        "session": document.session,
        "title": json.dumps(document.title),
        "model": json.dumps(document.model),
        "prompt": json.dumps(document.prompt),
        "seed": document.seed,
        "current": document.current,
        "settings": json.dumps(document.settings[document.settings_now]),
    }


def _prompt_values(document: SessionDocument) -> dict[str, Any]:
    text = str(document.prompt["text"]).encode("utf-8", "backslashreplace")
    label = Vocabulary([text]).label(0) if text else ""
    shown = label if len(label) <= _LONGEST_PROMPT else label[: _LONGEST_PROMPT - 1] + "…"
    noted = noted_values(document.starred, document.note)
    return {"label": _label(shown), **{name: value for name, value in noted.items() if value is not None}}


def _node_values(tree: ExportedTree, vocabulary: Vocabulary) -> Iterator[tuple[int, dict[str, Any]]]:
    for row in tree.nodes:
        values = {"label": _label(vocabulary.label(row.id)), **present_values(row, NODE_FIELDS)}
        # "id" is Graphviz's own: a name in the SVG it makes.
        values["token_id"] = values.pop("id")
        if row.hidden:
            values |= {"style": "rounded,dotted", "fontcolor": "gray40"}
        yield row.node, values


def _edge_values(row: NodeRow) -> dict[str, Any]:
    probability = 0.0 if row.model_logprob is None else min(1.0, math.exp(row.model_logprob))
    values = {"label": f"{100 * probability:.3g}%", "penwidth": f"{1 + 4 * probability:.2f}"}
    if row.excluded:
        values["style"] = "dashed"
    return {**values, **present_values(row, EDGE_FIELDS)}


def _label(text: str) -> str:
    return text.replace("&", "&amp;")


def _attributes(values: Mapping[str, Any]) -> str:
    return "[" + ", ".join(f"{name}={_quoted(value)}" for name, value in values.items()) + "]"


def _quoted(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
