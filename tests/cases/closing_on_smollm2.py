"""The whole program on SmolLM2, whose window closes at a chosen moment; run by test_cases_closing.py."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:  # Qt comes in main: the engine's process imports this module again
    from ui.app import Explorer

LOADING_BYTES = 150 * 10**6  # by then torch is there and the weights are being read
STEPS = 5


def main() -> None:
    """``closing_on_smollm2.py MOMENT LIBRARY MODEL PID_FILE``"""
    from PySide6.QtCore import QTimer

    import ui.app
    from explorer.models.base import ModelRef

    moment, library, model, pid_file = sys.argv[1:]
    real = ui.app.Explorer

    @functools.wraps(real, updated=())
    def explorer(*arguments: object) -> Explorer:
        made = real(*arguments)  # type: ignore[arg-type]
        asked: list[str] = []

        def look() -> None:
            if not asked and made.session.view is not None:
                asked.append(model)
                made.models.open(ModelRef(model, device="cpu", dtype="float32"))
            engine = _largest_child()
            if asked and engine is not None and MOMENTS[moment](made, engine):
                Path(pid_file).write_text(str(engine.pid))
                made.window.close()

        timer = QTimer(made)
        timer.setInterval(5)
        timer.timeout.connect(look)
        timer.start()
        return made

    ui.app.Explorer = explorer  # type: ignore[assignment,misc]
    sys.exit(ui.app.run(["--library", library]))


def while_loading(program: Explorer, engine: psutil.Process) -> bool:
    return engine.memory_info().rss > LOADING_BYTES


def during_a_run(program: Explorer, engine: psutil.Process) -> bool:
    opened, last = program.session.session, program.session.last
    if opened is None or opened.model.identity.kind != "transformers" or program.session.view is None:
        return False
    if not program.session.running and last is None:
        program.session.run("greedy")
    return program.session.running and last is not None and last.state.current >= STEPS


MOMENTS: dict[str, Callable[[Explorer, psutil.Process], bool]] = {
    "while_loading": while_loading,
    "during_a_run": during_a_run,
}


def _largest_child() -> psutil.Process | None:
    """The engine's process: the lesson's is small and the new one grows."""
    sizes = {}
    for child in psutil.Process().children():
        try:
            sizes[child] = child.memory_info().rss
        except psutil.Error:
            continue
    return max(sizes, key=lambda child: sizes[child], default=None)


if __name__ == "__main__":
    main()
