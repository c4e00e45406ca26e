"""The radix tree: what it returns, what it evicts, that it never exceeds its budget. Segments here are plain ids."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.models.prefix_cache import LONG_CHAIN, MERGED_TOKENS, PrefixCache, common_length


class Ids:
    """A segment that remembers which tokens it holds; one byte a token."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens = tuple(tokens)

    @property
    def nbytes(self) -> int:
        return len(self.tokens)

    def part(self, start: int, stop: int) -> Ids:
        return Ids(self.tokens[start:stop])

    def joined(self, others: Sequence[Ids]) -> Ids:
        return Ids(sum((other.tokens for other in others), self.tokens))


def put(cache: PrefixCache[Ids], path: Sequence[int], start: int = 0) -> bool:
    return cache.insert(tuple(path), start, Ids(path[start:]))


def content(cache: PrefixCache[Ids], path: Sequence[int], start: int, stop: int) -> tuple[int, ...]:
    return tuple(token for s, low, high in cache.read(tuple(path), start, stop) for token in s.tokens[low:high])


@given(st.lists(st.integers(0, 2), max_size=8), st.lists(st.integers(0, 2), max_size=8))
def test_common_length_is_what_a_loop_would_count(first: list[int], second: list[int]) -> None:
    expected = 0
    while expected < min(len(first), len(second)) and first[expected] == second[expected]:
        expected += 1
    assert common_length(tuple(first), tuple(second)) == expected


def test_paths_share_their_common_prefix() -> None:
    cache: PrefixCache[Ids] = PrefixCache(100)
    assert put(cache, (1, 2, 3, 4))
    assert put(cache, (1, 2, 5, 6))
    assert cache.stats.bytes_used == 6  # 1 2 | 3 4 | 5 6
    assert cache.stats.entries == 3
    assert cache.match((1, 2, 5, 9)) == 3
    assert content(cache, (1, 2, 5, 6), 1, 4) == (2, 5, 6)
    assert content(cache, (1, 2, 3, 4), 0, 3) == (1, 2, 3)


def test_a_path_that_ends_inside_a_segment_splits_nothing() -> None:
    cache: PrefixCache[Ids] = PrefixCache(100)
    put(cache, (1, 2, 3, 4))
    put(cache, (1, 2))
    assert cache.stats.entries == 1


def test_reading_beyond_what_is_cached_is_an_error() -> None:
    cache: PrefixCache[Ids] = PrefixCache(100)
    put(cache, (1, 2))
    with pytest.raises(KeyError, match="only 2 of 3"):
        content(cache, (1, 2, 3), 0, 3)


def test_a_continuation_without_its_beginning_is_refused() -> None:
    cache: PrefixCache[Ids] = PrefixCache(100)
    assert not put(cache, (1, 2, 3), start=2)
    assert cache.stats.bytes_used == 0


def test_the_least_recently_used_leaf_goes_first() -> None:
    cache: PrefixCache[Ids] = PrefixCache(9)
    for last in (3, 4, 5):
        put(cache, (1, 2, last, last))
    assert cache.match((1, 2, 3, 3)) == 4  # used: now 4 is the oldest
    put(cache, (1, 2, 6, 6))
    assert [cache.match((1, 2, last, last)) for last in (3, 4, 5, 6)] == [4, 2, 4, 4]


def test_a_parent_goes_after_its_children() -> None:
    cache: PrefixCache[Ids] = PrefixCache(10)
    put(cache, (1, 2, 3, 4, 5))
    put(cache, (1, 2, 3, 6, 7))
    cache.budget = 3
    assert cache.match((1, 2, 3, 4)) == 3
    cache.budget = 2
    assert cache.stats.bytes_used == 0


def test_the_pinned_path_goes_last() -> None:
    cache: PrefixCache[Ids] = PrefixCache(8)
    put(cache, (1, 2, 3, 4))
    cache.pin((1, 2, 3))
    put(cache, (5, 6, 7, 8))
    put(cache, (9, 10))
    assert cache.match((1, 2, 3, 4)) == 4
    assert cache.match((5, 6, 7, 8)) == 0
    cache.budget = 3
    assert cache.match((1, 2, 3, 4)) == 0  # a budget is a promise, also to a pinned path


def test_single_steps_are_merged_into_long_segments() -> None:
    cache: PrefixCache[Ids] = PrefixCache(10_000)
    path = tuple(range(1, 2 * MERGED_TOKENS + LONG_CHAIN))
    for length in range(1, len(path) + 1):
        put(cache, path[:length], start=length - 1)
    put(cache, (*path[:40], 0), start=40)
    assert cache.stats.entries == len(path) + 1
    cache.merge(path)
    assert cache.stats.entries <= 6
    assert cache.stats.bytes_used == len(path) + 1
    assert content(cache, path, 0, len(path)) == path
    assert content(cache, (*path[:40], 0), 30, 41) == (*path[30:40], 0)


def test_a_few_segments_are_left_alone() -> None:
    cache: PrefixCache[Ids] = PrefixCache(1_000)
    for length in range(1, LONG_CHAIN + 1):
        put(cache, range(length), start=length - 1)
    cache.merge(tuple(range(LONG_CHAIN)))
    assert cache.stats.entries == LONG_CHAIN


def test_clear_forgets_everything() -> None:
    cache: PrefixCache[Ids] = PrefixCache(100)
    put(cache, (1, 2, 3))
    cache.clear()
    assert (cache.match((1, 2, 3)), cache.stats.bytes_used, cache.stats.entries) == (0, 0, 0)


paths = st.lists(st.integers(0, 2), min_size=1, max_size=12).map(tuple)
operations = st.one_of(
    st.tuples(st.just("put"), paths, st.integers(0, 12)),
    st.tuples(st.just("pin"), paths, st.just(0)),
    st.tuples(st.just("merge"), paths, st.just(0)),
    st.tuples(st.just("budget"), st.just((0,)), st.integers(0, 40)),
    st.tuples(st.just("clear"), st.just((0,)), st.just(0)),
)


@given(st.lists(operations, max_size=60), st.integers(0, 40))
def test_any_sequence_keeps_the_budget_and_returns_only_what_was_put(
    steps: list[tuple[str, tuple[int, ...], int]], budget: int
) -> None:
    cache: PrefixCache[Ids] = PrefixCache(budget)
    for name, path, number in steps:
        known = cache.match(path)
        assert content(cache, path, 0, known) == path[:known]
        if name == "put":
            start = min(number, len(path))
            assert put(cache, path, start) == (known >= start)
        elif name == "pin":
            cache.pin(path)
        elif name == "merge":
            cache.merge(path)
            assert cache.match(path) == known
        elif name == "budget":
            cache.budget = number
        else:
            cache.clear()
        stats = cache.stats
        assert 0 <= stats.bytes_used <= stats.budget
        assert (stats.entries == 0) == (stats.bytes_used == 0)
