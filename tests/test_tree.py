"""The prefix tree keeps its invariants and never recurses."""

from __future__ import annotations

import math

import pytest

from explorer.tree import ROOT, Edge, Node, TokenTree


def edge(p: float, *, sampling: float | None = 1.0) -> Edge:
    return Edge(0.0, math.log(p), None if sampling is None else math.log(sampling), 1, "manual")


def grow(tree: TokenTree, parent: int, token_id: int, p: float = 0.5, *, sampling: float | None = 1.0) -> int:
    node = Node(tree.next_id, parent, token_id, tree.depth(parent) + 1, edge(p, sampling=sampling))
    tree.add(node)
    return node.id


def test_review_lesson_path_probability() -> None:
    tree = TokenTree()
    node = ROOT
    for token_id, p in ((0, 0.6), (3, 0.7), (6, 0.8)):
        node = grow(tree, node, token_id, p)
    assert math.exp(tree.path_values(node).model_logprob) == pytest.approx(0.336)
    assert tree.token_ids(node) == (0, 3, 6)


def test_a_forced_token_is_counted_and_does_not_poison_the_sum() -> None:
    """C14: sampling log-probability of a token picked although filtered is "excluded", not minus infinity."""
    tree = TokenTree()
    first = grow(tree, ROOT, 1, sampling=0.5)
    second = grow(tree, first, 3, sampling=None)
    values = tree.path_values(second)
    assert values.forced == 1
    assert values.sampling_logprob == pytest.approx(math.log(0.5))


def test_the_same_prefix_never_has_two_nodes() -> None:
    tree = TokenTree()
    grow(tree, ROOT, 7)
    with pytest.raises(ValueError, match="already a child"):
        grow(tree, ROOT, 7)


def test_hidden_branches_keep_their_ids_and_come_back() -> None:
    tree = TokenTree()
    a = grow(tree, ROOT, 1)
    b = grow(tree, a, 2)
    c = grow(tree, ROOT, 3)
    tree.hide({a, b})
    assert tree.children(ROOT) == [c]
    assert len(tree) == 1
    assert a not in tree
    assert tree.child(ROOT, 1) == a
    tree.reveal({a, b})
    assert tree.subtree(ROOT) == [a, c, b]


def test_hiding_may_not_orphan_and_revealing_may_not_stray() -> None:
    tree = TokenTree()
    a = grow(tree, ROOT, 1)
    b = grow(tree, a, 2)
    with pytest.raises(ValueError, match="lose their parent"):
        tree.hide({a})
    tree.hide({a, b})
    with pytest.raises(ValueError, match="hidden parent"):
        tree.reveal({b})


def test_a_chain_of_5000_tokens() -> None:
    tree = TokenTree()
    node = ROOT
    for token_id in range(5000):
        node = grow(tree, node, token_id, 0.5)
    assert tree.depth(node) == 5000
    assert tree.path_values(node).model_logprob == pytest.approx(5000 * math.log(0.5))
    assert len(tree.subtree(ROOT)) == 5000
