"""What holds for the repository as a whole: its directions of dependency, its sizes, its documented commands."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from explorer import bootstrap

ROOT = Path(__file__).resolve().parent.parent
LONGEST_FILE = 450

# A longer file and the reason why it reads better as one.
ALLOWED_LONG: dict[str, str] = {}


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", cwd=ROOT)


def test_import_contracts() -> None:
    """The contracts that pyproject.toml declares."""
    script = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run([script, "--no-cache"], capture_output=True, encoding="utf-8", cwd=ROOT)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(
    ("modules", "barred"),
    [
        ("ui.__main__, ui.app", "torch transformers sqlalchemy"),
        ("explorer.cli", "torch transformers PySide6"),
        ("explorer.workspace", "torch transformers PySide6"),
    ],
)
def test_the_light_processes_load_no_torch(modules: str, barred: str) -> None:
    """Importing torch takes seconds and hundreds of megabytes; only the engine's child process pays for it.

    SQLAlchemy takes half a second, which the session thread pays after the window is up.
    """
    loaded = _python(f"import {modules}, sys; print(*(set({barred.split()}) & sys.modules.keys()))")
    assert (loaded.returncode, loaded.stdout) == (0, "\n"), loaded.stderr + loaded.stdout


def test_the_window_imports_qt_only_when_it_opens() -> None:
    """The engine's child imports the main module again, and must not load Qt for that."""
    loaded = _python("import ui.__main__, sys; print('PySide6' in sys.modules)")
    assert loaded.stdout == "False\n", loaded.stderr


def test_files_stay_readable() -> None:
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for folder in ("explorer", "ui", "resources")
        for path in (ROOT / folder).rglob("*.py")
    }
    long = {name: lines for name, lines in sizes.items() if lines > LONGEST_FILE}
    assert long.keys() == ALLOWED_LONG.keys(), f"longer than {LONGEST_FILE} lines, or no longer so: {long}"


@pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="only a checkout has a list")
def test_the_top_level_is_fixed() -> None:
    listed = subprocess.run(["git", "ls-files"], capture_output=True, encoding="utf-8", cwd=ROOT, check=True).stdout
    top = {name.split("/")[0] for name in listed.splitlines()}
    fixed = {"pyproject.toml", "README.md", "LICENSE", "explorer", "ui", "resources", "tests", "sessions"}
    assert {name for name in top if not name.startswith(".")} == fixed


def readme_commands() -> list[str]:
    """The lines a person is told to paste to set everything up."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    start = readme.split("\n## Start\n")[1].split("\n## ")[0]
    return [block.strip() for block in re.findall(r"```sh\n(.*?)```", start, re.DOTALL)]


def test_the_readme_gives_two_commands_of_one_line() -> None:
    commands = [shlex.split(command) for command in readme_commands()]
    assert [words[:2] for words in commands] == [["python3", "explorer/bootstrap.py"]] * 2
    assert [words[2:] for words in commands] == [["run"], ["test"]]
    assert {"run", "test"} <= bootstrap.COMMANDS.keys()


def test_ci_runs_the_readme_command() -> None:
    assert readme_commands()[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
