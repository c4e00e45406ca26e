"""What a check and a recovery found, in words; and the work itself, for a thread. No Qt here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from explorer.i18n import sentences, tr
from ui.bridge import JobContext
from ui.format import count
from ui.library.words import sessions_count, short_title

if TYPE_CHECKING:  # they come with SQLAlchemy: only who asks pays
    from explorer.store.recovery import Backup, CheckReport, RecoveredSession, RecoveryReport


def check_library(path: Path, job: JobContext) -> CheckReport:
    """Look the whole library over. Raises `StoreError`, `Cancelled`."""
    from explorer.store.recovery import check

    return check(path, progress=job.progress, cancel=job.cancel)


def back_up_library(path: Path, job: JobContext) -> Backup:
    """Copy the library beside itself, as the next of its generations. Raises `StoreError`, `Cancelled`."""
    from explorer.store.recovery import backup

    return backup(path, cancel=job.cancel)


def recover_library(damaged: Path, target: Path, job: JobContext) -> RecoveryReport:
    """Build a new library from what is left of a damaged one. Raises `StoreError`, `Cancelled`."""
    from explorer.store.recovery import recover

    return recover(damaged, target, progress=job.progress, cancel=job.cancel)


def recovery_words(report: RecoveryReport) -> str:
    """The whole report as paragraphs of plain text."""
    whole = [session for session in report.sessions if session.complete]
    parts = [session for session in report.sessions if not session.complete]
    paragraphs = [
        sentences(
            (
                tr("Recovered: {sessions}.").format(sessions=sessions_count(len(report.sessions))),
                tr("Nothing is known to be lost.") if report.complete else "",
            )
        ),
        sentences(
            (
                tr("The new library is {path}.").format(path=report.target),
                tr("The damaged file was not changed and stays where it is: {path}.").format(path=report.damaged),
            )
        ),
        tr("{bad} of {pages} pages could not be read; {stray} more were found by what stands in them.").format(
            bad=count(report.bad_pages), pages=count(report.pages), stray=count(report.stray_pages)
        ),
    ]
    if report.backup is not None and report.from_backup:
        filled = tr("{rows} rows were filled in from the backup {path}.")
        paragraphs.append(filled.format(rows=count(report.from_backup), path=report.backup))
    if parts:
        paragraphs.append("\n".join((tr("With gaps:"), *(f"– {_gaps(session)}" for session in parts))))
    if report.lost:
        lost = (tr("– session {number} ({why})").format(number=lost.id, why=lost.why) for lost in report.lost)
        paragraphs.append("\n".join((tr("Lost:"), *lost)))
    if whole:
        titles = (f"– {short_title(session.title)}" for session in whole)
        paragraphs.append("\n".join((tr("Whole:"), *titles)))
    return "\n\n".join(paragraphs)


def _gaps(session: RecoveredSession) -> str:
    gaps = (
        (session.lost_commands, tr("{count} commands are missing at its end")),
        (session.lost_nodes, tr("{count} nodes are missing")),
        (session.lost_observations, tr("what was seen at {count} nodes is missing")),
    )
    said = [text.format(count=count(number)) for number, text in gaps if number]
    if session.texts_lost:
        said.append(tr("its vocabulary is missing: tokens are shown as numbers"))
    return f"{short_title(session.title)}: {'; '.join(said)}"
