"""Rows of nodes, and the canvas's mirror of the tree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.tree import Node, TokenTree
from ui.tree.layout import leaf_rows
from ui.tree.mirror import TreeMirror, mirror_of

MakeNode = Callable[..., Node]

parents_of_trees = st.lists(st.integers(0, 10**6), max_size=60).map(
    lambda picks: [0] + [pick % (node + 1) for node, pick in enumerate(picks)]
)


@given(parents_of_trees)
def test_leaves_have_rows_of_their_own_and_parents_stand_in_their_middle(parents: list[int]) -> None:
    parent = np.array(parents, dtype=np.int32)
    ids = np.arange(len(parents), dtype=np.int32)
    rows = leaf_rows(parent, ids, ids)
    leaves = [node for node in range(len(parents)) if node not in parents[1:]] or [0]
    if len(parents) > 1:
        assert sorted(rows[leaves]) == list(range(len(leaves)))
    below: dict[int, list[float]] = {node: [] for node in range(len(parents))}
    for leaf in leaves:
        node = leaf
        while True:
            below[node].append(rows[leaf])
            if node == 0:
                break
            node = parents[node]
    for node, found in below.items():
        assert rows[node] == pytest.approx((min(found) + max(found)) / 2)
        assert max(found) - min(found) == len(found) - 1  # no foreign leaf between


def test_siblings_stand_in_order_of_rank() -> None:
    parent = np.array([0, 0, 0, 0], dtype=np.int32)
    rank = np.array([0, 3, 1, 2], dtype=np.int32)
    assert leaf_rows(parent, rank, np.zeros(4, dtype=np.int32)).tolist() == [1, 2, 0, 1]


def test_a_chain_of_any_depth_is_one_row() -> None:
    parent = np.arange(-1, 20_000, dtype=np.int32).clip(0)
    rows = leaf_rows(parent, np.ones(20_001, dtype=np.int32), np.ones(20_001, dtype=np.int32))
    assert not rows.any()


def test_a_mirror_agrees_with_the_tree(eos_tree: list[Node]) -> None:
    tree = TokenTree()
    for node in eos_tree:
        tree.add(node)
    mirror = mirror_of(eos_tree, ())
    for node_id in range(1, 9):
        assert mirror.path(node_id)[1:] == tree.path(node_id)
        assert set(mirror.children_of(node_id)) == set(tree.children(node_id))
        assert mirror.path_logprob[node_id] == pytest.approx(tree.path_values(node_id).model_logprob)
    assert mirror.count == len(tree) == 8
    assert mirror.children_of(0) == [1, 4]
    assert mirror.hows() == ["greedy", "drawn", "manual", "beam", "expanded"]


def test_growing_one_by_one_is_the_same_as_all_at_once(random_tree: Callable[[int], list[Node]]) -> None:
    nodes = random_tree(700)
    whole = mirror_of(nodes, ())
    grown = TreeMirror()
    for place, node in enumerate(nodes):
        grown.add(node)
        if place % 50 == 0:
            _ = grown.rows  # computed in between, so that leaves that grow keep theirs
    assert grown.rows.tolist() == whole.rows.tolist()
    for name in ("parent", "depth", "token", "rank", "how", "forced", "visible", "children"):
        assert getattr(grown, name)[:701].tolist() == getattr(whole, name)[:701].tolist(), name
    assert grown.path_logprob[:701] == pytest.approx(whole.path_logprob[:701])


def test_hidden_nodes_give_their_room_back(eos_tree: list[Node]) -> None:
    mirror = mirror_of(eos_tree, {7})
    assert 7 not in mirror
    assert mirror.children_of(4) == [5]
    assert mirror.rows[4] == mirror.rows[5]
    mirror.reveal([7])
    assert mirror.children_of(4) == [5, 7]
    assert mirror.rows[7] == mirror.rows[5] + 1
    mirror.hide([7])
    mirror.hide([7])
    assert mirror.children[4] == 1


def test_ids_may_have_gaps(make_node: MakeNode) -> None:
    mirror = mirror_of([make_node(3, 0, 0, 1, 0.5), make_node(300, 3, 1, 2, 0.5)], ())
    assert mirror.ids().tolist() == [0, 3, 300]
    assert mirror.path(300) == [0, 3, 300]
    mirror.add(make_node(5000, 0, 2, 1, 0.5, rank=2))
    assert mirror.rows[5000] == 1


def test_siblings_by_place(eos_tree: list[Node]) -> None:
    mirror = mirror_of(eos_tree, ())
    assert mirror.sibling_of(1, 1) == 4
    assert mirror.sibling_of(4, -1) == 1
    assert mirror.sibling_of(4, 1) is None
    assert mirror.sibling_of(0, 1) is None
