"""Bring the translation catalogues up to date: ``python resources/locale/update.py``. Needs babel (the dev extra).

Collects every string inside ``tr(...)`` and ``N_(...)``, merges it into each language's ``.po`` (translations are kept,
new strings come in empty, gone ones go), and compiles the ``.mo`` that gettext reads. With ``--check`` changes nothing
and exits with 1 where a catalogue is not complete and current.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[2]
DOMAIN = "token_tree_explorer"
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def collect() -> Catalog:
    """A template catalogue of every marked string, with the places it comes from."""
    template = Catalog(project="Token Tree Explorer", charset="utf-8")
    for package in ("explorer", "ui"):
        found = extract_from_dir(
            ROOT / package, [("**.py", "python")], keywords={"tr": None, "N_": None}, comment_tags=("i18n:",)
        )
        for filename, _, message, comments, _ in found:
            template.add(message, locations=[(f"{package}/{filename}", 0)], auto_comments=comments)
    return template


def problems(catalogue: Catalog, template: Catalog) -> Iterator[str]:
    """What a reader of this language would stumble over."""
    for message in template:
        if not message.id:
            continue
        translated = catalogue.get(message.id)
        if translated is None or not translated.string:
            yield f"not translated: {message.id!r} ({message.locations[0][0]})"
        elif translated.fuzzy:
            yield f"fuzzy: {message.id!r}"
        elif set(_PLACEHOLDER.findall(str(message.id))) != set(_PLACEHOLDER.findall(str(translated.string))):
            yield f"other placeholders: {message.id!r} -> {translated.string!r}"


def compiled(catalogue: Catalog) -> bytes:
    buffer = io.BytesIO()
    write_mo(buffer, catalogue)
    return buffer.getvalue()


def is_current(mo: Path, catalogue: Catalog) -> bool:
    """Whether ``mo`` holds the translations of ``catalogue``; its header names the version of babel that wrote it."""
    if not mo.is_file():
        return False
    with mo.open("rb") as file:
        return _translations(read_mo(file)) == _translations(catalogue)


def _translations(catalogue: Catalog) -> dict[object, object]:
    return {message.id: message.string for message in catalogue if message.id and message.string}


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    template = collect()
    faults: list[str] = []
    for po in sorted((ROOT / "resources" / "locale").glob(f"*/LC_MESSAGES/{DOMAIN}.po")):
        with po.open("rb") as file:
            catalogue = read_po(file, locale=po.parts[-3])
        mo = po.with_suffix(".mo")
        if check:
            gone = [m.id for m in catalogue if m.id and m.id not in template]
            faults += [f"{po.parts[-3]}: {problem}" for problem in problems(catalogue, template)]
            faults += [f"{po.parts[-3]}: no longer used: {message!r}" for message in gone]
            if not is_current(mo, catalogue):
                faults.append(f"{po.parts[-3]}: the .mo is not compiled from the .po")
            continue
        catalogue.update(template, no_fuzzy_matching=True)
        catalogue.obsolete.clear()
        with po.open("wb") as file:
            write_po(file, catalogue, width=120, sort_by_file=True, include_lineno=False, ignore_obsolete=True)
        with po.open("rb") as file:
            catalogue = read_po(file, locale=po.parts[-3])
        mo.write_bytes(compiled(catalogue))
        open_strings = list(problems(catalogue, template))
        print(f"{po.parts[-3]}: {len(template)} strings, {len(open_strings)} open")
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
