"""Finding nodes of a tree by their token, by the text that leads to them, or by what was noted at them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import StringConstraints, TypeAdapter
from pydantic_core import SchemaError

from explorer.annotations import NO_ANNOTATION, Annotation
from explorer.i18n import N_
from explorer.messages import ExplorerError, UserMessage
from explorer.progress import CancelToken
from explorer.search.query import escaped
from explorer.text import VISIBLE_MARKS, Vocabulary, next_piece
from explorer.tree import ROOT, NodeId, TokenTree

FindScope = Literal["text", "token", "notes"]

WINDOW: Final = 400
"""How many characters a match of path text may reach back, at least; see `find_nodes`."""
_CANCEL_EVERY: Final = 512
_MARKED: Final = {mark: f"[{mark}{plain}]" for plain, mark in VISIBLE_MARKS.items()}

_Test = Callable[[str], bool]


class FindError(ExplorerError):
    """What is looked for makes no sense."""


@dataclass(frozen=True, slots=True)
class FindQuery:
    """What to look for; letter case is ignored.

    ``scope`` token: in the token of a node alone. text: in the generated text up to a node, across the borders of
    tokens; found is the node whose token completes the match. notes: in what was noted at a node. ``regex``: ``text``
    is a regular expression as Rust's regex crate takes it (linear time whatever it says; no look-around, no
    backreferences), ``^`` the beginning of the generated text or note. Else ``·``, ``⏎`` and ``→`` also stand for the
    space, newline and tab that they show.
    """

    text: str
    scope: FindScope = "text"
    regex: bool = False

    @property
    def pattern(self) -> str:
        """The regular expression, case not yet ignored."""
        return self.text if self.regex else "".join(_MARKED.get(c) or escaped(c) for c in self.text)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """``nodes`` that were found, in tree order: from the prompt down, the likeliest branch first, as they are drawn.

    ``places`` int32[ids]: where every visible node stands in that order, -1 for the others.
    """

    nodes: tuple[NodeId, ...]
    places: NDArray[np.int32] = field(repr=False)

    def knows(self, node_id: NodeId) -> bool:
        """Whether the node was in the tree that was looked through."""
        return 0 <= node_id < len(self.places) and bool(self.places[node_id] >= 0)

    def after(self, node_id: NodeId) -> NodeId | None:
        """The found node that follows a node that is known, past the last one the first; None where none was found."""
        if not self.nodes:
            return None
        place = bisect_right(self.nodes, int(self.places[node_id]), key=self._place)
        return self.nodes[place % len(self.nodes)]

    def before(self, node_id: NodeId) -> NodeId | None:
        """The found node before one that is known, before the first one the last."""
        if not self.nodes:
            return None
        return self.nodes[bisect_left(self.nodes, int(self.places[node_id]), key=self._place) - 1]

    def number(self, node_id: NodeId) -> int | None:
        """1 for the first of those found, and so on; None for others."""
        if not self.knows(node_id):
            return None
        place = bisect_left(self.nodes, int(self.places[node_id]), key=self._place)
        return place + 1 if place < len(self.nodes) and self.nodes[place] == node_id else None

    def _place(self, node_id: NodeId) -> int:
        return int(self.places[node_id])


def find_nodes(
    tree: TokenTree,
    vocabulary: Vocabulary,
    query: FindQuery,
    annotations: Mapping[NodeId, Annotation] | None = None,
    cancel: CancelToken | None = None,
) -> Found:
    """Look through every visible node, folded or not. Linear in nodes; no recursion.

    A match in path text is looked for in the last `WINDOW` characters (more for a longer plain text) up to the node
    whose token completes it: a longer match of a regular expression is not found. Raises `FindError`, `Cancelled`.
    """
    order = _tree_order(tree)
    places = np.full(tree.next_id, -1, dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    if not query.text:
        return Found((), places)
    _check(query.pattern)
    if query.scope == "notes":
        test = _test(_ignoring_case(query.pattern))
        notes = annotations or {}
        return Found(tuple(n for n in order if test(notes.get(n, NO_ANNOTATION).note)), places)
    if query.scope == "token":
        return Found(tuple(_by_token(tree, vocabulary, query, order)), places)
    return Found(tuple(_by_text(tree, vocabulary, query, order, cancel)), places)


def _tree_order(tree: TokenTree) -> list[NodeId]:
    """Every visible node: the root, its likeliest child and all that is below that, the next child, and so on."""
    children: dict[NodeId, list[tuple[int, int, NodeId]]] = {}
    for node in tree.nodes():
        children.setdefault(node.parent, []).append((-node.edge.rank, -node.token_id, node.id))
    order: list[NodeId] = []
    waiting = [ROOT]
    while waiting:
        node_id = waiting.pop()
        order.append(node_id)
        below = children.get(node_id)
        if below is not None:
            if len(below) > 1:
                below.sort()
            waiting.extend(child for *_, child in below)
    return order


def _by_token(tree: TokenTree, vocabulary: Vocabulary, query: FindQuery, order: list[NodeId]) -> Iterator[NodeId]:
    test = _test(_ignoring_case(query.pattern))
    known: dict[int, bool] = {}
    for node_id in order[1:]:
        token_id = tree.node(node_id).token_id
        found = known.get(token_id)
        if found is None:
            found = known[token_id] = test(vocabulary.text(token_id) or f"#{token_id}")
        if found:
            yield node_id


def _by_text(
    tree: TokenTree, vocabulary: Vocabulary, query: FindQuery, order: list[NodeId], cancel: CancelToken | None
) -> Iterator[NodeId]:
    ends = _Ends(query.pattern)
    window = WINDOW if query.regex else max(WINDOW, len(query.text))
    # Of the ancestors of the node in turn, the parent last: the end of the text so far, its unfinished bytes, whether
    # the text began earlier.
    above: list[tuple[str, bytes, bool]] = [("", b"", False)]
    pieces: dict[tuple[int, bytes], tuple[str, bytes]] = {}
    for number, node_id in enumerate(order[1:]):
        if cancel is not None and number % _CANCEL_EVERY == 0:
            cancel.raise_if_cancelled()
        node = tree.node(node_id)
        del above[node.depth :]
        text, pending, cut = above[-1]
        step = pieces.get((node.token_id, pending))
        if step is None:
            piece, left = next_piece(vocabulary, node.token_id, pending)
            step = pieces[node.token_id, pending] = piece.text, left
        own, pending = step
        if vocabulary.strips_leading_space and not text and not cut:
            own = own.removeprefix(" ")
        whole = text + own
        if own and ends.within(whole, len(own), cut=cut):
            yield node_id
        kept = whole[-window:]
        above.append((kept, pending, cut or len(kept) < len(whole)))


class _Ends:
    """Whether a match of a pattern ends within the last characters of a text."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._tests: dict[tuple[int, bool], _Test] = {}

    def within(self, text: str, length: int, *, cut: bool) -> bool:
        """``cut``: something stands before ``text``, so that its beginning is not ``^``."""
        return self._test(length, cut=False)(text) and (not cut or self._test(length, cut=True)(text))

    def _test(self, length: int, *, cut: bool) -> _Test:
        test = self._tests.get((length, cut))
        if test is None:
            before = r"\A(?s:.+)" if cut else ""
            test = _test(f"{before}{_ignoring_case(self._pattern)}(?s:.{{0,{length - 1}}})\\z")
            self._tests[length, cut] = test
        return test


def _ignoring_case(pattern: str) -> str:
    return f"(?i:{pattern})"


@lru_cache(maxsize=512)
def _test(pattern: str) -> _Test:
    """Whether a pattern occurs in a text. Pydantic brings Rust's regular expressions, which take linear time."""
    test: _Test = TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)]).validator.isinstance_python
    return test


def _check(pattern: str) -> None:
    """Raise `FindError` unless the pattern is one by itself: brackets that close others' would go unnoticed."""
    try:
        _test(pattern)
        _test(_ignoring_case(pattern))
    except SchemaError as error:
        reason = str(error).rsplit("error: ", 1)[-1].strip()
        raise FindError(
            UserMessage(
                "find.pattern",
                N_("This is no regular expression: {reason}."),
                N_("Nothing can be found with it."),
                N_("Mend it, or switch off “regular expression” to look for the text as it stands."),
                {"reason": reason},
            )
        ) from error
