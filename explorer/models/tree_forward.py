"""The fast way: many prefixes in one row over shared keys and values, which a radix tree keeps between calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.models.base import Logits
from explorer.models.forward import BatchLimits, CausalModel, Masks, Report
from explorer.models.key_values import KeyValueLayout, KeyValueRow, KeyValueSegment, RowCache
from explorer.models.prefix_cache import MERGED_TOKENS, CacheStats, PrefixCache, common_length
from explorer.models.row_batch import LEAST_BRANCHES, LEAST_OTHERS, RowBatch, RowsPass
from explorer.models.shared_heads import shared_heads
from explorer.models.tree_attention import Attention, TreePlan, Visibility, group_prefixes, plan_tree
from explorer.progress import CancelToken
from explorer.text import TokenIds

ROW_SHARE = 0.5  # of the budget that the row may keep between calls


@dataclass(frozen=True, slots=True)
class MaskForm:
    """Which masks a model wants: by the layer types of its config, in one mapping or as one tensor for all layers."""

    layers: Mapping[str, Attention]
    mapping: bool

    def build(self, plan: TreePlan, start: int, stop: int, dtype: torch.dtype, device: str) -> Masks:
        """Additive masks (1, 1, stop - start, stop): zero where a slot is seen, the lowest number elsewhere."""
        return self.build_rows(lambda kind: plan.visible(start, stop, kind)[None], dtype, device)

    def build_rows(self, sees: Callable[[Attention], Visibility], dtype: torch.dtype, device: str) -> Masks:
        """The same for several rows, (rows, 1, new, slots), from what their new tokens see, bool (rows, new, slots)."""
        masks = {name: _additive(sees(kind), dtype, device) for name, kind in self.layers.items()}
        return masks if self.mapping else next(iter(masks.values()))


def _additive(sees: Visibility, dtype: torch.dtype, device: str) -> Tensor:
    seen = torch.from_numpy(sees).to(device)
    mask = torch.zeros(seen.shape, dtype=dtype, device=device)
    return mask.masked_fill_(~seen, torch.finfo(dtype).min)[:, None]


def mask_forms(config: Any) -> list[MaskForm]:
    """Forms of mask that a model with this (text) config may take, likeliest first; none for unknown layer types.

    Which layers look how far back is read as `transformers.masking_utils.create_masks_for_generate` does.
    """
    kinds = {
        "full_attention": Attention("full"),
        "sliding_attention": Attention("sliding", getattr(config, "sliding_window", None) or 0),
        "chunked_attention": Attention("chunked", getattr(config, "attention_chunk_size", None) or 0),
    }
    types = getattr(config, "layer_types", None)
    if types is None:
        name = "sliding_attention" if kinds["sliding_attention"].size else "full_attention"
        name = "chunked_attention" if name == "full_attention" and kinds["chunked_attention"].size else name
        return [MaskForm({name: kinds[name]}, mapping=False)]
    names = dict.fromkeys(types)
    if any(name not in kinds or (kinds[name].kind != "full" and not kinds[name].size) for name in names):
        return []
    layers = {name: kinds[name] for name in names}
    return (
        [MaskForm(layers, mapping=False), MaskForm(layers, mapping=True)]
        if len(layers) == 1
        else [MaskForm(layers, mapping=True)]
    )


class TreeForward:
    """`Forward` by tree attention. Only the tokens that no earlier call has computed go through the model."""

    def __init__(self, model: CausalModel, layout: KeyValueLayout, form: MaskForm, limits: BatchLimits) -> None:
        self._model = model
        self._form = form
        self._limits = limits
        self._dtype = layout.groups[0].dtype
        self._budget = 0
        self._cache: PrefixCache[KeyValueSegment] = PrefixCache(0)
        self._row = KeyValueRow(layout)
        self._batch = RowBatch(layout)
        self._asked: frozenset[TokenIds] = frozenset()  # by the call before
        self._filled = np.empty((2, 0), dtype=np.int64)  # tokens and parents of the row's valid slots

    def answer(
        self, prefixes: Sequence[TokenIds], cancel: CancelToken, report: Report
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        matched = [self._cache.match(prefix) for prefix in prefixes]
        before, self._asked = self._asked, frozenset(prefixes)
        if self._go_together(prefixes, matched, before):
            yield from self._answer_batch(prefixes, cancel, report)
            return
        for group in group_prefixes(prefixes, matched, self._limits.row):
            members = prefixes[group.start : group.stop]
            for index, logits in self._answer_row(members, cancel, report):
                yield group.start + index, logits

    def _answer_row(
        self, prefixes: Sequence[TokenIds], cancel: CancelToken, report: Report
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        plan = plan_tree(prefixes, [self._cache.match(prefix) for prefix in prefixes])
        answers = {slot: index for index, slot in enumerate(plan.wanted)}
        self._fill(prefixes, plan)
        for start in range(plan.cached, len(plan), self._limits.tokens):
            cancel.raise_if_cancelled()
            stop = min(start + self._limits.tokens, len(plan))
            wanted = [slot for slot in range(start, stop) if slot in answers]
            logits = self._pass(plan, start, stop, wanted)
            self._remember(prefixes, plan, start, stop)
            report(stop - start)
            for slot, row in zip(wanted, logits, strict=True):
                yield answers[slot], row
        for prefix in prefixes:
            self._cache.merge(prefix)

    def _go_together(self, prefixes: Sequence[TokenIds], matched: Sequence[int], before: frozenset[TokenIds]) -> bool:
        """Whether these are many branches that each went on by a token since the call ``before``, and long enough to be
        worth several rows, which stand ready then."""
        if len(prefixes) < LEAST_BRANCHES or any(
            count != len(prefix) - 1 for prefix, count in zip(prefixes, matched, strict=True)
        ):
            return False
        if self._batch.takes(prefixes):
            return True
        own = len(prefixes[0]) - common_length(prefixes[0], prefixes[-1])
        if own * (len(prefixes) - 1) < LEAST_OTHERS or not all(prefix[:-1] in before for prefix in prefixes):
            return False
        self._release_row()  # the memory is for one of both
        return self._batch.begin(prefixes, self._cache, int(self._budget * ROW_SHARE))

    def _answer_batch(
        self, prefixes: Sequence[TokenIds], cancel: CancelToken, report: Report
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        def compute(one: RowsPass) -> Logits:
            cancel.raise_if_cancelled()
            device = self._model.device
            with shared_heads(self._model.config):
                logits = self._model.call(
                    torch.from_numpy(one.ids).to(device),
                    self._form.build_rows(one.sees, self._dtype, device),
                    None,
                    use_cache=True,
                    cache=one.cache,
                    positions=torch.from_numpy(one.positions).to(device),
                )
            report(one.ids.size)
            return logits

        for index, logits, segment in self._batch.answer(prefixes, self._limits.tokens, compute):
            prefix = prefixes[index]
            self._cache.insert(prefix, len(prefix) - 1, segment)
            yield index, logits
        for prefix in prefixes:
            self._cache.merge(prefix)

    def _fill(self, prefixes: Sequence[TokenIds], plan: TreePlan) -> None:
        """Bring the cached slots of ``plan`` into the row; those it holds already from the last pass stay."""
        laid_out = np.stack([plan.tokens, plan.parents])
        common = min(self._filled.shape[1], plan.cached)
        differs = (self._filled[:, :common] != laid_out[:, :common]).any(axis=0)
        valid = int(differs.argmax()) if differs.any() else common
        self._filled = self._filled[:, :valid]
        self._row.reserve(len(plan), keep=valid)
        for source in plan.sources:
            skipped = max(valid - source.slot, 0)
            slot = source.slot + skipped
            for segment, low, high in self._cache.read(prefixes[source.prefix], source.start + skipped, source.stop):
                self._row.write(slot, segment, low, high)
                slot += high - low
        self._filled = laid_out[:, : plan.cached]

    def _pass(self, plan: TreePlan, start: int, stop: int, wanted: Sequence[int]) -> Logits:
        """Compute the slots [start, stop); logits (wanted, vocab)."""
        device = self._model.device
        self._filled = self._filled[:, :start]  # until the pass is through, its slots are not to be trusted
        kept = torch.tensor([slot - start for slot in wanted] or [stop - start - 1])
        logits = self._model.call(
            torch.from_numpy(plan.tokens[None, start:stop]).to(device),
            self._form.build(plan, start, stop, self._dtype, device),
            kept,
            use_cache=True,
            cache=RowCache(self._row, start),
            positions=torch.from_numpy(plan.positions[None, start:stop]).to(device),
        )
        self._filled = np.stack([plan.tokens[:stop], plan.parents[:stop]])
        return logits[0, : len(wanted)]

    def _remember(self, prefixes: Sequence[TokenIds], plan: TreePlan, start: int, stop: int) -> None:
        """Keep what a pass computed, in pieces small enough to be evicted one by one."""
        for chain in plan.chains(start, stop):
            path = prefixes[chain.prefix][: chain.length]
            before = chain.length - (chain.stop - chain.start)
            for low in range(chain.start, chain.stop, MERGED_TOKENS):
                high = min(low + MERGED_TOKENS, chain.stop)
                begin = before + low - chain.start
                self._cache.insert(path[: begin + high - low], begin, self._row.segment(low, high))

    def _bound(self) -> None:
        """Row and tree together stay within the budget."""
        if self._row.nbytes > self._budget * ROW_SHARE:
            self._release_row()
        if self._row.nbytes + self._batch.nbytes > self._budget * ROW_SHARE:
            self._batch.release()
        self._cache.budget = self._budget - self._row.nbytes - self._batch.nbytes

    def _release_row(self) -> None:
        self._row.release()
        self._filled = self._filled[:, :0]

    def work(self, prefixes: Sequence[TokenIds]) -> int:
        missing = 0
        before: TokenIds = ()
        for prefix in prefixes:
            known = max(self._cache.match(prefix), common_length(before, prefix))
            missing += len(prefix) - min(known, len(prefix) - 1)
            before = prefix
        return missing

    @property
    def stats(self) -> CacheStats:
        tree = self._cache.stats
        held = tree.bytes_used + self._row.nbytes + self._batch.nbytes
        return CacheStats(held, self._budget, tree.entries)

    def set_budget(self, budget: int) -> None:
        self._budget = budget
        self._bound()

    def pin(self, path: TokenIds) -> None:
        self._cache.pin(path)

    def clear(self) -> None:
        self._cache.clear()
        self._release_row()
        self._batch.release()

    def shrink(self) -> bool:
        if self._limits.tokens == 1:
            return False
        self._limits = self._limits.halved()
        self._batch.release()
        return True
