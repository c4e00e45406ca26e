"""What the session thread does to verify a session. No Qt."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.text import Vocabulary
from ui.bridge import JobContext

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session
    from explorer.verification import StepCheck, Verification


@dataclass(frozen=True, slots=True, eq=False)
class Verified:
    """What became of all steps of a session; ``different`` are those that do not come out as recorded."""

    title: str
    vocabulary: Vocabulary
    found: Verification
    different: tuple[StepCheck, ...]


def verified(session: Session, job: JobContext) -> Generator[None, None, Verified]:
    """Re-run the session step by step; between two steps the thread may do something else. Raises what
    `explorer.verification.verify` raises."""
    from explorer.verification import summary, verify

    checks = []
    for check in verify(session, progress=job.progress, cancel=job.cancel):
        checks.append(check)
        yield
    different = tuple(check for check in checks if check.verdict == "different")
    return Verified(session.state.title, session.vocabulary, summary(session, checks), different)


def save_report(text: str, path: Path) -> None:
    """Write a report, whole or not at all. Raises `ExportError`."""
    from explorer.export.whole_file import write_whole_file

    write_whole_file(path, lambda file: file.write(text.encode()))
