"""Requests at random, many of them cancelled, under a small cache budget: what a long session does to the engine."""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import dataclass

import numpy as np
import psutil

from explorer.engine.client import Engine
from explorer.models.base import Logits, TokenIds
from explorer.progress import Cancelled, CancelToken

ROOTS = 6
LENGTH = 60  # tokens of a prefix at most
TOLERANCE = 2e-4


@dataclass(frozen=True, slots=True)
class Resources:
    """What the two processes hold. ``memory`` is that of the child, in bytes."""

    children: int
    files: int
    threads: int
    child_files: int
    child_threads: int
    memory: int

    @classmethod
    def of(cls, engine: Engine) -> Resources:
        me, child = psutil.Process(), psutil.Process(engine.pid)
        return cls(
            len(me.children()),
            me.num_fds(),
            threading.active_count(),
            child.num_fds(),
            child.num_threads(),
            child.memory_info().rss,
        )

    @property
    def counts(self) -> tuple[int, ...]:
        return self.children, self.files, self.threads, self.child_files, self.child_threads


class Canceller:
    """One thread that cancels tokens after a while; joined by `close`."""

    def __init__(self) -> None:
        self._wanted = threading.Condition()
        self._next: tuple[CancelToken, float] | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="canceller")
        self._thread.start()

    def cancel(self, token: CancelToken, after: float) -> None:
        with self._wanted:
            self._next = token, after
            self._wanted.notify()

    def close(self) -> None:
        with self._wanted:
            self._closing = True
            self._wanted.notify()
        self._thread.join()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            with self._wanted:
                self._wanted.wait_for(lambda: self._next is not None or self._closing)
                if self._closing or self._next is None:
                    return
                (token, after), self._next = self._next, None
            pause.wait(after)
            token.cancel()


class Churn:
    """Random work on an engine whose model is loaded. The same seed asks for the same."""

    def __init__(self, engine: Engine, seed: int, budget: int) -> None:
        assert engine.info is not None
        self.engine = engine
        self.budget = budget
        self.vocabulary = engine.info.vocab_size
        self.random = random.Random(seed)
        self.roots = [self._ids(self.random.randint(1, 20)) for _ in range(ROOTS)]
        self.done: Counter[str] = Counter()
        self.first: dict[TokenIds, Logits] = {}
        self._canceller = Canceller()
        engine.set_cache_budget(budget)
        engine.set_look_ahead(4, on_battery=True)

    def close(self) -> None:
        self._canceller.close()

    def requests(self, count: int) -> None:
        """Make so many requests, each checked against the first answer to the same prefix."""
        for _ in range(count):
            self.random.choice((self._one, self._one, self._children, self._many, self._note))()

    def settle(self) -> None:
        """Return once the child has done everything it was asked for and holds no more than it may."""
        self.engine.set_look_ahead(0)
        self.engine.encode("a")
        assert self.engine.memory().cache_bytes <= self.budget

    # --- what a user does --------------------------------------------------------------------------------------------

    def _one(self) -> None:
        self._ask([self._prefix()])

    def _children(self) -> None:
        parent = self._prefix()
        self._ask([(*parent, token) for token in self.random.sample(range(self.vocabulary - 6), 8)])

    def _many(self) -> None:
        self._ask([self._prefix() for _ in range(self.random.randint(0, 6))])

    def _note(self) -> None:
        path = self._prefix()
        self.random.choice((self.engine.pin, self.engine.expect))(path)
        if self.random.random() < 0.1:
            self.engine.set_cache_budget(self.budget // self.random.randint(1, 50))
            self.engine.set_cache_budget(self.budget)
        self.done["notes"] += 1

    def _ask(self, prefixes: list[TokenIds]) -> None:
        cancel = CancelToken()
        if self.random.random() < 0.5:
            self._canceller.cancel(cancel, self.random.choice((0.0, self.random.uniform(0, 0.01))))
        try:
            logits = self.engine.next_token_logits(prefixes, cancel=cancel)
        except Cancelled:
            self.done["cancelled"] += 1
            return
        self.done["answered"] += 1
        for prefix, row in zip(prefixes, logits, strict=True):
            if len(self.first) < 200:
                self.first.setdefault(prefix, row)
            known = self.first.get(prefix)
            assert known is None or np.abs(known - row).max() <= TOLERANCE

    def _prefix(self) -> TokenIds:
        """A root and a few more ids of a small alphabet, so that prefixes meet again."""
        tail = tuple(self.random.randrange(3) for _ in range(self.random.randint(0, 6)))
        root = self.random.choice(self.roots)
        if self.random.random() < 0.1:
            return self._ids(self.random.randint(1, LENGTH))
        return root + tail

    def _ids(self, length: int) -> TokenIds:
        return tuple(self.random.randrange(self.vocabulary - 6) for _ in range(length))
