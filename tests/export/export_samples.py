"""Sessions whose tokens are as awkward as tokens get."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from explorer.decoding.params import Settings
from explorer.decoding.stopping import StopEvent
from explorer.export.document import SessionDocument, session_document
from explorer.models.base import Environment, ModelIdentity, ModelInfo
from explorer.store.records import CommandRecord, SessionState, StepRecord, StopRecord, StoredSession
from explorer.text import Prompt, Vocabulary
from explorer.tree import ROOT, Edge, Node

NASTY: tuple[bytes, ...] = (
    b"",  # an id that only pads the logits
    *(bytes([code]) for code in range(0x21)),  # every control character, and the space
    b"\x7f",
    "\x85".encode(),
    "\u2028\u2029\ufeff\u200d".encode(),
    "\ufffd\uffff\ue000".encode(),
    b"\xe4\xbd",  # half of 你
    b"\xa0",  # its other half
    b"\xed\xa0\x80",  # half a surrogate pair, which is no UTF-8
    b"\xff\xfe",
    "你好".encode(),
    "🙂".encode(),
    "👩‍👩‍👧".encode(),
    "שלום".encode(),
    b'"',
    b"'",
    b"\\",
    b'\\"',
    b"\\n",
    b"\\\\N\\G",
    b"<b>bold</b>",
    b"</text><script>alert(1)</script>",
    b"&",
    b"&amp;&#0;&lt;",
    b"]]>",
    b"-->",
    b"=1+1",
    b"+cmd|' /C calc'!A0",
    b"a\x00b",
    b',;|\r\n"x"',
    b"{a -> b}",
    b"<0xE4>",
    b" Paris",
    b" long" * 40,
    b"<eos>",
)
EOS = len(NASTY) - 1
VOCABULARY = Vocabulary(NASTY, [EOS])
MODEL = ModelInfo(
    ModelIdentity('toy <model> & "co"', "table", "table:toy.json", "table", "ab" * 32, "cd" * 32),
    Environment("cpu", "a processor", "float32", 1, "Linux", {"numpy": "2"}),
    vocab_size=len(NASTY),
    context_length=9000,
    eos_token_ids=(EOS,),
)
PROMPT = Prompt("raw", 'Say "\\" <b>&amp;</b>\x00\x1b 你好 🙂 \ud83d', (1, 2))


def step(node: Node, settings: Settings) -> StepRecord:
    return StepRecord.into(node, settings, None if node.edge.draw_index is None else 7)


def session_of(
    nodes: Sequence[Node],
    *,
    hidden: Iterable[int] = (),
    stops: Sequence[tuple[int, StopEvent]] = (),
    current: int = ROOT,
    prompt: Prompt = PROMPT,
    vocabulary: Vocabulary = VOCABULARY,
    model: ModelInfo = MODEL,
) -> SessionDocument:
    """The document of a session in which every node was one step, and the stops came last."""
    settings = Settings().with_sampling(temperature=0.7, top_p=0.9)
    state = SessionState('Title "<&>" \x07 你好 🙂', prompt, settings, 7, 1, current)
    at = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)

    def command(seq: int, added: tuple[Node, ...], ended: tuple[StopRecord, ...]) -> CommandRecord:
        steps = tuple(step(node, settings) for node in added)
        return CommandRecord(seq, seq, "step", "user", at, state, state, added=added, steps=steps, stops=ended)

    commands = [command(seq, (node,), ()) for seq, node in enumerate(nodes, 1)]
    commands += [
        command(seq, (), (StopRecord(node, event),)) for seq, (node, event) in enumerate(stops, len(commands) + 1)
    ]
    stored = StoredSession(
        id=12,
        created=at,
        model=model,
        vocabulary_sha256="",
        state=state,
        nodes=tuple(nodes),
        hidden=frozenset(hidden),
        commands=tuple(commands),
    )
    return session_document(stored, vocabulary)


def edge(rank: int = 1, logprob: float = -0.25) -> Edge:
    return Edge(2.0 - rank, logprob, logprob, rank, "greedy")


def nasty_document() -> SessionDocument:
    """Every awkward token under the prompt, each with an end below it; one branch hidden, the first end recorded."""
    count = len(NASTY) - 1
    first = [Node(i + 1, ROOT, i, 1, edge(i + 1, -0.1 * (i + 1))) for i in range(count)]
    second = [Node(count + i + 1, i + 1, EOS, 2, edge()) for i in range(count)]
    stops = [(count + 1, StopEvent("eos", {"step": 2, "token_id": EOS}))]
    hidden = {count, 2 * count}
    return session_of([*first, *second], hidden=hidden, stops=stops, current=count + 1)


def chain_document(length: int) -> SessionDocument:
    """One path without a branch."""
    return session_of([Node(i, i - 1, i % 30, i, edge(1, -1e-3)) for i in range(1, length + 1)], current=length)
