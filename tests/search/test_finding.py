"""Finding nodes by token, by path text and by note; checked against looking at every path by itself."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.annotations import Annotation
from explorer.progress import Cancelled, CancelToken
from explorer.search.finding import WINDOW, FindError, FindQuery, find_nodes
from explorer.text import Vocabulary, path_pieces
from explorer.tree import ROOT, Edge, Node, NodeId, TokenTree

PIECES = [b"A", b"b", b" Paris", b"\xe4\xbd", b"\xa0", b"\n", b"<b>", b"", b" is", b"a."]
VOCABULARY = Vocabulary(PIECES, [6])
A, SMALL_B, PARIS, HALF, OTHER_HALF, NEWLINE, MARKUP, NOTHING, IS, DOTTED = range(10)


def grow(*paths: tuple[int, ...]) -> TokenTree:
    """A tree of token paths; the first child of a node is its likeliest."""
    tree = TokenTree()
    for path in paths:
        parent = ROOT
        for token_id in path:
            known = tree.child(parent, token_id)
            if known is None:
                known = tree.next_id
                rank = len(tree.children(parent)) + 1
                tree.add(Node(known, parent, token_id, tree.depth(parent) + 1, Edge(0.0, -1.0, -1.0, rank, "greedy")))
            parent = known
    return tree


def find(tree: TokenTree, text: str, scope: str = "text", *, regex: bool = False, **more: object) -> tuple[NodeId, ...]:
    return find_nodes(tree, VOCABULARY, FindQuery(text, scope, regex), **more).nodes  # type: ignore[arg-type]


def test_text_is_found_across_tokens_at_the_token_that_completes_it() -> None:
    tree = grow((PARIS, IS, A), (PARIS, A), (IS, PARIS))  # ids: Paris 1, is 2, A 3, A 4, is 5, Paris 6
    assert find(tree, "Paris is") == (2,)
    assert find(tree, "s paris") == (6,)
    assert find(tree, "paris") == (1, 6)
    assert find(tree, "is") == (1, 2, 5, 6)
    assert find(tree, "isA") == (3, 4)


def test_a_token_is_found_by_its_own_text_alone() -> None:
    tree = grow((PARIS, IS), (A, PARIS, NOTHING))
    assert find(tree, "Paris", "token") == (1, 4)
    assert find(tree, "·paris", "token") == (1, 4)
    assert find(tree, "paris is", "token") == ()
    assert find(tree, "#7", "token") == (5,)  # a token without text


def test_letters_case_and_marks() -> None:
    tree = grow((A, SMALL_B), (NEWLINE, A))
    assert find(tree, "aB") == (2,)
    assert find(tree, "⏎a") == (4,)
    assert find(grow((PARIS,)), "·p") == (1,)


def test_a_character_is_found_where_it_is_complete() -> None:
    tree = grow((HALF, OTHER_HALF), (HALF, A))
    assert find(tree, "你") == (2,)
    assert find(tree, "<0xE4><0xBD>A") == (3,)


def test_plain_text_is_taken_as_it_stands() -> None:
    tree = grow((MARKUP, DOTTED), (DOTTED,))
    assert find(tree, "<b>a.") == (2,)
    assert find(tree, "a.") == (2, 3)
    assert find(tree, "..") == ()
    assert find(tree, "..", regex=True) == (1, 2, 3)


def test_a_regular_expression_may_be_anchored_at_the_beginning() -> None:
    tree = grow((A, A, SMALL_B), (SMALL_B, A))
    assert find(tree, "^a+", regex=True) == (1, 2)
    assert find(tree, "^ab|ba$", regex=True) == (5,)
    long = grow((IS,) * (WINDOW // 3 + 2) + (A,))
    assert find(long, "^ isA|^A", regex=True) == ()  # the beginning is out of the window, and yet no other place is it
    assert find(long, r"\bis\b", regex=True)[:2] == (1, 2)


@pytest.mark.parametrize("pattern", ["(", "a)|(b", "(?=a)", r"\1", "[z-a]", "*"])
def test_what_is_no_regular_expression_is_said(pattern: str) -> None:
    with pytest.raises(FindError) as raised:
        find(grow((A,)), pattern, regex=True)
    message = raised.value.message
    assert message.params["reason"]
    assert "\n" not in message.params["reason"]
    assert find(grow((A,)), pattern) == ()


def test_a_pattern_that_would_never_end_elsewhere_ends() -> None:
    tree = grow((A,) * 300)
    assert find(tree, "(a+)+(a+)+b", regex=True) == ()


def test_notes_are_found() -> None:
    tree = grow((A, SMALL_B), (PARIS,))
    notes = {2: Annotation(note="A good one"), 3: Annotation(star=True), ROOT: Annotation(note="good prompt")}
    assert find(tree, "GOOD", "notes", annotations=notes) == (ROOT, 2)
    assert find(tree, "^a", "notes", regex=True, annotations=notes) == (2,)
    assert find(tree, "", "notes", annotations=notes) == ()


def test_hidden_nodes_are_not_found() -> None:
    tree = grow((A, SMALL_B), (PARIS, SMALL_B))
    tree.hide({1, 2})
    assert find(tree, "b") == (4,)


def test_next_and_previous_go_in_tree_order_and_around() -> None:
    tree = grow((A, PARIS, IS), (A, IS, PARIS), (PARIS,))  # Paris: 2, 5, 6
    found = find_nodes(tree, VOCABULARY, FindQuery("paris", "token"))
    assert found.nodes == (2, 5, 6)
    assert [found.after(node) for node in (ROOT, 1, 2, 3, 4, 5, 6)] == [2, 2, 5, 5, 5, 6, 2]
    assert [found.before(node) for node in (ROOT, 1, 2, 3, 4, 5, 6)] == [6, 6, 6, 2, 2, 2, 5]
    assert [found.number(node) for node in (2, 3, 6, 99)] == [1, None, 3, None]
    assert not found.knows(99)
    assert not found.knows(-1)
    nothing = find_nodes(tree, VOCABULARY, FindQuery("zz"))
    assert nothing.after(ROOT) is nothing.before(ROOT) is nothing.number(ROOT) is None


def test_a_space_that_a_decoder_drops_is_not_there() -> None:
    vocabulary = Vocabulary(PIECES, strips_leading_space=True)
    tree = grow((PARIS, PARIS))
    assert find_nodes(tree, vocabulary, FindQuery("^paris", regex=True)).nodes == (1,)
    assert find_nodes(tree, vocabulary, FindQuery(" paris")).nodes == (2,)


def test_a_search_can_be_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        find(grow((A, SMALL_B)), "a", cancel=cancel)


def test_a_chain_of_thousands_of_tokens() -> None:
    tree = grow((A,) * 5000 + (SMALL_B,))
    assert find(tree, "ab") == (5001,)
    assert len(find(tree, "aa")) == 4999
    assert find(tree, "a" * (WINDOW + 50) + "b") == (5001,)


@given(seed=st.integers(0, 10_000), text=st.text("Abis 你\n.P", min_size=1, max_size=4))
def test_the_same_as_looking_at_every_path(seed: int, text: str) -> None:
    chance = random.Random(seed)
    tree = grow(*[tuple(chance.choices(range(len(PIECES)), k=chance.randint(1, 6))) for _ in range(6)])
    expected = set()
    for node in tree.nodes():
        parents = _whole(tree, node.parent)
        whole = _whole(tree, node.id)
        ends = [match.end() for match in re.finditer(f"(?=({re.escape(text)}))", whole, re.IGNORECASE)]
        if any(end + len(text) > len(parents) for end in ends):
            expected.add(node.id)
    assert set(find(tree, text)) == expected


def _whole(tree: TokenTree, node_id: NodeId) -> str:
    """The text so far, without bytes that wait for the rest of their character."""
    return "".join(piece.text for piece in path_pieces(VOCABULARY, tree.token_ids(node_id)))
