"""Whatever the model and the settings: runs drawn together are the runs drawn one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table_sessions import TableEngine

from explorer.decoding.choice import MAX_SEED
from explorer.decoding.params import Settings
from explorer.growth import sample_runs, sample_runs_of
from explorer.models.base import Logits, TokenIds
from explorer.models.table_model import TableModel
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session
from explorer.workspace import Workspace

_VOCAB = ["a", "b", "ab", "ba", "你", "好", " ", "<end>", "<stop>"]
_EDGE = ("logit", "model_logprob", "sampling_logprob", "rank", "u", "draw_index")


class RandomTable(TableModel):
    """Logits that are a pure function of the prefix: normal, some of them impossible."""

    spread = 1.5
    table_seed = 0

    def next_token_logits(self, prefixes: Sequence[TokenIds], **_: Any) -> Logits:
        return np.stack([self._row(tuple(prefix)) for prefix in prefixes])

    def _row(self, prefix: TokenIds) -> Logits:
        random = np.random.default_rng((self.table_seed, *prefix))
        values = random.normal(scale=self.spread, size=len(_VOCAB))
        barred = random.random(len(_VOCAB)) < 0.2
        barred[random.integers(len(_VOCAB))] = False
        return np.where(barred, -np.inf, values).astype(np.float32)


_ids = st.integers(0, len(_VOCAB) - 1)
_sampling = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.sampled_from([0.0, 0.3, 1.0, 2.0]),
        "top_k": st.integers(1, 6),
        "top_p": st.sampled_from([0.1, 0.5, 0.9]),
        "min_p": st.sampled_from([0.05, 0.4]),
        "typical_p": st.sampled_from([0.3, 0.9]),
        "repetition_penalty": st.sampled_from([0.8, 1.7]),
        "presence_penalty": st.sampled_from([-1.0, 1.5]),
        "frequency_penalty": st.sampled_from([0.5, 2.0]),
        "no_repeat_ngram_size": st.integers(1, 3),
        "min_new_tokens": st.integers(1, 4),
        "ban": st.lists(_ids, max_size=3).map(tuple),
    },
)
_stopping = st.fixed_dictionaries(
    {"max_new_tokens": st.integers(0, 12)},
    optional={
        "eos_token_ids": st.lists(_ids, max_size=3).map(tuple),
        "stop_strings": st.lists(st.sampled_from(["ab", "bab", "你好", "好 ", "a"]), max_size=2).map(tuple),
        "max_length": st.integers(0, 12),
    },
)


def facts(session: Session, seed: int) -> list[tuple[Any, ...]]:
    """What was drawn with a seed, from the start on."""
    return [
        (step.token_id, step.how, *(getattr(step, name) for name in _EDGE))
        for command in session.commands
        for step in command.steps
        if step.seed == seed and step.how == "drawn"
    ]


def new_session(workspace: Workspace, prompt: Sequence[int], begin: Sequence[int], chosen: Settings) -> Session:
    session = workspace.new_session(workspace.prompt_of_ids(prompt), settings=chosen)
    for token_id in begin:
        session.pick(token_id)
    return session


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=st.integers(0, 10_000),
    spread=st.sampled_from([0.3, 1.5, 6.0]),
    prompt=st.lists(_ids, max_size=3),
    begin=st.lists(st.integers(0, 6), max_size=2),
    sampling=_sampling,
    stopping=_stopping,
    runs=st.integers(1, 7),
    seed=st.one_of(st.integers(0, 50), st.just(MAX_SEED - 2)),
    length=st.one_of(st.none(), st.integers(1, 6)),
)
def test_runs_drawn_together_equal_single_runs(
    tmp_path_factory: Any,
    ready_libraries: None,
    table: int,
    spread: float,
    prompt: list[int],
    begin: list[int],
    sampling: dict[str, Any],
    stopping: dict[str, Any],
    runs: int,
    seed: int,
    length: int | None,
) -> None:
    model = RandomTable.from_json(
        {
            "name": "random",
            "vocab": _VOCAB,
            "eos": ["<end>", "<stop>"],
            "context_length": 12,
            "rows": [],
            "otherwise": {"probs": {"a": 1}},
        },
        source="table:random",
    )
    model.table_seed, model.spread = table, spread
    workspace = Workspace(tmp_path_factory.mktemp("runs") / "library.sqlite", TableEngine(model))
    try:
        chosen = Settings().with_sampling("user", **sampling).with_stopping("user", **stopping)
        plan = SamplePlan(runs, seed, length)
        together = new_session(workspace, prompt, begin, chosen)
        start = together.state.current
        last = list(sample_runs(together, plan))[-1]
        assert [run.seed for run in last.runs] == [(seed + number) % 2**63 for number in range(runs)]
        ids = {together.tree.token_ids(node.id) for node in together.tree.nodes()}
        assert len(ids) == len(together.tree)
        single = new_session(workspace, prompt, begin, chosen)
        for run in last.runs:
            single.select(start)
            single.set_seed(run.seed)
            changes = list(single.run("sample", max_steps=length))
            assert facts(together, run.seed) == facts(single, run.seed)
            assert together.tree.token_ids(run.end) == single.tree.token_ids(single.state.current)
            stop = changes[-1].stop
            assert run.stop == (None if stop is None else stop[1])
            assert run.cut == (stop is None)
        assert ids == {single.tree.token_ids(node.id) for node in single.tree.nodes()}
        assert sample_runs_of(together.commands)[-1].runs == last.runs
    finally:
        workspace.close()
