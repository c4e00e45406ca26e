"""Checks through the engine's process: a table model, whose process has no torch at first, and SmolLM2."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from script_sessions import TABLE

from explorer.decoding.params import Settings
from explorer.engine.checks import LIBRARIES
from explorer.engine.client import Engine
from explorer.grammar.constraint import Constraint
from explorer.messages import EngineError
from explorer.models.base import ModelRef
from explorer.progress import Cancelled, CancelToken, Progress
from explorer.proof.report import NodeCheck
from explorer.proof.wording import as_text, fresh_sentence, verdict_sentence
from explorer.workspace import Workspace


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A table model in a real engine's process."""
    folder = tmp_path_factory.mktemp("engine")
    (folder / "loops.json").write_text(json.dumps(TABLE), encoding="utf-8")
    opened = Workspace(folder / "library.sqlite", Engine())
    opened.open_model(ModelRef(f"table:{folder / 'loops.json'}"))
    yield opened
    opened.close()


def test_a_table_model_is_checked_and_loading_the_libraries_can_be_cancelled(workspace: Workspace) -> None:
    """C30: who cancels while the libraries load gets the model back at once."""
    session = workspace.new_session(seed=1)
    cancel = CancelToken()

    def stop(progress: Progress) -> None:
        if progress.phase == LIBRARIES:
            cancel.cancel()

    with pytest.raises(Cancelled):
        session.check(progress=stop, cancel=cancel)
    assert workspace.encode("A").ids == (0,)  # while the libraries still load
    session.set_settings(
        Settings()
        .with_sampling(temperature=0.7, top_k=3, repetition_penalty=1.2, top_n_sigma=2.0)
        .with_order("llama.cpp")
    )
    session.step_draw()
    report = session.check()
    assert report.agrees
    assert report.own_stages == ("top_n_sigma",)
    assert report.kept == report.kept_there
    assert report.fresh is not None
    assert (report.fresh.tokens, report.fresh.largest.value) == (3, 0.0)
    assert (report.device, report.dtype, report.vocab_size) == ("cpu", "float32", 6)
    label = session.vocabulary.label
    text = as_text(report, label, "node 1")
    assert verdict_sentence(report, label) in text
    assert "Top-n-sigma | not in transformers: run by this program" in text
    assert "TopKLogitsWarper" in text


def test_a_grammar_is_run_by_this_program_in_its_place(workspace: Workspace) -> None:
    session = workspace.new_session(seed=1)
    grammar = Constraint("regex", "(AB|BA)+")
    session.set_settings(Settings().with_sampling(temperature=0.7, grammar=grammar))
    report = session.check()
    assert report.agrees
    assert report.own_stages == ("grammar",)
    assert report.kept == 2


def test_another_node_than_the_current_one(workspace: Workspace) -> None:
    session = workspace.new_session(seed=1)
    session.step_greedy()
    report = session.check(0)
    assert report.fresh is not None
    assert report.fresh.tokens == 2


def test_without_its_model_a_stored_node_cannot_be_checked(workspace: Workspace) -> None:
    """It says why: the best tokens are stored, the filters need all."""
    session = workspace.new_session(seed=1)
    session.step_greedy()
    assert session.id is not None
    elsewhere = Workspace(workspace.store.path, Engine())
    stored = elsewhere.open_session(session.id)
    try:
        for node, why in ((0, "The logits of this step are stored"), (1, "Nothing of this step is stored")):
            with pytest.raises(EngineError) as raised:
                stored.check(node)
            message = raised.value.message
            assert message.code == "proof.needs_model"
            assert why in message.text()
            assert "loops" in message.text()
    finally:
        elsewhere.close()


@pytest.mark.model
@pytest.mark.parametrize(
    "values",
    [
        {},
        {"temperature": 0.7, "top_p": 0.9, "repetition_penalty": 1.2},
        {"temperature": 1.4, "min_p": 0.02, "typical_p": 0.9, "no_repeat_ngram_size": 2, "presence_penalty": 0.5},
    ],
)
@pytest.mark.parametrize("order", ["transformers", "llama.cpp"])
def test_smollm2_agrees_after_steps_from_its_cache(smollm2_workspace: Workspace, values: Any, order: str) -> None:
    """The filters on the very logits shown, and these against a pass without a cache: 2e-4 in float32."""
    settings = Settings().with_sampling(**values).with_order(order)
    session = smollm2_workspace.new_session("The capital of France is", settings=settings, seed=4)
    for _ in range(3):
        session.step_draw()
    report = session.check()
    assert report.verdict in ("identical", "rounding")
    assert report.scores.value == 0
    # torch's float32 sum of 49 152 terms may be off by 1e-5 where one of them is large; what is shown is not.
    assert report.largest.value <= report.torch_sum.value + 1e-6
    assert report.fresh is not None
    assert report.fresh.agrees
    assert report.fresh.same_best
    assert report.fresh.largest.value <= report.fresh.tolerance
    assert report.fresh.tolerance == pytest.approx(2e-4, rel=1.0)
    assert report.vocab_size == 49152


@pytest.mark.model
def test_smollm2_different_where_a_number_is_tampered_with(smollm2_workspace: Workspace) -> None:
    session = smollm2_workspace.new_session("The capital of France is")
    distribution = session.distribution(0)
    assert distribution is not None
    right = NodeCheck.of(distribution, session.state.settings.sampling, session.context(0))
    wrong = right.sampling_probs.copy()
    wrong[7042] += np.float32(1e-4)
    label = session.vocabulary.label
    report = smollm2_workspace.engine.check(replace(right, sampling_probs=wrong))
    assert not report.agrees
    assert verdict_sentence(report, label).startswith("DIFFERENT from transformers")
    assert "·Paris" in verdict_sentence(report, label)
    # Other raw logits than the model's: the filters agree, the fresh pass does not.
    moved = np.roll(right.logits, 1)
    report = smollm2_workspace.engine.check(
        replace(
            right,
            logits=moved,
            processed=moved,
            sampling_probs=np.roll(right.sampling_probs, 1),
            model_probs=np.roll(right.model_probs, 1),
        )
    )
    assert report.verdict != "different"
    assert report.fresh is not None
    assert not report.fresh.agrees
    assert not report.agrees
    assert "OTHER logits" in fresh_sentence(report, label)
