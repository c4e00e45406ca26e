"""A whole program that closes its window at a chosen moment; run by test_closing.py in a process of its own."""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from window_fakes import GATE, OPENER, Gate


def main() -> None:
    """``closing_child.py MOMENT LIBRARY``"""
    # Qt only here: the engine's process imports this module again.
    from PySide6.QtCore import QTimer

    import ui.app

    moment, library = sys.argv[1:]
    gate = Gate(Path(os.environ[GATE]))
    real = ui.app.Explorer

    @functools.wraps(real, updated=())
    def explorer(*arguments: object) -> ui.app.Explorer:
        made = real(*arguments, opener=OPENER)  # type: ignore[arg-type]
        timer = QTimer(made)
        timer.setInterval(5)
        timer.timeout.connect(lambda: MOMENTS[moment](made, gate) and made.window.close())
        timer.start()
        return made

    ui.app.Explorer = explorer  # type: ignore[assignment,misc]
    sys.exit(ui.app.run(["--library", library]))


def at_once(program: object, gate: Gate) -> bool:
    return True


def while_loading(program: object, gate: Gate) -> bool:
    return (gate.folder / "loading").exists()


def during_a_step(program: object, gate: Gate) -> bool:
    """Two steps are finished, the third is held up."""
    session = program.session  # type: ignore[attr-defined]
    if session.view is not None and not session.running:
        session.run("greedy")
    return gate.begun == 3


def during_an_export(program: object, gate: Gate) -> bool:
    session = program.session  # type: ignore[attr-defined]
    if session.view is None or session.view.distribution is None:
        return False
    program.exports.export_data(gate.folder / "export.json", "json")  # type: ignore[attr-defined]
    return True


def at_a_polite_kill(program: object, gate: Gate) -> bool:
    """The signal closes the window, not this function."""
    if not (gate.folder / "killed").exists():
        (gate.folder / "killed").touch()
        os.kill(os.getpid(), signal.SIGTERM)
    return False


def after_another_language(program: object, gate: Gate) -> bool:
    """The window is built anew, and the program goes on."""
    if not (gate.folder / "language").exists():
        (gate.folder / "language").touch()
        program.choose_language("zh_CN")  # type: ignore[attr-defined]
        return False
    session = program.session  # type: ignore[attr-defined]
    if session.view is None:
        return False
    (gate.folder / "went_on").touch()
    return True


MOMENTS: dict[str, Callable[[object, Gate], bool]] = {
    "at_once": at_once,
    "while_loading": while_loading,
    "during_a_step": during_a_step,
    "during_an_export": during_an_export,
    "at_a_polite_kill": at_a_polite_kill,
    "after_another_language": after_another_language,
}

if __name__ == "__main__":
    main()
