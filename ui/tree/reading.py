"""The numbers a tree is shown by: those recorded with its edges, or those of `TreeWeights` laid over them."""

from __future__ import annotations

import numpy as np

from explorer.i18n import tr
from ui.tree.arrays import BoolArray, FloatArray, Ids
from ui.tree.mirror import TreeMirror
from ui.tree.weights import TreeWeights


class Reading:
    """Answers by node ids. NaN is what is not known; a probability of 0 is an excluded step."""

    def __init__(self, mirror: TreeMirror, weights: TreeWeights | None) -> None:
        self._mirror = mirror
        self._weights = weights

    @property
    def recorded(self) -> bool:
        """Whether these are the model probabilities recorded with the edges."""
        return self._weights is None

    @property
    def name(self) -> str:
        """What the probabilities are, for a legend."""
        if self._weights is None:
            return tr("model probability")
        return self._weights.name or tr("probability")

    def edge(self, ids: Ids) -> FloatArray:
        """The probability of the step into each node."""
        return self._mirror.model_prob[ids] if self._weights is None else _known(self._weights.edge, ids)

    def path_logprob(self, ids: Ids) -> FloatArray:
        """The natural log of the probability of each path; -inf where a step is excluded."""
        return self._mirror.path_logprob[ids] if self._weights is None else _known(self._weights.path_logprob, ids)

    def entropy(self, ids: Ids) -> FloatArray:
        """Nats of the distribution after each node."""
        return np.full(len(ids), np.nan) if self._weights is None else _known(self._weights.entropy, ids)

    def unseen(self, ids: Ids) -> FloatArray:
        """The mass of that distribution that no child holds; NaN for leaves, too, where only edges are known."""
        if self._weights is not None:
            return _known(self._weights.unseen, ids)
        return self._mirror.unseen(ids)

    def excluded(self, ids: Ids) -> BoolArray:
        """Whether the reading cannot get there at all."""
        if self._weights is None:
            return np.zeros(len(ids), dtype=bool)
        return np.isneginf(_known(self._weights.path_logprob, ids))


def _known(values: FloatArray, ids: Ids) -> FloatArray:
    """Entries by node id; NaN past the end of the array."""
    if len(ids) == 0 or int(ids.max()) < len(values):
        return values[ids]
    found = np.full(len(ids), np.nan)
    inside = ids < len(values)
    found[inside] = values[ids[inside]]
    return found
