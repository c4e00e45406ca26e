"""What the engine computes while nobody asks: what is about to be asked for, and the likeliest children of a node.

Everything computed stays in the model's own caches, so that the request that comes is answered from them. Work goes in
short passes and stops before the next one as soon as anything else is asked.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import psutil
from numpy.typing import NDArray

from explorer.engine.protocol import Close, ComputeLogits, Expect, Note, Pin, Request, SetLookAhead
from explorer.models.base import LanguageModel, TokenIds
from explorer.models.prefix_cache import CacheStats
from explorer.progress import Cancelled, CancelToken

DELAY_SECONDS = 0.15  # a run asks again sooner than this, so that looking ahead never comes between its steps
# What a click waits for at worst, unless a single child takes longer. With SmolLM2-135M on one core a pass over one
# child takes 70 ms, two 134, four 148, eight 180: slow machines go one by one, fast ones take all at once.
PASS_SECONDS = 0.1
MEMORY_SHARE = 32  # the logits of what is computed ahead may take one in so many bytes of the cache budget

_log = logging.getLogger(__name__)


@runtime_checkable
class CachingModel(LanguageModel, Protocol):
    """What a model with a prefix cache also offers."""

    def cache_stats(self) -> CacheStats:
        """Called from any thread, also while the model works."""
        ...

    def set_cache_budget(self, budget: int) -> None: ...

    def pin(self, path: TokenIds) -> None: ...

    def forget(self) -> None:
        """Drop everything cached."""
        ...

    def missing(self, prefixes: tuple[TokenIds, ...]) -> int:
        """How many tokens a request for ``prefixes`` would have to compute."""
        ...


@dataclass(frozen=True, slots=True)
class _Work:
    """One pass that nobody has asked for yet."""

    prefixes: tuple[TokenIds, ...]
    prompt_length: int | None
    cancel: CancelToken = field(default_factory=CancelToken)


@dataclass(frozen=True, slots=True)
class _Node:
    """The node whose children come next, with its logits (vocab,)."""

    prefix: TokenIds
    prompt_length: int | None
    logits: NDArray[np.float32]


class LookAhead:
    """Plans and does the work. Used by the thread that runs the model; `interrupt` by the one that reads the pipe."""

    def __init__(
        self,
        model: CachingModel,
        discharging: Callable[[], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``discharging`` says whether the machine runs on battery now."""
        self._model = model
        self._discharging = discharging or runs_on_battery
        self._clock = clock
        self._child_seconds = PASS_SECONDS  # what one child took in the last pass; at first one is tried
        self._setting = SetLookAhead(0, on_battery=False)
        self._expected: Expect | None = None
        self._followed: TokenIds | None = None  # the prefix after which its likeliest child is expected
        self._node: _Node | None = None
        self._children: deque[TokenIds] | None = None  # of the node; None until they are wanted
        self._running: _Work | None = None

    @property
    def delay(self) -> float | None:
        """Seconds nobody must ask for anything until `work` has something to do; None where there is nothing."""
        if self._expected is not None:
            return 0.0
        if self._node is None:
            return None
        return DELAY_SECONDS if self._children is None else 0.0

    def set(self, setting: SetLookAhead) -> None:
        self._setting = setting
        if setting.count == 0:
            self._node = None

    def expect(self, expected: Expect) -> None:
        self._followed = expected.prefixes[0] if expected.then_likeliest else None
        # What would not be kept until it is asked for would be computed in vain.
        self._expected = expected if len(expected.prefixes) <= max(1, self._room()) else None

    def answered(self, prefixes: Sequence[TokenIds], prompt_length: int | None, logits: NDArray[np.float32]) -> None:
        """``prefixes`` were asked for and are answered with ``logits`` (prefixes, vocab): plan what may follow."""
        followed, self._followed = self._followed, None
        self._expected = self._node = self._children = None
        if len(prefixes) != 1:  # a search, which goes its own way
            return
        prefix = tuple(prefixes[0])
        self._model.pin(prefix)
        if prefix == followed:
            self._expect_likeliest(prefix, prompt_length, logits[0])
        if self._setting.count:
            self._node = _Node(prefix, prompt_length, logits[0])

    def interrupt(self, message: Request | Note | Close) -> None:
        """Stop before the next pass, unless ``message`` asks for what is being computed."""
        running = self._running
        if running is None or isinstance(message, Pin):
            return
        wanted: set[TokenIds] = set()
        if isinstance(message, ComputeLogits):
            wanted = set(map(tuple, message.prefixes))
        elif isinstance(message, Expect):
            wanted = set(message.prefixes)
        if not wanted or not wanted <= set(running.prefixes):
            running.cancel.cancel()

    def work(self, others_wait: Callable[[], bool]) -> None:
        """Compute one pass ahead. ``others_wait`` says whether something has been asked for meanwhile."""
        try:
            work = self._next()
            if work is None:
                return
            self._running = work  # from here on, whoever comes interrupts it
            if others_wait():
                return
            start = self._clock()
            self._model.next_token_logits(work.prefixes, prompt_length=work.prompt_length, cancel=work.cancel)
            self._done(work, self._clock() - start)
        except Cancelled:
            self._expected = None  # the user went elsewhere
        except Exception:  # nobody asked for it, so nobody is told; whoever asks gets the error
            _log.warning("looking ahead failed", exc_info=True)
            self._expected = self._node = None
        finally:
            self._running = None

    def _next(self) -> _Work | None:
        if self._expected is not None:
            return _Work(self._expected.prefixes, self._expected.prompt_length)
        node = self._node
        if node is None:
            return None
        if self._children is None:
            self._children = self._likeliest(node)
        batch = tuple(self._children)[: max(1, int(PASS_SECONDS / self._child_seconds))]
        if not batch or self._model.missing(batch) > len(batch):  # the node itself is not kept: too dear to guess
            self._node = None
            return None
        return _Work(batch, node.prompt_length)

    def _done(self, work: _Work, seconds: float) -> None:
        if self._expected is not None:
            self._expected = None
        elif self._children is not None:
            self._child_seconds = max(seconds, 1e-6) / len(work.prefixes)
            for _ in work.prefixes:
                self._children.popleft()

    def _expect_likeliest(self, prefix: TokenIds, prompt_length: int | None, logits: NDArray[np.float32]) -> None:
        token = int(logits.argmax())
        if len(prefix) < self._model.info.context_length and token not in self._model.info.eos_token_ids:
            self._expected = Expect(((*prefix, token),), prompt_length)

    def _room(self) -> int:
        """How many rows of logits may be kept for what comes."""
        return self._model.cache_stats().budget // MEMORY_SHARE // (4 * self._model.info.vocab_size)

    def _likeliest(self, node: _Node) -> deque[TokenIds]:
        """The children worth computing, likeliest by the model first; the end of a text has none."""
        count = min(self._setting.count, self._room(), len(node.logits))
        if count <= 0 or len(node.prefix) >= self._model.info.context_length:
            return deque()
        if not self._setting.on_battery and self._discharging():
            return deque()
        best = np.argpartition(-node.logits, count - 1)[:count]
        best = best[np.argsort(-node.logits[best], kind="stable")]
        possible = best[np.isfinite(node.logits[best]) & ~np.isin(best, self._model.info.eos_token_ids)]
        return deque((*node.prefix, token) for token in possible.tolist())


def runs_on_battery() -> bool:
    """Whether this machine has a battery and no power supply is plugged in, as far as the system says."""
    sensors = getattr(psutil, "sensors_battery", None)  # not on every system
    try:
        battery = sensors() if sensors is not None else None
    except Exception:  # drivers report in many odd ways, and then there is no telling
        return False
    return battery is not None and battery.power_plugged is False
