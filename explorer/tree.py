"""The prefix tree: token-id paths that grow and never lose a branch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import networkx as nx

NodeId = int
HowChosen = Literal["greedy", "drawn", "manual", "beam", "expanded", "given"]

ROOT: NodeId = 0


@dataclass(frozen=True, slots=True)
class Edge:
    """What is known about the step into a node, as recorded when it was first taken.

    Log-probabilities in nats. ``sampling_logprob`` is None where the token was excluded by a filter ("forced").
    ``rank`` is 1-based by raw logit. ``grammar_logmass`` is the log of the model's probability of all tokens that the
    grammar in force allowed at this step; None where there was none, or it had been left.
    """

    logit: float
    model_logprob: float
    sampling_logprob: float | None
    rank: int
    how: HowChosen
    u: float | None = None
    draw_index: int | None = None
    grammar_logmass: float | None = None

    @property
    def forced(self) -> bool:
        """Whether the token was taken although a filter had removed it."""
        return self.sampling_logprob is None


@dataclass(frozen=True, slots=True)
class Node:
    """One token of one path. Ids are given in order of creation and never used again; the root is the prompt."""

    id: NodeId
    parent: NodeId
    token_id: int
    depth: int
    edge: Edge


@dataclass(frozen=True, slots=True)
class PathValues:
    """Sums of natural logs along a path. ``sampling_logprob`` leaves forced tokens out; ``forced`` counts them.

    ``grammar_logmass`` sums over the ``constrained`` steps what a grammar left of the model's probability: the product
    of the factors by which it raised the sampling probabilities of this path. Other paths lose more or less: it is not
    the probability that the model by itself would have followed the grammar.
    """

    tokens: int
    model_logprob: float
    sampling_logprob: float
    forced: int
    constrained: int = 0
    grammar_logmass: float = 0.0


class TokenTree:
    """A `networkx.DiGraph` of `Node` values under a root without a token. Depth never costs recursion.

    Hidden nodes (undone or deleted) stay in the graph with their ids; every query leaves them out.
    """

    def __init__(self) -> None:
        # Half a second, which a window that only shows nodes need not wait for.
        import networkx as nx

        self.graph: nx.DiGraph = nx.DiGraph()
        self.graph.add_node(ROOT)
        self._nodes: dict[NodeId, Node] = {}
        self._children: dict[NodeId, dict[int, NodeId]] = {ROOT: {}}
        self._hidden: set[NodeId] = set()

    def __len__(self) -> int:
        """Visible nodes, the root not counted."""
        return len(self._nodes) - len(self._hidden)

    def __contains__(self, node_id: NodeId) -> bool:
        return node_id == ROOT or (node_id in self._nodes and node_id not in self._hidden)

    @property
    def next_id(self) -> NodeId:
        """The id the next added node must have."""
        return len(self._nodes) + 1

    def add(self, node: Node) -> None:
        """Add a node under its parent. Raises ValueError where an invariant would break."""
        if node.id in self._nodes or node.id == ROOT:
            raise ValueError(f"node {node.id} exists already")
        if node.parent not in self._children:
            raise ValueError(f"node {node.id} has no parent {node.parent}")
        if node.token_id in self._children[node.parent]:
            raise ValueError(f"token {node.token_id} is already a child of node {node.parent}")
        if node.depth != self.depth(node.parent) + 1:
            raise ValueError(f"node {node.id} has depth {node.depth} under depth {self.depth(node.parent)}")
        self.graph.add_edge(node.parent, node.id)
        self._nodes[node.id] = node
        self._children[node.id] = {}
        self._children[node.parent][node.token_id] = node.id

    def hide(self, node_ids: frozenset[NodeId] | set[NodeId]) -> None:
        """Take nodes out of sight. Raises ValueError unless what stays is still a tree."""
        unknown = node_ids - self._nodes.keys()
        if unknown:
            raise ValueError(f"no nodes {sorted(unknown)}")
        orphans = [
            child
            for node_id in node_ids
            for child in self.graph.successors(node_id)
            if child not in node_ids and child not in self._hidden
        ]
        if orphans:
            raise ValueError(f"nodes {orphans} would lose their parent")
        self._hidden |= node_ids

    def reveal(self, node_ids: frozenset[NodeId] | set[NodeId]) -> None:
        """Inverse of `hide`."""
        stray = [n for n in node_ids if self._nodes[n].parent in self._hidden - node_ids]
        if stray:
            raise ValueError(f"nodes {stray} would stand under a hidden parent")
        self._hidden -= node_ids

    def is_hidden(self, node_id: NodeId) -> bool:
        return node_id in self._hidden

    def node(self, node_id: NodeId) -> Node:
        """The node, hidden or not. Raises KeyError for the root and for unknown ids."""
        return self._nodes[node_id]

    def depth(self, node_id: NodeId) -> int:
        return 0 if node_id == ROOT else self._nodes[node_id].depth

    def child(self, parent: NodeId, token_id: int) -> NodeId | None:
        """The child of ``parent`` for a token, hidden or not: the same prefix never has two nodes."""
        return self._children[parent].get(token_id)

    def children(self, node_id: NodeId) -> list[NodeId]:
        """Visible children in order of creation."""
        return [child for child in self.graph.successors(node_id) if child not in self._hidden]

    def nodes(self) -> Iterator[Node]:
        """Visible nodes in order of creation, so parents before children."""
        return (node for node_id, node in self._nodes.items() if node_id not in self._hidden)

    def path(self, node_id: NodeId) -> list[NodeId]:
        """Node ids from the first generated token to ``node_id``; empty for the root."""
        ids: list[NodeId] = []
        while node_id != ROOT:
            ids.append(node_id)
            node_id = self._nodes[node_id].parent
        ids.reverse()
        return ids

    def token_ids(self, node_id: NodeId) -> tuple[int, ...]:
        """The generated token ids of the path."""
        return tuple(self._nodes[n].token_id for n in self.path(node_id))

    def subtree(self, node_id: NodeId) -> list[NodeId]:
        """The node and its visible descendants, parents first; without the root itself."""
        found: list[NodeId] = [] if node_id == ROOT else [node_id]
        queue = [node_id]
        for parent in queue:
            visible = self.children(parent)
            queue.extend(visible)
            found.extend(visible)
        return found

    def path_values(self, node_id: NodeId) -> PathValues:
        """Sums along the path to ``node_id``."""
        edges = [self._nodes[n].edge for n in self.path(node_id)]
        return PathValues(
            tokens=len(edges),
            model_logprob=sum(edge.model_logprob for edge in edges),
            sampling_logprob=sum(edge.sampling_logprob for edge in edges if edge.sampling_logprob is not None),
            forced=sum(edge.forced for edge in edges),
            constrained=sum(edge.grammar_logmass is not None for edge in edges),
            grammar_logmass=sum(edge.grammar_logmass for edge in edges if edge.grammar_logmass is not None),
        )
