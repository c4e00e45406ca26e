"""``token-tree export``: every format on awkward tokens, options of pictures, what is refused."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from explorer.cli.main import invoke
from explorer.export import exporter_names, read_csv, read_dot, read_graphml, read_json

ROOT = Path(__file__).resolve().parents[2]
TOKENS = ["<b>&amp;", "\x00\x07", '"\\', "你好 🙂", "\r\n\t", "]]>", "<eos>"]
READERS: dict[str, Callable[[Path], Any]] = {
    "json": read_json,
    "csv": read_csv,
    "dot": read_dot,
    "graphml": read_graphml,
}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library whose session 1 has every awkward token under the prompt and again below each."""
    folder = tmp_path_factory.mktemp("awkward")
    model = folder / "awkward.json"
    even = dict.fromkeys(TOKENS, 1 / len(TOKENS))
    table = {"name": '<awkward> & "co"', "vocab": TOKENS, "eos": ["<eos>"], "context_length": 9}
    table |= {"rows": [], "otherwise": {"probs": even}}
    model.write_text(json.dumps(table), "utf-8")
    path = folder / "library.sqlite"
    arguments = ["expand", "--model", f"table:{model}", "--ids", "1,3", "--top-k", "7", "--depth", "2"]
    assert invoke([*arguments, "--library", str(path)]) == 0
    return path


def export(library: Path, path: Path, *options: str) -> int:
    return invoke(["export", "1", "--library", str(library), "-o", str(path), *options])


NODES = 7 + 6 * 7  # nothing below the end


@pytest.mark.parametrize("name", ["png", "svg", "pdf", "json", "csv", "dot", "graphml"])
def test_every_format(library: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / f"tree.{name}"
    assert export(library, path) == 0
    assert list(tmp_path.iterdir()) == [path]
    data = path.read_bytes()
    if name == "svg":
        root = ElementTree.fromstring(data)
        assert sum("data-node" in element.attrib for element in root.iter()) == NODES + 1
        written = ["".join(element.itertext()) for element in root.iter(SVG + "text")]
        for label in ("<b>&amp;", "\\x00", '"\\', "]]>", "你好", "🙂"):
            assert any(label in text for text in written), label
    elif name in ("png", "pdf"):
        assert data.startswith({"png": b"\x89PNG", "pdf": b"%PDF"}[name])
    else:
        tree = READERS[name](path)
        assert len(tree.nodes) == NODES
        assert {bytes.fromhex(row.bytes).decode() for row in tree.nodes} == set(TOKENS)


def test_the_format_may_be_named_whatever_the_suffix(library: Path, tmp_path: Path) -> None:
    assert export(library, tmp_path / "x.png", "--format", "dot") == 0
    assert len(read_dot(tmp_path / "x.png").nodes) == NODES
    assert export(library, tmp_path / "x.unknown") == 0
    assert len(read_json(tmp_path / "x.unknown").nodes) == NODES


def test_options_of_a_picture(library: Path, tmp_path: Path) -> None:
    path = tmp_path / "tree.svg"
    options = ["--node", "8", "--title", "A <title>", "--no-legend", "--no-stamp", "--theme", "dark", "--transparent"]
    assert export(library, path, *options, "--scale", "2") == 0
    root = ElementTree.parse(path).getroot()
    nodes = [element.attrib["data-node"] for element in root.iter() if "data-node" in element.attrib]
    assert nodes[0] == "0"
    assert nodes[-1] == "8"
    assert len(nodes) == 3
    written = ["".join(element.itertext()) for element in root.iter(SVG + "text")]
    assert "A <title>" in written
    assert not any("Seed" in text or text == "model probability" for text in written)
    assert float(root.attrib["width"]) == 2 * float(root.attrib["viewBox"].split()[2])


@pytest.mark.parametrize("layout", ["leaf-slot", "tidy"])
@pytest.mark.parametrize("orientation", ["right", "down"])
def test_layouts_and_orientations(library: Path, tmp_path: Path, layout: str, orientation: str) -> None:
    path = tmp_path / "tree.svg"
    assert export(library, path, "--layout", layout, "--orientation", orientation) == 0
    root = ElementTree.parse(path).getroot()
    assert sum("data-node" in element.attrib for element in root.iter()) == NODES + 1
    wide = float(root.attrib["width"]) > float(root.attrib["height"])
    assert wide is (orientation == "down")


def test_json_says_where_the_file_is(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tree.png"
    assert export(library, path, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"session": 1, "format": "png", "path": str(path)}


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--format", "csv", "--scale", "2"], "csv is no picture"),
        (["--format", "png", "--node", "999"], "no node 999"),
        (["--format", "xls"], "no export format xls"),
        (["--format", "png", "--scale", "0"], "--scale"),
        (["--format", "png", "--theme", "pink"], "--theme"),
    ],
)
def test_what_cannot_be_is_a_bad_argument(
    library: Path, tmp_path: Path, options: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(library, tmp_path / "x", *options) == 2
    assert word in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(library, tmp_path / "none" / "x.svg") == 4
    assert "could not be written" in capsys.readouterr().err


def test_a_picture_too_large_for_png_says_what_fits(
    library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.export.formats.MOST_PIXELS", 10_000)
    assert export(library, tmp_path / "x.png") == 4
    assert "SVG or PDF" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_into_a_pipe_and_through_a_link(library: Path, tmp_path: Path) -> None:
    """A pipe (or ``/dev/stdout``) is written to, not replaced; a link stays one; a new file has the usual rights."""
    pipe, link, target = tmp_path / "pipe", tmp_path / "link.csv", tmp_path / "target.csv"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_bytes)
        assert export(library, pipe, "--format", "csv") == 0
        assert read.result().decode("utf-8-sig").startswith("node,parent,id,text")
    assert pipe.is_fifo()
    link.symlink_to(target)
    assert export(library, link) == 0
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~os.umask(os.umask(0o022))


def test_a_picture_without_any_screen_or_platform_set(library: Path, tmp_path: Path) -> None:
    """A process of its own, as from a shell over ssh: no display, no QT_QPA_PLATFORM, no application yet."""
    hidden = ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [
        sys.executable,
        "-m",
        "explorer",
        "export",
        "1",
        "--library",
        str(library),
        "-o",
        str(tmp_path / "x.png"),
    ]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_a_machine_that_lacks_a_library_of_qt(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The formats are known all the same, and say what to install; data needs none of it."""
    monkeypatch.setitem(sys.modules, "PySide6.QtGui", None)
    for name in [name for name in sys.modules if name.startswith("ui.") and name != "ui.export"]:
        monkeypatch.delitem(sys.modules, name)
    assert "svg" in exporter_names()
    assert export(library, tmp_path / "x.svg") == 4
    assert "libegl1" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert export(library, tmp_path / "x.dot") == 0


@pytest.mark.model
def test_a_tree_of_the_real_model_in_every_format(smollm2: str, tmp_path: Path) -> None:
    """C31: after the first half of 你 its second half is likely; from the prompt to seven files that agree."""
    library = tmp_path / "library.sqlite"
    arguments = ["expand", "--model", smollm2, "--ids", "504,3575,282,4649,314,18645", "--top-k", "3", "--depth", "2"]
    assert invoke([*arguments, "--library", str(library)]) == 0
    for name in ("png", "svg", "pdf", *READERS):
        assert export(library, tmp_path / f"tree.{name}") == 0
    trees = [read(tmp_path / f"tree.{name}") for name, read in READERS.items()]
    assert all(tree == trees[0] for tree in trees)
    assert len(trees[0].nodes) == 12
    svg = ElementTree.parse(tmp_path / "tree.svg").getroot()
    assert sum("data-node" in element.attrib for element in svg.iter()) == 13
    written = " ".join("".join(element.itertext()) for element in svg.iter(SVG + "text"))
    assert "smollm2-135m float32 cpu" in written
    halves = [row for row in trees[0].nodes if "<0x" in row.text]
    assert halves
    for row in halves:
        assert bytes.fromhex(row.bytes).hex(" ").upper() in written
