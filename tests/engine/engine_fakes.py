"""A model without a network for the engine's tests: token ids are its buttons, files its clock.

The child process imports this module by name; a test tells it what to do through the model reference. Passes wait for
a gate file where a test must know what the child is doing, so that no test depends on time.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from explorer.messages import ModelLoadError, OutOfMemory, PromptError, UserMessage
from explorer.models.base import TABLE_PREFIX, Environment, Logits, ModelIdentity, ModelInfo, ModelRef, TokenIds
from explorer.models.prefix_cache import CacheStats
from explorer.progress import CancelToken, Progress, ProgressCallback
from explorer.text import ChatMessage, Vocabulary

OPENER = "engine_fakes:open_model"
PREPARED, PREPARING_FAILS = "TTE_FAKE_PREPARED", "TTE_FAKE_PREPARING_FAILS"  # variables of the environment
VOCABULARY = 32

# First ids of a prefix that make its pass do something.
KILLED, ABORTS, EXITS, MEMORY_ERROR, OUT_OF_MEMORY, RAISES, STUCK, NOT_A_NUMBER, PRINTS, WARNS, WAITS, BAD_PROMPT = (
    range(1, 13)
)
FORGOTTEN = 13  # a caching model keeps nothing of such a prefix
PLAIN = 20
HEAVY_MODULES = ("torch", "transformers", "PySide6", "pyqtgraph", "sqlalchemy", "typer", "pytest")


def ref(folder: Path | None = None, load: str = "", vocabulary: int = VOCABULARY) -> ModelRef:
    """A reference to a fake model; ``folder`` holds its gate and its marks, ``load`` says what opening does."""
    return ModelRef(json.dumps({"folder": str(folder or ""), "load": load, "vocabulary": vocabulary}))


class Gate:
    """Files through which a test counts the passes of the child and lets them go on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def passes(self) -> int:
        """How many waiting passes (or loads) have begun."""
        return _size(self.folder / "begun")

    def release(self, count: int = 1000) -> None:
        """Let ``count`` more passes finish."""
        _append(self.folder / "released", count)

    def wait_for_passes(self, count: int) -> None:
        """Return once ``count`` passes have begun."""
        _wait_until(lambda: self.passes >= count)

    def enter(self, cancel: CancelToken | None = None) -> None:
        """In the child: begin a pass and wait until it is released, or until ``cancel``; marked where neither comes."""
        _append(self.folder / "begun", 1)
        turn = self.passes
        try:
            _wait_until(lambda: _size(self.folder / "released") >= turn or (cancel is not None and cancel.cancelled))
        except TimeoutError:
            self.mark("waited in vain")
            raise

    def write(self, what: object) -> None:
        """In the child: say what was done, see `read`."""
        with (self.folder / "written").open("a") as stream:
            stream.write(json.dumps(what) + "\n")

    def read(self, count: int) -> list[Any]:
        """What the child said, once it has said ``count`` things."""
        _wait_until(lambda: len(self._written()) >= count)
        return [json.loads(line) for line in self._written()]

    def _written(self) -> list[str]:
        file = self.folder / "written"
        return file.read_text().split("\n")[:-1] if file.exists() else []

    def mark(self, name: str) -> None:
        (self.folder / name).touch()

    def marked(self, name: str) -> bool:
        return (self.folder / name).exists()


class FakeModel:
    """Row i of its logits is a ramp that starts at the sum of prefix i."""

    def __init__(self, gate: Gate, vocabulary: int) -> None:
        self.gate = gate
        self.vocabulary = Vocabulary([f"<{i}>".encode() for i in range(vocabulary)])
        self.info = ModelInfo(
            identity=ModelIdentity("fake", "table", "fake", "none", "0" * 64, self.vocabulary.sha256),
            environment=Environment("cpu", "cpu", "float32", 1, sys.platform, {}),
            vocab_size=vocabulary,
            context_length=100_000,
            eos_token_ids=(0,),
        )

    def next_token_logits(
        self,
        prefixes: Sequence[TokenIds],
        *,
        prompt_length: int | None = None,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Logits:
        rows = np.empty((len(prefixes), self.info.vocab_size), np.float32)
        for done, prefix in enumerate(prefixes):
            if cancel is not None:
                cancel.raise_if_cancelled()
            rows[done] = expected(prefix, self.info.vocab_size)
            self._act(prefix[0], rows[done])
            if progress is not None:
                progress(Progress("Computing", done + 1, len(prefixes), "tokens"))
        return rows

    def _act(self, button: int, row: Logits) -> None:
        if button == WAITS:
            self.gate.enter()
        elif button == NOT_A_NUMBER:
            row[:3] = (np.nan, np.inf, -np.inf)
        elif button in _ACTIONS:
            _ACTIONS[button]()

    def encode(self, text: str) -> TokenIds:
        if text == "?":
            raise PromptError(UserMessage("prompt.test", "No {thing} here.", params={"thing": np.float32(2.5)}))
        return tuple(ord(character) % self.info.vocab_size for character in text)

    def encode_chat(
        self, messages: Sequence[ChatMessage], *, add_generation_prompt: bool = True
    ) -> tuple[str, TokenIds]:
        if messages[0].role == "system":  # what is loaded in the child
            return ",".join(name for name in HEAVY_MODULES if name in sys.modules), ()
        text = "".join(f"{message.role}:{message.content};" for message in messages) + ">" * add_generation_prompt
        return text, self.encode(text)


class CachingModel(FakeModel):
    """One that also keeps what it computes, and then writes down the prefixes of the call."""

    def __init__(self, gate: Gate, vocabulary: int) -> None:
        super().__init__(gate, vocabulary)
        self._known: set[TokenIds] = set()
        self._budget = 10**9

    def next_token_logits(self, prefixes: Sequence[TokenIds], **options: Any) -> Logits:
        if self.missing(prefixes):
            logits = super().next_token_logits(prefixes, **options)
            self._known.update(prefixes)
            self.gate.write(prefixes)
            return logits
        return np.stack([expected(prefix, self.info.vocab_size) for prefix in prefixes])

    def missing(self, prefixes: Sequence[TokenIds]) -> int:
        return sum(len(prefix) if prefix[0] == FORGOTTEN else 1 for prefix in prefixes if prefix not in self._known)

    def cache_stats(self) -> CacheStats:
        return CacheStats(bytes_used=len(self._known), budget=self._budget, entries=1)

    def forget(self) -> None:
        self._known.clear()

    def set_cache_budget(self, budget: int) -> None:
        self._budget = budget

    def pin(self, path: TokenIds) -> None:
        self.gate.write(["pin", *path])


def expected(prefix: Sequence[int], vocabulary: int = VOCABULARY) -> Logits:
    """The logits of a plain prefix."""
    return np.arange(vocabulary, dtype=np.float32) + sum(prefix)


def prepare() -> None:
    """Leave this process's id in the file that a test has named, and fail where it asks for that."""
    if PREPARED in os.environ:
        _append_line(Path(os.environ[PREPARED]), os.getpid())
    if os.environ.get(PREPARING_FAILS):
        raise ImportError("torch is broken")


def _append_line(file: Path, what: object) -> None:
    with file.open("a") as stream:
        stream.write(f"{what}\n")


def open_model(reference: ModelRef, progress: ProgressCallback, cancel: CancelToken) -> FakeModel:
    options = json.loads(reference.source.removeprefix(TABLE_PREFIX))
    gate = Gate(Path(options["folder"]))
    kind = CachingModel if options["load"] == "caching" else FakeModel
    model = kind(gate, options["vocabulary"])
    if options["load"] in _LOADS:
        _LOADS[options["load"]](model, progress, cancel)
    return model


def _load_reporting(model: FakeModel, progress: ProgressCallback, cancel: CancelToken) -> None:
    for done in range(1, 11):
        progress(Progress("Reading", done, 10, "tensors"))
    progress(Progress("Checking"))


def _load_waiting(model: FakeModel, progress: ProgressCallback, cancel: CancelToken) -> None:
    try:
        model.gate.enter(cancel)
        cancel.raise_if_cancelled()
    finally:
        model.gate.mark("tidied")


def _load_stuck(model: FakeModel, progress: ProgressCallback, cancel: CancelToken) -> None:
    model.gate.enter()


def _load_refused(model: FakeModel, progress: ProgressCallback, cancel: CancelToken) -> None:
    class CorruptError(ModelLoadError):
        """A class the parent has never heard of."""

    raise CorruptError(UserMessage("model.corrupt", "The file {file} is damaged.", params={"file": Path("a.gguf")}))


def _load_unsendable(model: FakeModel, progress: ProgressCallback, cancel: CancelToken) -> None:
    environment = model.info.environment
    versions: Mapping[str, str] = MappingProxyType({"numpy": np.__version__})
    object.__setattr__(environment, "versions", versions)  # a mapping proxy does not pickle


def _load_killed(model: FakeModel, progress: ProgressCallback, cancel: CancelToken) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _load_too_large(model: FakeModel, progress: ProgressCallback, cancel: CancelToken) -> None:
    raise MemoryError


def _load_broken(model: FakeModel, progress: ProgressCallback, cancel: CancelToken) -> None:
    raise KeyError("lm_head")


_LOADS: dict[str, Callable[[FakeModel, ProgressCallback, CancelToken], None]] = {
    "reporting": _load_reporting,
    "waiting": _load_waiting,
    "stuck": _load_stuck,
    "refused": _load_refused,
    "unsendable": _load_unsendable,
    "killed": _load_killed,
    "too large": _load_too_large,
    "broken": _load_broken,
}


def _raise(error: Exception) -> Callable[[], Any]:
    def act() -> None:
        raise error

    return act


_ACTIONS: dict[int, Callable[[], Any]] = {
    KILLED: lambda: os.kill(os.getpid(), signal.SIGKILL),
    ABORTS: os.abort,
    EXITS: lambda: os._exit(7),
    MEMORY_ERROR: _raise(MemoryError()),
    OUT_OF_MEMORY: _raise(OutOfMemory(UserMessage("engine.test", "Too big."))),
    RAISES: _raise(ZeroDivisionError("deep inside")),
    STUCK: lambda: time.sleep(600),
    PRINTS: lambda: (print("printed by the model"), os.write(1, b"written by native code\n")),
    WARNS: lambda: warnings.warn("careful", stacklevel=1),
    BAD_PROMPT: _raise(PromptError(UserMessage("prompt.test", "Id {id} is none.", params={"id": np.int64(5)}))),
}


def _append(file: Path, count: int) -> None:
    with file.open("ab") as stream:
        stream.write(b"." * count)


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.002)
