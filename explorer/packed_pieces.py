"""Many short byte strings in one buffer: a vocabulary is read whole, and a few of its pieces are looked at."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray


class PackedPieces:
    """Byte strings by number, each cut out of the buffer when it is asked for. Immutable.

    A quarter of a million are there in milliseconds, where as many objects take a tenth of a second in which no other
    thread runs.
    """

    __slots__ = ("_bounds", "_buffer")

    def __init__(self, buffer: bytes, lengths: NDArray[np.integer], start: int = 0) -> None:
        """The strings of ``buffer`` from ``start`` on, one after another. Raises ValueError where they are not all of
        the rest of it."""
        bounds = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=bounds[1:])
        bounds += start
        if bounds[-1] != len(buffer):
            raise ValueError("lengths do not add up")
        self._buffer = buffer
        self._bounds = bounds.data  # whose single items are quick to read

    @classmethod
    def of(cls, pieces: Iterable[bytes]) -> PackedPieces:
        listed = list(pieces)
        return cls(b"".join(listed), np.fromiter(map(len, listed), np.int64, len(listed)))

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def __getitem__(self, number: int) -> bytes:
        """Raises IndexError for a number that is negative or too large."""
        if number < 0:
            raise IndexError(number)
        return self._buffer[self._bounds[number] : self._bounds[number + 1]]

    def __iter__(self) -> Iterator[bytes]:
        return itertools.starmap(self._cut, itertools.pairwise(self._bounds.tolist()))

    def __reduce__(self) -> tuple[type[PackedPieces], tuple[bytes, NDArray[np.int64]]]:
        return PackedPieces, (self.joined(), self.lengths)  # a pipe takes no memoryview

    def joined(self, separator: bytes = b"") -> bytes:
        """``separator.join`` of the strings, without making each of them."""
        joined = self._buffer[self._bounds[0] :]
        if not separator or len(self) < 2:
            return joined
        starts = np.asarray(self._bounds)[1:-1] - self._bounds[0] + len(separator) * np.arange(len(self) - 1)
        between = (starts[:, np.newaxis] + np.arange(len(separator))).ravel()
        spread = np.empty(len(joined) + len(between), np.uint8)
        of_a_piece = np.ones(len(spread), np.bool_)
        of_a_piece[between] = False
        spread[of_a_piece] = np.frombuffer(joined, np.uint8)
        spread[between] = np.tile(np.frombuffer(separator, np.uint8), len(starts))
        return spread.tobytes()

    @property
    def lengths(self) -> NDArray[np.int64]:
        """In bytes, int64[pieces]."""
        return np.diff(np.asarray(self._bounds))

    def _cut(self, start: int, end: int) -> bytes:
        return self._buffer[start:end]
