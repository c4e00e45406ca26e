"""Checks in the engine's process: where no torch is loaded yet, the libraries come first, and that can be cancelled."""

from __future__ import annotations

import importlib
import sys
import threading
from types import ModuleType

from explorer.i18n import N_
from explorer.messages import EngineError, UserMessage
from explorer.models.base import LanguageModel
from explorer.progress import CancelToken, Progress, ProgressCallback
from explorer.proof.report import NodeCheck, ProofReport

LIBRARIES = N_("Loading transformers")

_CHECKING = "explorer.proof.checking"
_POLL_SECONDS = 0.02


def checked(model: LanguageModel, check: NodeCheck, progress: ProgressCallback, cancel: CancelToken) -> ProofReport:
    """`explorer.proof.checking.check_node`. Raises `Cancelled`, and `EngineError` where the libraries do not load."""
    report: ProofReport = _imported(progress, cancel).check_node(model, check, progress, cancel)
    return report


def _imported(progress: ProgressCallback, cancel: CancelToken) -> ModuleType:
    """Import on a thread of its own: who cancels gets the model back at once, while seconds of importing go on.

    An import that was left behind like that is waited for by the next one.
    """
    if "torch" not in sys.modules:
        progress(Progress(LIBRARIES))
    failures: list[Exception] = []

    def load() -> None:
        try:
            importlib.import_module(_CHECKING)
        except Exception as error:  # whatever a broken installation raises
            failures.append(error)

    thread = threading.Thread(target=load, name="engine-libraries", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_POLL_SECONDS)
        cancel.raise_if_cancelled()
    if failures:
        raise EngineError(
            UserMessage(
                "proof.libraries",
                N_("transformers could not be loaded: {reason}"),
                N_("Nothing was compared; what is shown stays as it is."),
                N_("Install torch and transformers again, then check once more."),
                {"reason": f"{type(failures[0]).__name__}: {failures[0]}"},
            )
        ) from failures[0]
    return sys.modules[_CHECKING]
