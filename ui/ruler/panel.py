"""The probability ruler: [0, 1) laid out by sampling probability, and where a draw falls."""

from __future__ import annotations

from ui.explain.analysed import AnalysedPanel


class RulerPanel(AnalysedPanel):
    """Follows the current node and the marked token."""

    def refresh(self) -> None:
        """Show what is known now."""
