"""What the colours of nodes and edges mean: from figures to places in a palette."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from explorer.caching import cached_property
from explorer.i18n import tr
from ui.format import LogUnit, decimal, logarithm, percent
from ui.text.colouring import HIGHEST_SURPRISAL, how_colour
from ui.theme import Colours, MapName, blend, map_colours
from ui.tree.arrays import FloatArray, Ids
from ui.tree.mirror import HOWS, TreeMirror
from ui.tree.options import TreeColour
from ui.tree.reading import Reading

HIGHEST_ENTROPY = HIGHEST_SURPRISAL  # nats; the same scale for both, so that colours can be compared
FADED_SHARE = 0.35  # of a colour that is left where a reading excludes a branch
_STEPS = 255


@dataclass(frozen=True, eq=False)
class NodeColours:
    """The palette of one way to colour, and the place of each node in it. The last entry stands for "not known"."""

    by: TreeColour
    map_name: MapName
    colours: Colours
    mirror: TreeMirror
    reading: Reading

    @cached_property
    def palette(self) -> Sequence[QColor]:
        unknown = QColor(self.colours.quiet)
        if self.by == "how":
            return [*(how_colour(how, self.colours) for how in HOWS), unknown]
        if self.by == "none":
            return [blend(QColor(self.colours.text), QColor(self.colours.surface), 0.45), unknown]
        return [*map_colours(self.map_name, self.colours), unknown]

    @cached_property
    def faded(self) -> Sequence[QColor]:
        """The palette for branches that the reading excludes."""
        surface = QColor(self.colours.surface)
        return [blend(colour, surface, FADED_SHARE) for colour in self.palette]

    @cached_property
    def packed(self) -> NDArray[np.uint32]:
        """The palette and the faded palette as pixels."""
        return np.array([colour.rgb() for colour in (*self.palette, *self.faded)], dtype=np.uint32)

    @cached_property
    def neutral(self) -> QColor:
        """The colour of edges where colours belong to nodes alone."""
        return blend(QColor(self.colours.quiet), QColor(self.colours.surface), 0.6)

    @property
    def scaled(self) -> bool:
        """Whether colours stand for values on a scale."""
        return self.by not in ("how", "none")

    @property
    def of_nodes(self) -> bool:
        """Whether the colour says something of the node, and nothing of the step into it."""
        return self.by == "entropy"

    def places(self, ids: Ids) -> NDArray[np.int16]:
        """Indices into the palette."""
        last = len(self.palette) - 1
        if self.by == "how":
            return self.mirror.how[ids].astype(np.int16)
        if self.by == "none":
            return np.zeros(len(ids), dtype=np.int16)
        values = self._values(ids)
        known = ~np.isnan(values)
        places = np.full(len(ids), last, dtype=np.int16)
        places[known] = np.rint(np.clip(values[known], 0.0, 1.0) * _STEPS).astype(np.int16)
        return places

    def colour_of(self, node_id: int) -> QColor:
        ids = np.array([node_id], dtype=np.int64)
        palette = self.faded if bool(self.reading.excluded(ids)[0]) else self.palette
        return palette[int(self.places(ids)[0])]

    def _values(self, ids: Ids) -> FloatArray:
        """Places on the scale, 0 .. 1."""
        if self.by == "entropy":
            return self.reading.entropy(ids) / HIGHEST_ENTROPY
        if self.by == "share":
            return self.mirror.sampling_prob[ids]
        probabilities = self.reading.edge(ids)
        if self.by == "probability":
            return probabilities
        with np.errstate(divide="ignore"):
            surprisal: FloatArray = -np.log(np.minimum(1.0, probabilities)) / HIGHEST_SURPRISAL
        return surprisal


def quantity(by: TreeColour, reading: Reading) -> str:
    """What the colours show, in words."""
    return {
        "probability": reading.name,
        "surprisal": tr("surprisal by {reading}").format(reading=reading.name),
        "entropy": tr("entropy of the next token"),
        "share": tr("sampling probability when taken"),
        "how": tr("how it was chosen"),
        "none": "",
    }[by]


def scale_words(by: TreeColour, unit: LogUnit) -> tuple[str, str]:
    """What the two ends of the scale stand for; empty where there is no scale."""
    if by == "surprisal":
        return decimal(0, 0), "≥ " + logarithm(HIGHEST_SURPRISAL, unit)
    if by == "entropy":
        return decimal(0, 0), "≥ " + logarithm(HIGHEST_ENTROPY, unit)
    if by in ("probability", "share"):
        return percent(0), percent(1)
    return "", ""
