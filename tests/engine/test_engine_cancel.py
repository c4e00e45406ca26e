"""Cancelling, killing and closing while something runs (C30, C46)."""

from __future__ import annotations

import _thread
import os
import signal
import threading
from typing import Any

import engine_fakes as fakes
import numpy as np
import pytest
from engine_fakes import Gate

from explorer.engine import process
from explorer.engine.client import Engine
from explorer.messages import EngineCrashed
from explorer.progress import Cancelled, CancelToken

WAITING = (fakes.WAITS,)


def test_c30a_cancel_before_the_first_token(engine: Engine, gate: Gate) -> None:
    engine.load(fakes.ref(gate.folder))
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        engine.next_token_logits([WAITING], cancel=cancel)
    gate.release()
    assert engine.encode("A") == (1,)
    assert gate.passes == 0


def test_c30b_cancel_after_three_tokens_costs_at_most_one_more_pass(engine: Engine, gate: Gate, in_thread: Any) -> None:
    engine.load(fakes.ref(gate.folder))
    gate.release(3)
    kept = [engine.next_token_logits([(*WAITING, step)]) for step in range(3)]
    cancel = CancelToken()
    fourth = in_thread(lambda: engine.next_token_logits([WAITING] * 10, cancel=cancel))
    gate.wait_for_passes(4)
    cancel.cancel()
    with pytest.raises(Cancelled):  # while the fourth pass still hangs at the gate
        fourth.result()
    _wait_until_the_child_knows(engine)
    gate.release()
    assert np.array_equal(engine.next_token_logits([(fakes.PLAIN, 5)])[0], fakes.expected((fakes.PLAIN, 5)))
    assert gate.passes == 4
    assert [row[0, 0] for row in kept] == [11, 12, 13]


def test_c30c_cancel_twice(engine: Engine, gate: Gate, in_thread: Any) -> None:
    engine.load(fakes.ref(gate.folder))
    for round_ in (1, 2):
        cancel = CancelToken()
        call = in_thread(lambda cancel=cancel: engine.next_token_logits([WAITING], cancel=cancel))
        if round_ == 1:  # the second request waits in the child behind the first and never begins
            gate.wait_for_passes(1)
        cancel.cancel()
        cancel.cancel()
        with pytest.raises(Cancelled):
            call.result()
        with pytest.raises(Cancelled):
            engine.next_token_logits([WAITING], cancel=cancel)
    _wait_until_the_child_knows(engine)
    gate.release()
    assert engine.next_token_logits([(fakes.PLAIN,)])[0, 0] == fakes.PLAIN
    assert gate.passes == 1


def test_memory_is_answered_beside_a_cancelled_pass(engine: Engine, gate: Gate, in_thread: Any) -> None:
    engine.load(fakes.ref(gate.folder))
    _cancelled_pass(engine, gate, in_thread)
    assert engine.memory().rss_bytes > 0


def test_a_large_late_answer_and_a_large_request_do_not_block_each_other(
    engine: Engine, gate: Gate, in_thread: Any
) -> None:
    """Both fill their direction of the pipe: the child must read while it writes."""
    engine.load(fakes.ref(gate.folder, vocabulary=262_144))
    _cancelled_pass(engine, gate, in_thread)
    gate.release()
    prefix = (fakes.PLAIN, *range(90_000))
    for _ in range(2):
        logits = engine.next_token_logits([prefix] * 4)
        assert np.array_equal(logits[3], fakes.expected(prefix, 262_144))


def test_cancel_of_a_load_lets_the_opener_tidy_up(engine: Engine, gate: Gate, in_thread: Any) -> None:
    engine.load(fakes.ref())
    old = engine.pid
    cancel = CancelToken()
    load = in_thread(lambda: engine.load(fakes.ref(gate.folder, load="waiting"), cancel=cancel))
    gate.wait_for_passes(1)
    cancel.cancel()
    with pytest.raises(Cancelled):
        load.result()
    assert gate.marked("tidied")
    assert engine.pid == old
    assert engine.encode("A") == (1,)


def test_cancel_of_a_load_that_does_not_listen_kills_it(engine: Engine, gate: Gate, in_thread: Any) -> None:
    cancel = CancelToken()
    load = in_thread(lambda: engine.load(fakes.ref(gate.folder, load="stuck"), cancel=cancel))
    gate.wait_for_passes(1)
    cancel.cancel()
    with pytest.raises(Cancelled):
        load.result()
    assert not engine.alive
    assert engine.ref is None


def test_cancel_before_a_load(engine: Engine) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        engine.load(fakes.ref(), cancel=cancel)


def test_a_hung_pass_ends_with_kill_and_restart(engine: Engine, gate: Gate, in_thread: Any) -> None:
    engine.load(fakes.ref(gate.folder))
    call = in_thread(lambda: engine.next_token_logits([WAITING]))
    gate.wait_for_passes(1)
    engine.kill()
    with pytest.raises(EngineCrashed) as caught:
        call.result()
    assert caught.value.message.code == "engine.stopped"
    assert not engine.alive
    assert engine.pid is None
    assert engine.ref == fakes.ref(gate.folder)
    assert engine.info is not None
    assert engine.vocabulary is not None
    with pytest.raises(EngineCrashed):
        engine.encode("A")
    engine.kill()
    engine.restart()
    assert engine.encode("A") == (1,)


def test_while_a_killed_process_is_taken_apart_it_is_as_good_as_dead(
    engine: Engine, in_thread: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.load(fakes.ref())
    reaping, go_on, end = threading.Event(), threading.Event(), process._end

    def slow_end(child: Any) -> int | None:
        reaping.set()
        go_on.wait(60)
        return end(child)

    monkeypatch.setattr(process, "_end", slow_end)
    kill = in_thread(engine.kill)
    reaping.wait(60)
    engine.pin((1,))
    with pytest.raises(EngineCrashed) as caught:
        engine.encode("A")
    assert caught.value.message.code == "engine.stopped"
    go_on.set()
    kill.result()


def test_kill_during_a_load_leaves_nothing(engine: Engine, gate: Gate, in_thread: Any) -> None:
    load = in_thread(lambda: engine.load(fakes.ref(gate.folder, load="stuck")))
    gate.wait_for_passes(1)
    engine.kill()
    with pytest.raises(EngineCrashed) as caught:
        load.result()
    assert caught.value.message.code == "engine.stopped"


def test_restart_of_a_running_process_replaces_it(engine: Engine) -> None:
    engine.load(fakes.ref())
    old = engine.pid
    assert engine.restart().identity.name == "fake"
    assert engine.pid != old


def test_c46_close_while_a_pass_runs(engine: Engine, gate: Gate, in_thread: Any) -> None:
    engine.load(fakes.ref(gate.folder))
    call = in_thread(lambda: engine.next_token_logits([WAITING]))
    gate.wait_for_passes(1)
    engine.close()
    with pytest.raises(EngineCrashed) as caught:
        call.result()
    assert caught.value.message.code == "engine.stopped"
    assert not engine.alive


def test_c46_close_after_a_cancelled_pass(engine: Engine, gate: Gate, in_thread: Any) -> None:
    engine.load(fakes.ref(gate.folder))
    _cancelled_pass(engine, gate, in_thread)
    engine.close()
    assert not engine.alive


def test_c46_close_while_a_load_runs(engine: Engine, gate: Gate, in_thread: Any) -> None:
    engine.load(fakes.ref())
    load = in_thread(lambda: engine.load(fakes.ref(gate.folder, load="waiting")))
    gate.wait_for_passes(1)
    engine.close()
    with pytest.raises(EngineCrashed) as caught:
        load.result()
    assert caught.value.message.code == "engine.stopped"
    assert not engine.alive


def test_close_twice_and_load_again(engine: Engine) -> None:
    engine.load(fakes.ref())
    engine.close()
    engine.close()
    assert (engine.ref, engine.info, engine.vocabulary, engine.alive) == (None, None, None, False)
    engine.load(fakes.ref())
    assert engine.encode("A") == (1,)


def test_a_second_caller_is_refused(engine: Engine, gate: Gate, in_thread: Any) -> None:
    engine.load(fakes.ref(gate.folder))
    call = in_thread(lambda: engine.next_token_logits([WAITING]))
    gate.wait_for_passes(1)
    with pytest.raises(RuntimeError, match="one thread at a time"):
        engine.encode("A")
    load = in_thread(lambda: engine.load(fakes.ref(gate.folder, load="waiting")))
    gate.wait_for_passes(2)
    with pytest.raises(RuntimeError, match="loading already"):
        engine.load(fakes.ref())
    gate.release(1)
    assert call.result()[0, 0] == fakes.WAITS
    gate.release()
    load.result()


@pytest.mark.parametrize("wakes", [True, False])
def test_ctrl_c_while_waiting_cancels_the_pass(engine: Engine, gate: Gate, in_thread: Any, wakes: bool) -> None:
    """Also one that does not wake the thread that waits."""
    engine.load(fakes.ref(gate.folder))

    def press() -> None:
        gate.wait_for_passes(1)
        if wakes:
            os.kill(os.getpid(), signal.SIGINT)
        else:
            _thread.interrupt_main()

    finger = in_thread(press)
    with pytest.raises(KeyboardInterrupt):
        engine.next_token_logits([WAITING] * 10)
    finger.result()
    _wait_until_the_child_knows(engine)
    gate.release()
    assert engine.encode("A") == (1,)
    assert gate.passes == 1
    assert not gate.marked("waited in vain")


def test_a_progress_callback_that_raises_cancels_the_pass(engine: Engine, gate: Gate) -> None:
    engine.load(fakes.ref(gate.folder))

    def fail(_: object) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        engine.next_token_logits([(fakes.PLAIN,), *[WAITING] * 10], progress=fail)
    _wait_until_the_child_knows(engine)
    gate.release()
    assert engine.encode("A") == (1,)
    assert gate.passes <= 1


def _wait_until_the_child_knows(engine: Engine) -> None:
    """The thread of the child that takes a cancel answers this, in order, while the other one computes."""
    engine.memory()


def _cancelled_pass(engine: Engine, gate: Gate, in_thread: Any) -> None:
    """Leave the child inside a pass that nobody waits for."""
    cancel = CancelToken()
    call = in_thread(lambda: engine.next_token_logits([WAITING], cancel=cancel))
    gate.wait_for_passes(1)
    cancel.cancel()
    with pytest.raises(Cancelled):
        call.result()
