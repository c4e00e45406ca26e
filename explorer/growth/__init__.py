"""Growing a session's tree by many nodes at once: expansion and beam search, saved round by round, one gesture each."""

from explorer.growth.beams import BeamProgress, BeamRun, beam_runs, search_beams
from explorer.growth.expansion import ExpansionRound, expand

__all__ = ["BeamProgress", "BeamRun", "ExpansionRound", "beam_runs", "expand", "search_beams"]
