"""Many branches that grow together: the numbers of passes from scratch, whatever row they are in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_transformers_model import SMALL_PASSES, Ids, Passes, Reference, load, text
from tiny_models import BEGIN, save_tiny_model
from torch import Tensor

from explorer.models import row_batch, shared_heads
from explorer.models.forward import BatchLimits
from explorer.models.row_batch import RowBatch
from explorer.models.transformers_model import TransformersModel
from explorer.models.tree_attention import RowLimits
from explorer.models.tree_forward import TreeForward
from explorer.progress import Cancelled, CancelToken

PASS_OF_ROWS = BatchLimits(tokens=64, row=RowLimits(pass_pairs=10_000, slots=4000))


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("tiny")
    return cache(lambda kind: save_tiny_model(root / kind, kind))


@pytest.fixture
def wide_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BatchLimits, "for_model", classmethod(lambda *_: PASS_OF_ROWS))


@pytest.fixture
def narrow_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    small = BatchLimits(tokens=10, row=RowLimits(pass_pairs=10_000, slots=4000))
    monkeypatch.setattr(BatchLimits, "for_model", classmethod(lambda *_: small))


def grown(paths: Sequence[Ids], step: int) -> list[Ids]:
    """Each a token longer, no two alike."""
    ids = np.random.default_rng(step).integers(0, BEGIN, len(paths)).tolist()
    return [(*path, token) for path, token in zip(paths, ids, strict=True)]


def grow(model: TransformersModel, branches: int, steps: int) -> list[Ids]:
    """Branches of one prompt that have grown together, a token a pass."""
    paths: list[Ids] = [text(5, 3)] * branches
    for step in range(steps):
        paths = grown(paths, step)
        model.next_token_logits(paths)
    return paths


def batch_of(model: TransformersModel) -> RowBatch:
    assert isinstance(model._forward, TreeForward)
    return model._forward._batch


@pytest.mark.parametrize("kind", ["llama", "gpt2", "mistral", "gemma3", "llama4"])
def test_growing_branches_have_the_numbers_of_passes_from_scratch(
    folder_of: Callable[[str], Path], kind: str, wide_passes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the sliding windows, and past the place where the rows are laid out anew."""
    monkeypatch.setattr(row_batch, "_STEPS", 12)
    monkeypatch.setattr("explorer.models.tree_forward.LEAST_OTHERS", 40)
    folder = folder_of(kind)
    model, reference = load(folder), Reference(folder)
    paths = [text(5, 3)] * 20
    used = 0
    for step in range(20):
        paths = grown(paths, step)
        if step in (4, 9, 15, 19):
            reference.check(model, paths)
        else:
            model.next_token_logits(paths)
        used += batch_of(model).nbytes > 0
    assert used > 12


def test_branches_fork_end_and_come_back(folder_of: Callable[[str], Path], wide_passes: None) -> None:
    folder = folder_of("mistral")
    model, reference = load(folder), Reference(folder)
    paths = grow(model, 24, 16)
    assert batch_of(model).nbytes
    forks = [(*path, token) for path in paths[:12] for token in (1, 2)]
    reference.check(model, forks)
    fewer = grown(forks[::2] + forks[1:9:2], 50)  # rows of unequal length
    reference.check(model, fewer)
    reference.check(model, paths[3:5])  # asked again: from the answers that are kept
    reference.check(model, grown(fewer, 51))
    reference.check(model, [(*text(5, 3), 9), *grown(grown(fewer, 51), 52)])  # one that goes its own way


def test_a_pass_is_no_larger_than_it_may_be(folder_of: Callable[[str], Path], narrow_passes: None) -> None:
    folder = folder_of("llama")
    model, reference = load(folder), Reference(folder)
    paths = grow(model, 20, 20)
    passes = Passes(model)
    reference.check(model, grown(paths, 60))
    assert batch_of(model).nbytes
    assert passes.tokens == [8, 8, 8]  # rows of 8, 8 and 4 branches, filled up


def test_heads_that_share_keys_are_not_given_copies(
    folder_of: Callable[[str], Path], wide_passes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads: list[tuple[int, int]] = []
    plain = shared_heads.scaled_dot_product_attention

    def counted(query: Tensor, key: Tensor, *others: Any, **more: Any) -> Tensor:
        heads.append((query.shape[1], key.shape[1]))
        return plain(query, key, *others, **more)

    monkeypatch.setattr(shared_heads, "scaled_dot_product_attention", counted)
    model = load(folder_of("llama"))
    grow(model, 20, 20)
    assert set(heads) == {(2, 2)}  # 4 heads of queries
    assert len(heads) >= 2 * 5
    assert model._fresh._model.config._attn_implementation == "sdpa"


def test_cancelled_between_passes_it_begins_anew(folder_of: Callable[[str], Path], narrow_passes: None) -> None:
    folder = folder_of("llama")
    model, reference = load(folder), Reference(folder)
    paths = grow(model, 20, 20)
    cancel = CancelToken()
    model._fresh._model.model.register_forward_hook(lambda *_: cancel.cancel())
    following = sorted(grown(paths, 60))
    with pytest.raises(Cancelled):
        model.next_token_logits(following, cancel=cancel)
    assert not batch_of(model).nbytes
    assert model.missing(following) == 20 - 8  # what was computed is kept
    reference.check(model, following)


def test_within_its_budget(folder_of: Callable[[str], Path], wide_passes: None) -> None:
    """Rows, the one row and the tree together stay below it; where the rows do not fit, one row does."""
    folder = folder_of("llama")
    model, reference = load(folder), Reference(folder)
    model.set_cache_budget(400_000)
    paths = [text(5, 3)] * 18
    for step in range(18):
        paths = grown(paths, step)
        if step > 15:
            reference.check(model, paths)
        else:
            model.next_token_logits(paths)
        assert model.cache_stats().bytes_used <= 400_000
    assert not batch_of(model).nbytes
    model.forget()
    reference.check(model, paths)


def test_few_branches_and_small_passes_stay_in_one_row(
    folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BatchLimits, "for_model", classmethod(lambda *_: SMALL_PASSES))
    folder = folder_of("llama")
    model, reference = load(folder), Reference(folder)
    paths = grow(model, 6, 10)
    reference.check(model, paths)
    assert not batch_of(model).nbytes
