"""``token-tree score``: how likely a model holds every token of a given text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from explorer.cli.console import print_facts, print_json, print_table
from explorer.cli.decoding import percent
from explorer.cli.desk import open_desk
from explorer.cli.documents import Document, token_document
from explorer.cli.groups import bad_argument, takes
from explorer.cli.options import JSON, LIBRARY, MODEL, read_text
from explorer.export.document import finite
from explorer.i18n import N_, tr
from explorer.models.base import ModelRef
from explorer.scoring.judging import TokenScore
from explorer.scoring.totals import totals_of
from explorer.text import Vocabulary

_TEXT = Annotated[str | None, typer.Option("--text", help=N_("The text to score, token by token."))]
_TEXT_FILE = Annotated[
    Path | None, typer.Option("--text-file", help=N_("A text file (UTF-8) to score, taken as it is."))
]


@takes(model=MODEL, library=LIBRARY, json=JSON)
def score(model: ModelRef, library: Path, json: bool, text: _TEXT = None, text_file: _TEXT_FILE = None) -> None:
    """Nothing is kept, whatever the library."""
    if (text is None) == (text_file is None):
        raise bad_argument(N_("There is no text to score, or there are two."), N_("Use one of --text and --text-file."))
    given = read_text(text_file) if text_file is not None else text or ""
    with open_desk(None) as desk:
        desk.load(model)
        workspace = desk.workspace
        ids = workspace.encode(given).ids
        scores = list(workspace.score(ids, progress=desk.progress, cancel=desk.cancel))
        document = score_document(workspace.vocabulary, ids, scores)
        labels = [workspace.vocabulary.label(token_id) for token_id in ids]
    if json:
        print_json(document)
    else:
        _print_score(document, labels)


def score_document(vocabulary: Vocabulary, ids: Sequence[int], scores: Sequence[TokenScore | None]) -> Document:
    """A row a token, with totals over those that have a score. ``excluded`` counts tokens of model probability 0, with
    which the totals are infinite: null here."""
    totals = totals_of(vocabulary, scores)
    return {
        "rows": [_row(vocabulary, token_id, score) for token_id, score in zip(ids, scores, strict=True)],
        "total_model_logprob": finite(totals.logprob),
        "scored": totals.tokens,
        "excluded": totals.impossible,
        "mean_loss": finite(totals.mean_loss),
        "perplexity": finite(totals.perplexity),
        "bits_per_token": finite(totals.bits_per_token),
        "bits_per_character": finite(totals.bits_per_character),
        "bits_per_byte": finite(totals.bits_per_byte),
    }


def _row(vocabulary: Vocabulary, token_id: int, score: TokenScore | None) -> Document:
    """The first token of all has nothing before it: its row says only what it is."""
    return {
        **token_document(vocabulary, token_id),
        "model_logprob": None if score is None else finite(score.model_logprob),
        "rank": None if score is None else score.rank,
        "excluded": score is not None and not math.isfinite(score.model_logprob),
        "entropy_bits": None if score is None else score.entropy / math.log(2),
        "preferred": None if score is None else _preferred(vocabulary, score),
    }


def _preferred(vocabulary: Vocabulary, score: TokenScore) -> Document:
    return {**token_document(vocabulary, score.preferred), "model_logprob": score.preferred_logprob}


def _print_score(document: Document, labels: list[str]) -> None:
    headers = ["id", tr(N_("token")), tr(N_("rank")), tr(N_("log probability")), tr(N_("model"))]
    rows = [
        [row["id"], label, row["rank"], row["model_logprob"], _chance(row)]
        for row, label in zip(document["rows"], labels, strict=True)
    ]
    print_table(headers, rows)
    print_facts(
        {
            tr(N_("total log probability in nats")): document["total_model_logprob"],
            tr(N_("tokens scored")): document["scored"],
            tr(N_("perplexity")): document["perplexity"],
            tr(N_("bits per token")): document["bits_per_token"],
            tr(N_("bits per character")): document["bits_per_character"],
            tr(N_("bits per byte")): document["bits_per_byte"],
        }
    )


def _chance(row: Document) -> str:
    if row["model_logprob"] is None:
        return percent(0) if row["excluded"] else ""
    return percent(math.exp(row["model_logprob"]))
