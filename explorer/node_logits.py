"""Logits of tree nodes: from memory, from the loaded model, or from what the library kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Literal

from explorer.decoding.logits import Observation, SortedLogits
from explorer.engine.client import Engine
from explorer.models.base import Logits
from explorer.progress import CancelToken, ProgressCallback
from explorer.tree import NodeId

LogitsOrigin = Literal["model", "stored", "none"]
# From the raw logits (vocab,) of a node to the token that will very probably follow, None where that is open.
Guess = Callable[[Logits], int | None]

_MEMORY_BUDGET = 192 * 2**20  # bytes; about 480 nodes of a 49 152-token vocabulary, 90 of a 262 144-token one


class NodeLogits:
    """Sorted logits by node, the last used kept in memory: a node's numbers do not change while they are kept."""

    def __init__(self, engine: Engine, stored: Callable[[NodeId], Observation | None]) -> None:
        self._engine = engine
        self._stored = stored
        self._memory: OrderedDict[NodeId, SortedLogits] = OrderedDict()
        self._bytes = 0
        self._pinned: tuple[int, ...] | None = None
        self._expected: tuple[int, ...] | None = None  # since the engine was asked last

    def get(
        self,
        node_id: NodeId,
        prefix: tuple[int, ...],
        *,
        prompt_length: int,
        live: bool,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
        guess: Guess | None = None,
    ) -> tuple[SortedLogits | None, LogitsOrigin]:
        """The whole vocabulary's logits after ``prefix`` if the model is ``live``, else what was stored.

        What ``guess`` makes of logits that the model has just computed is what the model goes on with meanwhile.
        Raises what `Engine.next_token_logits` raises, and `EngineError` for logits that are not finite.
        """
        kept = self._memory.get(node_id)
        if kept is not None:
            self._memory.move_to_end(node_id)
            if live and prefix != self._pinned:  # the engine does not see that the user looks here
                self._engine.pin(prefix)
                self._pinned = prefix
            return kept, "model"
        if live:
            self._expected = None
            raw = self._engine.next_token_logits(
                [prefix], prompt_length=prompt_length, progress=progress, cancel=cancel
            )[0]
            self._pinned = prefix  # by having been asked for
            token = None if guess is None else guess(raw)
            if token is not None:
                self._expect((*prefix, token), prompt_length, then_likeliest=False)
            info = self._engine.info
            logits = SortedLogits.from_raw(raw, info.environment.dtype if info is not None else "float32")
            self._keep(node_id, logits)
            return logits, "model"
        observation = self._stored(node_id)
        return (observation.sorted_logits(), "stored") if observation is not None else (None, "none")

    def expect(
        self, node_id: NodeId, prefix: tuple[int, ...], *, prompt_length: int, then_likeliest: bool = False
    ) -> None:
        """The logits after ``prefix`` will be asked for next: a live engine may compute them meanwhile.

        ``then_likeliest``: and after them those of the likeliest child.
        """
        if node_id not in self._memory and prefix != self._expected:
            self._expect(prefix, prompt_length, then_likeliest=then_likeliest)

    def _expect(self, prefix: tuple[int, ...], prompt_length: int, *, then_likeliest: bool) -> None:
        self._expected = prefix
        self._engine.expect(prefix, prompt_length=prompt_length, then_likeliest=then_likeliest)

    def in_memory(self, node_id: NodeId) -> SortedLogits | None:
        return self._memory.get(node_id)

    def _keep(self, node_id: NodeId, logits: SortedLogits) -> None:
        self._memory[node_id] = logits
        self._bytes += logits.logits.nbytes + logits.token_ids.nbytes
        while self._bytes > _MEMORY_BUDGET and len(self._memory) > 1:
            _, dropped = self._memory.popitem(last=False)
            self._bytes -= dropped.logits.nbytes + dropped.token_ids.nbytes
