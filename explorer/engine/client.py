"""The engine as the rest of the program sees it: a model in another process."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import psutil

from explorer.engine.failures import no_model_message, stopped_message
from explorer.engine.process import EngineProcess
from explorer.engine.protocol import (
    ChatEncoded,
    CheckNode,
    ComputeLogits,
    Encode,
    EncodeChat,
    Encoded,
    EngineMemory,
    Expect,
    Forget,
    JudgeText,
    Load,
    Loaded,
    LogitsReady,
    MeasureMemory,
    MemoryMeasured,
    NodeChecked,
    Note,
    Pin,
    Prepare,
    SetCacheBudget,
    SetLookAhead,
    TextJudged,
)
from explorer.i18n import N_
from explorer.messages import EngineCrashed, EngineError, ModelLoadError
from explorer.models.base import Logits, ModelInfo, ModelRef, TokenIds
from explorer.progress import CancelToken, Progress, ProgressCallback
from explorer.proof.report import NodeCheck, ProofReport
from explorer.scoring.judging import Judgement, ScoreQuestion
from explorer.text import ChatMessage, Vocabulary

CATALOG_OPENER = "explorer.models.catalog:open_model"
LEAST_FREE_BYTES = 4 << 30  # of main memory; a process that stands ready holds a tenth of it
LOOK_AHEAD = 8  # children that are worth computing before anyone asks: the next click is nearly always among them


class Engine:
    """Owns the child process that owns the model. ``Engine()`` starts nothing.

    One thread calls it at a time (RuntimeError otherwise); `kill`, `close`, `CancelToken.cancel` and the properties
    may be used from any thread. After a crash or `kill` it still knows ``ref``, ``info`` and ``vocabulary``, every
    call raises `EngineCrashed`, and `restart` starts again.
    """

    def __init__(self, opener: str = CATALOG_OPENER) -> None:
        """``opener`` is the ``module:function`` that opens a model in the child process."""
        self._opener = opener
        self._lock = threading.Lock()  # guards which process is which, never held while waiting for an answer
        self._process: EngineProcess | None = None
        self._loading: EngineProcess | None = None
        self._spare: EngineProcess | None = None  # has the libraries, waits for a model
        self._choices: dict[type[Note], Note] = {}  # what the user has chosen, told to every new process
        self.ref: ModelRef | None = None
        self.info: ModelInfo | None = None
        self.vocabulary: Vocabulary | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the child with the model, None where there is none or it has ended."""
        process = self._process
        return None if process is None else process.pid

    @property
    def alive(self) -> bool:
        """Whether a model is loaded and its process runs."""
        return self.pid is not None

    def load(
        self, ref: ModelRef, *, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
    ) -> ModelInfo:
        """Open a model in a new process; the one before stays usable until this one is ready, then its process ends.

        Raises `ModelLoadError`, `EngineCrashed` when the new process ends, and `Cancelled` (the new process is gone by
        then: it is asked to end, and killed after two seconds); the model loaded before still works after each.
        """
        if cancel is not None:
            cancel.raise_if_cancelled()
        if progress is not None:
            progress(Progress(N_("Starting the model process")))
        with self._lock:
            if self._loading is not None:
                raise RuntimeError("the engine is loading already")
            process = self._loading = self._take_spare(ref) or EngineProcess(self._opener)
        try:
            loaded, _ = process.ask(lambda number: Load(number, ref), Loaded, progress=progress, cancel=cancel)
            vocabulary = Vocabulary.from_bytes(loaded.vocabulary)
            for choice in self._choices.values():
                process.tell(choice)
            previous = self._adopt(process, ref, loaded.info, vocabulary)
        except BaseException as error:
            process.close(patient=True)
            if isinstance(error, EngineError) and not isinstance(error, EngineCrashed):
                raise ModelLoadError(error.message) from error
            raise
        finally:
            self._loading = None
        if previous is not None:
            previous.close()
        return loaded.info

    def prepare(self) -> None:
        """Have a process stand ready that has loaded the libraries of neural models: the next `load` of one takes it
        and saves the seconds of that.

        Does nothing where one stands ready, where a neural model is loaded or anything is loading, and where memory is
        short. Raises `ModelLoadError` where no process can be started.
        """
        with self._lock:
            at_work = self._loading is not None or (self.ref is not None and self.ref.neural)
            ready = self._spare is not None and self._spare.pid is not None
            if at_work or ready or psutil.virtual_memory().available < LEAST_FREE_BYTES:
                return
            self._spare = EngineProcess(self._opener)
            self._spare.tell(Prepare())

    def restart(self, *, progress: ProgressCallback | None = None, cancel: CancelToken | None = None) -> ModelInfo:
        """Start the same model again after a crash or `kill`; a process that still runs is killed first.

        Raises as `load` does, and `EngineError` where no model was ever loaded.
        """
        if self.ref is None:
            raise EngineError(no_model_message())
        self.kill()
        return self.load(self.ref, progress=progress, cancel=cancel)

    def next_token_logits(
        self,
        prefixes: Sequence[TokenIds],
        *,
        prompt_length: int | None = None,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Logits:
        """Raw next-token logits, float32 of shape (len(prefixes), vocabulary), as `LanguageModel.next_token_logits`.

        Raises `Cancelled` at once when ``cancel`` is raised (the child stops at its next boundary between forward
        passes), `EngineCrashed`, `OutOfMemory`, `PromptError`.
        """
        wanted, reporting = tuple(prefixes), progress is not None
        _, logits = self._current().ask(
            lambda number: ComputeLogits(number, wanted, prompt_length, reporting),
            LogitsReady,
            progress=progress,
            cancel=cancel,
        )
        assert logits is not None  # comes with every LogitsReady
        return logits

    def encode(self, text: str) -> TokenIds:
        """As `LanguageModel.encode`. Raises `EngineCrashed`, `PromptError`."""
        answer, _ = self._current().ask(lambda number: Encode(number, text), Encoded)
        return answer.ids

    def encode_chat(
        self, messages: Sequence[ChatMessage], *, add_generation_prompt: bool = True
    ) -> tuple[str, TokenIds]:
        """As `LanguageModel.encode_chat`. Raises `EngineCrashed`, `PromptError`."""
        chat = tuple(messages)
        answer, _ = self._current().ask(lambda number: EncodeChat(number, chat, add_generation_prompt), ChatEncoded)
        return answer.text, answer.ids

    def check(
        self, check: NodeCheck, *, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
    ) -> ProofReport:
        """Compare what is shown of a node with transformers' own processors and with a pass without a cache.

        The first check of a model without torch waits seconds for the libraries. Raises `Cancelled` at once when
        ``cancel`` is raised, `EngineCrashed`, and `EngineError` where the libraries cannot be loaded.
        """
        answer, _ = self._current().ask(
            lambda number: CheckNode(number, check), NodeChecked, progress=progress, cancel=cancel
        )
        return answer.report

    def judge(
        self,
        question: ScoreQuestion,
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Judgement:
        """What the model makes of the tokens of a given text, worked out where the logits are.

        Raises as `next_token_logits` does, and `EngineError` for logits that are not finite.
        """
        reporting = progress is not None
        answer, _ = self._current().ask(
            lambda number: JudgeText(number, question, reporting), TextJudged, progress=progress, cancel=cancel
        )
        return answer.judgement

    def memory(self) -> EngineMemory:
        """What the child holds now; answered even while a cancelled pass goes on. Raises `EngineCrashed`."""
        answer, _ = self._current().ask(MeasureMemory, MemoryMeasured)
        return answer.memory

    def pin(self, path: TokenIds) -> None:
        """Let ``path`` leave the cache last, and no path pinned before it. A request for one prefix pins it as well."""
        self._tell(Pin(path))

    def expect(self, prefix: TokenIds, *, prompt_length: int | None = None, then_likeliest: bool = False) -> None:
        """``prefix`` will be asked for next, as in `next_token_logits`: the child may begin at once.

        ``then_likeliest``: and after it its likeliest child. Whatever comes of it, nothing is answered; without a
        model, or one without a cache, it does nothing.
        """
        self._tell(Expect((prefix,), prompt_length, then_likeliest))

    def expect_all(self, prefixes: Sequence[TokenIds], *, prompt_length: int | None = None) -> None:
        """As `expect`, for ``prefixes`` that will be asked for in one call."""
        self._tell(Expect(tuple(prefixes), prompt_length))

    def set_look_ahead(self, count: int, *, on_battery: bool = False) -> None:
        """While nobody asks, compute the ``count`` likeliest children of the node asked for last; 0 switches it off.

        Off at first. The next click then answers from the cache; no number changes beyond the tolerance between a
        cached and a fresh pass. ``on_battery``: also while the machine runs on battery. Holds for models to come.
        """
        self._choose(SetLookAhead(max(0, count), on_battery))

    def set_cache_budget(self, budget: int | None) -> None:
        """Let the child hold at most ``budget`` bytes of keys, values and logits; holds for models to come.

        None, as at first: models to come take a share of the memory that is free once they are loaded. See `memory`.
        """
        if budget is None:
            self._choices.pop(SetCacheBudget, None)
        else:
            self._choose(SetCacheBudget(max(0, budget)))

    def forget(self) -> None:
        """Drop what the child has computed so far: what is asked from now on is computed anew, as at the first time."""
        self._tell(Forget())

    def kill(self) -> None:
        """End the child now, whatever it does, and one that is loading as well. From any thread.

        Who waits for an answer gets `EngineCrashed` with code ``engine.stopped``. Does nothing where there is no child.
        """
        with self._lock:
            for process in (self._loading, self._process):
                if process is not None:
                    process.kill()

    def close(self) -> None:
        """End the child, politely where it is idle, and forget the model. From any thread; may be called again."""
        with self._lock:
            process, self._process = self._process, None
            spare, self._spare = self._spare, None
            for other in (self._loading, spare):
                if other is not None:
                    other.kill()
            self.ref = self.info = self.vocabulary = None
        if process is not None:
            process.close()

    def _take_spare(self, ref: ModelRef) -> EngineProcess | None:
        """The process that stands ready, for a model that needs what it has; None where there is none."""
        if self._spare is None or not ref.neural:
            return None
        spare, self._spare = self._spare, None
        return spare if spare.pid is not None else None

    def _choose(self, choice: Note) -> None:
        self._choices[type(choice)] = choice
        self._tell(choice)

    def _tell(self, note: Note) -> None:
        process = self._process
        if process is not None:
            process.tell(note)

    def _current(self) -> EngineProcess:
        process = self._process
        if process is None:
            raise EngineError(no_model_message())
        return process

    def _adopt(
        self, process: EngineProcess, ref: ModelRef, info: ModelInfo, vocabulary: Vocabulary
    ) -> EngineProcess | None:
        """Make ``process`` the current one and return the one before. Raises `EngineCrashed` if it was killed."""
        with self._lock:
            if process.stopped:
                raise EngineCrashed(stopped_message())
            previous, self._process = self._process, process
            self.ref, self.info, self.vocabulary = ref, info, vocabulary
            return previous
