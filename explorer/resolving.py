"""Looking a little further, so that half characters and half words come out as what they lead to. Grows no tree."""

from __future__ import annotations

import heapq
from collections import defaultdict
from itertools import count
from typing import Final

import numpy as np

from explorer.decoding.characters import NextUnit, Unit, UnitGroup, by_unit, next_unit, ordered, pending_bytes
from explorer.decoding.logits import SortedLogits
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.i18n import N_
from explorer.messages import EngineError, UserMessage
from explorer.progress import CancelToken, Progress, ProgressCallback
from explorer.session import Session
from explorer.tree import NodeId

PASSES: Final = 96
_BATCH: Final = 32
_LEAST: Final = 1e-5  # of the probability: what is rarer is not worth a pass
_CONTINUATIONS: Final = 512  # of one node, the likeliest; the others' share stays unresolved


def resolved(
    session: Session,
    node_id: NodeId,
    unit: Unit,
    *,
    passes: int = PASSES,
    progress: ProgressCallback | None = None,
    cancel: CancelToken | None = None,
) -> tuple[UnitGroup, ...]:
    """The groups after a node as `by_unit` has them, the unresolved ones followed with up to ``passes`` passes.

    Raises `EngineError` where the session's model is not loaded, `Cancelled`.
    """
    session.require_live()
    distribution = session.distribution(node_id, progress=progress, cancel=cancel)
    if distribution is None or not len(distribution.token_ids):
        raise EngineError(UserMessage("resolve.none", N_("There is nothing to follow here.")))
    work = _Resolving(session, node_id, unit, distribution)
    while work.looked < passes and (batch := work.take(min(_BATCH, passes - work.looked))):
        if cancel is not None:
            cancel.raise_if_cancelled()
        work.follow(batch, cancel)
        if progress is not None:
            progress(Progress(N_("Looking ahead"), work.looked, passes, "tokens"))
    return work.groups()


class _Open:
    """A path that leads to no whole unit yet, with its bytes and its probabilities."""

    __slots__ = ("data", "model", "path", "sampling")

    def __init__(self, path: tuple[int, ...], data: bytes, model: float, sampling: float) -> None:
        self.path = path
        self.data = data
        self.model = model
        self.sampling = sampling


class _Resolving:
    def __init__(self, session: Session, node_id: NodeId, unit: Unit, distribution: Distribution) -> None:
        self._session = session
        self._generated = session.tree.token_ids(node_id)
        self._unit = unit
        self._pending = pending_bytes(session.vocabulary, session.state.prompt.ids + self._generated)
        self._numbers = count()
        self._heap: list[tuple[float, int, _Open]] = []
        self._sums: defaultdict[NextUnit, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._first: dict[NextUnit, UnitGroup] = {}
        self.looked = 0
        for group in by_unit(distribution, session.vocabulary, self._pending, unit):
            self._first[group.unit] = group
            if group.unit.kind != "unresolved":
                self._add(group.unit, group.model, group.sampling)
        self._spread((), self._pending, distribution, 1.0, 1.0, only_unresolved=True)

    def take(self, most: int) -> list[_Open]:
        """The likeliest open paths."""
        batch: list[_Open] = []
        while self._heap and len(batch) < most:
            _, _, one = heapq.heappop(self._heap)
            if max(one.model, one.sampling) < _LEAST:
                self._leave(one.data, one.model, one.sampling)
                continue
            batch.append(one)
        return batch

    def follow(self, batch: list[_Open], cancel: CancelToken | None) -> None:
        """One pass of the model for all of them."""
        session, settings = self._session, self._session.state.settings
        rows = session.logits_after([self._generated + one.path for one in batch], cancel=cancel)
        self.looked += len(batch)
        for one, raw in zip(batch, rows, strict=True):
            context = session.context_after(self._generated + one.path)
            distribution = evaluate(SortedLogits.from_raw(raw), settings.sampling, context)
            self._spread(one.path, one.data, distribution, one.model, one.sampling)

    def groups(self) -> tuple[UnitGroup, ...]:
        """What is known by now; what is still open is unresolved."""
        while self._heap:
            _, _, one = heapq.heappop(self._heap)
            self._leave(one.data, one.model, one.sampling)
        return ordered(
            [
                UnitGroup(unit, model, sampling, *_tokens_of(self._first.get(unit)))
                for unit, (model, sampling) in self._sums.items()
            ]
        )

    def _spread(
        self,
        path: tuple[int, ...],
        data: bytes,
        distribution: Distribution,
        model: float,
        sampling: float,
        *,
        only_unresolved: bool = False,
    ) -> None:
        """Give a path's probability to what its likeliest continuations lead to."""
        vocabulary, specials = self._session.vocabulary, self._session.vocabulary.special_ids
        likeliest = np.argsort(-np.maximum(distribution.model_probs, distribution.sampling_probs), kind="stable")
        left_model, left_sampling = model, sampling
        places = likeliest if only_unresolved else likeliest[:_CONTINUATIONS]
        for place in places.tolist():
            token_id = int(distribution.token_ids[place])
            share = model * float(distribution.model_probs[place])
            drawn = sampling * float(distribution.sampling_probs[place])
            left_model, left_sampling = left_model - share, left_sampling - drawn
            piece = vocabulary.piece(token_id)
            if token_id in specials or not piece:
                if not only_unresolved:
                    self._add(self._ended(data), share, drawn)
                continue
            found = next_unit(data + piece, self._unit)
            if found.kind == "unresolved":
                one = _Open((*path, token_id), data + piece, share, drawn)
                heapq.heappush(self._heap, (-max(share, drawn), next(self._numbers), one))
            elif not only_unresolved:
                self._add(found, share, drawn)
        if not only_unresolved:
            self._leave(data, max(0.0, left_model), max(0.0, left_sampling))

    def _ended(self, data: bytes) -> NextUnit:
        """What a text that ends after ``data`` has: a word may end with it, a character may not."""
        whole = next_unit(data + b"\n", self._unit)
        return whole if self._unit == "word" and whole.kind == "whole" else NextUnit("invalid", "", data)

    def _leave(self, data: bytes, model: float, sampling: float) -> None:
        self._add(next_unit(data, self._unit), model, sampling)

    def _add(self, unit: NextUnit, model: float, sampling: float) -> None:
        sums = self._sums[unit]
        sums[0] += model
        sums[1] += sampling


def _tokens_of(group: UnitGroup | None) -> tuple[int, tuple[int, ...]]:
    return (0, ()) if group is None else (group.tokens, group.token_ids)
