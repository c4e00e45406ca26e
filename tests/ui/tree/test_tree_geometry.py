"""Places of boxes that are kept up with while a tree grows: the same as if they were worked out anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.tree import Edge, Node
from ui.tree.geometry import TreeGeometry
from ui.tree.mirror import TreeMirror
from ui.tree.options import Orientation
from ui.tree.outline import Outline
from ui.tree.placement import Placement

WIDTHS = (4.0, 30.0, 30.0, 71.5, 120.0, 160.0)

# Where a node grows, which token it is, and whom the user visits then.
steps = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 10**6)), max_size=50)


def geometry_of(outline: Outline, placement: Placement, orientation: Orientation) -> TreeGeometry:
    return TreeGeometry(outline, placement, lambda token: WIDTHS[token], 50.0, orientation)


@pytest.mark.parametrize("orientation", ["right", "down"])
@given(steps=steps)
def test_a_tree_that_grows_stands_where_it_would_stand_anew(
    orientation: Orientation, steps: list[tuple[int, int, int]]
) -> None:
    mirror = TreeMirror()
    outline = Outline(mirror)
    placement = Placement(outline)
    geometry = geometry_of(outline, placement, orientation)
    depths, current = [0], 0
    for node_id, (back, token, visit) in enumerate(steps, start=1):
        parent = max(0, node_id - 1 - back)
        depths.append(depths[parent] + 1)
        mirror.add(Node(node_id, parent, token, depths[-1], Edge(0.0, -1.0, -1.0, node_id, "greedy")))
        outline.add(node_id)
        placement.add(node_id)
        if visit % 3 == 0:  # the current node has a box of its own, the one before no longer
            outline.set_alone([current], False)
            current = visit % (node_id + 1)
            outline.set_alone([current], True)
        geometry.update()
        plan, anew = geometry.plan, geometry_of(outline, placement, orientation).plan
        for name in ("heads", "parent", "along", "length", "across", "breadth", "turn"):
            assert np.array_equal(getattr(plan, name), getattr(anew, name)), (name, node_id)


def test_columns_are_not_worked_out_for_a_leaf_that_finds_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a tree of a hundred thousand nodes that takes as long as all the rest; a phrase that grows is no exception."""
    mirror = TreeMirror()
    for node_id in range(1, 41):  # four chains of ten
        depth = (node_id - 1) % 10 + 1
        mirror.add(Node(node_id, node_id - 1 if depth > 1 else 0, 1, depth, Edge(0.0, -1.0, -1.0, 1, "greedy")))
    for node_id in range(41, 61):  # and a branch of single tokens, two at every step, that makes the room
        depth = (node_id - 39) // 2
        parent = 37 + 2 * depth if depth > 1 else 0
        mirror.add(Node(node_id, parent, 4, depth, Edge(0.0, -1.0, -1.0, node_id, "greedy")))
    outline = Outline(mirror)
    placement = Placement(outline)
    geometry = geometry_of(outline, placement, "right")
    assert geometry.plan is not None
    monkeypatch.setattr(TreeGeometry, "_columns", lambda self: pytest.fail("worked out anew"))
    for node_id, parent, depth in ((61, 5, 6), (62, 61, 7), (63, 39, 10)):
        mirror.add(Node(node_id, parent, 1, depth, Edge(0.0, -1.0, -1.0, node_id, "greedy")))
        outline.add(node_id)
        placement.add(node_id)
        geometry.update()
        assert geometry.plan is not None
