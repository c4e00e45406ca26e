"""Settings: what is accepted, what is refused with which words, and that they survive JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.decoding.params import SamplingParams, Settings, StopParams, settings_from_generation_config
from explorer.decoding.processors import ORDERS, PARAMETERS, STAGES
from explorer.messages import SettingsError


def refusal(code: str, **values: Any) -> str:
    with pytest.raises(SettingsError) as refused:
        SamplingParams.make(**values)
    assert refused.value.message.code == code
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("temperature", -0.1, "Choose 0 or more."),
        ("top_p", 1.01, "Choose a value from 0 to 1."),
        ("min_p", -0.01, "Choose a value from 0 to 1."),
        ("typical_p", 0.0, "Choose a value above 0, up to 1."),
        ("epsilon_cutoff", 1.0, "Choose a value from 0 to just below 1."),
        ("eta_cutoff", 1, "Choose a value from 0 to just below 1."),
        ("repetition_penalty", 0.0, "Choose a value above 0."),
        ("presence_penalty", 101, "Choose a value from -100 to 100."),
        ("top_k", -2, "Choose 0 or more."),
        ("no_repeat_ngram_size", -1, "Choose 0 or more."),
        ("min_new_tokens", -1, "Choose 0 or more."),
        ("logit_bias", {3: 2000.0}, "Choose a value from -1000 to 1000."),
    ],
)
def test_out_of_range_names_parameter_value_and_range(name: str, value: Any, advice: str) -> None:
    text = refusal("settings.range", **{name: value})
    number = value if not isinstance(value, dict) else value[3]
    assert f"{name} cannot be {number}" in text
    assert text.endswith(advice)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", True),
        ("temperature", float("nan")),
        ("temperature", float("inf")),
        ("temperature", 10**400),
        ("temperature", "0.5"),
        ("top_k", 5.0),
        ("top_k", False),
        ("top_k", float("nan")),
        ("ban", 5),
        ("ban", "12"),
        ("ban", [-1]),
        ("ban", [True]),
        ("ban", [1.5]),
        ("logit_bias", [5]),
        ("logit_bias", ["ab"]),
        ("logit_bias", [(1, 2, 3)]),
        ("logit_bias", {1: float("nan")}),
        ("logit_bias", {"1": 1.0}),
    ],
)
def test_wrong_type_is_refused_by_name(name: str, value: Any) -> None:
    assert name in refusal("settings.type", **{name: value})


def test_unknown_names_are_refused() -> None:
    assert "top_q" in refusal("settings.unknown", top_q=1)
    for look_up in (SamplingParams().get, SamplingParams().is_off):
        with pytest.raises(SettingsError):
            look_up("top_q")
    with pytest.raises(SettingsError, match="max_tokens"):
        Settings().with_stopping(max_tokens=3)
    with pytest.raises(SettingsError, match="max_tokens"):
        Settings.from_json({"stopping": {"max_tokens": 3}})


def test_numpy_numbers_become_plain_python() -> None:
    values: dict[str, Any] = {
        "top_k": np.int64(5),
        "temperature": np.float32(0.5),
        "ban": np.array([3, 1, 3]),
        "logit_bias": {np.int32(2): np.float64(1)},
    }
    params = SamplingParams(values)
    assert params.values == {"ban": (1, 3), "logit_bias": ((2, 1.0),), "temperature": 0.5, "top_k": 5}
    assert [type(params.values[name]) for name in ("temperature", "top_k")] == [float, int]
    assert json.loads(json.dumps(params.to_json())) == params.to_json()


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_off_and_none_unset(name: str) -> None:
    assert SamplingParams({name: PARAMETERS[name].off}) == SamplingParams()
    assert SamplingParams({name: None}) == SamplingParams()
    assert SamplingParams().get(name) == PARAMETERS[name].off
    assert SamplingParams().is_off(name)


def test_with_values_leaves_the_original_alone() -> None:
    first = SamplingParams.make(top_k=5)
    second = first.with_values(top_p=0.9, top_k=None)
    assert (first.get("top_k"), second.get("top_k"), second.get("top_p")) == (5, 0, 0.9)


def test_order_presets_hold_every_stage_once() -> None:
    assert ORDERS["transformers"] == (
        "grammar",
        "logit_bias",
        "repetition_penalty",
        "presence_penalty",
        "frequency_penalty",
        "no_repeat_ngram",
        "ban",
        "min_new_tokens",
        "temperature",
        "top_n_sigma",
        "top_k",
        "top_p",
        "min_p",
        "typical",
        "epsilon",
        "eta",
    )
    assert ORDERS["llama.cpp"][-1] == "temperature"
    for order in ORDERS.values():
        assert sorted(order) == sorted(stage.name for stage in STAGES)


@pytest.mark.parametrize(
    ("order", "complaint"),
    [
        ("alphabetical", "no order called alphabetical"),
        (("top_p", "top_q"), "do not exist: top_q"),
        (("top_p", "temperature", "top_p"), "more than once: top_p"),
        (("temperature",), "leaves out filters that are on: top_p"),
    ],
)
def test_wrong_orders_are_refused(order: Any, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint) as refused:
        SamplingParams.make(order=order, top_p=0.9)
    assert refused.value.message.code == "settings.order"


def test_an_order_may_leave_out_what_is_off() -> None:
    params = SamplingParams.make(order=("top_p", "temperature"), top_p=0.9)
    assert [stage.name for stage in params.stages] == ["top_p", "temperature"]
    with pytest.raises(SettingsError, match="top_k"):
        params.with_values(top_k=3)


def test_temperature_0_runs_last() -> None:
    assert SamplingParams.make(temperature=0, top_k=3).stages[-1].name == "temperature"
    assert SamplingParams.make(temperature=0.1, top_k=3).stages[-1].name == "eta"
    assert SamplingParams().stages[-1].name == "eta"


@pytest.mark.parametrize(
    "values",
    [
        {"max_new_tokens": -1},
        {"max_length": 2.0},
        {"max_length": True},
        {"stop_strings": "abc"},
        {"stop_strings": ("",)},
        {"stop_strings": (3,)},
        {"eos_token_ids": (-1,)},
        {"eos_token_ids": 3},
    ],
)
def test_stop_rules_are_checked(values: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        StopParams(**values)


def test_stop_rules_become_plain() -> None:
    rules = StopParams(np.int64(0), None, ["a", "b", "a"], [np.int64(2), 1, 2])  # type: ignore[arg-type]
    assert rules == StopParams(0, None, ("a", "b"), (2, 1))
    assert type(rules.max_new_tokens) is int
    assert StopParams(eos_token_ids=()).eos_token_ids == ()


def test_sources_follow_the_values() -> None:
    settings = Settings().with_sampling("model", temperature=0.6, top_k=20).with_stopping(max_new_tokens=5)
    assert settings.sources == {"temperature": "model", "top_k": "model", "max_new_tokens": "user"}
    changed = settings.with_sampling(temperature=0.9, top_k=None)
    assert [changed.source(name) for name in ("temperature", "top_k", "max_new_tokens")] == ["user", "off", "user"]
    assert "top_k" not in changed.sources
    assert changed.with_stopping(max_new_tokens=None).source("max_new_tokens") == "off"
    assert changed.with_order("llama.cpp").sampling.order == "llama.cpp"


def test_a_refused_change_changes_nothing() -> None:
    settings = Settings().with_sampling(top_p=0.5)
    with pytest.raises(SettingsError):
        settings.with_sampling(top_p=2)
    assert settings.sampling.get("top_p") == 0.5


@given(
    temperature=st.floats(0, 10),
    top_k=st.integers(0, 2**40),
    ban=st.lists(st.integers(0, 300_000)),
    bias=st.dictionaries(st.integers(0, 300_000), st.floats(-1000, 1000)),
    stops=st.lists(st.text(min_size=1)),
    limit=st.none() | st.integers(0, 10**9),
)
def test_json_round_trip(
    temperature: float, top_k: int, ban: list[int], bias: dict[int, float], stops: list[str], limit: int | None
) -> None:
    settings = (
        Settings()
        .with_sampling("preset", temperature=temperature, top_k=top_k, ban=tuple(ban), logit_bias=tuple(bias.items()))
        .with_stopping(stop_strings=tuple(stops), max_new_tokens=limit, eos_token_ids=())
        .with_order(tuple(reversed(ORDERS["transformers"])))
    )
    text = json.dumps(settings.to_json(), allow_nan=False)
    again = Settings.from_json(json.loads(text))
    assert again == settings
    assert again.digest() == settings.digest()
    assert json.loads(text) == settings.to_json()


def test_digests_tell_settings_apart() -> None:
    digests = {
        settings.digest()
        for settings in (
            Settings(),
            Settings().with_sampling(top_p=0.5),
            Settings().with_sampling("model", top_p=0.5),
            Settings().with_order("llama.cpp"),
            Settings().with_stopping(eos_token_ids=()),
        )
    }
    assert len(digests) == 5
    assert (
        Settings().with_sampling(top_p=0.5, top_k=3).digest() == Settings().with_sampling(top_k=3, top_p=0.5).digest()
    )


def test_generation_config_without_sampling_leaves_its_filters_out() -> None:
    config = {"do_sample": False, "temperature": 0.6, "top_k": 50, "repetition_penalty": 1.1, "max_length": 20}
    settings = settings_from_generation_config(config)
    assert settings.sampling == SamplingParams.make(repetition_penalty=1.1)
    assert (settings.stopping.max_length, settings.source("max_length")) == (20, "model")


def test_generation_config_that_sets_nothing() -> None:
    assert settings_from_generation_config({"eos_token_id": 2, "top_p": None, "temperature": 1.0}) == Settings()


@pytest.mark.parametrize("stage", STAGES, ids=[stage.name for stage in STAGES])
def test_every_filter_explains_itself(stage: Any) -> None:
    assert stage.label
    assert stage.help
    for parameter in stage.parameters:
        assert parameter.label
        assert "off" in parameter.help
        if parameter.soft_maximum is not None and parameter.maximum is not None:
            assert parameter.soft_maximum <= parameter.maximum
    assert PARAMETERS.keys() == {parameter.name for each in STAGES for parameter in each.parameters}
