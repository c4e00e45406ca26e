"""Scores over rank, thresholds, and the model's distribution of the whole vocabulary."""

from __future__ import annotations

from ui.explain.analysed import AnalysedPanel


class CurvesPanel(AnalysedPanel):
    """Follows the current node and the marked token."""

    def refresh(self) -> None:
        """Show what is known now."""
