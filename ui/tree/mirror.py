"""The canvas's own copy of the tree: growable arrays by node id, fed by change records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from explorer.tree import ROOT, HowChosen, Node
from ui.tree.arrays import FloatArray, Ids, IntArray

HOWS: tuple[HowChosen, ...] = ("greedy", "drawn", "manual", "beam", "expanded", "given")
NO_NODE = -1
_HOW_NUMBERS = {how: number for number, how in enumerate(HOWS)}
_LEAST_CAPACITY = 256


class TreeMirror:
    """Nodes by id in numpy arrays (``self.parent[:self.size]`` and so on).

    ``model_prob`` is the probability of the edge into a node, ``sampling_prob`` the one recorded for the draw (0 where
    a filter had excluded the token), ``path_logprob`` the sum of model log-probabilities from the root. Ids that were
    never added, and hidden nodes, are not ``visible``; ``children`` counts visible children, ``child_prob`` sums their
    probabilities. ``version`` rises with every change.
    """

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.size = 1
        self.version = 0
        self.parent: IntArray
        self.depth: IntArray
        self.token: IntArray
        self.rank: IntArray
        self.how: NDArray[np.int8]
        self.forced: NDArray[np.bool_]
        self.visible: NDArray[np.bool_]
        self.children: IntArray
        self.model_prob: FloatArray
        self.sampling_prob: FloatArray
        self.child_prob: FloatArray
        self.path_logprob: FloatArray
        self._ids: Ids | None = None
        self._reserve(_LEAST_CAPACITY)
        self.visible[ROOT] = True

    def _reserve(self, capacity: int) -> None:
        kinds: dict[str, tuple[type[np.generic], float]] = {
            "parent": (np.int32, 0),
            "depth": (np.int32, 0),
            "token": (np.int32, NO_NODE),
            "rank": (np.int32, 0),
            "how": (np.int8, 0),
            "forced": (np.bool_, False),
            "visible": (np.bool_, False),
            "children": (np.int32, 0),
            "model_prob": (np.float64, 1.0),
            "sampling_prob": (np.float64, 1.0),
            "child_prob": (np.float64, 0.0),
            "path_logprob": (np.float64, 0.0),
        }
        for name, (kind, empty) in kinds.items():
            grown = np.full(capacity, empty, dtype=kind)
            old = getattr(self, name, None)
            if old is not None:
                grown[: len(old)] = old
            setattr(self, name, grown)

    # --- growing -----------------------------------------------------------------------------------------------------

    def add(self, node: Node) -> None:
        """Add a visible node. Its parent must be there already."""
        if node.id >= len(self.parent):
            self._reserve(max(node.id + 1, 2 * len(self.parent)))
        place, parent = node.id, node.parent
        self._touch()
        self.nodes[place] = node
        self.size = max(self.size, place + 1)
        self.parent[place] = parent
        self.depth[place] = node.depth
        self.token[place] = node.token_id
        self.rank[place] = node.edge.rank
        self.how[place] = _HOW_NUMBERS[node.edge.how]
        self.forced[place] = node.edge.forced
        self.model_prob[place] = np.exp(node.edge.model_logprob)
        self.sampling_prob[place] = _sampling_probability(node)
        self.path_logprob[place] = self.path_logprob[parent] + node.edge.model_logprob
        self.visible[place] = True
        self.children[parent] += 1
        self.child_prob[parent] += self.model_prob[place]

    def fill(self, nodes: Sequence[Node]) -> None:
        """Add many nodes, parents before children, to a mirror that has none yet."""
        self._touch()
        edges = [node.edge for node in nodes]
        ids = np.array([node.id for node in nodes], dtype=np.int64)
        self.size = int(ids.max()) + 1
        self._reserve(max(_LEAST_CAPACITY, self.size))
        self.nodes = {node.id: node for node in nodes}
        self.parent[ids] = [node.parent for node in nodes]
        self.depth[ids] = [node.depth for node in nodes]
        self.token[ids] = [node.token_id for node in nodes]
        self.rank[ids] = [edge.rank for edge in edges]
        self.how[ids] = [_HOW_NUMBERS[edge.how] for edge in edges]
        self.forced[ids] = [edge.forced for edge in edges]
        self.model_prob[ids] = np.exp([edge.model_logprob for edge in edges])
        self.sampling_prob[ids] = [_sampling_probability(node) for node in nodes]
        self.visible[ids] = True
        self.children[: self.size] = np.bincount(self.parent[ids], minlength=self.size)
        self.child_prob[: self.size] = np.bincount(self.parent[ids], self.model_prob[ids], minlength=self.size)
        logprobs = {ROOT: 0.0}
        for node in nodes:
            logprobs[node.id] = logprobs[node.parent] + node.edge.model_logprob
        self.path_logprob[ids] = [logprobs[node.id] for node in nodes]

    def hide(self, node_ids: Iterable[int]) -> None:
        """Take nodes out of sight."""
        self._set_visible(node_ids, False)

    def reveal(self, node_ids: Iterable[int]) -> None:
        """Bring hidden nodes back."""
        self._set_visible(node_ids, True)

    def _set_visible(self, node_ids: Iterable[int], visible: bool) -> None:
        for node_id in node_ids:
            if node_id in self.nodes and self.visible[node_id] != visible:
                self.visible[node_id] = visible
                parent, probability = self.parent[node_id], self.model_prob[node_id]
                self.children[parent] += 1 if visible else -1
                self.child_prob[parent] += probability if visible else -probability
                self._touch()

    def _touch(self) -> None:
        self.version += 1
        self._ids = None

    # --- asking ------------------------------------------------------------------------------------------------------

    def __contains__(self, node_id: int) -> bool:
        return 0 <= node_id < self.size and bool(self.visible[node_id])

    @property
    def count(self) -> int:
        """Visible nodes, the root not counted."""
        return int(np.count_nonzero(self.visible[: self.size])) - 1

    def ids(self) -> Ids:
        """Visible node ids, rising; the root first. Not to be changed."""
        if self._ids is None:
            self._ids = np.flatnonzero(self.visible[: self.size])
        return self._ids

    def path(self, node_id: int) -> list[int]:
        """Node ids from the root (included) to ``node_id``."""
        ids = [node_id]
        while node_id != ROOT:
            node_id = int(self.parent[node_id])
            ids.append(node_id)
        ids.reverse()
        return ids

    def children_of(self, node_id: int) -> list[int]:
        """Visible children as they are drawn: the likeliest first."""
        ids = np.flatnonzero((self.parent[: self.size] == node_id) & self.visible[: self.size])
        ids = ids[ids != ROOT]
        return [int(i) for i in ids[np.lexsort((self.token[ids], self.rank[ids]))]]

    def sibling_of(self, node_id: int, delta: int) -> int | None:
        """The sibling ``delta`` places below (above where negative); None where there is none."""
        if node_id == ROOT:
            return None
        siblings = self.children_of(int(self.parent[node_id]))
        place = siblings.index(node_id) + delta
        return siblings[place] if 0 <= place < len(siblings) else None

    def hows(self) -> list[HowChosen]:
        """The ways of choosing that occur among the visible nodes."""
        ids = self.ids()[1:]
        present = np.bincount(self.how[ids], minlength=len(HOWS))
        return [how for number, how in enumerate(HOWS) if present[number]]

    def unseen(self, ids: Ids) -> FloatArray:
        """The part of the model's next-token probability at nodes that no visible child holds; NaN for nodes that have
        no visible children."""
        unseen: FloatArray = np.where(self.children[ids] > 0, np.clip(1.0 - self.child_prob[ids], 0.0, 1.0), np.nan)
        return unseen


def _sampling_probability(node: Node) -> float:
    logprob = node.edge.sampling_logprob
    return 0.0 if logprob is None else math.exp(logprob)


def mirror_of(nodes: Sequence[Node], hidden: Iterable[int]) -> TreeMirror:
    """A mirror of nodes in order of creation, some of them hidden; faster than adding them one by one."""
    mirror = TreeMirror()
    if nodes:
        mirror.fill(nodes)
    mirror.hide(hidden)
    return mirror
