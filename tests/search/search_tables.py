"""Tables: logits that are a pure function of the generated tokens, and a beam search over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.params import SamplingParams, StopParams
from explorer.decoding.processors import StepContext
from explorer.decoding.stopping import StopEvent, StopPath, check_stop
from explorer.grammar.provider import Grammars
from explorer.search.beam import BeamStep, Path, beam_search
from explorer.search.beam_settings import BeamSettings, beam_filters
from explorer.search.rows import BeamScores, NodeRow

# Generated tokens so far to float32[vocabulary].
Table = Callable[[Path], NDArray[np.float32]]


def random_table(seed: int, vocab_size: int, *, impossible: float = 0.0, spread: float = 1.5) -> Table:
    """Independent normal logits after every path; each token but one is ``impossible`` with that probability."""

    def logits(path: Path) -> NDArray[np.float32]:
        random = np.random.default_rng((seed, *path, len(path)))
        values = random.normal(scale=spread, size=vocab_size)
        barred = random.random(vocab_size) < impossible
        barred[random.integers(vocab_size)] = False
        return np.where(barred, -np.inf, values).astype(np.float32)

    return logits


def probability_table(rows: dict[Path, dict[int, float]], vocab_size: int, otherwise: dict[int, float]) -> Table:
    """Logs of given probabilities; a token that is not named is impossible."""

    def logits(path: Path) -> NDArray[np.float32]:
        values = np.zeros(vocab_size)
        for token_id, probability in rows.get(path, otherwise).items():
            values[token_id] = probability
        with np.errstate(divide="ignore"):
            return np.log(values).astype(np.float32)

    return logits


class TableSearch:
    """This program's beam search over a table, with its calls counted."""

    def __init__(
        self,
        table: Table,
        prompt: Sequence[int],
        eos: Sequence[int],
        *,
        max_new_tokens: int,
        sampling: SamplingParams | None = None,
        grammars: Grammars | None = None,
    ) -> None:
        self._table = table
        self._prompt = tuple(prompt)
        self._eos = tuple(eos)
        self._stopping = StopParams(max_new_tokens=max_new_tokens, eos_token_ids=tuple(eos))
        self._sampling = sampling or SamplingParams()
        self._settings = BeamSettings()
        self._grammars = grammars
        self.calls = 0

    def steps(self, settings: BeamSettings) -> list[BeamStep]:
        self._settings = settings
        longest = self._stopping.max_new_tokens
        assert longest is not None
        return list(beam_search(settings, self._score, self._stop, end_tokens=len(self._eos), longest=longest))

    def found(self, settings: BeamSettings) -> list[tuple[Path, float]]:
        """Paths and scores of the results."""
        pool = self.steps(settings)[-1].pool
        return [(ending.path, ending.score) for ending in pool[: settings.num_return_sequences]]

    def _score(self, paths: Sequence[Path], count: int) -> list[BeamScores]:
        self.calls += 1
        filters, renormalize = beam_filters(self._sampling), self._settings.renormalize_logits
        contexts = [StepContext(self._prompt, path, self._eos, self._grammars) for path in paths]
        rows = [NodeRow(self._table(context.generated_ids), self._sampling, context) for context in contexts]
        return [row.beam_scores(count, filters, renormalize=renormalize) for row in rows]

    def _stop(self, path: Path) -> StopEvent | None:
        return check_stop(StopPath(len(self._prompt), path, "", self._eos, 10_000, self._stopping))
