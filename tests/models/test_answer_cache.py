"""The logits kept by prefix: what they hold, and that their bytes are counted truly."""

import weakref

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.models.answer_cache import AnswerCache

ROW = 40  # bytes of ten logits


def of_one_pass(rows: int, first: int = 0) -> NDArray[np.float32]:
    return np.arange(first * 10, (first + rows) * 10, dtype=np.float32).reshape(-1, 10).copy()


@pytest.fixture
def cache() -> AnswerCache:
    made = AnswerCache()
    made.set_budget(10 * ROW)
    return made


def test_gives_back_what_was_put_and_forgets_the_oldest(cache: AnswerCache) -> None:
    for first in range(12):
        cache.put((first,), of_one_pass(1, first)[0])
    assert len(cache) == 10
    assert cache.nbytes == 10 * ROW
    assert (0,) not in cache
    assert cache.get((1,)) is None
    found = cache.get((5,))
    assert found is not None
    assert found.tolist() == list(range(50, 60))


def test_what_was_asked_for_again_stays_longest(cache: AnswerCache) -> None:
    for first in range(10):
        cache.put((first,), of_one_pass(1, first)[0])
    cache.get((0,))
    cache.put((10,), of_one_pass(1, 10)[0])
    assert (0,) in cache
    assert (1,) not in cache


def test_rows_of_one_pass_count_once_and_go_together(cache: AnswerCache) -> None:
    logits = of_one_pass(6)
    seen = weakref.ref(logits)
    for index, row in enumerate(logits):
        cache.put((index,), row)
    del logits, row
    assert cache.nbytes == 6 * ROW
    assert len(cache) == 6
    cache.put((100,), of_one_pass(5)[0])  # that does not fit beside them
    assert len(cache) == 1
    assert cache.nbytes == 5 * ROW
    assert seen() is None


def test_a_row_asked_for_again_does_not_hold_back_its_pass(cache: AnswerCache) -> None:
    logits = of_one_pass(6)
    seen = weakref.ref(logits)
    for index, row in enumerate(logits):
        cache.put((index,), row)
    kept = cache.get((3,))
    assert kept is not None
    assert kept.tolist() == list(range(30, 40))
    assert cache.nbytes == 7 * ROW
    del logits, row, kept
    cache.put((100,), of_one_pass(4)[0])
    assert len(cache) == 2
    assert cache.nbytes == 5 * ROW
    assert seen() is None
    again = cache.get((3,))
    assert again is not None
    assert again.tolist() == list(range(30, 40))


def test_a_row_of_a_pass_beyond_the_budget_is_kept_alone(cache: AnswerCache) -> None:
    for index, row in enumerate(of_one_pass(20)):
        cache.put((index,), row)
    assert len(cache) == 10
    assert cache.nbytes == 10 * ROW


def test_rows_cannot_be_changed(cache: AnswerCache) -> None:
    cache.put((1,), of_one_pass(2)[1])
    found = cache.get((1,))
    assert found is not None
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


def test_nothing_is_kept_without_a_budget() -> None:
    cache = AnswerCache()
    cache.put((1,), of_one_pass(1)[0])
    assert len(cache) == 0
    assert cache.nbytes == 0


def test_random_use_counts_every_array_once(cache: AnswerCache) -> None:
    random = np.random.default_rng(5)
    next_id = 0
    for _ in range(400):
        if random.random() < 0.4 and next_id:
            cache.get((int(random.integers(next_id)),))
        else:
            for row in of_one_pass(int(random.integers(1, 14)), next_id):
                cache.put((next_id,), row)
                next_id += 1
        arrays = {id(array): array.nbytes for array in map(_owner, cache._rows.values())}
        assert cache.nbytes == sum(arrays.values()) <= 10 * ROW
        for prefix, row in cache._rows.items():
            assert row[0] == 10 * prefix[0]
    cache.clear()
    assert cache.nbytes == len(cache) == 0


def _owner(row: NDArray[np.float32]) -> NDArray[np.float32]:
    return row.base if isinstance(row.base, np.ndarray) else row
