"""GraphML, for yEd, Gephi, igraph and networkx; written and read with networkx."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from explorer import __version__
from explorer.export.document import FORMAT, VERSION, SessionDocument, unreadable
from explorer.export.rows import (
    EDGE_FIELDS,
    NODE_FIELDS,
    ExportedTree,
    last_stops,
    noted_values,
    present_values,
    read_row,
    read_tree,
    stops_by_node,
    vocabulary_of,
)
from explorer.i18n import N_
from explorer.tree import ROOT

if TYPE_CHECKING:
    import networkx as nx

_KIND = "GraphML"


class GraphMlExporter:
    """The tree as a graph; `read_graphml` is its inverse.

    Texts are the visible labels, JSON or hexadecimal: XML has no way to write a control character, and GraphML none to
    write that a value does not exist, so such values are left out. ``weight`` of an edge is the model's probability.
    """

    name = "graphml"
    suffix = ".graphml"
    label = N_("GraphML: the tree as a graph, for yEd, Gephi and networkx")

    def write(self, document: SessionDocument, file: BinaryIO) -> None:
        # Half a second, which only those pay who write this format.
        import networkx as nx

        nx.write_graphml_xml(_graph(document, nx.DiGraph()), file, named_key_ids=True)


def _graph(document: SessionDocument, graph: nx.DiGraph) -> nx.DiGraph:
    graph.graph.update(
        format=FORMAT,
        version=VERSION,
        program=__version__,
        session=document.session,
        title=json.dumps(document.title),
        model=json.dumps(document.model),
        prompt=json.dumps(document.prompt),
        seed=document.seed,
        current=document.current,
        settings=json.dumps(document.settings[document.settings_now]),
    )
    vocabulary = vocabulary_of(document.nodes)
    tree = ExportedTree.of(document)
    stops, last = stops_by_node(tree.stops), last_stops(tree.stops)
    noted = noted_values(document.starred, document.note)
    graph.add_node(_name(ROOT), label="(prompt)", **{name: value for name, value in noted.items() if value is not None})
    for row in tree.nodes:
        values = present_values(row, NODE_FIELDS)
        values["token_id"] = values.pop("id")
        graph.add_node(_name(row.node), label=vocabulary.label(row.id), **values)
        weight = 0.0 if row.model_logprob is None else math.exp(row.model_logprob)
        graph.add_edge(_name(row.parent), _name(row.node), weight=weight, **present_values(row, EDGE_FIELDS))
    for node, text in stops.items():
        graph.nodes[_name(node)].update(stop=last[node], stops=text)
    return graph


def _name(node: int) -> str:
    return f"n{node}"


def _number(name: str) -> int:
    return int(name.removeprefix("n"))


def read_graphml(path: Path) -> ExportedTree:
    """Read what `GraphMlExporter` wrote. Raises `ExportError`."""
    import networkx as nx

    try:
        graph = nx.read_graphml(path)
        if graph.graph.get("format") != FORMAT:
            raise ValueError("no session was exported here")
        rows, stops = [], {}
        for name, values in graph.nodes(data=True):
            node = _number(name)
            if "stops" in values:
                stops[node] = values["stops"]
            if node != ROOT:
                values = {**values, "id": values["token_id"], **_step_into(graph, name), "node": node}
                rows.append(read_row(values))
        return read_tree(rows, stops)
    except (OSError, ValueError, LookupError, TypeError, SyntaxError, nx.NetworkXException) as error:
        what = N_("This file does not hold a tree that was exported as {kind}.")
        raise unreadable(what, str(error), _KIND) from error


def _step_into(graph: nx.DiGraph, name: str) -> dict[str, Any]:
    """The values of the one edge into a node. Raises ValueError where there is not one."""
    ((parent, _, values),) = graph.in_edges(name, data=True)
    return {**values, "parent": _number(parent)}
