"""Sets everything up and starts Token Tree Explorer: ``python3 explorer/bootstrap.py run | test | cli``.

A bare machine runs this file before anything is installed, so it uses the standard library only, imports nothing of the
package, and parses on Python 3.7, where all it can do is look for a newer interpreter. Everything it installs for the
project goes to ``.venv`` in the checkout; a stamp there makes the next start skip all of it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

MINIMUM = (3, 11)
NEWEST = 20  # minor versions of Python that are looked for on PATH
CHECKOUT = Path(__file__).resolve().parent.parent
STAMP = "token-tree-setup.json"
SETUP_LOG = "token-tree-setup.log"

# Debian's package, then the name it has where 64-bit time_t renamed it.
OFFSCREEN_PACKAGES = (
    ("libglib2.0-0", "libglib2.0-0t64"),
    ("libgl1",),
    ("libegl1",),
    ("libxkbcommon0",),
    ("libdbus-1-3",),
    ("libfontconfig1",),
)
WINDOW_PACKAGES = (
    ("libxkbcommon-x11-0",),
    ("libxcb-cursor0",),
    ("libxcb-icccm4",),
    ("libxcb-keysyms1",),
    ("libxcb-shape0",),
    # A bare machine has no font with emoji; Chinese comes with the program.
    ("fonts-noto-color-emoji",),
)


class Command(NamedTuple):
    """What one word on the command line needs and what it starts inside the environment."""

    packages: tuple[tuple[str, ...], ...]
    extras: tuple[str, ...]
    arguments: tuple[str, ...]
    window: bool = False
    in_checkout: bool = False


# Tests of one file share its engine process, hence loadfile; each worker may hold a model, hence at most four.
PYTEST = ("-m", "pytest", "--numprocesses=auto", "--maxprocesses=4", "--dist=loadfile")
COMMANDS = {
    "run": Command(OFFSCREEN_PACKAGES + WINDOW_PACKAGES, (), ("-m", "ui"), window=True),
    "test": Command(OFFSCREEN_PACKAGES, ("dev",), PYTEST, in_checkout=True),
    "cli": Command((), (), ("-m", "explorer")),
}
USAGE = """usage: python3 explorer/bootstrap.py run  [-- OPTIONS]   set everything up and open the window
       python3 explorer/bootstrap.py test [-- OPTIONS]   set everything up and run the tests (pytest's options)
       python3 explorer/bootstrap.py cli  [-- OPTIONS]   set everything up and use the command line (token-tree's)
"""


class SetupError(Exception):
    """Why the machine could not be set up: what happened, what it means, what to do."""


def say(text: str) -> None:
    """A line of progress, on standard error so that the program's own output stays clean."""
    print("==> " + text, file=sys.stderr, flush=True)


# --- Python -----------------------------------------------------------------------------------------------------------


def find_python() -> str:
    """The path of a Python that is new enough, this one if possible. Raises `SetupError` where there is none."""
    if tuple(sys.version_info[:2]) >= MINIMUM:
        return sys.executable
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    folders += ["/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"]  # where macOS' own PATH does not look
    for minor in range(NEWEST, MINIMUM[1] - 1, -1):
        found = shutil.which(f"python3.{minor}", path=os.pathsep.join(folders))
        if found and _runs(found):
            return found
    raise SetupError(
        f"This is Python {platform.python_version()}, and no Python 3.11 or newer was found on this machine. "
        f"Token Tree Explorer needs one, so nothing was set up. {_python_advice()}"
    )


def _runs(python: str) -> bool:
    """Whether an interpreter starts and is new enough (version managers leave shims that are neither)."""
    check = "import sys; sys.exit(sys.version_info[:2] < (3, 11))"
    return subprocess.run([python, "-c", check], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def _python_advice() -> str:
    if platform.system() == "Darwin":
        return "Install one (`brew install python@3.12`, or from python.org) and run the same command again."
    return (
        "Install one (Debian 12 and Ubuntu 24.04 have it as `apt-get install python3 python3-venv`; on an older system "
        "build it or take it from python.org) and run the same command again."
    )


# --- System libraries -------------------------------------------------------------------------------------------------


def missing_packages(wanted: Sequence[tuple[str, ...]]) -> list[str]:
    """The Debian packages of ``wanted`` that are not installed; each entry lists the names one package may have."""
    if not wanted:
        return []
    names = [name for entry in wanted for name in entry]
    listing = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\\n", *names],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # it complains about each unknown name
        encoding="utf-8",
    ).stdout
    installed = {line.split()[0] for line in listing.splitlines() if line.endswith(" installed")}
    return [entry[0] for entry in wanted if installed.isdisjoint(entry)]


def install_packages(wanted: Sequence[tuple[str, ...]]) -> None:
    """Install what is missing of ``wanted`` with apt-get, as root or through sudo. Raises `SetupError`."""
    if platform.system() != "Linux":
        return
    if not (shutil.which("apt-get") and shutil.which("dpkg-query")):
        return  # another Linux: the check of Qt names the library that is missing, if any
    missing = missing_packages(wanted)
    if not missing:
        return
    root = os.geteuid() == 0
    if not root and not shutil.which("sudo"):
        raise SetupError(
            "These system libraries are missing: {0}. Installing them needs root, and there is no sudo here. "
            "As root, run `apt-get install {0}`, then run the same command again.".format(" ".join(missing))
        )
    say("Installing system libraries: " + " ".join(missing))
    prefix = [] if root else ["sudo"]
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet", "--option=DPkg::Lock::Timeout=300"]
    # An update that fails is no reason to stop: the lists already here may be good enough.
    subprocess.run([*apt, "update"], stdout=sys.stderr)
    if subprocess.run([*apt, "install", "--yes", "--no-install-recommends", *missing], stdout=sys.stderr).returncode:
        raise SetupError(
            "apt-get could not install these system libraries: {}. The program cannot start without them. Look at what "
            "apt-get said above (is the network there, is the disk full?), then run the same command again.".format(
                " ".join(missing)
            )
        )


# --- The environment --------------------------------------------------------------------------------------------------


class Environment:
    """The virtual environment of a checkout, with its stamp."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.folder = checkout / ".venv"
        self.python = self.folder / "bin" / "python"
        self._stamp = self.folder / STAMP

    def ready(self, extras: Sequence[str]) -> bool:
        """Whether everything was installed for this very pyproject.toml, place and interpreter."""
        stamp = self._read_stamp()
        return stamp.get("setup") == self._setup() and set(extras) <= set(stamp.get("extras", ()))

    def install(self, extras: Sequence[str]) -> None:
        """Bring the environment up to date; one that an interrupted run left half-made is made anew."""
        before = self._read_stamp()
        extras = sorted({*extras, *before.get("extras", ())})
        made_here = before.get("made_here", not self.folder.exists())
        outdated = before.get("setup", {}).get("python") not in (None, self._interpreter())
        if made_here and self.folder.exists() and (before["state"] == "installing" or outdated):
            say("Removing an environment that is incomplete or belongs to another Python")
            shutil.rmtree(str(self.folder))
        self._write_stamp({"state": "installing", "made_here": made_here})
        if made_here and not self.python.exists():
            self._create()
        self._check_usable()
        say("Installing the project and the libraries it needs (the first time this takes some minutes)")
        self._pip("--upgrade", "pip")
        self._pip("--editable", "{}[{}]".format(self.checkout, ",".join(extras)) if extras else str(self.checkout))
        self._write_stamp({"state": "ready", "made_here": made_here, "extras": extras, "setup": self._setup()})

    def check_qt(self) -> None:
        """Raise `SetupError` where Qt does not load: a system library is missing that no package list named."""
        stamp = self._read_stamp()
        if stamp.get("qt_loads"):
            return
        code = "import PySide6.QtWidgets, PySide6.QtSvg"
        tried = subprocess.run([str(self.python), "-c", code], stderr=subprocess.PIPE, encoding="utf-8")
        if tried.returncode:
            reason = (tried.stderr.strip().splitlines() or ["it ended without a message"])[-1]
            raise SetupError(
                f"Qt does not load on this machine: {reason}. Without it no window can open. "
                "Install the system package that has the library named here, then run the same command again."
            )
        self._write_stamp({**stamp, "qt_loads": True})

    def _create(self) -> None:
        say(f"Creating {self.folder}")
        command = [sys.executable, "-m", "venv", str(self.folder)]
        made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        if made.returncode:
            reason = made.stdout.strip() or "it ended without a message"
            raise SetupError(
                f"Python could not create the environment {self.folder}: {reason}. Without it nothing can be "
                "installed. Check that the folder is writable and the disk not full, then run the same command again."
            )

    def _check_usable(self) -> None:
        """Raise `SetupError` where the environment, maybe one made by hand, has no new enough Python with pip."""
        if os.access(str(self.python), os.X_OK) and _runs(str(self.python)):
            check = [str(self.python), "-m", "pip", "--version"]
            if subprocess.run(check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return
        raise SetupError(
            f"The environment {self.folder} has no Python 3.11 or newer with pip in it. Nothing can be installed "
            "there, and it is left as it is. Move that folder away, then run the same command again."
        )

    def _pip(self, *arguments: str) -> None:
        command = [str(self.python), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", *arguments]
        environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "PIP_USER")}
        log_path = self.folder / SETUP_LOG
        lines = []
        with log_path.open("a", encoding="utf-8") as log:
            pip = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            )
            with pip:
                for line in pip.stdout or ():
                    log.write(line)
                    lines.append(line)
                    if re.match(r"\s*(Downloading|Installing collected|Successfully installed)\b", line):
                        say("  " + (line.strip() if len(line) < 118 else line.strip()[:110] + " ..."))
        if pip.returncode:
            raise SetupError(explain_pip("".join(lines), log_path))

    def _interpreter(self) -> str:
        return os.path.realpath(str(self.python))

    def _setup(self) -> dict[str, str]:
        project = (self.checkout / "pyproject.toml").read_bytes()
        return {
            "pyproject": hashlib.sha256(project).hexdigest(),
            "checkout": str(self.checkout),  # scripts and the editable install name it: a moved checkout needs new ones
            "python": self._interpreter() if self.python.exists() else "",
        }

    def _read_stamp(self) -> dict[str, Any]:
        try:
            found = json.loads(self._stamp.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return dict(found)

    def _write_stamp(self, stamp: dict[str, Any]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self._stamp.with_suffix(".part")
        part.write_text(json.dumps(stamp), encoding="utf-8")
        part.replace(self._stamp)


def explain_pip(output: str, log_path: Path) -> str:
    """Three sentences about a failed pip run, from what pip printed."""
    what, action = "pip could not install everything", "Read the end of the log"
    if re.search(r"No space left on device|Errno 28|Disk quota exceeded", output):
        what, action = "The disk is full", "Free some gigabytes"
    elif re.search(r"NewConnectionError|NameResolutionError|Temporary failure in name|Timeout|ProxyError", output):
        what, action = "The package index could not be reached", "Check the network and the proxy settings"
    elif re.search(r"No matching distribution found", output):
        what = f"A library has no release for Python {platform.python_version()} on this machine"
        action = "Try another Python from 3.11 on"
    errors = [line.strip() for line in output.splitlines() if line.strip().lower().startswith("error")]
    last = errors[-1] if errors else "no error line"
    return (
        f"{what} (pip: {last}). The project is not set up yet. {action}, then run the same command again; "
        f"everything pip said is in {log_path}."
    )


# --- Starting ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def only_one(checkout: Path) -> Iterator[None]:
    """Hold the checkout against a second set-up at the same time; waits for the first."""
    descriptor = os.open(str(checkout), os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another set-up of this checkout to finish")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def check_screen() -> None:
    """Raise `SetupError` where a window has no screen to open on, before minutes go into installing."""
    chosen = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    if platform.system() == "Linux" and not chosen:
        raise SetupError(
            "There is no screen here: neither DISPLAY nor WAYLAND_DISPLAY is set. The window cannot open, so nothing "
            "was set up. Run this from a desktop session (or through `ssh -X` or `xvfb-run`), or work without a "
            "window: python3 explorer/bootstrap.py cli -- --help"
        )


def set_up(command: Command, checkout: Path) -> Path:
    """Install what ``command`` needs and is not there yet; returns the Python to start. Raises `SetupError`."""
    environment = Environment(checkout)
    wanted = list(command.packages)
    if not environment.python.exists() and importlib.util.find_spec("ensurepip") is None:
        # Debian keeps the part of Python that makes environments in a package of its own.
        wanted.append(("python{}.{}-venv".format(*sys.version_info[:2]),))
    install_packages(wanted)
    if not environment.ready(command.extras):
        with only_one(checkout):
            if not environment.ready(command.extras):
                environment.install(command.extras)
    if command.packages:
        environment.check_qt()
    return environment.python


def start(python: Path, command: Command, rest: Sequence[str]) -> NoReturn:
    """Become the program: signals, the terminal and the exit code are its own from here on."""
    if not command.window:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if command.in_checkout:
        os.chdir(str(CHECKOUT))
    # -P: whatever lies in the current folder must not be taken for a package of ours.
    os.execv(str(python), [str(python), "-P", *command.arguments, *rest])


def _explain_os_error(error: OSError) -> str:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    what = "The disk is full" if full else f"The set-up could not read or write a file ({error})"
    action = "Free some gigabytes" if full else "Check that you own the checkout and can write in it"
    return f"{what}. The project is not set up. {action}, then run the same command again."


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns an exit code only where nothing could be started."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] not in COMMANDS:
        print(USAGE, end="", file=sys.stdout if words[:1] in (["-h"], ["--help"]) else sys.stderr)
        return 0 if words[:1] in (["-h"], ["--help"]) else 2
    command, rest = COMMANDS[words[0]], words[1:]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    try:
        python = find_python()
        if python != sys.executable:
            os.execv(python, [python, __file__, *words])
        if command.window:
            check_screen()
        start(set_up(command, CHECKOUT), command, rest)
    except SetupError as error:
        print(f"\n{error}", file=sys.stderr)
    except OSError as error:
        print("\n" + _explain_os_error(error), file=sys.stderr)
    except KeyboardInterrupt:
        print("\nInterrupted. Run the same command again: it repairs what is unfinished.", file=sys.stderr)
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
