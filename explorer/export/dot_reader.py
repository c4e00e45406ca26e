"""The part of DOT that reading a tree back needs; what Graphviz itself makes of such a file is read as well.

Source of the grammar: https://graphviz.org/doc/info/lang.html. For how strings are written see `explorer.export.dot`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from explorer.export.document import FORMAT, unreadable
from explorer.export.rows import ExportedTree, read_row, read_tree
from explorer.i18n import N_
from explorer.tree import ROOT

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*)
    |"(?P<quoted>(?:[^"\\]|\\.)*)"
    |(?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z_0-9\x80-\U0010ffff]*|-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?))
    |(?P<sign>->|[{}\[\];,=])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ESCAPED = re.compile(r'\\(["\\]|\n)')

Attributes = dict[str, str]


def read_dot(path: Path) -> ExportedTree:
    """Read what `DotExporter` wrote, also after Graphviz laid it out. Raises `ExportError`."""
    try:
        graph = _parsed(_tokens(path.read_text(encoding="utf-8")))
        if graph.values.get("format") != FORMAT:
            raise ValueError("no session was exported here")
        rows, stops = [], {}
        steps = {child: {**values, "parent": _number(parent)} for parent, child, values in graph.edges}
        for name, values in graph.nodes.items():
            node = _number(name)
            if "stops" in values:
                stops[node] = values["stops"]
            if node != ROOT:
                rows.append(read_row({**values, "id": values["token_id"], **steps[name], "node": node}))
        if len(graph.edges) != len(rows):
            raise ValueError(f"{len(graph.edges)} edges lead to {len(rows)} nodes")
        return read_tree(rows, stops)
    except (OSError, ValueError, LookupError, TypeError) as error:
        what = N_("This file does not hold a tree that was exported as {kind}.")
        raise unreadable(what, str(error), "DOT") from error


@dataclass(slots=True)
class _Graph:
    """The statements of a file. Defaults for nodes and edges say how things look, and are left out."""

    values: Attributes = field(default_factory=dict)
    nodes: dict[str, Attributes] = field(default_factory=dict)
    edges: list[tuple[str, str, Attributes]] = field(default_factory=list)


def _number(name: str) -> int:
    return int(name.removeprefix("n"))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Kinds (``id`` or ``sign``) and texts. Raises ValueError where there is something else."""
    end = 0
    while end < len(text):
        match = _TOKEN.match(text, end)
        if match is None:
            raise ValueError(f"unexpected {text[end : end + 20]!r} at {end}")
        end = match.end()
        if match["quoted"] is not None:
            yield "id", _ESCAPED.sub(lambda found: found[1].strip("\n"), match["quoted"])
        elif match["word"]:
            yield "id", match["word"]
        elif match["sign"]:
            yield "sign", match["sign"]


def _parsed(tokens: Iterator[tuple[str, str]]) -> _Graph:
    """The graph of a file. Raises ValueError for what we never write: subgraphs, ports, undirected edges."""
    graph = _Graph()
    stream = _Stream(tokens)
    stream.skip("id", "strict")
    stream.take("id", "digraph")
    if stream.kind == "id":
        stream.take("id")
    stream.take("sign", "{")
    while not stream.skip("sign", "}"):
        _read_statement(stream, graph)
        stream.skip("sign", ";")
    if stream.kind != "end":
        raise ValueError(f"unexpected {stream.text!r} after the graph")
    return graph


def _read_statement(stream: _Stream, graph: _Graph) -> None:
    name = stream.take("id")
    if stream.skip("sign", "="):
        graph.values[name] = stream.take("id")
        return
    chain = [name]
    while stream.skip("sign", "->"):
        chain.append(stream.take("id"))
    values = _read_attributes(stream)
    if len(chain) > 1:
        graph.edges += [(parent, child, values) for parent, child in pairwise(chain)]
    elif name == "graph":
        graph.values |= values
    elif name not in ("node", "edge"):
        graph.nodes.setdefault(name, {}).update(values)


def _read_attributes(stream: _Stream) -> Attributes:
    values: Attributes = {}
    while stream.skip("sign", "["):
        while not stream.skip("sign", "]"):
            name = stream.take("id")
            stream.take("sign", "=")
            values[name] = stream.take("id")
            if not stream.skip("sign", ","):
                stream.skip("sign", ";")
    return values


class _Stream:
    """Tokens with the next one in view; ``kind`` is ``end`` behind the last."""

    def __init__(self, tokens: Iterator[tuple[str, str]]) -> None:
        self._tokens = tokens
        self.kind, self.text = next(tokens, ("end", ""))

    def take(self, kind: str, text: str | None = None) -> str:
        """The next token. Raises ValueError where it is not the one that is wanted."""
        if self.kind != kind or (text is not None and self.text != text):
            raise ValueError(f"{text or kind} is missing before {self.text!r}")
        taken = self.text
        self.kind, self.text = next(self._tokens, ("end", ""))
        return taken

    def skip(self, kind: str, text: str) -> bool:
        """Take the next token if it is this one."""
        if (self.kind, self.text) != (kind, text):
            return False
        self.take(kind)
        return True
