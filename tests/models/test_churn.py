"""Nothing leaks: memory, processes, pipes and threads after hundreds of requests, cancels and evictions.

``tests/bench/bench_leak.py`` does ten thousand.
"""

from __future__ import annotations

import threading
from pathlib import Path

import psutil
from churn import Churn, Resources
from tiny_models import save_tiny_model

from explorer.engine.client import Engine
from explorer.models.base import ModelRef


def test_a_long_session_of_cancels_and_evictions_leaks_nothing(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model", "llama")
    before = set(psutil.Process().children()), threading.active_count()
    engine = Engine()
    try:
        engine.load(ModelRef(str(folder), threads=1))
        churn = Churn(engine, seed=1, budget=100_000)
        try:
            churn.requests(50)
            churn.settle()
            started = Resources.of(engine)
            churn.requests(400)
            churn.settle()
            ended = Resources.of(engine)
        finally:
            churn.close()
    finally:
        engine.close()
    grown = [after - before for after, before in zip(ended.counts, started.counts, strict=True)]
    assert max(grown) <= 0, (started.counts, ended.counts)  # another test's leavings may go meanwhile
    assert churn.done["cancelled"] > 10
    assert churn.done["answered"] > 100
    left, threads = set(psutil.Process().children()) - before[0], threading.active_count()
    assert threads == before[1]
    assert all("resource_tracker" in " ".join(process.cmdline()) for process in left)
