"""Backups beside the library: a few generations that roll, and those made before a conversion.

A rolling backup is a whole copy, looked over before it counts, so that damage never pushes a good one out. Generations
are numbered and the numbers alone say which to keep, whatever the clock does: the last two, and then ones further and
further back. A backup's time is that of the last change it holds.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from filecmp import cmp
from pathlib import Path
from typing import Final, Literal

from explorer.messages import StoreError
from explorer.progress import CancelToken
from explorer.store.checking import check_pages
from explorer.store.copying import PARTIAL, copy_whole
from explorer.store.errors import store_error, translated

EVERY_SECONDS: Final = 4 * 3600.0
_STEPS: Final = (1, 1, 4, 16)  # of the generations kept, each is the newest left that its step divides
_BUDGET: Final = 4 * 2**30  # bytes all generations together may take, but for the newest
_ROOM: Final = 64 * 2**20  # bytes that must stay free on the disk
_DAY: Final = 24 * 3600


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a library. ``at`` is when what it holds was last changed; ``number`` 0 but for rolling ones."""

    path: Path
    at: datetime
    bytes: int
    kind: Literal["rolling", "conversion"]
    number: int = 0


class _UnchangedError(Exception):
    """A copy is what the last one was."""


def backups(path: Path) -> list[Backup]:
    """The backups beside the library at ``path``: the rolling ones, newest first, then those before conversions."""
    beginning = re.escape(path.name)
    rolling = re.compile(beginning + r"\.backup-auto-(\d{6,12})")
    conversion = re.compile(beginning + r"\.backup-\d{4}-[\dTZ.]+")
    found = []
    with translated(path):
        for file in path.parent.iterdir() if path.parent.is_dir() else ():
            numbered = rolling.fullmatch(file.name)
            if numbered is None and conversion.fullmatch(file.name) is None:
                continue
            try:
                status = file.stat()
            except FileNotFoundError:  # another program has just removed it
                continue
            at = datetime.fromtimestamp(status.st_mtime, UTC)
            number = int(numbered[1]) if numbered else 0
            found.append(Backup(file, at, status.st_size, "rolling" if numbered else "conversion", number))
    return sorted(found, key=lambda backup: (-backup.number, backup.kind, -backup.at.timestamp()))


def backup(path: Path, target: Path | None = None, *, cancel: CancelToken | None = None) -> Backup:
    """Copy the library now: to ``target``, or as the next generation beside it.

    Where nothing changed since the last generation, that one is the answer. Others may go on writing. Raises
    `StoreError` (damaged: then the copy is not kept, and no older one goes; full; read-only folder) and `Cancelled`.
    """
    with translated(path):
        if not path.exists():
            raise store_error("store.absent", path)
        _require_room(path, target or path)
        if target is not None:
            if target.exists():
                raise store_error("store.exists", target)
            copy_whole(path, target, approve=lambda copy: _approve(copy, path), cancel=cancel)
            return Backup(target, _moment(target), target.stat().st_size, "rolling")
        return _next_generation(path, cancel)


def backup_if_due(path: Path, *, every: float = EVERY_SECONDS, cancel: CancelToken | None = None) -> Backup | None:
    """Make the next generation where the library changed since the last one and that is ``every`` seconds old.

    None where nothing was made. Raises as `backup` does; where the disk has no room to spare, nothing is made.
    """
    with translated(path):
        last = next(iter(_rolling(path)), None)
        if last is not None:
            # A copy made "in the future" is one from before the clock was set back.
            age = time.time() - last.path.stat().st_ctime
            if last.path.stat().st_mtime_ns == _changed(path) or 0 <= age < every:
                return None
    try:
        made = backup(path, cancel=cancel)
    except StoreError as error:
        if error.message.code == "store.full":
            return None
        raise
    return made if last is None or made.number != last.number else None


def _next_generation(path: Path, cancel: CancelToken | None) -> Backup:
    _remove_leftovers(path)
    last = next(iter(_rolling(path)), None)
    changed = _changed(path)
    number = 0 if last is None else last.number + 1
    target = path.with_name(f"{path.name}.backup-auto-{number:06}")

    def approve(copy: Path) -> None:
        _approve(copy, path)
        if last is not None and cmp(last.path, copy, shallow=False):
            raise _UnchangedError

    try:
        copy_whole(path, target, approve=approve, cancel=cancel)
    except _UnchangedError:  # only the file was touched
        assert last is not None
        target = last.path
    os.utime(target, ns=(time.time_ns(), changed))
    _thin(path)
    return next(found for found in _rolling(path) if found.path == target)


def _rolling(path: Path) -> list[Backup]:
    return [found for found in backups(path) if found.kind == "rolling"]


def kept(numbers: Iterable[int]) -> set[int]:
    """Which generations stay of these: the last two, and ones further and further back."""
    left = sorted(numbers, reverse=True)
    chosen: set[int] = set()
    for step in _STEPS:
        newest = next((number for number in left if number not in chosen and number % step == 0), None)
        if newest is not None:
            chosen.add(newest)
    return chosen


def _thin(path: Path) -> None:
    """Remove the generations that are not kept, and of those the oldest that are more than the budget allows."""
    generations = _rolling(path)
    stay = kept(generation.number for generation in generations)
    spent = 0
    for place, generation in enumerate(generations):
        if generation.number in stay:
            spent += generation.bytes
            if place == 0 or spent <= _BUDGET:
                continue
        generation.path.unlink(missing_ok=True)


def _approve(copy: Path, path: Path) -> None:
    problems = check_pages(copy).problems
    if problems:
        raise store_error("store.damaged", path, "\n".join(problems))


def _require_room(path: Path, target: Path) -> None:
    log = path.with_name(path.name + "-wal")
    size = path.stat().st_size + (log.stat().st_size if log.exists() else 0)
    if shutil.disk_usage(target.parent).free < size + _ROOM:
        raise store_error("store.full", target)


def _changed(path: Path) -> int:
    """When the library was last written, in nanoseconds: its log where that holds something."""
    log = path.with_name(path.name + "-wal")
    times = [path.stat().st_mtime_ns]
    if log.exists() and log.stat().st_size:
        times.append(log.stat().st_mtime_ns)
    return max(times)


def _moment(file: Path) -> datetime:
    return datetime.fromtimestamp(file.stat().st_mtime, UTC)


def _remove_leftovers(path: Path) -> None:
    """What an interrupted copy left; one that may still be under way stays."""
    for file in path.parent.iterdir():
        mine = file.name.startswith(f"{path.name}.backup-") and PARTIAL in file.name
        if mine and abs(time.time() - file.stat().st_mtime) > _DAY:
            file.unlink(missing_ok=True)
