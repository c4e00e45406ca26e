"""How much of the model's probability a grammar in force leaves at a step."""

from __future__ import annotations

import math

from explorer.decoding.distribution import Distribution
from explorer.grammar.mass import log_kept_mass


def grammar_logmass(distribution: Distribution) -> float | None:
    """Natural log of the model's probability (T = 1, no other filter) of the tokens that the grammar allows here.

    Wherever the grammar stands in the chain. Of a truncated distribution only the listed tokens count: a lower bound.
    None where no grammar is in force, and where it allows nothing.
    """
    trace = distribution.trace
    constraint = trace.sampling.grammar()
    if constraint is None:
        return None
    allowed = trace.context.grammar_state(constraint).allowed
    logmass = log_kept_mass(distribution.token_ids, distribution.logits, trace.logsumexp, allowed)
    return logmass if math.isfinite(logmass) else None
