"""Which way of computing a model can take, found out by trying: a small probe tree against passes from scratch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.cache_utils import DynamicCache

from explorer.i18n import N_
from explorer.models.base import FLOAT32_TOLERANCE
from explorer.models.devices import Note, is_out_of_memory
from explorer.models.forward import BatchLimits, CausalModel, Forward, FreshForward
from explorer.models.key_values import KeyValueLayout
from explorer.models.prefix_cache import common_length
from explorer.models.state_forward import StateForward, StateOptions
from explorer.models.tree_forward import TreeForward, mask_forms
from explorer.progress import CancelToken
from explorer.text import TokenIds

TOLERANCE = FLOAT32_TOLERANCE
SPREAD_TOLERANCE = 1e-5  # of the distance from the highest to the lowest logit: rounding grows with the numbers
HALF_TOLERANCE = 0.05  # root mean square relative to the logits' own, for bfloat16 and float16
PROBE_WINDOW = 3  # a sliding window is shortened to this, so that a probe of a few tokens reaches past it
PROBE_BYTES = 1 << 28
STATE_ROWS = 16

Reference = dict[TokenIds, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The fastest way whose numbers agree with passes from scratch, a note which it is, and the width of the logits."""

    forward: Forward
    note: Note
    vocab_size: int


def choose_forward(model: CausalModel, limits: BatchLimits, context_length: int) -> Verdict:
    """Try the ways from the fastest to the plainest.

    Raises what the model raises when it cannot even compute a pass from scratch.
    """
    paths = probe_paths(model.known_ids, context_length)
    with _short_window(model):
        reference = reference_logits(model, paths)
        layout, right = _right_form(model, limits, paths, reference)
    vocab_size = next(iter(reference.values())).shape[0]
    if layout is not None and right is not None:
        tree = TreeForward(model, layout, mask_forms(model.config)[right], limits)
        note = N_("Branches are computed together over shared keys and values.")
        return Verdict(tree, (note, {}), vocab_size)
    options = _right_options(model, limits, paths)
    if options is not None:
        note = N_("Branches are computed from copies of the model's own cache, which is slower.")
        return Verdict(StateForward(model, options), (note, {}), vocab_size)
    note = N_("Every step is computed from scratch: no way to reuse its cache agrees.")
    return Verdict(FreshForward(model, limits), (note, {}), vocab_size)


def probe_paths(vocab_size: int, context_length: int) -> tuple[TokenIds, TokenIds]:
    """Two paths of pseudo-random ids that part after four tokens (earlier in a very short context)."""
    shared = max(1, min(4, context_length - 3))
    tail = max(1, min(3, context_length - shared))
    ids = [(7919 * (i + 1) + 13 * i * i) % vocab_size for i in range(shared + 2 * tail)]
    first, second = ids[shared : shared + tail], ids[shared + tail :]
    if first[0] == second[0]:
        second[0] = (second[0] + 1) % vocab_size
    return tuple(ids[:shared] + first), tuple(ids[:shared] + second)


def reference_logits(model: CausalModel, paths: Sequence[TokenIds]) -> Reference:
    """Logits of every beginning of ``paths``, which are equally long, from one pass without a cache."""
    reference: Reference = {}
    for path, logits in zip(paths, model.whole(paths, every_position=True), strict=True):
        reference.update({path[: length + 1]: row for length, row in enumerate(logits)})
    return reference


def close(ours: NDArray[np.float32], theirs: NDArray[np.float32], dtype: torch.dtype) -> bool:
    """Whether two rows of logits differ by no more than rounding in ``dtype``."""
    finite = np.isfinite(theirs)
    if not np.array_equal(ours[~finite], theirs[~finite], equal_nan=True) or not finite.any():
        return not finite.any()
    expected = theirs[finite].astype(np.float64)
    difference = ours[finite] - expected
    if dtype == torch.float32:
        allowed = max(TOLERANCE, SPREAD_TOLERANCE * float(np.ptp(expected)))
        return bool(np.abs(difference).max() <= allowed)
    return bool(np.sqrt((difference**2).mean()) <= HALF_TOLERANCE * expected.std())


def _right_form(
    model: CausalModel, limits: BatchLimits, paths: Sequence[TokenIds], reference: Reference
) -> tuple[KeyValueLayout | None, int | None]:
    """The layout of the model's keys and values, and which of its `mask_forms` gives the right numbers, if any."""
    try:
        layout = _layout(model)
    except Exception as error:  # whatever a model's own code raises only means: not this way
        _unless_out_of_memory(error)
        return None, None
    ways = [TreeForward(model, layout, form, limits) for form in mask_forms(model.config)]
    calls = [[paths[0][: common_length(*paths) + 1]], _branches(paths)]  # each pass takes a while
    return layout, next((index for index, way in enumerate(ways) if _agrees(way, model, calls, reference)), None)


def _right_options(model: CausalModel, limits: BatchLimits, paths: Sequence[TokenIds]) -> StateOptions | None:
    """How the model's own cache can be continued, if at all."""
    if not model.takes_cache:
        return None
    reference = reference_logits(model, paths)
    tries = [
        StateOptions(STATE_ROWS, limits.tokens, continues, past_mask)
        for continues, past_mask in product((True, False), repeat=2)
    ]
    calls = [[paths[0][: common_length(*paths)]], [paths[0]], _branches(paths)]
    return next((options for options in tries if _agrees(StateForward(model, options), model, calls, reference)), None)


@contextmanager
def _short_window(model: CausalModel) -> Iterator[None]:
    """Shorten the sliding window, which a model reads from its config when it builds masks, for the time of a probe."""
    window = getattr(model.config, "sliding_window", None)
    if not window or window <= PROBE_WINDOW:
        yield
        return
    model.config.sliding_window = PROBE_WINDOW
    try:
        yield
    finally:
        model.config.sliding_window = window


def _layout(model: CausalModel) -> KeyValueLayout:
    """The layout of keys and values, from a pass over one token. Raises where the model has no such cache."""
    cache = DynamicCache()
    ids = torch.zeros((1, 1), dtype=torch.long, device=model.device)
    model.call(ids, torch.ones_like(ids), torch.tensor([0]), use_cache=True, cache=cache)
    return KeyValueLayout.of(cache)


def _branches(paths: Sequence[TokenIds]) -> list[TokenIds]:
    """Every beginning of two paths from the shared one on, which has to be asked for again."""
    shared = common_length(*paths)
    return sorted({path[:length] for path in paths for length in range(shared, len(path) + 1)})


def _agrees(forward: Forward, model: CausalModel, calls: Sequence[Sequence[TokenIds]], reference: Reference) -> bool:
    """Whether a way gives the reference's numbers, call after call, what the ones before have cached included."""
    forward.set_budget(PROBE_BYTES)
    try:
        for prefixes in calls:
            for index, logits in forward.answer(prefixes, CancelToken(), lambda _: None):
                if not close(logits, reference[prefixes[index]], model.dtype):
                    return False
    except Exception as error:  # whatever a model's own code raises only means: not this way
        _unless_out_of_memory(error)
        return False
    return True


def _unless_out_of_memory(error: Exception) -> None:
    """Memory running out says nothing about what a model can take."""
    if is_out_of_memory(error):
        raise error
