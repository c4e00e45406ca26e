"""The rulers a user keeps: named, ordered, removed and brought back."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from explorer.decoding.params import SamplingParams
from ui.explain.names import sampling_name
from ui.ruler.rows import MOST_KEPT, KeptRuler, moved


class Shelf(QObject):
    """Holds `KeptRuler`s in order, and the one that was removed last."""

    changed = Signal(object)
    """Tuple of `KeptRuler`: the user changed something."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.kept: tuple[KeptRuler, ...] = ()
        self.removed: tuple[int, KeptRuler] | None = None

    @property
    def full(self) -> bool:
        return len(self.kept) >= MOST_KEPT

    def holds(self, sampling: SamplingParams) -> bool:
        """Whether a ruler of exactly these settings is kept."""
        return any(ruler.sampling == sampling for ruler in self.kept)

    def keep(self, sampling: SamplingParams) -> None:
        """Another ruler at the end, named after its settings. Nothing where the shelf is full."""
        if not self.full:
            self._set((*self.kept, KeptRuler(sampling)))

    def rename(self, place: int, name: str) -> None:
        """Another name; empty, or what it would be called anyway: named after its settings."""
        ruler = self.kept[place]
        renamed = replace(ruler, name="" if name == sampling_name(ruler.sampling) else name)
        if renamed != ruler:
            self._set((*self.kept[:place], renamed, *self.kept[place + 1 :]))

    def move(self, place: int, by: int) -> None:
        """Farther down, or up where ``by`` is negative."""
        self._set(moved(self.kept, place, by))

    def remove(self, place: int) -> None:
        self.removed = place, self.kept[place]
        self._set((*self.kept[:place], *self.kept[place + 1 :]))

    def bring_back(self) -> None:
        """The ruler removed last, where it was."""
        if self.removed is not None and not self.full:
            place, ruler = self.removed
            self.removed = None
            self._set((*self.kept[:place], ruler, *self.kept[place:]))

    def _set(self, kept: tuple[KeptRuler, ...]) -> None:
        if kept != self.kept:
            self.kept = kept
            self.changed.emit(kept)
