"""Models whose next-token table is a JSON file: exact and instant, for lessons and tests. Needs no torch.

The format is described in `explorer.models.table_format`.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from explorer.i18n import N_
from explorer.messages import EngineError, ModelLoadError, PromptError, UserMessage
from explorer.models.base import Environment, Logits, ModelIdentity, ModelInfo, TokenIds
from explorer.models.prefix_checks import check_ids, check_length
from explorer.models.table_format import Row, Table, parse_json, read_table, table_error
from explorer.progress import CancelToken, Progress, ProgressCallback
from explorer.text import ChatMessage, Vocabulary


class TableModel:
    """A `LanguageModel` that looks its logits up: float32 natural logs of the table's probabilities."""

    def __init__(self, table: Table, *, source: str, sha256: str) -> None:
        """``source`` opens it again (``table:FILE``, ``lesson:NAME``); ``sha256`` of what the table was read from.

        Raises `ModelLoadError` where the default prompt is not made of the table's tokens.
        """
        self._table = table
        self._ids = {token: token_id for token_id, token in enumerate(table.vocab)}
        self._longest = max(map(len, table.vocab))
        self._rows: dict[int, list[Row]] = {}
        for row in table.rows:
            self._rows.setdefault(len(row.after), []).append(row)
        self.vocabulary = Vocabulary([token.encode() for token in table.vocab], table.eos_token_ids)
        default_prompt, self._prompt_ids = self._default_prompt()
        self.info = ModelInfo(
            identity=ModelIdentity(
                name=table.name,
                kind="table",
                source=source,
                architecture="table",
                sha256=sha256,
                tokenizer_sha256=self.vocabulary.sha256,
            ),
            environment=Environment(
                device="cpu",
                device_name=platform.processor() or platform.machine(),
                dtype="float32",
                threads=1,
                platform=platform.platform(),
                versions={"python": platform.python_version(), "numpy": np.__version__},
            ),
            vocab_size=len(table.vocab),
            context_length=table.context_length,
            eos_token_ids=table.eos_token_ids,
            default_prompt=default_prompt,
        )

    @classmethod
    def from_json(cls, data: object, *, source: str, name: str = "table", sha256: str | None = None) -> TableModel:
        """The model that parsed JSON describes. Raises `ModelLoadError` naming the row.

        ``name`` is used where the table has none; ``sha256`` None means that of the canonical JSON.
        """
        table = read_table(data, name)
        canonical = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return cls(table, source=source, sha256=sha256 or hashlib.sha256(canonical.encode()).hexdigest())

    @classmethod
    def from_file(cls, path: Path) -> TableModel:
        """Read a table file. Raises `ModelLoadError` for a missing, unreadable or wrong file."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ModelLoadError(
                UserMessage(
                    "model.missing",
                    N_("The table file {path} could not be read."),
                    N_("No model was opened; the one open before stays as it was."),
                    N_("Check the path and that you may read the file."),
                    {"path": str(path)},
                    details=str(error),
                )
            ) from error
        data = parse_json(content, path.name)
        digest = hashlib.sha256(content).hexdigest()
        return cls.from_json(data, source=f"table:{path.resolve()}", name=path.stem, sha256=digest)

    def next_token_logits(
        self,
        prefixes: Sequence[TokenIds],
        *,
        prompt_length: int | None = None,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> Logits:
        """Logits by looking each prefix up; float32 of shape (len(prefixes), vocab_size). A prefix may be empty.

        Rows speak of the sequence since the prompt's end. ``prompt_length`` says where that is in every prefix; None
        means after the table's own prompt where a prefix begins with it, else at the very start.
        Raises `PromptError` for ids outside the vocabulary and prefixes longer than the context, `EngineError` for a
        sequence the table does not cover, `Cancelled`.
        """
        answer = np.empty((len(prefixes), len(self._table.vocab)), dtype=np.float32)
        for position, prefix in enumerate(prefixes):
            if cancel is not None:
                cancel.raise_if_cancelled()
            self._check(prefix)
            answer[position] = self._logits(tuple(prefix[self._prompt_end(prefix, prompt_length) :]))
        if progress is not None:
            progress(Progress(N_("Looking up"), len(prefixes), len(prefixes)))
        return answer

    def encode(self, text: str) -> TokenIds:
        """Ids of a text made of the table's tokens: at each place the longest token that fits.

        Whitespace between tokens is skipped where no token begins with it. Raises `PromptError` naming the place.
        """
        ids: list[int] = []
        place = 0
        while place < len(text):
            longest = range(min(self._longest, len(text) - place), 0, -1)
            length = next((n for n in longest if text[place : place + n] in self._ids), 0)
            if length:
                ids.append(self._ids[text[place : place + length]])
            elif not text[place].isspace():
                self._not_tokens(text, place)
            place += length or 1
        return tuple(ids)

    def encode_chat(
        self, messages: Sequence[ChatMessage], *, add_generation_prompt: bool = True
    ) -> tuple[str, TokenIds]:
        """Always raises `PromptError`: a table has no chat template."""
        raise PromptError(
            UserMessage(
                "prompt.no_template",
                N_("The table model {name} has no chat template."),
                N_("It continues plain sequences of its own tokens."),
                N_("Write a raw prompt instead."),
                {"name": self._table.name},
            )
        )

    def _default_prompt(self) -> tuple[str | None, TokenIds]:
        """The default prompt as a text that `encode` turns into exactly its ids."""
        prompt = self._table.prompt
        if prompt is None:
            return None, ()
        if isinstance(prompt, str):
            try:
                return prompt, self.encode(prompt)
            except PromptError:
                raise table_error(
                    self._table.name, "prompt", N_("The default prompt is not made of tokens of the vocabulary.")
                ) from None
        ids = tuple(self._ids[token] for token in prompt)
        for text in ("".join(prompt), " ".join(prompt)):
            if self.encode(text) == ids:
                return text, ids
        raise table_error(
            self._table.name, "prompt", N_("The tokens of the default prompt, written as text, read as other tokens.")
        )

    def _prompt_end(self, prefix: TokenIds, prompt_length: int | None) -> int:
        if prompt_length is not None:
            return prompt_length
        own = len(self._prompt_ids)
        return own if tuple(prefix[:own]) == self._prompt_ids else 0

    def _logits(self, generated: TokenIds) -> Logits:
        for row in self._rows.get(len(generated), ()):
            if row.matches(generated):
                return row.logits
        if self._table.otherwise is not None:
            return self._table.otherwise
        raise EngineError(
            UserMessage(
                "model.table_gap",
                N_("The table {name} has no row for this sequence: {tokens}."),
                N_("It also has no row for every other case, so there is no next-token distribution here."),
                N_('Add the row, or "otherwise", to the table file and open it again.'),
                {"name": self._table.name, "tokens": " ".join(self._table.vocab[i] for i in generated) or "∅"},
            )
        )

    def _check(self, prefix: TokenIds) -> None:
        check_ids(prefix, len(self._table.vocab))
        check_length(prefix, self.info)

    def _not_tokens(self, text: str, place: int) -> None:
        raise PromptError(
            UserMessage(
                "prompt.not_tokens",
                N_("At character {place} the text “{rest}” begins with no token of this table model."),
                N_("A table model knows its own {count} tokens only, so it cannot read this text."),
                N_("Use its tokens, for example: {examples}."),
                {
                    "place": place,
                    "rest": text[place : place + 20],
                    "count": len(self._table.vocab),
                    "examples": " ".join(self._table.vocab[:8]),
                },
            )
        )
