"""The pages of an SQLite file, read without SQLite: what is left of a file that SQLite itself refuses.

Follows the "Database File Format" of SQLite. Nothing is ever written, no side file is made.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Final

_MAGIC: Final = b"SQLite format 3\0"
_USUAL_PAGE: Final = 4096
_PAGE_SIZES: Final = frozenset(2**n for n in range(9, 17))
_LOG_MAGICS: Final = {0x377F0682: "<", 0x377F0683: ">"}  # the byte order of the log's checksums
_LOG_HEADER: Final = 32
_FRAME_HEADER: Final = 24


class PageFile:
    """A library's pages as the last commit left them: those in its write-ahead log before those in the file itself."""

    def __init__(self, path: Path) -> None:
        """Raises OSError for a file that cannot be read at all."""
        self._file = path.open("rb", buffering=0)
        log = path.with_name(path.name + "-wal")
        self._log = log.read_bytes() if log.exists() else b""
        header = self._read(0, 100)
        self.readable_header = header[:16] == _MAGIC and _page_size(header[16:18]) in _PAGE_SIZES
        self.page_size = self._choose_page_size(header)
        self._frames, committed = _committed_frames(self._log, self.page_size)
        self.count = committed or self._file.seek(0, os.SEEK_END) // self.page_size
        first = self.page(1) or b""
        if first[:16] == _MAGIC:  # in the log it may be whole again
            self.readable_header = True
        self.usable = self.page_size - (first[20] if self.readable_header and len(first) > 20 else 0)

    def close(self) -> None:
        self._file.close()

    def page(self, number: int) -> bytes | None:
        """The bytes of a page, numbered from 1; None where the file ends before it does, or the disk refuses."""
        if number in self._frames:
            start = self._frames[number]
            return self._log[start : start + self.page_size]
        if number < 1:
            return None
        try:
            found = self._read((number - 1) * self.page_size, self.page_size)
        except OSError:  # a sector that the disk cannot read: the others may be
            return None
        return found if len(found) == self.page_size else None

    def free(self) -> frozenset[int]:
        """The pages that the file says hold nothing any more."""
        first = self.page(1)
        if first is None or not self.readable_header:
            return frozenset()
        found: set[int] = set()
        trunk = int.from_bytes(first[32:36])
        while trunk and trunk not in found and (page := self.page(trunk)) is not None:
            found.add(trunk)
            trunk, leaves = struct.unpack_from(">II", page)
            leaves = min(leaves, (self.usable - 8) // 4)
            found.update(struct.unpack_from(f">{leaves}I", page, 8))
        return frozenset(found)

    def _read(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        return self._file.read(size)

    def _choose_page_size(self, header: bytes) -> int:
        if self.readable_header:
            return _page_size(header[16:18])
        in_log = int.from_bytes(self._log[8:12]) if len(self._log) >= _LOG_HEADER else 0
        return in_log if in_log in _PAGE_SIZES else _USUAL_PAGE


def _page_size(field: bytes) -> int:
    size = int.from_bytes(field)
    return 65536 if size == 1 else size


def _committed_frames(log: bytes, page_size: int) -> tuple[dict[int, int], int]:
    """Where in the log the last committed copy of each page begins, and how many pages the file then has (0: no log).

    As SQLite reads it: up to the first frame that is not what its checksum says.
    """
    if len(log) < _LOG_HEADER:
        return {}, 0
    magic, _, size, _, *salts = struct.unpack_from(">6I", log)
    order = _LOG_MAGICS.get(magic)
    if order is None or size != page_size:
        return {}, 0
    sums = _checksum(log[: _LOG_HEADER - 8], (0, 0), order)
    if sums != struct.unpack_from(">II", log, _LOG_HEADER - 8):
        return {}, 0
    committed: dict[int, int] = {}
    pending: dict[int, int] = {}
    count, place = 0, _LOG_HEADER
    while place + _FRAME_HEADER + page_size <= len(log):
        number, pages, *rest = struct.unpack_from(">6I", log, place)
        start = place + _FRAME_HEADER
        sums = _checksum(log[place : place + 8], sums, order)
        sums = _checksum(log[start : start + page_size], sums, order)
        if rest != [*salts, *sums]:
            break
        pending[number] = start
        if pages:
            committed.update(pending)
            pending.clear()
            count = pages
        place = start + page_size
    return committed, count


def _checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
