"""Whether a recorded session still comes out as it was recorded."""

from explorer.verification.compare import (
    EnvironmentDifference,
    StepCheck,
    Verification,
    environment_differences,
    summary,
    verify,
)
from explorer.verification.words import (
    divergence_text,
    environment_name,
    environment_text,
    problem_text,
    redraw_text,
    report_text,
    verdict_text,
)

__all__ = [
    "EnvironmentDifference",
    "StepCheck",
    "Verification",
    "divergence_text",
    "environment_differences",
    "environment_name",
    "environment_text",
    "problem_text",
    "redraw_text",
    "report_text",
    "summary",
    "verdict_text",
    "verify",
]
