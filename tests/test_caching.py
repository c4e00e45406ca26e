"""`explorer.caching`: each object's value once, and no object waits for another."""

from __future__ import annotations

import threading

from explorer.caching import cached_property


class Slow:
    """Its value is ready when ``gate`` opens."""

    def __init__(self, gate: threading.Event) -> None:
        self.gate = gate
        self.times = 0

    @cached_property
    def value(self) -> int:
        """A number."""
        self.gate.wait(30)
        self.times += 1
        return self.times


def open_gate() -> threading.Event:
    gate = threading.Event()
    gate.set()
    return gate


def test_a_value_is_worked_out_once_an_object_and_can_be_forgotten() -> None:
    one, other = Slow(open_gate()), Slow(open_gate())
    assert (one.value, one.value, other.value, one.times) == (1, 1, 1, 1)
    del one.__dict__["value"]
    assert one.value == 2
    assert Slow.__dict__["value"].__doc__ == "A number."


def test_one_object_does_not_wait_for_another() -> None:
    waiting = Slow(threading.Event())
    worker = threading.Thread(target=lambda: waiting.value)
    worker.start()
    assert Slow(open_gate()).value == 1  # while the worker is inside the same property of another object
    assert waiting.times == 0
    waiting.gate.set()
    worker.join()
    assert waiting.times == 1
