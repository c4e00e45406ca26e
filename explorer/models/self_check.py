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
from explorer.models.base import Logits
from explorer.models.devices import Note, is_out_of_memory
from explorer.models.forward import BatchLimits, CausalModel, Forward, FreshForward
from explorer.models.key_values import KeyValueLayout
from explorer.models.prefix_cache import common_length
from explorer.models.state_forward import StateForward, StateOptions
from explorer.models.tree_forward import TreeForward, mask_forms
from explorer.progress import CancelToken
from explorer.text import TokenIds

TOLERANCE = 2e-4  # in logits, float32: what separates a cached from a fresh pass by rounding alone
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
    reference = reference_logits(model, paths)
    forward, text = _fastest(model, limits, paths, reference)
    return Verdict(forward, (text, {}), next(iter(reference.values())).shape[0])


def _fastest(
    model: CausalModel, limits: BatchLimits, paths: Sequence[TokenIds], reference: Reference
) -> tuple[Forward, str]:
    tree = _tree_forward(model, limits, paths, reference)
    if tree is not None:
        return tree, N_("Branches are computed together over shared keys and values.")
    if model.takes_cache:
        for continues, past_mask in product((True, False), repeat=2):
            options = StateOptions(STATE_ROWS, limits.tokens, continues, past_mask)
            if _agrees(StateForward(model, options), model, paths, reference):
                note = N_("Branches are computed from copies of the model's own cache, which is slower.")
                return StateForward(model, options), note
    return FreshForward(model, limits), N_("Every step is computed from scratch: no way to reuse its cache agrees.")


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
    """Logits of every beginning of ``paths``, from one pass without a cache for each path."""
    reference: Reference = {}
    for path in paths:
        logits: Logits = model.whole([path], every_position=True)[0]
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


def _tree_forward(
    model: CausalModel, limits: BatchLimits, paths: Sequence[TokenIds], reference: Reference
) -> TreeForward | None:
    """Tree attention with the form of mask that gives the right numbers, if there is one."""
    with _short_window(model) as shortened:
        try:
            if shortened:
                reference = reference_logits(model, paths)
            layout = _layout(model)
        except Exception as error:  # whatever a model's own code raises only means: not this way
            _unless_out_of_memory(error)
            return None
        ways = [TreeForward(model, layout, form, limits) for form in mask_forms(model.config)]
        right = next((index for index, way in enumerate(ways) if _agrees(way, model, paths, reference)), None)
    return None if right is None else TreeForward(model, layout, mask_forms(model.config)[right], limits)


@contextmanager
def _short_window(model: CausalModel) -> Iterator[bool]:
    """Shorten the sliding window, which a model reads from its config when it builds masks, for the time of a probe.

    False where there is nothing to shorten.
    """
    window = getattr(model.config, "sliding_window", None)
    if not window or window <= PROBE_WINDOW:
        yield False
        return
    model.config.sliding_window = PROBE_WINDOW
    try:
        yield True
    finally:
        model.config.sliding_window = window


def _layout(model: CausalModel) -> KeyValueLayout:
    """The layout of keys and values, from a pass over one token. Raises where the model has no such cache."""
    cache = DynamicCache()
    ids = torch.zeros((1, 1), dtype=torch.long, device=model.device)
    model.call(ids, torch.ones_like(ids), torch.tensor([0]), use_cache=True, cache=cache)
    return KeyValueLayout.of(cache)


def _agrees(forward: Forward, model: CausalModel, paths: Sequence[TokenIds], reference: Reference) -> bool:
    """Whether a way gives the reference's numbers: the shared beginning, one path on from it, then all branches."""
    forward.set_budget(PROBE_BYTES)
    shared = common_length(*paths)
    branches = {path[:length] for path in paths for length in range(shared, len(path) + 1)}
    try:
        for prefixes in ([paths[0][:shared]], [paths[0]], sorted(branches)):
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
