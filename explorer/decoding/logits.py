"""Raw logits of one step: sorted once, or the part of them that the store keeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
IdArray = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """A sketch of the logits that are not listed, in bins of falling logit.

    ``counts`` int32[b] tokens a bin, ``high`` and ``low`` float32[b] its largest and smallest logit, ``logsumexp``
    float64[b]. Tokens with logit -inf are in no bin.
    """

    counts: NDArray[np.int32]
    high: FloatArray
    low: FloatArray
    logsumexp: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SortedLogits:
    """Next-token logits by descending value, ties by token id; arrays are read-only.

    ``token_ids`` int32[n] and ``logits`` float32[n]; n is ``vocab_size`` unless truncated, when ``tail`` describes the
    rest.
    """

    token_ids: IdArray
    logits: FloatArray
    vocab_size: int
    tail: Tail | None = None

    @classmethod
    def from_raw(cls, logits: NDArray[np.floating], dtype: str = "float32") -> SortedLogits:
        """Sort float32[vocab]. ``dtype`` is the model's, for the message.

        Raises `EngineError` (code ``logits.nonfinite``) on NaN, +inf or nothing but -inf; single -inf are legal.
        """
        raise NotImplementedError

    @property
    def truncated(self) -> bool:
        """Whether only the best tokens are listed."""
        return self.tail is not None

    @property
    def logsumexp(self) -> float:
        """Natural log of the sum of exp(logit) over the whole vocabulary, float64."""
        raise NotImplementedError

    @property
    def entropy(self) -> float:
        """Entropy of the model's distribution over the whole vocabulary (T = 1), nats."""
        raise NotImplementedError

    @property
    def model_probs(self) -> FloatArray:
        """Softmax of the raw logits over the whole vocabulary, for the listed tokens; float32[n]."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """What the store keeps of a node's distribution: its best tokens exactly and a sketch of the rest."""

    token_ids: IdArray
    logits: FloatArray
    vocab_size: int
    logsumexp: float
    entropy: float
    tail: Tail | None = None

    @classmethod
    def of(cls, logits: SortedLogits, limit: int = 256) -> Observation:
        """The ``limit`` best tokens of ``logits``; a vocabulary no larger than that is kept whole (no tail)."""
        raise NotImplementedError

    def sorted_logits(self) -> SortedLogits:
        """The listed logits, truncated where there is a tail."""
        raise NotImplementedError

    def to_bytes(self) -> bytes:
        """A compressed, versioned form."""
        raise NotImplementedError

    @classmethod
    def from_bytes(cls, data: bytes) -> Observation:
        """Inverse of `to_bytes`. Raises ValueError on damaged data or an unknown version."""
        raise NotImplementedError
