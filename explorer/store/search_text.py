"""The text of a tree, as it is searched: every token once, with enough before each branch to match across its fork."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from explorer.text import Vocabulary
from explorer.tree import ROOT, NodeId

_CONTEXT = 12  # tokens before a branch that are repeated in front of it


def tree_text(nodes: Iterable[tuple[NodeId, NodeId, int]], vocabulary: Vocabulary) -> str:
    """One line a branch between two forks, from ``(node, parent, token id)`` with parents before their children."""
    token_of: dict[NodeId, int] = {}
    parent_of: dict[NodeId, NodeId] = {}
    children: dict[NodeId, list[NodeId]] = defaultdict(list)
    for node, parent, token_id in nodes:
        token_of[node], parent_of[node] = token_id, parent
        children[parent].append(node)
    lines = []
    for fork in [ROOT, *(node for node in token_of if len(children[node]) > 1)]:
        for first in children[fork]:
            tokens = [token_of[node] for node in _ancestors(fork, parent_of)]
            node = first
            while True:
                tokens.append(token_of[node])
                if len(children[node]) != 1:
                    break
                (node,) = children[node]
            lines.append(vocabulary.decode(tokens))
    return "\n".join(lines)


def _ancestors(node: NodeId, parent_of: dict[NodeId, NodeId]) -> list[NodeId]:
    """The last few nodes of the path to ``node``, itself included, the root not."""
    found: list[NodeId] = []
    while node != ROOT and len(found) < _CONTEXT:
        found.append(node)
        node = parent_of[node]
    return found[::-1]
