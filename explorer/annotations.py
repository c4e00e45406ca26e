"""Stars and notes on nodes: kept as commands, so that undo, redo and reopening are those of every other command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from explorer.store.records import CommandRecord
from explorer.tree import NodeId

ANNOTATE: Final = "annotate"
"""The kind of the commands; their details are those of `annotation_details`."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What the user noted at one node. One without a star and with an empty note is none."""

    star: bool = False
    note: str = ""

    def __bool__(self) -> bool:
        return self.star or bool(self.note)


NO_ANNOTATION: Final = Annotation()


def annotation_details(node_id: NodeId, annotation: Annotation) -> dict[str, Any]:
    """What a command keeps: all that is noted at the node from then on."""
    return {"node": node_id, "star": annotation.star, "note": annotation.note}


def annotations_of(commands: Iterable[CommandRecord]) -> dict[NodeId, Annotation]:
    """What is noted at which node after these commands; undone and abandoned ones count for nothing.

    Nodes that are deleted for now keep what was noted at them.
    """
    found: dict[NodeId, Annotation] = {}
    for command in commands:
        if command.kind == ANNOTATE and command.state == "done":
            node_id, annotation = _read(command.details)
            found[node_id] = annotation
    return {node_id: annotation for node_id, annotation in found.items() if annotation}


def _read(details: Mapping[str, Any]) -> tuple[NodeId, Annotation]:
    return int(details["node"]), Annotation(bool(details["star"]), str(details["note"]))
