"""The lesson's table behind a gate: passes and loads that take as long as a test likes, told through files.

The engine's process imports this module by name. ``GATE`` names the folder; without it nothing waits.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from explorer.models.base import LanguageModel, Logits, ModelRef, TokenIds
from explorer.models.catalog import open_model as open_catalog_model
from explorer.progress import CancelToken, Progress, ProgressCallback

OPENER = "window_fakes:open_model"
GATE = "TOKEN_TREE_TEST_GATE"


class Gate:
    """Files through which a test lets passes go on, and sees how many began."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def allow(self, passes: int) -> None:
        """Let this many passes in all finish."""
        (self.folder / "allowed").write_text(str(passes))

    @property
    def begun(self) -> int:
        begun = self.folder / "begun"
        return begun.stat().st_size if begun.exists() else 0

    @property
    def engine_pid(self) -> int | None:
        pid = self.folder / "pid"
        return int(pid.read_text()) if pid.exists() else None

    def hold_loads(self) -> None:
        """Loads never finish from now on, and do not listen."""
        (self.folder / "hold").touch()

    def ignore_cancel(self) -> None:
        """Waiting passes do not listen when they are cancelled."""
        (self.folder / "deaf").touch()

    # --- in the engine's process -------------------------------------------------------------------------------------

    def enter_load(self, progress: ProgressCallback | None) -> None:
        (self.folder / "pid").write_text(str(os.getpid()))
        while (self.folder / "hold").exists():
            (self.folder / "loading").touch()
            if progress is not None:
                progress(Progress("Loading", 1, 2))
            time.sleep(0.01)

    def enter_pass(self, cancel: CancelToken | None) -> None:
        with (self.folder / "begun").open("ab") as file:
            file.write(b".")
        turn = self.begun
        while turn > self._allowed():
            if cancel is not None and not (self.folder / "deaf").exists():
                cancel.raise_if_cancelled()
            time.sleep(0.005)

    def _allowed(self) -> int:
        allowed = self.folder / "allowed"
        text = allowed.read_text() if allowed.exists() else ""
        return int(text) if text else 1_000_000


class GatedModel:
    """A table model whose passes wait at the gate."""

    def __init__(self, model: LanguageModel, gate: Gate) -> None:
        self._model = model
        self._gate = gate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def next_token_logits(
        self,
        prefixes: Sequence[TokenIds],
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
        **more: Any,
    ) -> Logits:
        self._gate.enter_pass(cancel)
        return self._model.next_token_logits(prefixes, progress=progress, cancel=cancel, **more)


def open_model(
    ref: ModelRef, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
) -> LanguageModel:
    model = open_catalog_model(ref, progress, cancel)
    if GATE not in os.environ:
        return model
    gate = Gate(Path(os.environ[GATE]))
    gate.enter_load(progress)
    return GatedModel(model, gate)
