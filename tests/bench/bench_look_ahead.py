"""What looking ahead saves and costs: ``python tests/bench/bench_look_ahead.py [--model NAME] [--json FILE]``.

Through a session and the engine process, every node saved. A click is a token picked by hand and the view of the new
node. "Looked ahead" is a click on one of the likeliest tokens once the engine has rested for a second; the baseline is
the same click with looking ahead switched off. What it costs is measured on clicks on tokens that it did not compute,
made at random moments while it works, against the same with looking ahead switched off.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from report import Fact, Line, add_json_option, compare, engine_memory, peak_memory, publish

from explorer.engine.client import LOOK_AHEAD
from explorer.engine.look_ahead import DELAY_SECONDS
from explorer.models.base import ModelRef
from explorer.session import Session
from explorer.workspace import Workspace

PASSAGE = "The quick brown fox reads about the history of France, its rivers, and the people who live there. "
REST_SECONDS = 1.0
UNLIKELY = 1000  # ranks that looking ahead never reaches


class Bench:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.random = np.random.default_rng(1)

    def session(self) -> Session:
        """At a node that was never asked for."""
        words = " ".join(self.random.permutation(PASSAGE.split()))
        session = self.workspace.new_session(words)
        session.view()
        return session

    def click(self, session: Session, rank: int) -> float:
        """Seconds from a click on the token of that rank (from 0) to the bars of the new node."""
        distribution = session.distribution(session.state.current)
        assert distribution is not None
        token = int(distribution.token_ids[rank])
        start = time.perf_counter()
        session.pick(token)
        session.view()
        return time.perf_counter() - start

    def clicks(self, count: int, *, ahead: bool, rank: int, rest: float | None) -> list[float]:
        """Clicks after a rest of so many seconds, or at a random moment of the work ahead."""
        self.workspace.engine.set_look_ahead(LOOK_AHEAD if ahead else 0)
        session, times = self.session(), []
        for _ in range(count):
            time.sleep(DELAY_SECONDS + self.random.uniform(0, 0.4) if rest is None else rest)
            times.append(self.click(session, rank))
        return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="smollm2-135m", help="a catalogue name, folder or hub name")
    parser.add_argument("--clicks", type=int, default=12)
    parser.add_argument("--threads", type=int, default=None)
    add_json_option(parser)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder) / "library.sqlite")
        try:
            info = workspace.open_model(ModelRef(options.model, threads=options.threads))
            bench, clicks = Bench(workspace), options.clicks
            bench.clicks(2, ahead=True, rank=0, rest=0)  # to warm up
            off = bench.clicks(clicks, ahead=False, rank=0, rest=0)
            on = bench.clicks(clicks, ahead=True, rank=0, rest=REST_SECONDS)
            beside_off = bench.clicks(clicks, ahead=False, rank=UNLIKELY, rest=None)
            beside_on = bench.clicks(clicks, ahead=True, rank=UNLIKELY, rest=None)
            memory = [peak_memory(), *engine_memory(workspace.engine.pid)]
        finally:
            workspace.close()
    lines: list[Line] = [
        compare("click on a looked-ahead token to its bars, saved", on, "not looked ahead", off),
        compare("click on another token while looking ahead", beside_on, "not looking ahead", beside_off),
        Fact("the same at worst", 1e3 * max(beside_on), "ms"),
        Fact("not looking ahead at worst", 1e3 * max(beside_off), "ms"),
        *memory,
    ]
    environment = info.environment
    title = f"{options.model}, {environment.device} {environment.dtype}, {environment.threads} threads, {clicks} clicks"
    publish(title, lines, options.json)


if __name__ == "__main__":
    main()
