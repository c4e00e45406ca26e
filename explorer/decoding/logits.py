"""Raw logits of one step, sorted once, and the part of them that the store keeps."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from explorer.caching import cached_property
from explorer.decoding.float32 import QUICK, FloatArray, sort_keys
from explorer.decoding.scores import IdArray, LiveScores
from explorer.decoding.tail import Tail
from explorer.i18n import N_
from explorer.messages import EngineError, UserMessage

__all__ = ["FloatArray", "IdArray", "Observation", "SortedLogits", "Tail"]

LISTED: Final = 256
_MAGIC: Final = b"TTO\x01"  # the last byte is the version
# number listed, vocabulary, bins of the tail (-1: none), logsumexp, entropy
_HEADER: Final = struct.Struct("<IIidd")


@dataclass(frozen=True, eq=False)
class SortedLogits:
    """Next-token logits by descending value, ties by token id; arrays are read-only.

    ``token_ids`` int32[n] and ``logits`` float32[n]; n is ``vocab_size`` unless truncated, when ``tail`` describes the
    rest and ``stored_logsumexp`` and ``stored_entropy`` are those of the whole.
    """

    token_ids: IdArray
    logits: FloatArray
    vocab_size: int
    tail: Tail | None = None
    stored_logsumexp: float | None = None
    stored_entropy: float | None = None

    def __post_init__(self) -> None:
        self.token_ids.flags.writeable = False
        self.logits.flags.writeable = False

    @classmethod
    def from_raw(cls, logits: NDArray[np.floating], dtype: str = "float32") -> SortedLogits:
        """Sort [vocab] logits, in float32. ``dtype`` is the model's, for the message.

        Raises `EngineError` (code ``logits.nonfinite``) on NaN, +inf or nothing but -inf; single -inf are legal.
        """
        with np.errstate(over="ignore"):
            raw = np.asarray(logits, dtype=np.float32)
        check_usable(raw, dtype)
        token_ids = np.arange(len(raw), dtype=np.int32)
        keys = sort_keys(raw, token_ids)
        keys.sort()
        order = keys.astype(np.int32)  # the id is the lower half of the key
        return cls(order, raw[order], len(raw))

    @property
    def truncated(self) -> bool:
        """Whether only the best tokens are listed."""
        return self.tail is not None

    @cached_property
    def logsumexp(self) -> float:
        """Natural log of the sum of exp(logit) over the whole vocabulary, float64."""
        if self.stored_logsumexp is not None:
            return self.stored_logsumexp
        return _derived(self).logsumexp

    @cached_property
    def entropy(self) -> float:
        """Entropy of the model's distribution over the whole vocabulary (T = 1), nats."""
        return self.live.entropy if self.stored_entropy is None else self.stored_entropy

    @property
    def model_probs(self) -> FloatArray:
        """Softmax of the raw logits over the whole vocabulary, for the listed tokens; float32[n]."""
        return _derived(self).model_probs

    @property
    def ranks(self) -> IdArray:
        """1, 2, 3 ...; int32[n]."""
        return _derived(self).ranks

    @property
    def live(self) -> LiveScores:
        """The start of every chain: tokens with a finite logit, then the stand-ins of the tail.

        Stand-ins have ids from ``vocab_size`` on, which no setting can name.
        """
        return _derived(self).live

    @property
    def quick_live(self) -> LiveScores:
        """`live` by an arithmetic that agrees with torch's to 1e-6."""
        return _derived(self).quick_live

    @cached_property
    def unseen_mass(self) -> float:
        """Model probability of all tokens that are not listed."""
        if self.tail is None:
            return 0.0
        return float(np.exp(self.tail.logsumexp_at(1.0).estimate - self.logsumexp))


class _Derived:
    """Arrays that follow from the logits: many times their size, so they are not kept with every node's."""

    def __init__(self, source: SortedLogits) -> None:
        self._source = source

    @property
    def logsumexp(self) -> float:
        return self._softmax[0]

    @property
    def model_probs(self) -> FloatArray:
        return self._softmax[1]

    @cached_property
    def _softmax(self) -> tuple[float, FloatArray]:
        """The log of the sum, and the softmax, from the same exponentials: they take the time."""
        logits, known = self._source.logits, self._source.stored_logsumexp
        against = float(logits[0]) if known is None else known
        weights = np.exp(logits - np.float64(against))
        if known is None:
            total = float(weights.sum())
            weights /= total
            known = against + float(np.log(total))
        probabilities = weights.astype(np.float32)
        probabilities.flags.writeable = False
        return known, probabilities

    @cached_property
    def ranks(self) -> IdArray:
        ranks = np.arange(1, len(self._source.logits) + 1, dtype=np.int32)
        ranks.flags.writeable = False
        return ranks

    @cached_property
    def live(self) -> LiveScores:
        source = self._source
        finite = int(np.count_nonzero(source.logits > -np.inf))
        token_ids, scores = source.token_ids[:finite], source.logits[:finite]
        if source.tail is None:
            return LiveScores(token_ids, scores, source.vocab_size)
        stand_ins = np.minimum(source.tail.scores, scores[-1])
        ids = source.vocab_size + np.arange(len(stand_ins), dtype=np.int32)
        return LiveScores(
            np.concatenate([token_ids, ids]), np.concatenate([scores, stand_ins]), source.vocab_size + len(stand_ins)
        )

    @cached_property
    def quick_live(self) -> LiveScores:
        live = self.live
        return LiveScores(live.token_ids, live.scores, live.size, arithmetic=QUICK)


@lru_cache(maxsize=4)
def _derived(source: SortedLogits) -> _Derived:
    """For the nodes looked at last: a slider evaluates the same one over and over."""
    return _Derived(source)


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """What the store keeps of a node: its best tokens exactly and a sketch of the rest.

    ``tail`` is None where ``token_ids`` are the whole vocabulary.
    """

    token_ids: IdArray
    logits: FloatArray
    vocab_size: int
    logsumexp: float
    entropy: float
    tail: Tail | None = None

    @classmethod
    def of(cls, logits: SortedLogits, limit: int = LISTED) -> Observation:
        """The ``limit`` best tokens of ``logits``; a vocabulary no larger than that is kept whole (no tail).

        What is truncated already stays as it is.
        """
        token_ids, best, tail = logits.token_ids, logits.logits, logits.tail
        if tail is None and len(best) > limit:
            rest = best[limit:]
            tail = Tail.of(rest[rest > -np.inf], limit)
            token_ids, best = token_ids[:limit].copy(), best[:limit].copy()  # a slice would keep the whole alive
        return cls(token_ids, best, logits.vocab_size, logits.logsumexp, logits.entropy, tail)

    def extends(self, other: Observation) -> bool:
        """Whether this is the same as ``other`` for all tokens that ``other`` lists."""
        listed = len(other.token_ids)
        same_tokens = np.array_equal(self.token_ids[:listed], other.token_ids)
        return same_tokens and np.array_equal(self.logits[:listed], other.logits)

    def sorted_logits(self) -> SortedLogits:
        """The listed logits, truncated where there is a tail."""
        return SortedLogits(self.token_ids, self.logits, self.vocab_size, self.tail, self.logsumexp, self.entropy)

    def to_bytes(self) -> bytes:
        """A versioned, compressed form with a checksum; about 2 KB at 256 tokens."""
        bins = -1 if self.tail is None else len(self.tail.counts)
        parts = [_HEADER.pack(len(self.token_ids), self.vocab_size, bins, self.logsumexp, self.entropy)]
        parts += [_pack(self.token_ids, "<i4"), _pack(self.logits, "<f4")]
        if self.tail is not None:
            parts += [_pack(self.tail.counts, "<i4"), _pack(self.tail.high, "<f4"), _pack(self.tail.low, "<f4")]
            parts += [_pack(self.tail.logsumexp, "<f8")]
        return _MAGIC + zlib.compress(b"".join(parts))

    @classmethod
    def from_bytes(cls, data: bytes) -> Observation:
        """Inverse of `to_bytes`. Raises ValueError on damaged data or an unknown version."""
        if data[:3] != _MAGIC[:3]:
            raise ValueError("not a stored observation")
        if data[:4] != _MAGIC:
            raise ValueError(f"stored observation of an unknown version: {data[3:4].hex()}")
        body = _decompressed(data[4:])
        if len(body) < _HEADER.size:
            raise ValueError("stored observation is too short")
        count, vocab_size, bins, logsumexp, entropy = _HEADER.unpack_from(body)
        dtypes = [("<i4", count), ("<f4", count)]
        if bins >= 0:
            dtypes += [("<i4", bins), ("<f4", bins), ("<f4", bins), ("<f8", bins)]
        if len(body) != _HEADER.size + sum(np.dtype(dtype).itemsize * length for dtype, length in dtypes):
            raise ValueError("stored observation has the wrong length")
        arrays, offset = [], _HEADER.size
        for dtype, length in dtypes:
            arrays.append(_unpack(body, dtype, length, offset))
            offset += arrays[-1].nbytes
        return cls(arrays[0], arrays[1], vocab_size, logsumexp, entropy, Tail(*arrays[2:]) if bins >= 0 else None)


def _pack(array: NDArray[Any], dtype: str) -> bytes:
    """First bytes of all items, then second bytes ...: neighbours share them, so it compresses by a third more."""
    return array.astype(dtype).view(np.uint8).reshape(-1, np.dtype(dtype).itemsize).T.tobytes()


def _unpack(body: bytes, dtype: str, count: int, offset: int) -> NDArray[Any]:
    size = np.dtype(dtype).itemsize
    planes = np.frombuffer(body, np.uint8, count * size, offset).reshape(size, count)
    return np.ascontiguousarray(planes.T).view(dtype).reshape(count)


def _decompressed(data: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        body = inflater.decompress(data)
    except zlib.error as error:
        raise ValueError("stored observation is damaged") from error
    if not inflater.eof or inflater.unused_data:
        raise ValueError("stored observation is cut short or followed by something else")
    return body


def check_usable(raw: FloatArray, dtype: str) -> None:
    """Raise `EngineError` (code ``logits.nonfinite``) on NaN, +inf or nothing but -inf; single -inf are legal."""
    finite = np.isfinite(raw)
    impossible = int(np.count_nonzero(raw == -np.inf))
    nonfinite = len(raw) - int(np.count_nonzero(finite)) - impossible
    if nonfinite == 0 and impossible < len(raw):
        return
    raise EngineError(
        UserMessage(
            code="logits.nonfinite",
            what=N_("The model answered with {count} unusable numbers among {total} ({dtype})."),
            meaning=N_("No token can be chosen from them; nothing was added to the tree."),
            action=N_("Open the model again with dtype float32 or bfloat16; some models overflow in float16."),
            params={"count": nonfinite or impossible, "total": len(raw), "dtype": dtype},
        )
    )
