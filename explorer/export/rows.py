"""The tree of a session as data files hold it: what every format writes of a token, and how it is read back."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from explorer.export.document import NodeRow, SessionDocument, StopRow
from explorer.text import Vocabulary
from explorer.tree import ROOT, HowChosen, NodeId

EDGE_FIELDS = (
    "rank",
    "chosen",
    "u",
    "draw_index",
    "logit",
    "model_logprob",
    "sampling_logprob",
    "excluded",
)
"""The fields of a `NodeRow` that belong to the step into the node."""
NODE_FIELDS = (
    *("id", "bytes", "depth", "path_model_logprob", "path_sampling_logprob", "hidden", "special"),
    *("starred", "note"),
)
"""The others, but for the node's own number and its parent's; ``text`` follows from ``bytes``."""

_INTEGERS = ("node", "parent", "id", "depth", "rank", "draw_index")
_NUMBERS = ("u", "logit", "model_logprob", "sampling_logprob", "path_model_logprob", "path_sampling_logprob")
_TRUTHS = ("excluded", "hidden", "special", "starred")
_MAY_BE_NONE = ("draw_index", *_NUMBERS)
_HEX_MARK = "0x"  # keeps hexadecimal from being read as a number


@dataclass(frozen=True, slots=True)
class ExportedTree:
    """What every data format keeps: all tokens in order of creation, hidden ones too, and all stops in order."""

    nodes: tuple[NodeRow, ...]
    stops: tuple[StopRow, ...]

    @classmethod
    def of(cls, document: SessionDocument) -> ExportedTree:
        """The tree of a whole session."""
        return cls(tuple(document.nodes), tuple(document.stops))


def present_values(row: NodeRow, names: Iterable[str]) -> dict[str, Any]:
    """The named values of a token that exist. NaN and infinities have no place in these files, so they do not."""
    values = {name: getattr(row, name) for name in names}
    if "bytes" in values:
        values["bytes"] = _HEX_MARK + row.bytes
    if "note" in values:
        values |= noted_values(row.starred, row.note)
    return {name: value for name, value in values.items() if not _is_missing(value)}


def noted_values(starred: bool, note: str) -> dict[str, Any]:
    """A star and a note as these files hold them: the note as one line of JSON, None where there is none."""
    plain = note.replace("\n", "").isprintable()
    return {"starred": starred or None, "note": json.dumps(note, ensure_ascii=not plain) if note else None}


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def stops_by_node(stops: Sequence[StopRow]) -> dict[NodeId, str]:
    """The stops of every node that has any, as one line of ASCII JSON; ``order`` is their place among all."""
    entries: defaultdict[NodeId, list[dict[str, Any]]] = defaultdict(list)
    for order, stop in enumerate(stops):
        entry = {"order": order, "command": stop.command, "kind": stop.kind, "particulars": stop.particulars}
        entries[stop.node].append(entry)
    return {node: json.dumps(listed, allow_nan=False) for node, listed in entries.items()}


def last_stops(stops: Sequence[StopRow]) -> dict[NodeId, str]:
    """The kind of the last stop of every node that has any."""
    return {stop.node: stop.kind for stop in stops}


def vocabulary_of(nodes: Iterable[NodeRow]) -> Vocabulary:
    """A vocabulary that knows the tokens of a tree; every other id has an empty piece."""
    pieces = {row.id: bytes.fromhex(row.bytes) for row in nodes}
    count = max(pieces, default=-1) + 1
    return Vocabulary(
        [pieces.get(token_id, b"") for token_id in range(count)], {row.id for row in nodes if row.special}
    )


def read_row(values: Mapping[str, Any]) -> NodeRow:
    """A token from its values, as text or as what they are; a value that is missing or "" is None.

    Raises ValueError, KeyError or TypeError where they make no token.
    """
    row: dict[str, Any] = {name: _read(name, values.get(name)) for name in _INTEGERS + _NUMBERS + _TRUTHS}
    row["chosen"] = values["chosen"]
    if row["chosen"] not in get_args(HowChosen):
        raise ValueError(f"chosen: {row['chosen']!r}")
    row["note"] = str(json.loads(values.get("note") or '""'))
    piece = bytes.fromhex(str(values["bytes"]).removeprefix(_HEX_MARK))
    return NodeRow(**row, bytes=piece.hex(), text=Vocabulary([piece]).text(0))


def _read(name: str, value: Any) -> Any:
    if value is None or value == "":
        if name in _MAY_BE_NONE:
            return None
        if name == "starred":
            return False
        raise KeyError(name)
    if name in _TRUTHS:
        return {"true": True, "false": False}[str(value).lower()]
    if name in _INTEGERS:
        return int(value)
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name}: {value!r}")
    return number


def read_tree(rows: Iterable[NodeRow], stops: Mapping[NodeId, str]) -> ExportedTree:
    """The tree of tokens and stops that were read. Raises ValueError, KeyError or TypeError where they make none."""
    nodes = tuple(sorted(rows, key=lambda row: row.node))
    depths = {ROOT: 0}
    for row in nodes:
        if row.node in depths:
            raise ValueError(f"node {row.node} stands there twice")
        if row.parent not in depths:
            raise ValueError(f"node {row.node} comes before its parent {row.parent}")
        if row.depth != depths[row.parent] + 1:
            raise ValueError(f"node {row.node} has depth {row.depth}")
        depths[row.node] = row.depth
    found: list[tuple[int, StopRow]] = []
    for node, text in stops.items():
        if node not in depths:
            raise ValueError(f"a stop at node {node}, which is not there")
        for entry in json.loads(text):
            stop = StopRow(int(entry["command"]), node, str(entry["kind"]), dict(entry["particulars"]))
            found.append((int(entry["order"]), stop))
    return ExportedTree(nodes, tuple(stop for _, stop in sorted(found, key=lambda pair: pair[0])))
