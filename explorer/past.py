"""A node as it was at a moment of the film, from what was kept; the session is only looked at."""

from __future__ import annotations

from explorer.decoding.grammar_mass import grammar_logmass
from explorer.decoding.logits import SortedLogits
from explorer.decoding.pipeline import evaluate
from explorer.decoding.stopping import checked_text
from explorer.events import NodeView
from explorer.node_logits import LogitsOrigin
from explorer.reading import SessionReading
from explorer.replay import Film
from explorer.text import path_pieces
from explorer.tree import NodeId


def past_view(session: SessionReading, film: Film, number: int, node_id: NodeId | None = None) -> NodeView:
    """What the panels would have shown of a node (default: the current one of then) at a moment of the film.

    The model is not asked: the distribution is there where it is in memory or was recorded. Raises `StoreError`.
    """
    state, tree = film.state(number), session.tree
    node_id = state.current if node_id is None else node_id
    generated = tree.token_ids(node_id)
    context, stop = session.context_after(generated, state.settings), session.stop_after(generated, state)
    logits, source = _logits(session, node_id)
    distribution = None if logits is None else evaluate(logits, state.settings.sampling, context)
    pieces = path_pieces(session.vocabulary, context.prompt_ids + context.generated_ids)
    path = tuple(tree.path(node_id))
    own = tuple(pieces[len(context.prompt_ids) :])
    text = "".join(piece.text for piece in own)
    children = film.showing(number, tree.graph.successors(node_id))
    return NodeView(
        node_id=node_id,
        path=path,
        edges=tuple(tree.node(node).edge for node in path),
        pieces=own,
        prompt_pieces=tuple(pieces[: len(context.prompt_ids)]),
        text=checked_text(text, stop) if stop else text,
        context=context,
        values=tree.path_values(node_id),
        stop=stop,
        taken={tree.node(child).token_id: child for child in children},
        logits=logits,
        distribution=distribution,
        source=source,
        state=state,
        draws=film.draws(number, node_id),
        grammar=session.grammar_after(generated, state),
        grammar_logmass=None if distribution is None else grammar_logmass(distribution),
    )


def _logits(session: SessionReading, node_id: NodeId) -> tuple[SortedLogits | None, LogitsOrigin]:
    known = session.known_logits(node_id)
    if known is not None:
        return known, "model"
    seen = session.observation(node_id)
    return (None, "none") if seen is None else (seen.sorted_logits(), "stored")
