"""Every figure of the lessons that concerns decoding, from golden_decoding.json."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from decoding_reference import evaluated

from explorer.decoding.choice import greedy, intervals, inverse_cdf
from explorer.decoding.params import SamplingParams, StopParams, settings_from_generation_config
from explorer.decoding.pipeline import Distribution
from explorer.decoding.processors import StepContext
from explorer.decoding.stopping import StopEvent, StopPath, check_stop

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "golden_decoding.json").read_text("utf-8"))
FIVE = [0.40, 0.25, 0.20, 0.10, 0.05]


def of_probabilities(probabilities: list[float], **values: float | int) -> Distribution:
    return of_logits(np.log(probabilities).tolist(), **values)


def of_logits(logits: list[float], **values: float | int) -> Distribution:
    return evaluated(np.array(logits, np.float32), SamplingParams(values), StepContext((0,), (), ()))


def letter(distribution: Distribution, u: float) -> str:
    return "ABCDE"[inverse_cdf(distribution, u)]


def near(expected: list[float]) -> object:
    return pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("temperature", ["0.2", "0.5", "1.0", "2.0"])
def test_temperature_on_2_1_0(temperature: str) -> None:
    distribution = of_logits([2, 1, 0], temperature=float(temperature))
    assert distribution.sampling_probs.tolist() == near(GOLDEN["temperature"]["logits_2_1_0"][temperature])


@pytest.mark.parametrize("temperature", ["0.5", "1.0", "2.0"])
def test_temperature_on_6_3_1(temperature: str) -> None:
    distribution = of_probabilities([0.6, 0.3, 0.1], temperature=float(temperature))
    assert distribution.sampling_probs.tolist() == near(GOLDEN["temperature"]["probs_6_3_1"][temperature])


def test_softmax_of_logarithms() -> None:
    distribution = of_logits([math.log(6), math.log(3), 0])
    assert distribution.model_probs.tolist() == near(GOLDEN["temperature"]["logits_ln6_ln3_ln1"])


def test_temperature_half_squares_the_odds() -> None:
    assert of_probabilities(FIVE, temperature=0.5).sampling_probs.tolist() == near(GOLDEN["temperature"]["five_T_0.5"])
    assert intervals(of_probabilities(FIVE, temperature=0.5))[1][0] == pytest.approx(32 / 55, abs=1e-6)
    for temperature, odds in GOLDEN["temperature"]["odds_A_to_C"].items():
        probabilities = of_probabilities(FIVE, temperature=float(temperature)).sampling_probs
        assert probabilities[0] / probabilities[2] == pytest.approx(odds, rel=1e-6)


@pytest.mark.parametrize(
    ("figure", "probabilities", "top_p"),
    [
        ("0.8_on_50_25_15_10", [0.50, 0.25, 0.15, 0.10], 0.8),
        ("0.8_on_50_25_15_7_3", [0.50, 0.25, 0.15, 0.07, 0.03], 0.8),
        ("0.7_on_50_25_15_7_3", [0.50, 0.25, 0.15, 0.07, 0.03], 0.7),
        ("0.70_on_40_25_20_10_5", FIVE, 0.7),
    ],
)
def test_top_p(figure: str, probabilities: list[float], top_p: float) -> None:
    count, mass, expected = GOLDEN["top_p"][figure]
    distribution = of_probabilities(probabilities, top_p=top_p)
    assert distribution.kept == count
    assert float(distribution.model_probs[:count].sum()) == pytest.approx(mass, abs=1e-6)
    assert distribution.sampling_probs[:count].tolist() == near(expected)
    report = next(stage for stage in distribution.stages if stage.active)
    assert report.removed_mass == pytest.approx(1 - mass, abs=1e-6)


def test_top_k() -> None:
    distribution = of_probabilities(FIVE, top_k=2)
    assert distribution.sampling_probs.tolist() == near([*GOLDEN["top_k"]["2_on_40_25_20_10_5"], 0, 0, 0])


def test_the_ruler() -> None:
    figures = GOLDEN["inverse_cdf"]
    assert {u: letter(of_probabilities([0.6, 0.3, 0.1]), float(u)) for u in figures["abc_6_3_1"]} == figures[
        "abc_6_3_1"
    ]
    assert {u: letter(of_probabilities(FIVE), float(u)) for u in figures["five"]} == figures["five"]


def test_four_rulers_share_one_number() -> None:
    settings: dict[str, dict[str, float | int]] = {
        "plain": {},
        "T_0.5": {"temperature": 0.5},
        "top_k_2": {"top_k": 2},
        "top_p_0.70": {"top_p": 0.70},
    }
    found = {name: letter(of_probabilities(FIVE, **values), 0.60) for name, values in settings.items()}
    assert found == GOLDEN["inverse_cdf"]["u_0.60_under"]


def path_probability(*steps: tuple[list[float], int]) -> float:
    logprobs = [of_probabilities(probabilities).row(token_id).model_logprob for probabilities, token_id in steps]
    return math.exp(sum(logprobs))


def test_path_probabilities() -> None:
    figures = GOLDEN["path_probability"]
    review = path_probability(([0.6, 0.3, 0.1], 0), ([0.7, 0.2, 0.1], 0), ([0.8, 0.2], 0))
    assert review == pytest.approx(figures["review_assistant"]["p"], abs=1e-6)
    trap = figures["greedy_trap_two_step"]
    assert path_probability(([0.6, 0.4], 0), ([0.5, 0.3, 0.2], 0)) == pytest.approx(trap["A_best"], abs=1e-6)
    assert path_probability(([0.6, 0.4], 1), ([0.9, 0.1], 0)) == pytest.approx(trap["B_best"], abs=1e-6)
    eos, prefix = figures["eos_tree"], [([0.6, 0.4], 0)]
    a_c = path_probability(*prefix, ([0.55, 0.45], 0))
    assert a_c == pytest.approx(eos["A_C_prefix_or_length_stop"], abs=1e-6)
    assert path_probability(*prefix, ([0.55, 0.45], 0), ([0.9, 0.1], 0)) == pytest.approx(eos["A_C_eos"], abs=1e-6)
    b_d_eos = path_probability(([0.6, 0.4], 1), ([0.1, 0.9], 1), ([0.9, 0.1], 0))
    assert b_d_eos == pytest.approx(eos["B_D_eos"], abs=1e-6)


def test_breakfast() -> None:
    figures = GOLDEN["breakfast"]
    distribution = of_logits(list(figures["logits"].values()))
    assert distribution.model_probs.tolist() == near(list(figures["probs"].values()))
    assert greedy(distribution).token_id == 0
    coffee = distribution.row(1).model_logprob
    assert -coffee == pytest.approx(figures["cross_entropy_nats"]["咖啡_before"], abs=1e-6)
    sure = of_probabilities([0.3, 0.6, 0.1]).row(1).model_logprob
    assert -sure == pytest.approx(figures["cross_entropy_nats"]["咖啡_at_0.60"], abs=1e-6)


def stop_after(generated: int, prompt: int, **rules: Any) -> StopEvent | None:
    return check_stop(StopPath(prompt, (7,) * generated, "", (1,), 10_000, StopParams(**rules)))


def test_breakfast_by_hand_is_cut_by_the_limit() -> None:
    figures = GOLDEN["breakfast"]
    steps = len(figures["manual_path"])
    assert stop_after(steps - 1, 3, max_new_tokens=figures["max_new_tokens"]) is None
    event = stop_after(steps, 3, max_new_tokens=figures["max_new_tokens"])
    assert event is not None
    assert event.kind == figures["manual_stop"]
    ended = check_stop(StopPath(3, (0, 5, 1), "", (1,), 10_000, StopParams(max_new_tokens=6)))
    assert ended is not None
    assert ended.kind == figures["greedy_stop"]


def allowed(prompt: int, **rules: Any) -> int:
    """New tokens until a rule stops."""
    return next(count for count in range(1_000) if stop_after(count, prompt, **rules) is not None)


def test_lengths() -> None:
    figures = GOLDEN["lengths"]
    assert figures["prompt"] + allowed(100, max_new_tokens=20) == figures["max_new_tokens_20"]["total_cap"]
    assert allowed(100, max_length=20) == figures["max_length_20"]["new_tokens"]
    assert allowed(300, max_length=512) == figures["max_length_512_prompt_300"]["new_tokens"]
    event = stop_after(0, 100, max_length=20)
    assert event is not None
    assert "nothing was generated" in event.explanation().text()


def test_a_models_own_generation_config() -> None:
    example = GOLDEN["generation_config_example"]
    settings = settings_from_generation_config(example)
    assert settings.sampling == SamplingParams.make(temperature=0.6, top_k=20, top_p=0.95)
    assert {settings.source(name) for name in ("temperature", "top_k", "top_p")} == {"model"}
    assert settings.source("min_p") == "off"
    assert settings.stopping.eos_token_ids is None
