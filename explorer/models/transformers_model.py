"""Language models run by transformers: the `LanguageModel` of every neural network this program opens.

Imports torch and transformers; only the process that owns the model may import this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jinja2 import TemplateError

from explorer.i18n import N_
from explorer.messages import OutOfMemory, PromptError, UserMessage
from explorer.models.answer_cache import AnswerCache
from explorer.models.base import Logits, ModelIdentity, ModelInfo, ModelRef, TokenIds
from explorer.models.devices import (
    Hardware,
    choose_placement,
    default_cache_budget,
    is_out_of_memory,
    most_threads,
    release_memory,
)
from explorer.models.forward import CausalModel, Forward, FreshForward
from explorer.models.model_facts import (
    adds_bos,
    chat_template,
    context_length,
    end_ids,
    generation_defaults,
    reusable_length,
)
from explorer.models.opening import try_out
from explorer.models.prefix_cache import CacheStats
from explorer.models.prefix_checks import check_ids, check_length
from explorer.models.tokenizer_pieces import vocabulary_of
from explorer.models.transformers_loading import LOADING, load_config, load_tokenizer, load_weights
from explorer.models.weight_files import count_weights
from explorer.progress import CancelToken, Progress, ProgressCallback, ignore_progress
from explorer.text import ChatMessage, Vocabulary

ANSWER_SHARE = 8  # one in so many bytes of the cache budget is for logits, the rest for keys and values
REPORTED_TOKENS = 64  # a call that computes fewer is over before anyone could read its progress
READING = N_("Reading the prompt")
LEAST_BUDGET = 1 << 24  # bytes; when even so small a cache is too much, memory is really full
CHECKING = N_("Checking the model")


class TransformersModel:
    """A causal language model with its tokenizer; see `LanguageModel` for the contract."""

    def __init__(
        self,
        info: ModelInfo,
        vocabulary: Vocabulary,
        tokenizer: Any,
        model: CausalModel,
        forward: Forward,
        fresh: FreshForward,
    ) -> None:
        self.info = info
        self.vocabulary = vocabulary
        self._tokenizer = tokenizer
        self._forward = forward
        self._fresh = fresh
        self._reusable = reusable_length(model.config)
        self._known_ids = min(info.vocab_size, model.known_ids)
        self._answers = AnswerCache()
        self._budget = 0
        self.set_cache_budget(default_cache_budget(info.environment.device))

    @classmethod
    def load(
        cls,
        folder: Path,
        ref: ModelRef,
        identity: ModelIdentity,
        *,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> TransformersModel:
        """Open the model in ``folder`` (config, safetensors, tokenizer) where and how ``ref`` asks for.

        Raises `ModelLoadError`, and `Cancelled` between the steps and between tensors.
        """
        report, token = progress or ignore_progress, cancel or CancelToken()
        report(Progress(LOADING))
        weights = count_weights(folder)
        config = load_config(folder)
        placement = choose_placement(ref.device, ref.dtype, identity.architecture or config.model_type, Hardware.here())
        torch.set_num_threads(max(1, most_threads() - 1 if ref.threads is None else ref.threads))
        token.raise_if_cancelled()
        tokenizer = load_tokenizer(folder)
        token.raise_if_cancelled()
        model = CausalModel(load_weights(folder, config, placement, weights, report, token))
        token.raise_if_cancelled()
        report(Progress(CHECKING))
        parameters = sum(parameter.numel() for parameter in model.model.parameters())
        length = context_length(model.config, tokenizer)
        trial = try_out(model, placement, ref, parameters, length, identity.name)
        token.raise_if_cancelled()
        info = ModelInfo(
            identity=identity,
            environment=trial.environment,
            vocab_size=trial.verdict.vocab_size,
            context_length=length,
            eos_token_ids=end_ids(model.model),
            bos_token_id=tokenizer.bos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            adds_bos=adds_bos(tokenizer),
            chat_template=chat_template(tokenizer),
            generation_defaults=generation_defaults(model.model),
            parameters=parameters,
            notes=trial.notes,
        )
        vocabulary = vocabulary_of(tokenizer, info.vocab_size)
        return cls(info, vocabulary, tokenizer, model, trial.verdict.forward, FreshForward(model, trial.limits))

    def next_token_logits(
        self,
        prefixes: Sequence[TokenIds],
        *,
        prompt_length: int | None = None,  # of no meaning to a neural model
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Logits:
        """Raw next-token logits, float32 (prefixes, vocab), read-only. See `LanguageModel.next_token_logits`."""
        wanted: dict[TokenIds, list[int]] = {}
        for index, prefix in enumerate(prefixes):
            wanted.setdefault(tuple(prefix), []).append(index)
        for prefix in wanted:
            self._check(prefix)
        result = np.empty((len(prefixes), self.info.vocab_size), dtype=np.float32)
        for prefix in list(wanted):
            known = self._answers.get(prefix)
            if known is not None:
                result[wanted.pop(prefix)] = known
        with torch.inference_mode():
            try:
                self._compute(wanted, result, progress or ignore_progress, cancel or CancelToken())
            finally:
                self.set_cache_budget(self._budget)
        result.flags.writeable = False  # what is new in it stays in the cache
        return result

    def fresh_logits(self, prefix: TokenIds, *, cancel: CancelToken | None = None) -> Logits:
        """Logits (vocab,) of one pass over all of ``prefix``: nothing cached is used, and nothing is kept.

        Raises `PromptError` as `next_token_logits` does, `Cancelled` before the pass, and `OutOfMemory`.
        """
        self._check(prefix)
        with torch.inference_mode():
            try:
                ((_, logits),) = self._fresh.answer([prefix], cancel or CancelToken(), lambda _: None)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                details = str(error)
            else:
                return logits
        release_memory(self.info.environment.device)
        raise self._out_of_memory(details)

    def encode(self, text: str) -> TokenIds:
        """Token ids of ``text`` with the special tokens the tokenizer adds by itself. Raises `PromptError`."""
        _check_characters(text)
        return tuple(self._tokenizer(text, verbose=False).input_ids)

    def encode_chat(
        self, messages: Sequence[ChatMessage], *, add_generation_prompt: bool = True
    ) -> tuple[str, TokenIds]:
        """The rendered chat template and its ids; it writes all special tokens itself. Raises `PromptError`."""
        if self.info.chat_template is None:
            raise PromptError(
                UserMessage(
                    "prompt.no_template",
                    N_("This model has no chat template."),
                    N_("It was not made for conversations, or its files lack the template; nothing was encoded."),
                    N_("Write the prompt as plain text instead."),
                )
            )
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            text: str = self._tokenizer.apply_chat_template(
                turns, tokenize=False, add_generation_prompt=add_generation_prompt
            )
        except (TemplateError, ValueError, TypeError, KeyError, IndexError) as error:
            raise PromptError(
                UserMessage(
                    "prompt.template",
                    N_("The model's chat template does not accept these messages: {reason}"),
                    N_("Some templates know no system role, or want user and assistant to take turns."),
                    N_("Change the roles or the order of the messages, or write the prompt as plain text."),
                    {"reason": str(error)},
                    type(error).__name__,
                )
            ) from error
        _check_characters(text)
        return text, tuple(self._tokenizer(text, add_special_tokens=False, verbose=False).input_ids)

    def cache_stats(self) -> CacheStats:
        """Bytes held for keys, values and logits, the budget in bytes, and the number of entries.

        May be called from another thread while the model works: it only reads numbers.
        """
        forward = self._forward.stats
        return CacheStats(forward.bytes_used + self._answers.nbytes, self._budget, forward.entries + len(self._answers))

    def set_cache_budget(self, budget: int) -> None:
        """Hold at most ``budget`` bytes between calls; least recently used entries go first."""
        self._budget = max(0, budget)
        self._answers.set_budget(self._budget // ANSWER_SHARE)
        self._forward.set_budget(self._budget - self._budget // ANSWER_SHARE)

    def forget(self) -> None:
        """Drop everything cached: what is asked next is computed anew."""
        self._answers.clear()
        self._forward.clear()

    def pin(self, path: TokenIds) -> None:
        """Keep ``path``, and no path pinned before it, cached before all others."""
        self._forward.pin(path)

    def missing(self, prefixes: Sequence[TokenIds]) -> int:
        """How many tokens a call for ``prefixes`` would have to compute."""
        left = sorted(prefix for prefix in set(map(tuple, prefixes)) if prefix not in self._answers)
        short, long = self._split(left)
        return self._forward.work(short) + self._fresh.work(long)

    def _split(self, prefixes: Sequence[TokenIds]) -> tuple[list[TokenIds], list[TokenIds]]:
        """Prefixes whose beginnings may be reused, and those too long for it."""
        short = [prefix for prefix in prefixes if len(prefix) <= self._reusable]
        return short, [prefix for prefix in prefixes if len(prefix) > self._reusable]

    def _compute(
        self, wanted: dict[TokenIds, list[int]], result: Logits, progress: ProgressCallback, cancel: CancelToken
    ) -> None:
        """Fill ``result``. Where memory runs out: smaller passes first, then without the cache, then `OutOfMemory`."""
        left = dict(wanted)
        while left:
            try:
                self._compute_once(left, result, progress, cancel)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                details = str(error)  # the error itself holds the tensors of its frames, so it is let go first
            else:
                return
            self._make_room(details)

    def _compute_once(
        self, left: dict[TokenIds, list[int]], result: Logits, progress: ProgressCallback, cancel: CancelToken
    ) -> None:
        """One try; whatever is answered is taken out of ``left``."""
        short, long = self._split(sorted(left))
        for forward, prefixes in ((self._forward, short), (self._fresh, long)):
            if not prefixes:
                continue
            report = _Reporter(progress, forward.work(prefixes))
            for index, logits in forward.answer(prefixes, cancel, report):
                prefix = prefixes[index]
                places = left.pop(prefix)
                result[places] = logits
                self._answers.put(prefix, result[places[0]])

    def _make_room(self, details: str) -> None:
        """Take the next step of what helps against a full memory. Raises `OutOfMemory` when nothing is left to do."""
        shrunk = [forward.shrink() for forward in (self._forward, self._fresh)]
        if not any(shrunk):
            if self._budget < LEAST_BUDGET:
                raise self._out_of_memory(details)
            self._forward.clear()
            self._answers.clear()
            self.set_cache_budget(self._budget // 2)
        release_memory(self.info.environment.device)

    def _out_of_memory(self, details: str) -> OutOfMemory:
        return OutOfMemory(
            UserMessage(
                "engine.out_of_memory",
                N_("The model ran out of memory on {device}, even one token at a time and without a cache."),
                N_("This step was not computed; everything before it is kept, and the model stays loaded."),
                N_("Close other programs, go on from a shorter text, or open the model on another device."),
                {"device": self.info.environment.device_name},
                details,
            )
        )

    def _check(self, prefix: TokenIds) -> None:
        check_length(prefix, self.info)
        check_ids(prefix, self._known_ids)


def _check_characters(text: str) -> None:
    """Raise `PromptError` for half a surrogate pair, which is no character and breaks tokenizers."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PromptError(
            UserMessage(
                "prompt.half_character",
                N_("The text holds half a character ({code})."),
                N_("No tokenizer can read that; nothing was encoded."),
                N_("Delete that character, or type it again."),
                {"code": f"U+{ord(text[error.start]):04X}"},
            )
        ) from error


class _Reporter:
    """Adds up the tokens of the passes of one call and tells about long ones."""

    def __init__(self, progress: ProgressCallback, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def __call__(self, tokens: int) -> None:
        self._done += tokens
        if self._total >= REPORTED_TOKENS:
            self._progress(Progress(READING, min(self._done, self._total), self._total, "tokens"))
