"""What takes too long for a moving control: what else would remove the token, what other orders would change."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.decoding.autopsy import KeptBy, kept_by
from explorer.decoding.chain_effects import OrderEffect, has_no_effect, order_effects
from explorer.decoding.pipeline import Distribution


@dataclass(frozen=True, slots=True, eq=False)
class Aside:
    """``kept_by`` belongs to the token; None without one, or where it is not listed. ``without_effect`` are names of
    active stages without which the draw would be the same; ``orders`` what the other orders would change.
    """

    kept_by: KeptBy | None
    without_effect: frozenset[str]
    orders: tuple[OrderEffect, ...]


def look_aside(distribution: Distribution, token_id: int | None) -> Aside:
    """Everything an `Aside` has. Pure; a few evaluations of the chain long."""
    trace = distribution.trace
    index = None if token_id is None else distribution.index_of(token_id)
    return Aside(
        None if index is None else kept_by(trace, int(distribution.model_rank[index]) - 1),
        frozenset(
            step.stage.name
            for n, step in enumerate(trace.steps)
            if step.active and (step.idle or has_no_effect(trace, n))
        ),
        order_effects(trace, distribution.vocab_size),
    )
