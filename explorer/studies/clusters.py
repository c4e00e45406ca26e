"""Which runs begin alike: the tree of common beginnings, with how many runs of each configuration share them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from explorer.growth.sample_report import passes
from explorer.studies.records import Study
from explorer.text import path_pieces
from explorer.tree import NodeId

if TYPE_CHECKING:  # the window, which shows clusters, must not pay for the library
    from explorer.reading import SessionReading

MOST_ROWS: Final = 500  # of the commonest; nobody reads more


@dataclass(frozen=True, slots=True)
class Cluster:
    """Runs that share the tokens down to ``node``, and from there on go different ways or end.

    ``level`` counts the partings above it; ``text`` is what its tokens add after the cluster above; ``tokens`` how many
    tokens all its runs share in all. ``counts`` are runs by configuration, ``ended`` how many of them end right here.
    """

    node: NodeId
    level: int
    text: str
    tokens: int
    counts: tuple[int, ...]
    ended: int

    @property
    def count(self) -> int:
        return sum(self.counts)


def clusters_of(session: SessionReading, study: Study, *, most: int = MOST_ROWS) -> tuple[Cluster, ...]:
    """Beginnings that two runs or more share, each after the one it goes on from, the commonest first.

    All runs count as far as they came. Where there are more than ``most``, those of the fewest runs are left out.
    """
    by_place = [passes(session.tree, study.start, runs) for runs in study.runs]
    counts: dict[NodeId, tuple[int, ...]] = {
        node: tuple(of_one.get(node, 0) for of_one in by_place) for of_one in by_place for node in of_one
    }
    children: dict[NodeId, list[NodeId]] = defaultdict(list)
    for node, each in counts.items():
        if sum(each) > 1:
            children[session.tree.node(node).parent].append(node)
    least = sorted((sum(each) for each in counts.values()), reverse=True)[: most + 1][-1] if len(counts) > most else 2
    return tuple(_Walk(session, study, counts, children, max(2, least)).rows())[:most]


class _Walk:
    """Down the tree of beginnings, without recursion: texts may be thousands of tokens long."""

    def __init__(
        self,
        session: SessionReading,
        study: Study,
        counts: Mapping[NodeId, tuple[int, ...]],
        children: Mapping[NodeId, list[NodeId]],
        least: int,
    ) -> None:
        self._session = session
        self._start = study.start
        self._before = session.tree.depth(study.start)
        self._counts = counts
        self._children = children
        self._least = least

    def rows(self) -> list[Cluster]:
        found: list[Cluster] = []
        waiting = [(node, 0, self._start) for node in reversed(self._shared(self._start))]
        while waiting:
            first, level, above = waiting.pop()
            last = self._end_of_chain(first)
            found.append(self._cluster(first, last, level, above))
            waiting += [(node, level + 1, last) for node in reversed(self._shared(last))]
        return found

    def _shared(self, node: NodeId) -> list[NodeId]:
        """Children that enough runs go through, the commonest first."""
        tree = self._session.tree
        shared = [child for child in self._children.get(node, ()) if sum(self._counts[child]) >= self._least]
        return sorted(shared, key=lambda child: (-sum(self._counts[child]), tree.node(child).token_id))

    def _end_of_chain(self, node: NodeId) -> NodeId:
        """The last node that exactly the same runs go through."""
        while True:
            same = [child for child in self._children.get(node, ()) if self._counts[child] == self._counts[node]]
            if not same:
                return node
            (node,) = same

    def _cluster(self, first: NodeId, last: NodeId, level: int, above: NodeId) -> Cluster:
        tree = self._session.tree
        going_on = sum(sum(self._counts.get(child, (0,))) for child in tree.children(last))
        prefix = self._session.prefix(last)
        own = tree.depth(last) - tree.depth(above)
        pieces = path_pieces(self._session.vocabulary, prefix)[-own:]
        return Cluster(
            node=last,
            level=level,
            text="".join(piece.text for piece in pieces),
            tokens=tree.depth(last) - self._before,
            counts=self._counts[last],
            ended=sum(self._counts[last]) - going_on,
        )
