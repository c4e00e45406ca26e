"""Why the marked token has the probability it has: its value after every stage, and what every stage did."""

from __future__ import annotations

from ui.explain.panel import ExplainPanel


class WhyPanel(ExplainPanel):
    """Follows the current node and the marked token."""

    def refresh(self) -> None:
        """Show what is known now."""
