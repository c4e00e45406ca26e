"""How much of the probability a tree does not show."""

from __future__ import annotations

import math

from explorer.tree import NodeId, TokenTree


def unseen_mass(tree: TokenTree, node_id: NodeId) -> float | None:
    """1 minus the model probabilities of the visible children of a node; None where it has none.

    The probability that the text goes on from here with a token that is not shown.
    """
    children = tree.children(node_id)
    if not children:
        return None
    return _left(math.fsum(math.exp(tree.node(child).edge.model_logprob) for child in children))


def unseen_below(tree: TokenTree, start: NodeId) -> float:
    """The probability, from ``start`` on, of all continuations that leave the visible tree at a node with children.

    1 minus the sum over all leaves below ``start``: what a leaf leads to counts as seen.
    """
    logprobs = {start: 0.0}
    leaves: list[float] = []
    for node_id in (start, *(node_id for node_id in tree.subtree(start) if node_id != start)):
        children = tree.children(node_id)
        for child in children:
            logprobs[child] = logprobs[node_id] + tree.node(child).edge.model_logprob
        if not children:
            leaves.append(math.exp(logprobs[node_id]))
    return _left(math.fsum(leaves))


def _left(shown: float) -> float:
    return min(1.0, max(0.0, 1.0 - shown))
