"""What an expansion is asked to do: frozen, checked values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from explorer.decoding.checks import check_value
from explorer.decoding.parameter import Parameter
from explorer.i18n import N_

NODE_LIMIT: Final = 100_000  # what the canvas is built for

TOP_K: Final = Parameter("top_k", "int", 1, N_("Children a node"), N_("How many children each node gets."), minimum=1)
DEPTH: Final = Parameter("depth", "int", None, N_("Depth"), N_("How many tokens deep to look."), minimum=1)
MAX_NODES: Final = Parameter(
    "max_nodes", "int", NODE_LIMIT, N_("Nodes at most"), N_("How many nodes to show."), minimum=1, maximum=NODE_LIMIT
)
MASS: Final = Parameter(
    "mass",
    "float",
    None,
    N_("Probability mass"),
    N_("Stop when the endings that are shown hold this share of the probability."),
    minimum=0.0,
    exclusive_minimum=True,
    maximum=1.0,
)


@dataclass(frozen=True, slots=True)
class ByLevel:
    """The ``top_k`` likeliest children of every node, ``depth`` levels deep, at most ``max_nodes`` nodes.

    Raises `SettingsError` where a value is out of range.
    """

    top_k: int
    depth: int = 1
    max_nodes: int = NODE_LIMIT

    def __post_init__(self) -> None:
        for parameter in (TOP_K, DEPTH, MAX_NODES):
            object.__setattr__(self, parameter.name, check_value(parameter, getattr(self, parameter.name)))

    @property
    def most(self) -> int:
        """How many nodes it shows at most, where nothing ends earlier."""
        total = 0
        for level in range(1, self.depth + 1):
            total += self.top_k**level
            if total >= self.max_nodes:
                return self.max_nodes
        return total

    def to_json(self) -> dict[str, Any]:
        return {"kind": "by_level", **asdict(self)}


@dataclass(frozen=True, slots=True)
class BestFirst:
    """The likeliest continuations of any length, in order of their model probability from the start.

    Ends when ``max_nodes`` are shown, or when those that have ended (end token, a stop rule, ``depth`` tokens) hold
    ``mass`` of the probability. Raises `SettingsError` where a value is out of range.
    """

    max_nodes: int = 500
    mass: float | None = None
    depth: int | None = None

    def __post_init__(self) -> None:
        for parameter in (MAX_NODES, MASS, DEPTH):
            object.__setattr__(self, parameter.name, check_value(parameter, getattr(self, parameter.name)))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "best_first", **asdict(self)}


ExpansionPlan = ByLevel | BestFirst
