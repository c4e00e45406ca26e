"""A scored text as rows for a table and for files."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from explorer.scoring.judging import TokenScore
from explorer.scoring.scored import FreeRun, ScoredText
from explorer.scoring.totals import totals_of
from explorer.text import TokenIds, Vocabulary

FORMAT: Final = "token-tree-scores"
# A cell that begins with one of these may be run as a formula.
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One token in its place. ``number`` counts from 1, tokens of the prompt first where they were scored.

    ``score`` is None for the very first token. ``free_token`` is what the free run has in this place: the token itself
    up to the departure, then its own; None beyond its end and for tokens of the prompt.
    """

    number: int
    token_id: int
    of_prompt: bool
    score: TokenScore | None
    free_token: int | None = None

    @property
    def departs(self) -> bool:
        """Whether the free choice here, after the same tokens, is another than the given one."""
        return self.score is not None and self.score.chosen != self.token_id


def rows_of(text: ScoredText, prompt_ids: TokenIds) -> tuple[ScoreRow, ...]:
    """The scored tokens in order; ``prompt_ids`` are those of the session's prompt."""
    before = len(text.prompt)
    asked = zip(prompt_ids, text.prompt, strict=True) if text.prompt else ()
    prompt = [ScoreRow(number, token_id, True, score) for number, (token_id, score) in enumerate(asked, 1)]
    given = [
        ScoreRow(before + place + 1, score.token_id, False, score, _free_at(text.free, place, score.token_id))
        for place, score in enumerate(text.scores)
    ]
    return (*prompt, *given)


def _free_at(free: FreeRun | None, place: int, token_id: int) -> int | None:
    if free is None:
        return None
    if free.departure is None or place < free.departure:
        return token_id
    behind = place - free.departure
    return free.tokens[behind].token_id if behind < len(free.tokens) else None


_COLUMNS: Final = (
    "number",
    "of_prompt",
    "id",
    "text",
    "bytes",
    "model_logprob",
    "model_probability",
    "sampling_logprob",
    "rank",
    "surprisal_bits",
    "entropy_bits",
    "preferred_id",
    "preferred_text",
    "preferred_probability",
    "free_choice_id",
    "free_choice_text",
    "free_run_id",
    "free_run_text",
)


def scores_csv(vocabulary: Vocabulary, rows: Sequence[ScoreRow]) -> str:
    """A line a token, all digits. An empty cell means that there is no such value."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in _values(vocabulary, row).items()})
    return out.getvalue()


def scores_json(vocabulary: Vocabulary, rows: Sequence[ScoreRow], free: FreeRun | None) -> str:
    """One strict JSON document: totals, a row a token, where the free run left the text. Infinite is null."""
    totals = totals_of(vocabulary, [row.score for row in rows])
    document = {
        "format": FORMAT,
        "version": 1,
        "totals": {
            "tokens": totals.tokens,
            "excluded": totals.impossible,
            "model_logprob": _finite(totals.logprob),
            "mean_loss": _finite(totals.mean_loss),
            "perplexity": _finite(totals.perplexity),
            "bits_per_token": _finite(totals.bits_per_token),
            "bits_per_character": _finite(totals.bits_per_character),
            "bits_per_byte": _finite(totals.bits_per_byte),
        },
        "rows": [_values(vocabulary, row) for row in rows],
        "free_run": None
        if free is None
        else {
            "departure": free.departure,
            "ids": [token.token_id for token in free.tokens],
            "text": vocabulary.decode([token.token_id for token in free.tokens]),
            "stop": free.stop,
        },
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _values(vocabulary: Vocabulary, row: ScoreRow) -> dict[str, Any]:
    score = row.score
    values: dict[str, Any] = dict.fromkeys(_COLUMNS)
    values |= {
        "number": row.number,
        "of_prompt": row.of_prompt,
        "id": row.token_id,
        "text": vocabulary.text(row.token_id),
        "bytes": vocabulary.piece(row.token_id).hex(),
        "free_run_id": row.free_token,
        "free_run_text": None if row.free_token is None else vocabulary.text(row.free_token),
    }
    if score is None:
        return values
    return values | {
        "model_logprob": _finite(score.model_logprob),
        "model_probability": math.exp(score.model_logprob),
        "sampling_logprob": score.sampling_logprob,
        "rank": score.rank,
        "surprisal_bits": _finite(score.surprisal / math.log(2)),
        "entropy_bits": score.entropy / math.log(2),
        "preferred_id": score.preferred,
        "preferred_text": vocabulary.text(score.preferred),
        "preferred_probability": math.exp(score.preferred_logprob),
        "free_choice_id": score.chosen,
        "free_choice_text": None if score.chosen is None else vocabulary.text(score.chosen),
    }


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        shown = value.replace("\0", "\\x00")
        return "'" + shown if shown.startswith(_FORMULA_STARTS) else shown
    return repr(value) if isinstance(value, float) else value


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
