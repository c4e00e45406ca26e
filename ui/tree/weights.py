"""The numbers that a tree is shown by, when they are others than those recorded with its edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TreeWeights:
    """One reading of the whole tree (the model's, the recorded sampling, a what-if): arrays indexed by node id.

    ``edge`` float64[n]: the probability of the step into the node; NaN where it is not known, 0 where the reading
    excludes the token. ``edge[0]`` (the root has no step) is 1.
    ``path_logprob`` float64[n]: natural log of the probability of the path from the root (a product of five thousand
    steps underflows, its log does not); ``-inf`` where a step of it is excluded, NaN where one is not known.
    ``entropy`` float64[n]: nats of the distribution after the node; NaN where it is not known.
    ``unseen`` float64[n]: the mass of that distribution that no child in the tree holds, 0 .. 1; NaN where unknown.
    ``name`` says what is shown, translated and ready for the legend ("sampling probability at temperature 0.7").

    Arrays may be shorter than the tree: nodes past their end are unknown. They are not to be changed after they were
    handed over; new numbers are a new object.
    """

    edge: FloatArray
    path_logprob: FloatArray
    entropy: FloatArray
    unseen: FloatArray
    name: str = ""
