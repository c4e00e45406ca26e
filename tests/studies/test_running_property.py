"""Whatever the model, the settings and the moment of a stop: runs of a study are the runs drawn one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table_sessions import TableEngine

from explorer.decoding.choice import MAX_SEED
from explorer.decoding.params import Settings
from explorer.models.base import Logits, TokenIds
from explorer.models.table_model import TableModel
from explorer.progress import CancelToken
from explorer.search.sample_plans import SamplePlan
from explorer.session import Session
from explorer.studies.plan import Configuration, StudyPlan
from explorer.studies.records import study_of
from explorer.studies.running import resume_study, run_study
from explorer.workspace import Workspace

_VOCAB = ["a", "b", "ab", "你", "好", " ", "<end>"]
_EDGE = ("token_id", "how", "logit", "model_logprob", "sampling_logprob", "rank", "u", "draw_index")


class RandomTable(TableModel):
    """Logits that are a pure function of the prefix."""

    table_seed = 0

    def next_token_logits(self, prefixes: Sequence[TokenIds], **_: Any) -> Logits:
        rows = [np.random.default_rng((self.table_seed, *prefix)).normal(size=len(_VOCAB)) for prefix in prefixes]
        return np.stack(rows).astype(np.float32)


_ids = st.integers(0, len(_VOCAB) - 1)
_settings = st.builds(
    lambda sampling, stopping: Settings().with_sampling("user", **sampling).with_stopping("user", **stopping),
    st.fixed_dictionaries(
        {},
        optional={
            "temperature": st.sampled_from([0.0, 0.4, 2.0]),
            "top_k": st.integers(1, 5),
            "top_p": st.sampled_from([0.3, 0.9]),
            "repetition_penalty": st.sampled_from([0.8, 1.7]),
            "no_repeat_ngram_size": st.integers(1, 3),
            "ban": st.lists(_ids, max_size=2).map(tuple),
        },
    ),
    st.fixed_dictionaries(
        {"max_new_tokens": st.integers(0, 8)},
        optional={"stop_strings": st.lists(st.sampled_from(["ab", "你好", "a"]), max_size=2).map(tuple)},
    ),
)


def facts(session: Session, seed: int, digest: str) -> list[tuple[Any, ...]]:
    """What was drawn with a seed under some settings, in order."""
    return [
        tuple(getattr(step, name) for name in _EDGE)
        for command in session.commands
        for step in command.steps
        if step.seed == seed and step.how == "drawn" and step.settings.digest() == digest
    ]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=st.integers(0, 1000),
    chosen=st.lists(_settings, min_size=1, max_size=3, unique_by=lambda one: one.digest()),
    runs=st.integers(1, 5),
    seed=st.one_of(st.integers(0, 50), st.just(MAX_SEED - 2)),
    length=st.one_of(st.none(), st.integers(1, 5)),
    steps=st.integers(1, 12),
)
def test_runs_of_a_stopped_and_resumed_study_equal_single_runs(
    tmp_path_factory: Any,
    table: int,
    chosen: list[Settings],
    runs: int,
    seed: int,
    length: int | None,
    steps: int,
) -> None:
    data = {"name": "random", "vocab": _VOCAB, "eos": ["<end>"], "context_length": 10, "rows": []}
    model = RandomTable.from_json({**data, "otherwise": {"probs": {"a": 1}}}, source="table:random")
    model.table_seed = table
    workspace = Workspace(tmp_path_factory.mktemp("study") / "library.sqlite", TableEngine(model))
    try:
        session = workspace.new_session(workspace.prompt_of_ids(()))
        plan = StudyPlan(
            tuple(Configuration(str(place), one) for place, one in enumerate(chosen)), SamplePlan(runs, seed, length)
        )
        cancel = CancelToken()
        for step, progress in enumerate(run_study(session, plan, cancel=cancel), 1):
            study_id = progress.study.id
            if step == steps:
                cancel.cancel()
        list(resume_study(session, study_id))
        study = study_of(session.commands, study_id)
        assert study.finished
        for one, drawn in zip(chosen, study.runs, strict=True):
            single = workspace.new_session(workspace.prompt_of_ids(()), settings=one)
            for run in drawn:
                single.select(0)
                single.set_seed(run.seed)
                changes = list(single.run("sample", max_steps=length))
                assert facts(session, run.seed, one.digest()) == facts(single, run.seed, one.digest())
                assert session.tree.token_ids(run.end) == single.tree.token_ids(single.state.current)
                stop = changes[-1].stop
                assert run.stop == (None if stop is None else stop[1])
    finally:
        workspace.close()
