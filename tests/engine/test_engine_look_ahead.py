"""What the child computes while nobody asks, and that it stops for whoever does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import engine_fakes as fakes
import numpy as np
import psutil
import pytest
from engine_fakes import Gate

from explorer.engine import look_ahead
from explorer.engine.client import Engine
from explorer.engine.look_ahead import MEMORY_SHARE, PASS_SECONDS, LookAhead
from explorer.engine.protocol import Close, ComputeLogits, Encode, Expect, Pin, SetCacheBudget, SetLookAhead
from explorer.models.base import Logits, TokenIds

NODE = (fakes.PLAIN, 2)
BEST = fakes.VOCABULARY - 1  # a fake model's logits are an ascending ramp


class Ahead:
    """A `LookAhead` over a fake model, with what it computed."""

    def __init__(self, folder: Any, count: int = 8, discharging: Callable[[], bool] = lambda: False) -> None:
        self.gate = Gate(folder)
        self.model = fakes.CachingModel(self.gate, fakes.VOCABULARY)
        self.pass_seconds = 0.0
        self.now = 0.0
        self.ahead = LookAhead(self.model, discharging, self.clock)
        self.ahead.set(SetLookAhead(count, on_battery=False))

    def clock(self) -> float:
        self.now += self.pass_seconds
        return self.now

    def ask(self, *prefixes: TokenIds, logits: Logits | None = None) -> None:
        """As the server does when a request comes."""
        answer = self.model.next_token_logits(prefixes)
        self.ahead.answered(prefixes, None, answer if logits is None else logits)

    def idle(self) -> list[list[TokenIds]]:
        """Let it work until it has nothing to do; the prefixes of each pass."""
        before = len(self.passes)
        while self.ahead.delay is not None:
            self.ahead.work(lambda: False)
        return self.passes[before:]

    @property
    def passes(self) -> list[list[TokenIds]]:
        return [[tuple(prefix) for prefix in call] for call in self.gate.read(0) if call[0] != "pin"]


@pytest.fixture
def ahead(tmp_path: Any) -> Ahead:
    return Ahead(tmp_path)


def children(*tokens: int) -> list[TokenIds]:
    return [(*NODE, token) for token in tokens]


def test_the_likeliest_child_comes_first_then_the_others_together(ahead: Ahead) -> None:
    ahead.ask(NODE)
    assert ahead.ahead.delay == look_ahead.DELAY_SECONDS
    assert ahead.idle() == [children(BEST), children(*range(BEST - 1, BEST - 8, -1))]
    ahead.ask((*NODE, BEST))  # known already, and the next node to look ahead from
    assert ahead.idle()[0][0] == (*NODE, BEST, BEST)


def test_no_pass_is_longer_than_a_click_may_wait(ahead: Ahead) -> None:
    ahead.pass_seconds = PASS_SECONDS / 2.5
    ahead.ask(NODE)
    # Two fit into the time; they take no longer than one did, so four do.
    assert [len(batch) for batch in ahead.idle()] == [1, 2, 4, 1]
    ahead.pass_seconds = 2 * PASS_SECONDS
    ahead.ask((*NODE, 1))
    assert [len(batch) for batch in ahead.idle()] == [2, 1, 1, 1, 1, 1, 1]


def test_between_two_passes_nothing_is_waited_for(ahead: Ahead) -> None:
    ahead.ask(NODE)
    ahead.ahead.work(lambda: False)
    assert ahead.ahead.delay == 0


def test_switched_off_it_only_does_what_is_expected(tmp_path: Any) -> None:
    ahead = Ahead(tmp_path, count=0)
    ahead.ask(NODE)
    assert ahead.ahead.delay is None
    ahead.ahead.expect(Expect(((*NODE, 7),), None))
    assert ahead.ahead.delay == 0
    assert ahead.idle() == [children(7)]


def test_switching_off_takes_effect_at_once(ahead: Ahead) -> None:
    ahead.ask(NODE)
    ahead.ahead.set(SetLookAhead(0, on_battery=False))
    assert ahead.ahead.delay is None


def test_what_is_expected_comes_before_the_children(ahead: Ahead) -> None:
    ahead.ask(NODE)
    ahead.ahead.expect(Expect(((*NODE, 7),), None))
    assert ahead.idle()[:2] == [children(7), children(BEST)]


def test_what_will_be_asked_for_together_is_computed_together(ahead: Ahead) -> None:
    ahead.ahead.expect(Expect(tuple(children(3, 4, 5)), None))
    assert ahead.ahead.delay == 0
    assert ahead.idle() == [children(3, 4, 5)]


def test_more_than_can_be_kept_is_not_computed_ahead(ahead: Ahead) -> None:
    ahead.model.set_cache_budget(2 * MEMORY_SHARE * 4 * fakes.VOCABULARY)
    ahead.ahead.expect(Expect(tuple(children(3, 4, 5)), None))
    assert ahead.ahead.delay is None
    ahead.ahead.expect(Expect(tuple(children(3, 4)), None))
    assert ahead.idle() == [children(3, 4)]
    ahead.model.set_cache_budget(0)
    ahead.ahead.expect(Expect(tuple(children(6)), None))  # one is as dear as the request that comes
    assert ahead.idle() == [children(6)]


def test_what_was_expected_and_has_been_asked_for_is_not_computed_again(ahead: Ahead) -> None:
    ahead.ahead.expect(Expect((NODE,), None))
    ahead.ask(NODE)
    assert [NODE] not in ahead.idle()


def test_in_a_greedy_run_the_likeliest_child_is_next_without_being_waited_for(tmp_path: Any) -> None:
    ahead = Ahead(tmp_path, count=0)
    ahead.ahead.expect(Expect((NODE,), 1, then_likeliest=True))
    assert ahead.idle() == [[NODE]]
    ahead.ask(NODE)
    assert ahead.ahead.delay == 0
    assert ahead.idle() == [children(BEST)]
    ahead.ask((*NODE, BEST))  # as long as that is said of it, too
    assert ahead.ahead.delay is None
    ahead.ahead.expect(Expect(((*NODE, 1),), None, then_likeliest=True))
    ahead.ask((*NODE, 2))  # another one was asked for
    assert ahead.ahead.delay is None


def test_an_end_of_text_and_a_full_context_end_a_greedy_run(tmp_path: Any) -> None:
    ahead = Ahead(tmp_path, count=0)
    logits = np.zeros((1, fakes.VOCABULARY), np.float32)  # 0 is the lowest of all, and ends a text
    ahead.ahead.expect(Expect((NODE,), None, then_likeliest=True))
    ahead.ask(NODE, logits=logits)
    assert ahead.ahead.delay is None
    full = (fakes.PLAIN,) * ahead.model.info.context_length
    ahead.ahead.expect(Expect((full,), None, then_likeliest=True))
    ahead.ask(full)
    assert ahead.ahead.delay is None


def test_several_prefixes_at_once_are_a_search_and_no_node_to_look_ahead_from(ahead: Ahead) -> None:
    ahead.ask(NODE)
    ahead.ask(NODE, (*NODE, 1))
    assert ahead.ahead.delay is None


def test_a_node_that_was_asked_for_is_pinned(ahead: Ahead) -> None:
    ahead.ask(NODE)
    assert ["pin", *NODE] in ahead.gate.read(0)


@pytest.mark.parametrize(("on_battery", "passes"), [(False, 0), (True, 2)])
def test_on_battery_only_where_the_user_says_so(tmp_path: Any, on_battery: bool, passes: int) -> None:
    ahead = Ahead(tmp_path, discharging=lambda: True)
    ahead.ahead.set(SetLookAhead(8, on_battery))
    ahead.ask(NODE)
    assert len(ahead.idle()) == passes


@pytest.mark.parametrize(("plugged", "expected"), [(True, False), (False, True), (None, False)])
def test_what_the_system_says_of_its_battery(
    plugged: bool | None, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    battery = type("Battery", (), {"power_plugged": plugged})
    monkeypatch.setattr(psutil, "sensors_battery", battery, raising=False)
    assert look_ahead.runs_on_battery() is expected
    monkeypatch.setattr(psutil, "sensors_battery", lambda: None)
    assert not look_ahead.runs_on_battery()
    monkeypatch.setattr(psutil, "sensors_battery", lambda: 1 / 0)
    assert not look_ahead.runs_on_battery()
    monkeypatch.delattr(psutil, "sensors_battery")
    assert not look_ahead.runs_on_battery()


def test_ends_of_a_text_and_impossible_tokens_have_no_children(ahead: Ahead) -> None:
    logits = np.full((1, fakes.VOCABULARY), -np.inf, np.float32)
    logits[0, [0, 5, 9]] = (3, 2, 1)  # 0 ends a text
    ahead.ask(NODE, logits=logits)
    assert ahead.idle() == [children(5), children(9)]


def test_nothing_follows_a_full_context(ahead: Ahead) -> None:
    ahead.ask((fakes.PLAIN,) * ahead.model.info.context_length)
    assert ahead.idle() == []


def test_a_small_cache_bounds_the_number_of_children(ahead: Ahead) -> None:
    row = 4 * fakes.VOCABULARY
    for budget, count in ((0, 0), (3 * MEMORY_SHARE * row, 3)):
        ahead.model.set_cache_budget(budget)
        ahead.ask(NODE)
        computed = [child for batch in ahead.idle() for child in batch]
        assert computed == children(BEST, BEST - 1, BEST - 2)[:count]


def test_a_node_that_is_not_kept_is_too_dear_to_guess_from(ahead: Ahead) -> None:
    ahead.ask((fakes.FORGOTTEN, 2))
    assert ahead.idle() == []


def test_a_failure_ahead_is_nobodys_trouble(ahead: Ahead, caplog: pytest.LogCaptureFixture) -> None:
    ahead.ask((fakes.PLAIN,))
    ahead.ahead.expect(Expect(((fakes.RAISES,),), None))
    ahead.ahead.work(lambda: False)
    assert ahead.ahead.delay is None
    assert "looking ahead failed" in caplog.text


@pytest.mark.parametrize(
    ("message", "stops"),
    [
        (ComputeLogits(1, ((*NODE, BEST),), None, False), False),  # just being computed
        (ComputeLogits(1, ((*NODE, BEST - 2),), None, False), True),
        (ComputeLogits(1, ((*NODE, BEST), NODE), None, False), True),
        (ComputeLogits(1, (), None, False), True),
        (Expect(((*NODE, BEST),), None), False),
        (Expect(((*NODE, 1),), None), True),
        (Expect(((*NODE, BEST), (*NODE, 1)), None), True),
        (Pin(NODE), False),
        (SetLookAhead(0, False), True),
        (SetCacheBudget(1), True),
        (Encode(1, "a"), True),
        (Close(), True),
    ],
)
def test_it_stops_for_everything_but_what_it_computes(
    ahead: Ahead, message: Any, stops: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead.ask(NODE)
    compute = ahead.model.next_token_logits

    def meanwhile(prefixes: Sequence[TokenIds], **options: Any) -> Logits:
        ahead.ahead.interrupt(message)
        return compute(prefixes, **options)

    monkeypatch.setattr(ahead.model, "next_token_logits", meanwhile)
    ahead.ahead.work(lambda: False)
    assert ahead.model.missing(children(BEST)) == stops


def test_what_was_asked_before_a_pass_begins_goes_first(ahead: Ahead) -> None:
    ahead.ask(NODE)
    ahead.ahead.work(lambda: True)
    assert ahead.model.missing(children(BEST)) == 1
    ahead.ahead.interrupt(Close())  # nothing runs


# --- through the process ---------------------------------------------------------------------------------------------


def test_the_child_looks_ahead_once_it_is_told_to(engine: Engine, gate: Gate) -> None:
    engine.set_look_ahead(2)
    engine.load(fakes.ref(gate.folder, load="caching"))
    engine.next_token_logits([NODE])
    assert gate.read(4)[2:] == [[[*NODE, BEST]], [[*NODE, BEST - 1]]]
    logits = engine.next_token_logits([(*NODE, BEST), (*NODE, BEST - 1)])
    assert np.array_equal(logits[0], fakes.expected((*NODE, BEST)))
    engine.set_look_ahead(0)
    engine.next_token_logits([(*NODE, 3)])
    engine.expect((*NODE, 4))
    assert gate.read(7)[4:] == [[[*NODE, 3]], ["pin", *NODE, 3], [[*NODE, 4]]]


def test_an_expected_pass_is_not_computed_again(engine: Engine, gate: Gate) -> None:
    engine.load(fakes.ref(gate.folder, load="caching"))
    engine.expect((fakes.WAITS,))
    gate.wait_for_passes(1)
    gate.release(1)
    assert engine.next_token_logits([(fakes.WAITS,)])[0, 0] == fakes.WAITS
    assert gate.passes == 1


def test_close_ends_a_child_that_looks_ahead(engine: Engine, gate: Gate) -> None:
    engine.load(fakes.ref(gate.folder, load="caching"))
    engine.expect((fakes.WAITS,))
    gate.wait_for_passes(1)
    gate.release()
    engine.close()
    assert not engine.alive
