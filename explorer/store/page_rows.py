"""Rows out of the pages of an SQLite file: cells, records, overflow chains, and the trees that hold tables together."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from explorer.store.pages import PageFile

Value = int | float | str | bytes | None
Row = tuple[Value, ...]

_INTERIOR: Final = 5
_LEAF: Final = 13
_INTEGER_BYTES: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_FIRST_HEADER: Final = 100  # bytes of the file's header in front of page 1's own


class RowReader:
    """Reads the leaf pages of tables. What cannot be read is skipped and counted."""

    def __init__(self, pages: PageFile) -> None:
        self._pages = pages
        self.bad_rows = 0
        self.bad_pages: set[int] = set()  # met on the way through a tree, and none of its pages
        self.used: set[int] = set()  # pages that belong to a row or a tree that was read

    def is_leaf(self, number: int) -> bool:
        page = self._pages.page(number)
        return page is not None and page[_start(number)] == _LEAF

    def leaves(self, root: int) -> list[int]:
        """The leaf pages below a table's root, as far as the tree holds together, in order."""
        found: list[int] = []
        waiting = [root]
        while waiting:
            number = waiting.pop()
            page = self._pages.page(number)
            kind = None if page is None else page[_start(number)]
            if number in self.used or page is None or kind not in (_INTERIOR, _LEAF):
                self.bad_pages.add(number)
                continue
            self.used.add(number)
            if kind == _LEAF:
                found.append(number)
                continue
            start = _start(number)
            children = []
            for place in self._cells(page, number, 12):
                children.append(int.from_bytes(page[place : place + 4]))
            children.append(int.from_bytes(page[start + 8 : start + 12]))
            waiting += reversed(children)
        return found

    def rows(self, number: int) -> Iterator[tuple[int, Row]]:
        """Every row on a leaf page that can be read: its rowid and its values."""
        page = self._pages.page(number)
        if page is None or page[_start(number)] != _LEAF:
            return
        for place in self._cells(page, number, 8):
            try:
                size, at = _varint(page, place)
                rowid, at = _varint(page, at)
                yield _signed(rowid), _record(self._payload(page, at, size))
            except (IndexError, ValueError, struct.error):
                self.bad_rows += 1

    def _cells(self, page: bytes, number: int, header: int) -> tuple[int, ...]:
        start = _start(number)
        count = int.from_bytes(page[start + 3 : start + 5])
        count = min(count, (len(page) - start - header) // 2)
        return struct.unpack_from(f">{count}H", page, start + header)

    def _payload(self, page: bytes, at: int, size: int) -> bytes:
        """A cell's record, the pages it overflows into included. Raises ValueError where the chain breaks."""
        usable = self._pages.usable
        if size > self._pages.count * usable:
            raise ValueError("longer than the file")
        local = _local(size, usable)
        parts = [page[at : at + local]]
        left = size - local
        following = int.from_bytes(page[at + local : at + local + 4]) if left else 0
        chain = []
        while left:
            found = self._pages.page(following)
            if found is None or following in self.used:
                raise ValueError("the chain of overflow pages breaks")
            chain.append(following)
            parts.append(found[4 : 4 + min(left, usable - 4)])
            left -= len(parts[-1])
            following = int.from_bytes(found[:4])
            if (following == 0) != (left == 0) or len(chain) > self._pages.count:
                raise ValueError("the chain of overflow pages has another length")
        self.used.update(chain)
        return b"".join(parts)


def _start(number: int) -> int:
    return _FIRST_HEADER if number == 1 else 0


def _local(size: int, usable: int) -> int:
    """Bytes of a record of ``size`` bytes that lie on the leaf page itself."""
    if size <= usable - 35:
        return size
    least = (usable - 12) * 32 // 255 - 23
    kept = least + (size - least) % (usable - 4)
    return kept if kept <= usable - 35 else least


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of SQLite's variable length, and where it ends. Raises IndexError past the end."""
    number = 0
    for n in range(8):
        byte = data[at + n]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at + n + 1
    return number << 8 | data[at + 8], at + 9


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _record(data: bytes) -> Row:
    """The values of a record. Raises ValueError or IndexError for what is none."""
    end, at = _varint(data, 0)
    place, values = end, []
    while at < end:
        kind, at = _varint(data, at)
        size = _size(kind)
        if place + size > len(data):
            raise ValueError("a value ends behind its record")
        values.append(_value(kind, data[place : place + size]))
        place += size
    if at != end or place != len(data):
        raise ValueError("a record of another length")
    return tuple(values)


def _size(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    return 8 if kind == 7 else _INTEGER_BYTES.get(kind, 0)


def _value(kind: int, data: bytes) -> Value:
    if kind >= 12:
        return data if kind % 2 == 0 else data.decode("utf-8")
    if kind in (0, 8, 9):
        return None if kind == 0 else kind - 8
    if kind == 7:
        number: float
        (number,) = struct.unpack(">d", data)
        return number
    if kind in _INTEGER_BYTES:
        return int.from_bytes(data, signed=True)
    raise ValueError(f"no such type: {kind}")
