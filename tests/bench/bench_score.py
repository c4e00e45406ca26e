"""Scoring a long text: ``python tests/bench/bench_score.py [--model NAME] [--tokens N] [--rounds N] [--json FILE]``.

Ours scores the text in the engine's process, 64 tokens a question, only scores leaving it. The baseline is one plain
forward pass of transformers over the whole text, without a cache, and its log-softmax, in this process with as many
threads: it holds all logits at once. In turns, medians over the rounds, each on a text that was not seen before. The
figures also say how far the two lie apart, which is what the contract bounds by 2e-4, and how long the window's panel
takes for a chunk of such a text. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from report import Fact, Line, add_json_option, compare, engine_memory, publish
from transformers import AutoModelForCausalLM

from explorer.models.base import ModelRef, TokenIds
from explorer.paths import model_cache
from explorer.scoring.judging import TokenScore
from explorer.workspace import Workspace

PASSAGE = "The quick brown fox reads about the history of France, its rivers, 你好 🙂, and the people who live there. "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--tokens", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=None)
    add_json_option(parser)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder) / "library.sqlite")
        info = workspace.open_model(ModelRef(options.model, threads=options.threads))
        torch.set_num_threads(info.environment.threads)
        plain = AutoModelForCausalLM.from_pretrained(model_cache() / options.model, dtype=torch.float32).eval()
        lines = bench(workspace, plain, options.tokens, options.rounds)
        lines += engine_memory(workspace.engine.pid)
        workspace.close()
    lines.append(panel(options.tokens))
    publish(f"Scoring {options.tokens} tokens on {options.model}", lines, options.json)


def bench(workspace: Workspace, plain: torch.nn.Module, tokens: int, rounds: int) -> list[Line]:
    random = np.random.default_rng(1)
    ours, theirs, apart = [], [], []
    for _ in range(rounds):
        words = (PASSAGE * (tokens // 8 + 4)).split()
        ids = workspace.encode(" ".join(random.permutation(words))).ids[:tokens]
        start = time.perf_counter()
        scores = [score.model_logprob for score in workspace.score(ids) if score is not None]
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        true = plain_scores(plain, ids)
        theirs.append(time.perf_counter() - start)
        apart.append(float(np.abs(true - np.array(scores)).max()))
    return [
        compare(f"score {tokens} tokens", ours, "one plain pass, all logits held", theirs),
        Fact("tokens scored a second", tokens / statistics.median(ours), "/s", rounds),
        Fact("furthest from the plain pass, nats, in millionths", 1e6 * max(apart), "", rounds),
    ]


def plain_scores(plain: torch.nn.Module, ids: TokenIds) -> np.ndarray:
    with torch.inference_mode():
        logits = plain(torch.tensor([ids]), use_cache=False).logits[0, :-1]
        chosen = logits.gather(1, torch.tensor(ids[1:])[:, None])[:, 0]
        scores: np.ndarray = (chosen - torch.logsumexp(logits, dim=-1)).numpy()
    return scores


def panel(tokens: int) -> Fact:
    """The panel of the window while such a text streams into it: processor time of the window's thread a chunk."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    from explorer.scoring.report import ScoreRow
    from explorer.scoring.scored import ScorePlan
    from explorer.scoring.totals import landmarks_of, totals_of
    from explorer.text import Vocabulary, path_pieces
    from ui.score.panel import ScorePanel
    from ui.score.shown import TextName, TextShown, TextsShown, TokenShown

    application = QApplication.instance() or QApplication([])
    random = np.random.default_rng(2)
    vocabulary = Vocabulary([f" {'x' * (1 + number % 9)}{number}".encode() for number in range(4000)])
    ids = random.integers(0, 4000, tokens).tolist()
    losses = random.exponential(3, tokens).tolist()
    scores = [TokenScore(one, 0.0, -loss, -loss, 2, 1.0, 0, -0.5, 0) for one, loss in zip(ids, losses, strict=True)]
    shown = [
        TokenShown(place + 1, place, ScoreRow(place + 1, one, False, score), vocabulary.label(one), "", "", "")
        for place, (one, score) in enumerate(zip(ids, scores, strict=True))
    ]
    pieces = path_pieces(vocabulary, ids)
    widget = ScorePanel()
    widget.resize(560, 420)
    widget.show()
    application.processEvents()
    spent = []
    for end in range(64, tokens + 64, 64):
        part = scores[:end]
        text = TextShown(
            1, ScorePlan(), tuple(shown[:end]), tuple(pieces[:end]), totals_of(vocabulary, part), landmarks_of(part),
            None, (), 0, tokens, True, None, True,
        )  # fmt: skip
        begun = time.process_time()
        widget.set_texts(TextsShown((TextName(1, "", ""),), text))
        application.processEvents()
        spent.append(1e3 * (time.process_time() - begun))
    widget.close()
    return Fact("panel: one more chunk, processor time, the worst", max(spent[1:]), "ms", len(spent))


if __name__ == "__main__":
    main()
