"""Writes wait in order while the library is away, and none is lost."""

from __future__ import annotations

from explorer.messages import StoreError, UserMessage
from explorer.outbox import Outbox


class Disk:
    def __init__(self) -> None:
        self.full = False
        self.written: list[int] = []

    def write(self, value: int) -> None:
        if self.full:
            raise StoreError(UserMessage("store.full", "The disk is full."))
        self.written.append(value)


def test_what_could_not_be_written_waits_and_keeps_its_order() -> None:
    disk, outbox = Disk(), Outbox()
    outbox.write(lambda: disk.write(1))
    disk.full = True
    outbox.write(lambda: disk.write(2))
    outbox.write(lambda: disk.write(3))
    assert len(outbox) == 2
    assert outbox.error is not None
    assert outbox.error.code == "store.full"
    assert not outbox.flush()
    disk.full = False
    outbox.write(lambda: disk.write(4))
    assert disk.written == [1, 2, 3, 4]
    assert len(outbox) == 0
    assert outbox.error is None
