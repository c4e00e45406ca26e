"""The whole tree under one reading: the model's probabilities, those recorded when tokens were taken, or those that
other settings would give. No forward pass; nothing that was stored changes."""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.decoding.logits import SortedLogits
from explorer.decoding.params import Settings
from explorer.decoding.shares import shares
from explorer.progress import CancelToken
from explorer.session import Session
from explorer.tree import ROOT, NodeId, TokenTree

DoubleArray = NDArray[np.float64]
SLICE_SECONDS: Final = 0.05
_KEPT_DISTRIBUTIONS: Final = 20_000  # about 3 KB each


@dataclass(frozen=True, eq=False)
class TreeReading:
    """Numbers by node id, float64[n] each, NaN where a number is not known (yet).

    ``edge``: the probability of the step into a node, 0 where the reading excludes it, 1 for the root.
    ``path_logprob``: natural log of the product along the path. ``entropy``: nats of the distribution after a node.
    ``unseen``: what of that distribution no visible child has. ``done`` of ``total`` nodes with children are read.
    """

    edge: DoubleArray
    path_logprob: DoubleArray
    entropy: DoubleArray
    unseen: DoubleArray
    done: int
    total: int

    @property
    def complete(self) -> bool:
        return self.done == self.total


def model_reading(tree: TokenTree) -> TreeReading:
    """The model's own probabilities, temperature 1 and no filter, as recorded with every edge; no entropies."""
    edge = _edges(tree)
    for node in tree.nodes():
        edge[node.id] = np.exp(node.edge.model_logprob)
    return _reading(tree, edge, _unknown(tree))


def recorded_reading(tree: TokenTree) -> TreeReading:
    """The sampling probabilities under the settings of each step; 0 where a token was forced; no entropies."""
    edge = _edges(tree)
    for node in tree.nodes():
        sampled = node.edge.sampling_logprob
        edge[node.id] = 0.0 if sampled is None else np.exp(sampled)
    return _reading(tree, edge, _unknown(tree))


class Reweigher:
    """Reads a session's tree under what-if settings again and again; keeps the distributions it has read.

    Used from the session's thread.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kept: OrderedDict[NodeId, SortedLogits | None] = OrderedDict()

    def what_if(
        self, settings: Settings, first: Iterable[NodeId] = (), cancel: CancelToken | None = None
    ) -> Iterator[TreeReading]:
        """The tree as ``settings`` would weigh it, a slice of time after the other; the last reading is complete.

        Children of ``first`` (what is in sight) are read before the others. Raises `Cancelled`, `StoreError`.
        """
        tree = self._session.tree
        edge, entropy = _edges(tree), _unknown(tree)
        children = _children(tree)
        order = list(dict.fromkeys([*(node for node in first if node in children), *children]))
        begun = time.monotonic()
        for number, parent in enumerate(order, 1):
            if cancel is not None:
                cancel.raise_if_cancelled()
            if parent not in tree:
                continue  # deleted since the last slice
            self._weigh(parent, children[parent], settings, edge, entropy)
            if time.monotonic() - begun > SLICE_SECONDS and number < len(order):
                yield _reading(tree, edge.copy(), entropy.copy(), number, len(order))
                begun = time.monotonic()
        yield _reading(tree, edge, entropy, len(order), len(order))

    def _weigh(
        self, parent: NodeId, children: Sequence[NodeId], settings: Settings, edge: DoubleArray, entropy: DoubleArray
    ) -> None:
        session = self._session
        logits = self._logits(parent)
        if logits is None:
            return
        nodes = [session.tree.node(child) for child in children]
        found = shares(
            logits,
            settings.sampling,
            lambda: session.context_after(session.tree.token_ids(parent), settings),
            np.array([node.token_id for node in nodes], np.int64),
            np.array([node.edge.logit for node in nodes], np.float64),
        )
        edge[list(children)] = found.probabilities
        entropy[parent] = found.entropy

    def _logits(self, node_id: NodeId) -> SortedLogits | None:
        if node_id in self._kept:
            self._kept.move_to_end(node_id)
            return self._kept[node_id]
        observation = self._session.observation(node_id)
        if observation is None:
            return self._session.known_logits(node_id)  # shown, and not in the library yet: not worth keeping twice
        logits = self._kept[node_id] = observation.sorted_logits()
        if len(self._kept) > _KEPT_DISTRIBUTIONS:
            self._kept.popitem(last=False)
        return logits


def _unknown(tree: TokenTree) -> DoubleArray:
    return np.full(tree.next_id, np.nan)


def _edges(tree: TokenTree) -> DoubleArray:
    edge = _unknown(tree)
    edge[ROOT] = 1.0
    return edge


def _children(tree: TokenTree) -> dict[NodeId, list[NodeId]]:
    found: dict[NodeId, list[NodeId]] = defaultdict(list)
    for node in tree.nodes():
        found[node.parent].append(node.id)
    return dict(found)


def _reading(tree: TokenTree, edge: DoubleArray, entropy: DoubleArray, done: int = 0, total: int = 0) -> TreeReading:
    ids = np.array([node.id for node in tree.nodes()], np.int64)
    parents = np.array([node.parent for node in tree.nodes()], np.int64)
    depths = np.array([node.depth for node in tree.nodes()], np.int64)
    edge, entropy = _grown(edge, tree.next_id), _grown(entropy, tree.next_id)
    path = _unknown(tree)
    path[ROOT] = 0.0
    with np.errstate(divide="ignore"):
        steps = np.log(edge)
    if len(ids):
        order = np.argsort(depths, kind="stable")
        starts = np.flatnonzero(np.diff(depths[order], prepend=-1))
        for level in np.split(order, starts[1:]):  # a level at a time: parents are done before their children
            path[ids[level]] = path[parents[level]] + steps[ids[level]]
    held = np.zeros(tree.next_id)
    np.add.at(held, parents, edge[ids])
    unseen = _unknown(tree)
    above = np.unique(parents)
    unseen[above] = np.clip(1.0 - held[above], 0.0, 1.0)
    return TreeReading(edge, path, entropy, unseen, done, total)


def _grown(values: DoubleArray, size: int) -> DoubleArray:
    """As long as the tree is now: it may have grown since the first slice."""
    return np.concatenate([values, np.full(size - len(values), np.nan)])
