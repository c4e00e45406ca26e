"""Which number u the rulers share: that of a draw made here, that of the next draw, or one of the user's own."""

from __future__ import annotations

from explorer.decoding.choice import draw_uniform
from explorer.events import NodeView
from explorer.store.records import StepRecord
from explorer.tree import NodeId
from ui.ruler.axis import DrawMark
from ui.ruler.strip import LabelOf


class Numbers:
    """Follows the current node. At another node its last draw is chosen, or the next one where none was made."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Another session, or none."""
        self.u: float | None = None
        self.chosen: DrawMark | None = None
        self.marks: tuple[DrawMark, ...] = ()
        self._steps: dict[DrawMark, StepRecord] = {}
        self._node: NodeId | None = None
        self._wanted: NodeId | None = None

    def want(self, node_id: NodeId) -> None:
        """At the next node choose the draw that led to ``node_id``."""
        self._wanted = node_id

    def follow(self, view: NodeView, label_of: LabelOf) -> bool:
        """Take over what is known of a node; whether another one is looked at now."""
        state = view.state
        self._steps = {
            DrawMark(step.u, step.draw_index or 0, label_of(step.token_id)[0]): step
            for step in view.draws
            if step.u is not None
        }
        following = DrawMark(draw_uniform(state.seed, state.next_draw_index), state.next_draw_index)
        self.marks = (*self._steps, following)
        elsewhere = view.node_id != self._node
        self._node = view.node_id
        if elsewhere or (self.chosen is not None and self.chosen not in self.marks):
            self.choose(self._wanted_mark() or (self.marks[-2] if self._steps else following))
        if elsewhere:
            self._wanted = None
        return elsewhere

    def choose(self, mark: DrawMark) -> None:
        """Use the number of a draw."""
        self.chosen, self.u = mark, mark.u

    def take_own(self, u: float) -> None:
        """Use a number of the user's own; where a draw has exactly that one, it is that draw's."""
        self.u = u
        self.chosen = next((mark for mark in self.marks if mark.u == u), None)

    @property
    def step(self) -> StepRecord | None:
        """The draw whose number is used; None where it is the next one's or the user's own."""
        return None if self.chosen is None else self._steps.get(self.chosen)

    def _wanted_mark(self) -> DrawMark | None:
        return next((mark for mark, step in self._steps.items() if step.node == self._wanted), None)
