"""The layout of many prefixes in one row, checked against its definition: a slot sees its own path and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.models.tree_attention import Attention, RowLimits, TreePlan, group_prefixes, plan_tree

Path = tuple[int, ...]


def path_of(plan: TreePlan, slot: int) -> Path:
    """The tokens from the root to ``slot``, by its chain of parents."""
    tokens: list[int] = []
    while slot >= 0:
        tokens.append(int(plan.tokens[slot]))
        slot = int(plan.parents[slot])
    return tuple(reversed(tokens))


def cached_closure(prefixes: list[Path], lengths: list[int]) -> list[int]:
    """Matched lengths that a prefix cache could report: what one path has cached, all that share it have."""
    cached = {prefix[:n] for prefix, length in zip(prefixes, lengths, strict=True) for n in range(length + 1)}
    return [max(n for n in range(len(prefix) + 1) if prefix[:n] in cached) for prefix in prefixes]


@st.composite
def requests(draw: st.DrawFn) -> tuple[list[Path], list[int]]:
    beginning = draw(st.lists(st.integers(0, 2), max_size=4))
    tails = draw(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=1, max_size=8))
    prefixes = sorted({(*beginning, *tail) for tail in tails})
    lengths = [draw(st.integers(0, len(prefix))) for prefix in prefixes]
    return prefixes, cached_closure(prefixes, lengths)


@given(requests())
def test_every_prefix_is_answered_by_a_slot_with_its_path(request: tuple[list[Path], list[int]]) -> None:
    prefixes, matched = request
    plan = plan_tree(prefixes, matched)
    assert [path_of(plan, slot) for slot in plan.wanted] == prefixes
    assert all(slot >= plan.cached for slot in plan.wanted)
    assert [len(path_of(plan, slot)) - 1 for slot in range(len(plan))] == plan.positions.tolist()


@given(requests())
def test_cached_slots_are_filled_exactly_once_and_missing_ones_computed_once(
    request: tuple[list[Path], list[int]],
) -> None:
    prefixes, matched = request
    plan = plan_tree(prefixes, matched)
    filled: dict[int, Path] = {}
    for source in plan.sources:
        assert source.stop <= matched[source.prefix]
        for step in range(source.stop - source.start):
            assert source.slot + step not in filled
            filled[source.slot + step] = prefixes[source.prefix][: source.start + step + 1]
    assert filled == {slot: path_of(plan, slot) for slot in range(plan.cached)}
    cached = {prefix[:n] for prefix, length in zip(prefixes, matched, strict=True) for n in range(1, length + 1)}
    computed = [path_of(plan, slot) for slot in range(plan.cached, len(plan))]
    assert len(set(computed)) == len(computed)
    for slot, path in enumerate(computed, start=plan.cached):
        assert (slot in plan.repeated) <= (path in cached)
        assert path not in cached or path in prefixes  # a cached token goes through the model for its logits only


@given(
    requests(),
    st.integers(1, 4),
    st.sampled_from([Attention("full"), Attention("sliding", 3), Attention("chunked", 3)]),
)
def test_a_slot_sees_its_ancestors_and_itself(
    request: tuple[list[Path], list[int]], size: int, attention: Attention
) -> None:
    plan = plan_tree(*request)
    for start in range(plan.cached, len(plan), size):
        stop = min(start + size, len(plan))
        seen = plan.visible(start, stop, attention)
        for row, slot in enumerate(range(start, stop)):
            expected, ancestor, depth = set(), slot, int(plan.positions[slot])
            while ancestor >= 0:
                position = int(plan.positions[ancestor])
                near = {"full": True, "sliding": depth - position < 3, "chunked": depth // 3 == position // 3}
                if near[attention.kind]:
                    expected.add(ancestor)
                ancestor = int(plan.parents[ancestor])
            assert set(np.flatnonzero(seen[row]).tolist()) == expected


@given(requests(), st.integers(1, 4))
def test_chains_cover_every_new_slot_but_the_repeated_ones(request: tuple[list[Path], list[int]], size: int) -> None:
    prefixes, matched = request
    plan = plan_tree(prefixes, matched)
    covered: list[int] = []
    for start in range(plan.cached, len(plan), size):
        for chain in plan.chains(start, min(start + size, len(plan))):
            path = prefixes[chain.prefix][: chain.length]
            assert path_of(plan, chain.stop - 1) == path
            assert path_of(plan, chain.start) == path[: len(path) - (chain.stop - chain.start) + 1]
            covered.extend(range(chain.start, chain.stop))
    assert covered == [slot for slot in range(plan.cached, len(plan)) if slot not in plan.repeated]


def test_sixty_four_children_cost_sixty_four_tokens() -> None:
    node = tuple(range(200))
    plan = plan_tree([(*node, child) for child in range(64)], [200] * 64)
    assert (plan.base, plan.cached, len(plan)) == (200, 200, 264)
    seen = plan.visible(200, 264, Attention("full"))
    assert seen.sum(axis=1).tolist() == [201] * 64


@given(requests(), st.integers(0, 60), st.integers(1, 12))
def test_groups_are_all_prefixes_in_order(request: tuple[list[Path], list[int]], pairs: int, slots: int) -> None:
    prefixes, matched = request
    groups = group_prefixes(prefixes, matched, RowLimits(pairs, slots))
    assert [index for group in groups for index in group] == list(range(len(prefixes)))
    for group in groups:
        union = {prefixes[index][:n] for index in group for n in range(1, len(prefixes[index]) + 1)}
        assert len(group) == 1 or len(union) <= slots


@pytest.mark.parametrize(("pairs", "expected"), [(0, 3), (10**6, 1)])
def test_prefixes_that_share_nothing_are_worth_one_row_only_while_a_pass_is_dearer(pairs: int, expected: int) -> None:
    prefixes = [tuple([first] * 50) for first in range(3)]
    assert len(group_prefixes(prefixes, [49] * 3, RowLimits(pairs, 10**6))) == expected


def test_children_of_one_node_stay_together_at_any_price() -> None:
    prefixes = [(*range(100), child) for child in range(5)]
    assert len(group_prefixes(prefixes, [100] * 5, RowLimits(20, 10**6))) == 1


@pytest.mark.parametrize("depth", [4, 30, 200])
@pytest.mark.parametrize("pairs", [500, 20_000])
def test_many_branches_apart_are_split_about_as_well_as_can_be(depth: int, pairs: int) -> None:
    """Sampled runs: all in one row each new token would be compared with every branch."""
    runs = 100
    prefixes = sorted((0, *(1000 * run + step for step in range(depth))) for run in range(1, runs + 1))

    def cost(sizes: list[int]) -> int:
        return sum(pairs + size * (1 + depth * size) for size in sizes)

    ours = [len(group) for group in group_prefixes(prefixes, [depth] * runs, RowLimits(pairs, 10**9))]
    best = min(cost([size] * (runs // size) + ([runs % size] if runs % size else [])) for size in range(1, runs + 1))
    assert cost(ours) <= 1.15 * best
