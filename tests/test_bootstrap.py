"""The set-up a bare machine runs: tried on a tiny checkout with a build backend of its own, without a network."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from explorer import bootstrap

SOURCE = Path(bootstrap.__file__)

PYPROJECT = """
[build-system]
requires = []
build-backend = "tiny_backend"
backend-path = ["."]
[project]
name = "tiny"
version = "0"
[project.optional-dependencies]
dev = []
"""

# Writes the wheel of an editable install by hand, and a line in builds.log a time it is asked.
BACKEND = """
import pathlib, zipfile
def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with open("builds.log", "a") as log:
        log.write("built\\n")
    name = "tiny-0-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory, name), "w") as wheel:
        wheel.writestr("tiny.pth", str(pathlib.Path.cwd()))
        metadata = ["Metadata-Version: 2.1", "Name: tiny", "Version: 0", "Provides-Extra: dev", ""]
        wheel.writestr("tiny-0.dist-info/METADATA", "\\n".join(metadata))
        tags = ["Wheel-Version: 1.0", "Generator: t", "Root-Is-Purelib: true", "Tag: py3-none-any", ""]
        wheel.writestr("tiny-0.dist-info/WHEEL", "\\n".join(tags))
        wheel.writestr("tiny-0.dist-info/RECORD", "")
    return name
"""


class Checkout:
    """A checkout small enough to be set up in seconds; its command line prints what it was given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "explorer").mkdir(parents=True)
        shutil.copy(SOURCE, folder / "explorer" / "bootstrap.py")
        self.write("explorer/__main__.py", "import sys; print('cli', *sys.argv[1:])")
        self.write("pyproject.toml", PYPROJECT)
        self.write("tiny_backend.py", BACKEND)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def start(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith("PIP_") and k not in ("DISPLAY", "WAYLAND_DISPLAY")
        }
        kept.pop("QT_QPA_PLATFORM", None)
        offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
        return subprocess.run(
            [sys.executable, str(self.folder / "explorer" / "bootstrap.py"), *words],
            cwd=self.folder,
            env={**kept, **offline, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
        )

    @property
    def builds(self) -> int:
        log = self.folder / "builds.log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def interrupt(self) -> None:
        """Leave the environment as a set-up killed half-way leaves it."""
        environment = self.folder / ".venv"
        (environment / bootstrap.STAMP).write_text(json.dumps({"state": "installing", "made_here": True}))
        shutil.rmtree(next((environment / "lib").glob("*/site-packages/pip")))

    def make_python(self, script: str) -> None:
        """Put a shell script in the place of the environment's Python."""
        self.write(".venv/bin/python", "#!/bin/sh\n" + script)
        (self.folder / ".venv" / "bin" / "python").chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout")


def test_uses_the_standard_library_alone() -> None:
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"), feature_version=(3, 7))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


def test_its_neighbours_shadow_no_standard_module() -> None:
    """Python puts the folder of a script first on its path."""
    neighbours = {path.stem for path in SOURCE.parent.iterdir()} - {"__init__", "__main__", "__pycache__"}
    assert neighbours & sys.stdlib_module_names == set()


@pytest.mark.timeout(400)
def test_sets_up_once_and_again_when_something_changed(checkout: Checkout) -> None:
    first = checkout.start("cli", "--", "models", "list")
    assert (first.returncode, first.stdout) == (0, "cli models list\n"), first.stderr
    assert checkout.builds == 1

    second = checkout.start("cli", "--help")
    assert (second.stdout, second.stderr) == ("cli --help\n", "")
    assert checkout.builds == 1

    checkout.write("pyproject.toml", PYPROJECT + "# changed\n")
    third = checkout.start("cli")
    assert (third.returncode, third.stdout) == (0, "cli\n"), third.stderr
    assert checkout.builds == 2
    assert "Creating" not in third.stderr

    checkout.interrupt()
    fourth = checkout.start("cli", "x")
    assert (fourth.returncode, fourth.stdout) == (0, "cli x\n"), fourth.stderr
    assert "incomplete" in fourth.stderr


def test_leaves_an_environment_made_by_hand_alone(checkout: Checkout) -> None:
    checkout.write(".venv/mine.txt", "mine")
    tried = checkout.start("cli")
    assert tried.returncode == 1
    assert "Move that folder away" in tried.stderr
    assert (checkout.folder / ".venv" / "mine.txt").read_text() == "mine"
    assert checkout.start("cli").returncode == 1
    assert (checkout.folder / ".venv" / "mine.txt").exists()


def test_says_why_pip_failed_and_is_not_set_up_then(checkout: Checkout) -> None:
    checkout.make_python(
        "case $1 in -c) exit 0;; esac; case $3 in install) echo '  ERROR: No space left on device'; exit 1;; esac"
    )
    for _ in range(2):
        tried = checkout.start("cli")
        assert tried.returncode == 1
        assert "The disk is full (pip: ERROR: No space left on device)" in tried.stderr


def test_names_the_library_that_qt_lacks(checkout: Checkout) -> None:
    checkout.make_python("echo 'ImportError: libEGL.so.1: cannot open shared object file' >&2; exit 1")
    with pytest.raises(bootstrap.SetupError, match=r"libEGL\.so\.1"):
        bootstrap.Environment(checkout.folder).check_qt()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
def test_run_without_a_screen_installs_nothing(checkout: Checkout) -> None:
    tried = checkout.start("run")
    assert tried.returncode == 1
    assert "neither DISPLAY nor WAYLAND_DISPLAY" in tried.stderr
    assert not (checkout.folder / ".venv").exists()


@pytest.mark.parametrize(("words", "code"), [([], 2), (["dance"], 2), (["--help"], 0)])
def test_usage(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(words) == code
    captured = capsys.readouterr()
    assert "bootstrap.py run" in (captured.err if code else captured.out)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
            "The disk is full",
        ),
        ("WARNING: Retrying after NewConnectionError('...')\nERROR: No matching distribution found for x\n", "network"),
        ("ERROR: No matching distribution found for torch<=2.13.0\n", "has no release for Python"),
        ("something else\n", "Read the end of the log"),
    ],
)
def test_explains_failures_of_pip(output: str, expected: str) -> None:
    assert expected in bootstrap.explain_pip(output, Path("log"))


class Tools:
    """Stand-ins for Debian's tools, alone on PATH; what they are asked to do is written down."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.log.write_text("")
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        monkeypatch.setattr(bootstrap.shutil, "which", lambda name, path=None: self._which(name))
        monkeypatch.setattr(bootstrap.platform, "system", lambda: "Linux")

    def _which(self, name: str) -> str | None:
        path = self.folder / name
        return str(path) if path.exists() else None

    def add(self, name: str, script: str) -> None:
        path = self.folder / name
        path.write_text(f"""#!/bin/sh\nprintf '%s\\n' "{name} $*" >> "{self.log}"\n{script}\n""")
        path.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        return [line for line in self.log.read_text().splitlines() if not line.startswith("dpkg-query")]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    tools = Tools(tmp_path, monkeypatch)
    tools.add(
        "dpkg-query", "echo 'libgl1 installed'; echo 'libglib2.0-0t64 installed'; echo 'libegl1 config-files'; exit 1"
    )
    tools.add("apt-get", "exit 0")
    return tools


def test_installs_only_the_libraries_that_are_missing(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 0)
    bootstrap.install_packages(bootstrap.OFFSCREEN_PACKAGES)
    update, install = tools.calls
    assert update.endswith(" update")
    assert install.split()[-4:] == ["libegl1", "libxkbcommon0", "libdbus-1-3", "libfontconfig1"]
    assert "--yes" in install


def test_asks_for_nothing_when_all_is_there(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)
    bootstrap.install_packages([("libgl1",), ("libglib2.0-0", "libglib2.0-0t64")])
    assert tools.calls == []


def test_goes_through_sudo_when_it_must(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)
    tools.add("sudo", 'exec "$@"')
    bootstrap.install_packages([("libegl1",)])
    assert [call.split()[0] for call in tools.calls] == ["sudo", "apt-get", "sudo", "apt-get"]


def test_says_what_to_install_where_there_is_no_sudo(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)
    with pytest.raises(bootstrap.SetupError, match=r"there is no sudo here.*apt-get install libegl1"):
        bootstrap.install_packages([("libegl1",)])
    assert tools.calls == []


def test_says_so_when_apt_fails(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 0)
    tools.add("apt-get", "exit 100")
    with pytest.raises(bootstrap.SetupError, match="could not install these system libraries: libegl1"):
        bootstrap.install_packages([("libegl1",)])


def test_looks_for_a_newer_python(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "MINIMUM", (4, 12))  # this interpreter is now too old
    with pytest.raises(bootstrap.SetupError, match=r"no Python 3\.11 or newer was found"):
        bootstrap.find_python()
    tools.add("python3.14", "exit 1")  # a shim without an interpreter behind it
    tools.add("python3.13", "exit 0")
    assert bootstrap.find_python() == str(tools.folder / "python3.13")
