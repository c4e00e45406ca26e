"""What the autopsy says is true: thresholds, what would have kept a token, stages without effect, other orders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from decoding_reference import assert_removal_follows, by_id, contexts, evaluated, logits, values_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from explorer.decoding.autopsy import ValueToKeep, autopsy, kept_by, value_to_keep
from explorer.decoding.chain_effects import has_no_effect, order_effects
from explorer.decoding.logits import Observation, SortedLogits
from explorer.decoding.params import SamplingParams
from explorer.decoding.pipeline import Distribution, evaluate
from explorer.decoding.processors import ORDERS, PARAMETERS, STAGES, STAGES_BY_NAME, Stage, StepContext

CONTEXT = StepContext((0,), (), ())
FIVE = [0.40, 0.25, 0.20, 0.10, 0.05]
DIALS = ("no_repeat_ngram", "min_new_tokens", "top_n_sigma", "top_k", "top_p", "min_p", "typical", "epsilon", "eta")
WITH_DIAL = [STAGES_BY_NAME[name] for name in DIALS]


def of_probabilities(probabilities: list[float], order: Any = "transformers", **values: Any) -> Distribution:
    sampling = SamplingParams.make(order, **values)
    return evaluated(np.log(np.array(probabilities, np.float32)), sampling, CONTEXT)


def neighbour(border: ValueToKeep) -> float:
    """The next value on the side that removes the token."""
    if PARAMETERS[border.parameter].kind == "int":
        return border.value - 1 if border.at_least else border.value + 1
    return math.nextafter(border.value, -math.inf if border.at_least else math.inf)


def chain_values(data: st.DataObject, vocab_size: int, most: int = 6) -> dict[str, Any]:
    names = data.draw(st.lists(st.sampled_from(sorted(PARAMETERS)), min_size=1, max_size=most, unique=True))
    strategies = values_of(vocab_size)
    return {name: data.draw(strategies[name]) for name in names}


def any_chain(data: st.DataObject) -> tuple[Distribution, StepContext]:
    """A distribution of random logits under random filters in a random order."""
    raw = data.draw(logits())
    context = data.draw(contexts(len(raw)))
    order = data.draw(st.one_of(st.sampled_from(sorted(ORDERS)), st.permutations(ORDERS["transformers"]).map(tuple)))
    sampling = SamplingParams(chain_values(data, len(raw)), order)
    largest = float(np.abs(raw[np.isfinite(raw)]).max())
    assume(largest / sampling.number("temperature") < 3e38)
    return evaluated(raw, sampling, context), context


def again(distribution: Distribution, context: StepContext, **changes: Any) -> Distribution:
    """The same logits under changed values."""
    raw = by_id(distribution, distribution.logits)
    return evaluated(raw, distribution.trace.sampling.with_values(**changes), context)


# --- the value that would have kept a token ---------------------------------------------------------------------------


@pytest.mark.parametrize("stage", WITH_DIAL, ids=[stage.name for stage in WITH_DIAL])
@settings(max_examples=40)
@given(data=st.data())
def test_a_dial_foretells_what_the_stage_does(stage: Stage, data: st.DataObject) -> None:
    """For every token and any other value: the dial's answer is what the stage does with that value."""
    raw = data.draw(logits())
    context = data.draw(contexts(len(raw)))
    name = stage.parameters[0].name
    first, other = (data.draw(values_of(len(raw))[name]) for _ in range(2))
    one, two = (SamplingParams({name: value}) for value in (first, other))
    assume(one.runs(stage) and two.runs(stage))
    live = SortedLogits.from_raw(raw).live
    dial = stage.apply(live, one, context).dial
    assert dial is not None
    assert dial.parameter == name
    kept = set(stage.apply(live, two, context).after.token_ids.tolist())
    value = two.get(name)
    assert isinstance(value, int | float)
    for position in range(min(len(live), 50)):
        assert dial.keeps(position, value) == (int(live.token_ids[position]) in kept)


@settings(max_examples=100)
@given(data=st.data())
def test_the_value_keeps_the_token_and_its_neighbour_does_not(data: st.DataObject) -> None:
    distribution, context = any_chain(data)
    removed = [place for place, owner in enumerate(distribution.trace.owner.tolist()) if owner >= 0]
    assume(removed)
    place = data.draw(st.sampled_from(removed[:8] + removed[-8:]))
    token_id = int(distribution.token_ids[distribution.model_rank.tolist().index(place + 1)])
    verdict = autopsy(distribution, token_id).removal
    assert verdict is not None
    border = verdict.border
    if border is None:
        assert verdict.name not in DIALS
        return
    assert border.in_force == distribution.trace.sampling.get(border.parameter)
    for value in (border.value, border.rounded):
        changed = PARAMETERS[border.parameter].off if border.switched_off else value
        assert (
            again(distribution, context, **{border.parameter: changed}).provenance(token_id).removed_by != verdict.name
        )
    beside = again(distribution, context, **{border.parameter: neighbour(border)})
    assert beside.provenance(token_id).removed_by == verdict.name
    assert (border.rounded >= border.value) if border.at_least else (border.rounded <= border.value)
    assert abs(border.rounded - border.value) <= 0.11 * abs(border.value - border.in_force)


@settings(max_examples=50)
@given(data=st.data())
def test_a_kept_token_is_told_how_far_each_filter_may_go(data: st.DataObject) -> None:
    distribution, context = any_chain(data)
    assume(distribution.kept)
    token_id = int(distribution.token_ids[data.draw(st.integers(0, min(distribution.kept, 30) - 1))])
    for verdict in autopsy(distribution, token_id).stages:
        if verdict.border is None:
            continue
        border = verdict.border
        with_border = again(distribution, context, **{border.parameter: border.value})
        assert with_border.provenance(token_id).removed_by != verdict.name
        beside = again(distribution, context, **{border.parameter: neighbour(border)})
        assert beside.provenance(token_id).removed_by == verdict.name


@settings(max_examples=60)
@given(data=st.data())
def test_the_changes_together_keep_the_token_and_none_can_be_left_out(data: st.DataObject) -> None:
    distribution, context = any_chain(data)
    removed = np.flatnonzero(distribution.trace.owner >= 0).tolist()
    assume(removed)
    place = data.draw(st.sampled_from(removed[:5] + removed[-5:]))
    token_id = int(distribution.token_ids[distribution.model_rank.tolist().index(place + 1)])
    way = kept_by(distribution.trace, place)
    assert way.rescues[0].stage == distribution.provenance(token_id).removed_by
    raw = by_id(distribution, distribution.logits)
    assert evaluated(raw, way.sampling, context).row(token_id).removed_by is None
    # With the changes up to a stage the next one named is the one that removes the token.
    sampling = distribution.trace.sampling
    for rescue in way.rescues:
        assert evaluated(raw, sampling, context).row(token_id).removed_by == rescue.stage
        for parameter in STAGES_BY_NAME[rescue.stage].parameters:
            sampling = sampling.with_values(**{parameter.name: way.sampling.get(parameter.name)})
    assert sampling == way.sampling


def test_top_p_says_what_it_would_have_needed() -> None:
    """The issue's own words: "top_p 0.90: it would have needed 0.93"."""
    removal = autopsy(of_probabilities([0.50, 0.30, 0.12, 0.01, 0.07], top_p=0.90), 4).removal
    assert removal is not None
    border = removal.border
    assert border is not None
    assert (removal.name, border.parameter, border.in_force) == ("top_p", "top_p", 0.90)
    assert border.value == pytest.approx(0.92, abs=1e-6)
    assert border.rounded == pytest.approx(0.92, abs=0.003)
    assert border.at_least


def test_round_borders_are_said_in_few_figures() -> None:
    cases: list[tuple[dict[str, Any], int, float]] = [
        ({"top_k": 2}, 3, 4),
        ({"min_p": 0.5}, 3, 0.24),
        ({"epsilon_cutoff": 0.3}, 4, 0.04),
        ({"top_p": 0.3}, 2, 0.7),
    ]
    for values, token_id, expected in cases:
        removal = autopsy(of_probabilities(FIVE, **values), token_id).removal
        assert removal is not None
        assert removal.border is not None
        assert removal.border.rounded == pytest.approx(expected, abs=0.04), values
        assert len(str(removal.border.rounded)) <= 4, values


def test_a_token_without_mass_needs_the_filter_off() -> None:
    """Its probability underflows in float32, so that no top-p below 1 reaches it."""
    distribution = evaluated(np.array([0, -50, -120], np.float32), SamplingParams.make(top_p=0.9), CONTEXT)
    removal = autopsy(distribution, 2).removal
    assert removal is not None
    assert removal.border is not None
    assert removal.border.switched_off
    assert removal.border.value == 1.0
    way = kept_by(distribution.trace, 2)
    assert way.sampling.is_off("top_p")


def test_two_filters_would_each_remove_it() -> None:
    distribution = of_probabilities(FIVE, top_k=3, min_p=0.3)
    assert distribution.row(4).removed_by == "top_k"
    way = kept_by(distribution.trace, 4)
    assert [rescue.stage for rescue in way.rescues] == ["top_k", "min_p"]
    assert dict(way.sampling.values)["top_k"] == 5
    assert way.sampling.number("min_p") == pytest.approx(0.12, abs=0.01)
    assert evaluated(by_id(distribution, distribution.logits), way.sampling, CONTEXT).kept == 5


def test_bans_are_lifted_and_greedy_is_switched_off() -> None:
    banned = of_probabilities(FIVE, ban=(1, 4), temperature=0.0)
    way = kept_by(banned.trace, 4)
    assert [(r.stage, r.border, r.unlisted) for r in way.rescues] == [("ban", None, True), ("temperature", None, False)]
    assert way.sampling == SamplingParams.make(ban=(1,))
    assert kept_by(banned.trace, 0) == kept_by(of_probabilities(FIVE).trace, 0).__class__((), banned.trace.sampling)


def test_rules_that_count_say_which_count_would_do() -> None:
    context = StepContext((5, 1, 2, 1), (), ())
    repeated = evaluated(np.zeros(6, np.float32), SamplingParams.make(no_repeat_ngram_size=2), context)
    removal = autopsy(repeated, 2).removal
    assert removal is not None
    assert removal.border is not None
    assert (removal.border.value, removal.border.at_least) == (3, True)
    early = StepContext((0,), (1, 1, 1), (4,))
    short = evaluated(np.zeros(6, np.float32), SamplingParams.make(min_new_tokens=10), early)
    removal = autopsy(short, 4).removal
    assert removal is not None
    assert removal.border is not None
    assert (removal.border.value, removal.border.at_least, removal.border.switched_off) == (3, False, False)


# --- one token's way through the chain --------------------------------------------------------------------------------


@settings(max_examples=50)
@given(data=st.data())
def test_scores_and_probabilities_after_every_stage(data: st.DataObject) -> None:
    distribution, _ = any_chain(data)
    index = data.draw(st.integers(0, min(len(distribution.token_ids), 60) - 1))
    token_id = int(distribution.token_ids[index])
    found = autopsy(distribution, token_id)
    row = distribution.row(token_id)
    assert [verdict.name for verdict in found.stages] == list(distribution.stage_names)
    active = [(verdict.name, verdict.score) for verdict in found.stages if verdict.active]
    assert active == distribution.stage_values(token_id)[1:]
    assert found.provenance == distribution.provenance(token_id)
    assert_removal_follows(found.provenance)
    removals = [verdict.name for verdict in found.stages if verdict.removed]
    assert removals == ([] if row.removed_by is None else [row.removed_by])
    if found.stages[-1].probability or row.sampling_prob:
        assert found.stages[-1].probability == pytest.approx(row.sampling_prob, abs=1e-6)
    for verdict in found.stages:
        assert verdict.active or verdict.border is None
        assert 0 <= verdict.probability <= 1


def test_a_token_that_is_not_stored_has_no_autopsy() -> None:
    raw = SortedLogits.from_raw(np.arange(300, dtype=np.float32))
    stored = evaluate(Observation.of(raw, 10).sorted_logits(), SamplingParams.make(top_k=3), CONTEXT)
    assert autopsy(stored, 299).removal is None
    assert autopsy(stored, 292).removal is not None
    with pytest.raises(KeyError):
        autopsy(stored, 5)


def test_what_the_model_itself_excludes_no_stage_removed() -> None:
    distribution = evaluated(np.array([1, -np.inf, 0], np.float32), SamplingParams.make(top_k=1), CONTEXT)
    found = autopsy(distribution, 1)
    assert found.removal is None
    assert {verdict.score for verdict in found.stages} == {-math.inf}
    assert kept_by(distribution.trace, 2).rescues == ()


# --- stages without effect --------------------------------------------------------------------------------------------


def test_an_active_stage_without_effect_is_idle() -> None:
    def idle(distribution: Distribution) -> list[str]:
        return [step.stage.name for step in distribution.trace.steps if step.idle]

    assert idle(of_probabilities(FIVE, top_k=50, top_p=0.9)) == ["top_k"]
    assert idle(of_probabilities(FIVE, top_k=1, min_p=0.1)) == ["min_p"]
    assert idle(of_probabilities([0.2] * 5, temperature=0.7)) == ["temperature"]
    assert idle(of_probabilities(FIVE, temperature=0.7)) == []
    assert idle(of_probabilities(FIVE, "llama.cpp", temperature=0.7, top_k=1)) == ["temperature"]
    assert idle(of_probabilities(FIVE, presence_penalty=1.0, repetition_penalty=1.2, ban=(77,))) == [
        "presence_penalty",
        "ban",
    ]
    assert idle(of_probabilities(FIVE)) == []


@settings(max_examples=40)
@given(data=st.data())
def test_no_effect_means_the_same_draw_without_the_stage(data: st.DataObject) -> None:
    distribution, context = any_chain(data)
    for number, step in enumerate(distribution.trace.steps):
        if not step.active:
            continue
        without = again(distribution, context, **{p.name: None for p in step.stage.parameters})
        same_ids = without.kept == distribution.kept and set(without.token_ids[: without.kept].tolist()) == set(
            distribution.token_ids[: distribution.kept].tolist()
        )
        ours, theirs = by_id(distribution, distribution.sampling_probs), by_id(without, without.sampling_probs)
        apart = float(np.abs(ours - theirs).max())
        assume(not 5e-7 < apart < 2e-6)
        assert has_no_effect(distribution.trace, number) == (same_ids and apart < 1e-6)
        if step.idle:
            assert same_ids


def test_temperature_has_no_effect_where_one_token_is_left() -> None:
    trace = of_probabilities(FIVE, temperature=0.7, top_k=1).trace
    effects = {step.stage.name: has_no_effect(trace, i) for i, step in enumerate(trace.steps) if step.active}
    assert effects == {"temperature": True, "top_k": False}
    trace = of_probabilities(FIVE, temperature=0.0, top_p=0.9).trace
    effects = {step.stage.name: has_no_effect(trace, i) for i, step in enumerate(trace.steps) if step.active}
    assert effects == {"temperature": False, "top_p": True}


def test_every_stage_says_why_it_may_be_without_effect() -> None:
    for stage in STAGES:
        assert stage.idle
        assert stage.idle.format(left=3)


# --- other orders -----------------------------------------------------------------------------------------------------


def test_c06_the_order_of_temperature_and_truncation() -> None:
    """C06: the same settings keep other tokens when the temperature comes last."""
    first = evaluated(np.array([3, 2, 1], np.float32), SamplingParams.make(temperature=0.5, top_p=0.8), CONTEXT)
    (effect,) = order_effects(first.trace, 3)
    assert effect.order == "llama.cpp"
    assert (effect.more.tolist(), effect.fewer.tolist()) == ([1], [])
    assert effect.largest_change == pytest.approx(0.1192, abs=1e-4)
    second = of_probabilities([0.95, 0.045, 0.005], temperature=3.0, min_p=0.05)
    (effect,) = order_effects(second.trace, 3)
    assert (effect.more.tolist(), effect.fewer.tolist()) == ([], [1, 2])


@settings(max_examples=50)
@given(data=st.data())
def test_order_effects_are_what_the_other_order_gives(data: st.DataObject) -> None:
    distribution, context = any_chain(data)
    raw = by_id(distribution, distribution.logits)
    effects = order_effects(distribution.trace, len(raw))
    assert [effect.order for effect in effects] == [n for n in ORDERS if n != distribution.trace.sampling.order]
    ours = set(distribution.token_ids[: distribution.kept].tolist())
    for effect in effects:
        other = evaluated(raw, SamplingParams(distribution.trace.sampling.values, effect.order), context)
        theirs = other.token_ids[: other.kept].tolist()
        assert effect.more.tolist() == [token for token in theirs if token not in ours]
        assert set(effect.fewer.tolist()) == ours - set(theirs)
        change = np.abs(by_id(other, other.sampling_probs) - by_id(distribution, distribution.sampling_probs)).max()
        assert effect.largest_change == pytest.approx(float(change), abs=2e-6)


def test_stand_ins_of_a_tail_are_not_named() -> None:
    raw = SortedLogits.from_raw(np.linspace(3, 0, 400).astype(np.float32))
    stored = evaluate(Observation.of(raw, 20).sorted_logits(), SamplingParams.make(temperature=0.2, top_p=0.9), CONTEXT)
    (effect,) = order_effects(stored.trace, 400)
    assert effect.largest_change > 0
    assert all(token < 400 for token in [*effect.more.tolist(), *effect.fewer.tolist()])


def test_value_to_keep_is_a_pure_function_of_a_step() -> None:
    trace = of_probabilities(FIVE, top_k=2, temperature=0.8).trace
    step = next(step for step in trace.steps if step.stage.name == "top_k")
    found = [value_to_keep(step, position, trace.sampling) for position in range(5)]
    assert [border.value if border is not None else None for border in found] == [None, 2, 3, 4, 5]
    temperature = next(step for step in trace.steps if step.stage.name == "temperature")
    assert value_to_keep(temperature, 0, trace.sampling) is None
