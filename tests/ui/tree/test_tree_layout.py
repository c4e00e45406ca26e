"""Rows of nodes in both layouts, the boxes they stand in, and the canvas's mirror of the tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from explorer.tree import ROOT, Edge, Node, TokenTree
from ui.tree.layout import LeafSlots
from ui.tree.mirror import TreeMirror, mirror_of
from ui.tree.outline import Outline
from ui.tree.placement import Placement
from ui.tree.tidy import tidy_rows

MakeNode = Callable[..., Node]
RandomTree = Callable[[int], list[Node]]

parents_of_trees = st.lists(st.integers(0, 10**6), max_size=60).map(
    lambda picks: [0] + [pick % (node + 1) for node, pick in enumerate(picks)]
)
deep_trees = st.lists(st.integers(0, 3), max_size=60).map(
    lambda picks: [0] + [max(0, node - pick) for node, pick in enumerate(picks)]
)


def nodes_of(parents: list[int]) -> list[Node]:
    """Nodes under those parents, the rank their own id."""
    depths, nodes = [0], []
    for node_id, parent in enumerate(parents[1:], start=1):
        depths.append(depths[parent] + 1)
        nodes.append(Node(node_id, parent, node_id, depths[-1], Edge(0.0, -1.0, -1.0, node_id, "greedy")))
    return nodes


def outline_of(nodes: list[Node], *, phrases: bool = False) -> Outline:
    outline = Outline(mirror_of(nodes, ()))
    outline.phrases = phrases
    outline.rebuild()
    return outline


def rows_of(placement: Placement, outline: Outline) -> list[float]:
    return placement.rows[: outline.mirror.size].tolist()


# --- leaf slots -------------------------------------------------------------------------------------------------------


@given(parents_of_trees)
def test_leaves_have_rows_of_their_own_and_parents_stand_in_their_middle(parents: list[int]) -> None:
    rows = LeafSlots(outline_of(nodes_of(parents))).rows
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


def test_siblings_stand_in_order_of_rank(make_node: MakeNode) -> None:
    nodes = [make_node(i, 0, i, 1, 0.1, rank=rank) for i, rank in ((1, 3), (2, 1), (3, 2))]
    assert LeafSlots(outline_of(nodes)).rows[:4].tolist() == [1, 2, 0, 1]


def test_a_chain_of_any_depth_is_one_row_and_one_phrase(make_node: MakeNode) -> None:
    nodes = [make_node(i, i - 1, 0, i, 0.5) for i in range(1, 20_001)]
    outline = outline_of(nodes, phrases=True)
    assert not LeafSlots(outline).rows[:20_001].any()
    assert outline.heads().tolist() == [0, 1]
    assert outline.members(1) == list(range(1, 20_001))
    assert not Placement(outline, "tidy").rows[:20_001].any()


@given(parents_of_trees, st.integers(0, 10**6))
def test_one_more_leaf_gets_the_row_it_would_have_had_from_the_start(parents: list[int], pick: int) -> None:
    nodes = nodes_of(parents)
    new = Node(len(parents), pick % len(parents), 7, 0, Edge(0.0, -1.0, -1.0, pick % 60, "greedy"))
    new = dataclasses.replace(new, depth=1 + (0 if new.parent == ROOT else nodes[new.parent - 1].depth))
    outline = outline_of(nodes, phrases=True)
    slots = LeafSlots(outline)
    outline.mirror.add(new)
    outline.add(new.id)
    slots.add(new.id)
    whole = outline_of([*nodes, new], phrases=True)
    expected = LeafSlots(whole)
    count = len(parents) + 1
    assert slots.rows[:count].tolist() == expected.rows[:count].tolist()
    assert slots.count == expected.count
    for name in ("head", "kids", "shown"):
        assert getattr(outline, name)[:count].tolist() == getattr(whole, name)[:count].tolist(), name
    assert outline.tail[outline.heads()].tolist() == whole.tail[whole.heads()].tolist()


# --- tidy trees -------------------------------------------------------------------------------------------------------


Subtree = dict[int, tuple[float, int]]
"""Row and level of every node, relative to the root of the subtree."""


def recursive_rows(parents: list[int]) -> list[float]:
    """A tidy tree the slow way, from the definition: each subtree pushed from those before it level by level, and those
    between the two that met moved along evenly."""
    children: dict[int, list[int]] = {node: [] for node in range(len(parents))}
    for node, parent in enumerate(parents[1:], start=1):
        children[parent].append(node)

    def place(node: int) -> Subtree:
        subtrees = [{n: (row, level + 1) for n, (row, level) in place(child).items()} for child in children[node]]
        if not subtrees:
            return {node: (0.0, 0)}
        shifts = _pushed_apart(subtrees)
        rows = {
            n: (row + s, level) for s, tree in zip(shifts, subtrees, strict=True) for n, (row, level) in tree.items()
        }
        middle = (rows[children[node][0]][0] + rows[children[node][-1]][0]) / 2
        return {node: (0.0, 0), **{n: (row - middle, level) for n, (row, level) in rows.items()}}

    rows = place(0)
    least = min(row for row, _ in rows.values())
    return [rows[node][0] - least for node in range(len(parents))]


def _pushed_apart(subtrees: list[Subtree]) -> list[float]:
    shifts: list[float] = []
    moved = [0.0] * len(subtrees)
    for number, subtree in enumerate(subtrees):
        shift = 0.0
        for level in sorted({level for _, level in subtree.values()}):
            reaching = [n for n in range(number) if any(level == other for _, other in subtrees[n].values())]
            if not reaching:
                continue
            owner = reaching[-1]
            end = max(row for row, other in subtrees[owner].values() if other == level) + shifts[owner]
            start = min(row for row, other in subtree.values() if other == level) + shift
            gap = end + 1 - start
            if gap > 0:
                shift += gap
                for between in range(owner + 1, number):
                    moved[between] += gap * (between - owner) / (number - owner)
        shifts.append(shift)
    return [shift + more for shift, more in zip(shifts, moved, strict=True)]


def depths_of(parents: list[int]) -> list[int]:
    depths = [0]
    for parent in parents[1:]:
        depths.append(depths[parent] + 1)
    return depths


def tidy(parents: list[int]) -> list[float]:
    order = np.argsort(np.array(parents[1:], dtype=np.int32), kind="stable").astype(np.int32) + 1
    bottom = np.array(depths_of(parents), dtype=np.int32)
    return tidy_rows(np.array(parents, dtype=np.int32), order, bottom).tolist()


@given(st.one_of(parents_of_trees, deep_trees))
def test_a_tidy_tree_keeps_levels_apart_order_and_the_middle(parents: list[int]) -> None:
    rows, depths = tidy(parents), depths_of(parents)
    children: dict[int, list[int]] = {node: [] for node in range(len(parents))}
    for node, parent in enumerate(parents[1:], start=1):
        children[parent].append(node)
    by_level: dict[int, list[float]] = {}
    waiting = [0]
    while waiting:  # depth first, so that each level comes from its first node to its last
        node = waiting.pop()
        by_level.setdefault(depths[node], []).append(rows[node])
        waiting.extend(reversed(children[node]))
        if children[node]:
            first, last = rows[children[node][0]], rows[children[node][-1]]
            assert rows[node] == pytest.approx((first + last) / 2, abs=1e-6)
    for level in by_level.values():
        assert all(after - before >= 1 - 1e-6 for before, after in pairwise(level))
    assert min(rows) == pytest.approx(0, abs=1e-9)


@given(st.one_of(parents_of_trees, deep_trees))
def test_the_linear_way_draws_what_the_definition_says(parents: list[int]) -> None:
    assert tidy(parents) == pytest.approx(recursive_rows(parents), abs=1e-6)


def test_phrases_do_not_move_a_tidy_tree(random_tree: RandomTree) -> None:
    nodes = random_tree(400)
    plain, merged = outline_of(nodes), outline_of(nodes, phrases=True)
    assert len(merged.heads()) < len(plain.heads())
    one, other = Placement(plain, "tidy"), Placement(merged, "tidy")
    assert rows_of(one, plain) == pytest.approx(rows_of(other, merged))


def test_a_large_tidy_tree_is_laid_out_between_events(qtbot: QtBot, random_tree: RandomTree) -> None:
    nodes = random_tree(9000)
    outline = outline_of(nodes)
    placement = Placement(outline, gradual=True)
    before = placement.rows.copy()
    with qtbot.waitSignal(placement.settled):
        placement.choose("tidy")
        assert placement.working
        assert placement.rows.tolist() == before.tolist()  # the picture stays as it was until then
    assert not placement.working
    assert rows_of(placement, outline) == pytest.approx(rows_of(Placement(outline, "tidy"), outline))
    new = nodes[4000]
    new = dataclasses.replace(new, id=9001, parent=5, depth=nodes[4].depth + 1)
    outline.mirror.add(new)
    outline.add(9001)
    placement.add(9001)
    assert placement.rows[9001] > 0  # beside its siblings, for the time being
    placement.keep_up()
    placement.finish()
    assert rows_of(placement, outline) == pytest.approx(rows_of(Placement(outline, "tidy"), outline))


# --- boxes ------------------------------------------------------------------------------------------------------------


@given(parents_of_trees, st.sets(st.integers(0, 60), max_size=8), st.sets(st.integers(1, 60), max_size=8))
def test_boxes_are_chains_without_branching(parents: list[int], alone: set[int], marked: set[int]) -> None:
    outline = outline_of(nodes_of(parents), phrases=True)
    outline.set_alone(alone, True)
    outline.set_marks(dict.fromkeys(marked, 3))
    seen: list[int] = []
    for head in outline.heads().tolist():
        members = outline.members(head)
        seen += members
        assert all(parents[after] == before for before, after in pairwise(members))
        assert all(outline.kids[member] == 1 for member in members[:-1])
        assert len(members) == 1 or not {0, *alone} & set(members)
        assert len({member in marked for member in members}) == 1
        tail = members[-1]
        goes_on = outline.children_of(tail)
        if len(goes_on) == 1 and not {tail, goes_on[0]} & {0, *alone}:
            assert (tail in marked) != (goes_on[0] in marked)  # else it would be longer
    assert sorted(seen) == list(range(len(parents)))
    whole = outline_of(nodes_of(parents), phrases=True)
    whole.alone, whole.marks = outline.alone.copy(), outline.marks.copy()
    whole.rebuild()
    assert whole.head.tolist() == outline.head.tolist()
    outline.set_alone(alone, False)
    outline.set_marks({})
    assert outline.head.tolist() == outline_of(nodes_of(parents), phrases=True).head.tolist()


def test_folded_branches_and_everything_outside_the_focus_are_not_shown(eos_tree: list[Node]) -> None:
    outline = outline_of(eos_tree)
    outline.folded = {4}
    outline.rebuild()
    assert np.flatnonzero(outline.shown).tolist() == [0, 1, 2, 3, 4, 8]
    assert outline.is_folded(4)
    assert outline.below(4).tolist() == [5, 6, 7]
    assert outline.shown_ancestor(6) == 4
    assert outline.children_of(4) == []
    outline.folded, outline.top = set(), 4
    outline.rebuild()
    assert np.flatnonzero(outline.shown).tolist() == [4, 5, 6, 7]
    assert outline.shown_ancestor(2) is None
    assert LeafSlots(outline).rows[[5, 7, 4]].tolist() == [0, 1, 0.5]
    assert rows_of(Placement(outline, "tidy"), outline)[4:8] == [0.5, 0, 0, 1]


# --- the mirror -------------------------------------------------------------------------------------------------------


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
    assert mirror.unseen(np.array([0, 1, 4, 2])) == pytest.approx([0, 0, 0, 0.1], abs=1e-9)
    assert np.isnan(mirror.unseen(np.array([3]))).all()
    mirror.hide([7, 3])
    assert mirror.unseen(np.array([4])) == pytest.approx([0.1])
    assert np.isnan(mirror.unseen(np.array([2]))).all()
    mirror.reveal([7, 3])
    assert mirror.unseen(np.array([4, 2])) == pytest.approx([0, 0.1], abs=1e-9)
    assert mirror.sampling_prob[[1, 7]].tolist() == pytest.approx([0.6, 0])


def test_growing_one_by_one_is_the_same_as_all_at_once(random_tree: RandomTree) -> None:
    nodes = random_tree(700)
    whole = mirror_of(nodes, ())
    grown = TreeMirror()
    outline = Outline(grown)
    slots = LeafSlots(outline)
    for node in nodes:
        grown.add(node)
        outline.add(node.id)
        slots.add(node.id)
    assert slots.rows[:701].tolist() == LeafSlots(Outline(whole)).rows[:701].tolist()
    names = (
        "parent",
        "depth",
        "token",
        "rank",
        "how",
        "forced",
        "visible",
        "children",
        "model_prob",
        "sampling_prob",
        "child_prob",
    )
    for name in names:
        assert getattr(grown, name)[:701].tolist() == getattr(whole, name)[:701].tolist(), name
    assert grown.path_logprob[:701] == pytest.approx(whole.path_logprob[:701])


def test_hidden_nodes_give_their_room_back(eos_tree: list[Node]) -> None:
    mirror = mirror_of(eos_tree, {7})
    outline = Outline(mirror)
    slots = LeafSlots(outline)
    assert 7 not in mirror
    assert mirror.children_of(4) == [5]
    assert slots.rows[4] == slots.rows[5]
    mirror.reveal([7])
    outline.rebuild()
    slots.rebuild()
    assert mirror.children_of(4) == [5, 7]
    assert slots.rows[7] == slots.rows[5] + 1
    mirror.hide([7])
    mirror.hide([7])
    assert mirror.children[4] == 1


def test_ids_may_have_gaps(make_node: MakeNode) -> None:
    mirror = mirror_of([make_node(3, 0, 0, 1, 0.5), make_node(300, 3, 1, 2, 0.5)], ())
    assert mirror.ids().tolist() == [0, 3, 300]
    assert mirror.path(300) == [0, 3, 300]
    mirror.add(make_node(5000, 0, 2, 1, 0.5, rank=2))
    assert LeafSlots(Outline(mirror)).rows[5000] == 1


def test_siblings_by_place(eos_tree: list[Node]) -> None:
    mirror = mirror_of(eos_tree, ())
    assert mirror.sibling_of(1, 1) == 4
    assert mirror.sibling_of(4, -1) == 1
    assert mirror.sibling_of(4, 1) is None
    assert mirror.sibling_of(0, 1) is None
