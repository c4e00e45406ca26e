"""How failures cross from the child and what people are told about them."""

from __future__ import annotations

import signal
import traceback
from typing import NoReturn

from explorer.engine.protocol import Failed
from explorer.i18n import N_
from explorer.messages import (
    EngineError,
    ExplorerError,
    ModelLoadError,
    OutOfMemory,
    PromptError,
    SettingsError,
    UserMessage,
)
from explorer.progress import Cancelled

_CLASSES: dict[str, type[ExplorerError]] = {
    cls.__name__: cls for cls in (EngineError, ModelLoadError, OutOfMemory, PromptError, SettingsError)
}
_CANCELLED = Cancelled.__name__
_SAFE = N_("Your session is safe: every finished step is kept.")


def failed(number: int, error: Exception, *, loading: bool) -> Failed:
    """``error`` as a message for the parent; one we do not know keeps its traceback in the details."""
    if isinstance(error, Cancelled):
        return Failed(number, _CANCELLED, None)
    if isinstance(error, ExplorerError):
        kind = next((cls.__name__ for cls in type(error).__mro__ if cls.__name__ in _CLASSES), EngineError.__name__)
        return Failed(number, kind, _plain(error.message))
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, MemoryError):
        return Failed(number, OutOfMemory.__name__, _out_of_memory(trace, loading=loading))
    return Failed(number, EngineError.__name__, _internal(error, trace))


def raise_failure(failure: Failed) -> NoReturn:
    """Raise in the parent what `failed` described in the child."""
    if failure.message is None:
        raise Cancelled
    raise _CLASSES[failure.kind](failure.message)


def crash_message(exit_code: int | None, trace: str) -> UserMessage:
    """Why the child ended by itself. ``exit_code`` as multiprocessing counts: negative for a signal, None unknown."""
    if exit_code is None or exit_code >= 0:
        return UserMessage(
            "engine.crashed",
            N_("The model process ended by itself with exit code {exit_code}."),
            _SAFE,
            N_("Start the model again and go on; if it happens again, copy the details into a bug report."),
            {"exit_code": "?" if exit_code is None else exit_code},
            trace,
        )
    name = _signal_name(-exit_code)
    if name == "SIGKILL":
        return UserMessage(
            "engine.crashed",
            N_("The system ended the model process ({signal}), most probably because memory ran out."),
            _SAFE,
            N_("Start the model again; if it happens again, close other programs or choose a smaller model."),
            {"signal": name},
            trace,
        )
    return UserMessage(
        "engine.crashed",
        N_("The model process crashed ({signal})."),
        _SAFE,
        N_("Start the model again and go on; if it happens again, copy the details into a bug report."),
        {"signal": name},
        trace,
    )


def stopped_message() -> UserMessage:
    """The child was ended on purpose, by `Engine.kill` or `Engine.close`."""
    return UserMessage(
        "engine.stopped", N_("The model process was stopped."), _SAFE, N_("Start the model again to go on.")
    )


def no_model_message() -> UserMessage:
    return UserMessage("engine.no_model", N_("No model is open."), "", N_("Open a model first."))


def start_message(error: OSError) -> UserMessage:
    return UserMessage(
        "engine.start",
        N_("The model process could not be started: {reason}."),
        N_("The model was not opened; the one opened before stays as it was."),
        N_("Close other programs and try again."),
        {"reason": error.strerror or str(error)},
    )


def _internal(error: Exception, trace: str) -> UserMessage:
    lines = f"{type(error).__name__}: {error}".splitlines()
    return UserMessage(
        "engine.internal",
        N_("The model failed unexpectedly: {reason}"),
        _SAFE,
        N_("Try again; if it fails again, copy the details into a bug report."),
        {"reason": lines[0]},
        trace,
    )


def _out_of_memory(trace: str, *, loading: bool) -> UserMessage:
    return UserMessage(
        "engine.out_of_memory",
        N_("There is not enough memory to open this model.")
        if loading
        else N_("There was not enough memory for this step."),
        _SAFE,
        N_("Close other programs, ask for fewer continuations at once, or choose a smaller model."),
        {},
        trace,
    )


def _plain(message: UserMessage) -> UserMessage:
    """``message`` with parameters of built-in types only: nothing that would make the parent import torch."""
    params = {
        name: value if isinstance(value, str | int | float | None) else str(value)
        for name, value in message.params.items()
    }
    return UserMessage(message.code, message.what, message.meaning, message.action, params, message.details)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
