"""The pages of the help in every language: read from ``resources/help``, cut into sections, searched. No Qt here.

A page is Markdown: its first line ``# Title``, then sections ``## Heading`` or ``## Heading {#name}``, whose name is
what links and hints point at. The troubleshooting page is made of `ui.help.troubles`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from explorer.i18n import LANGUAGES, N_, tr_in
from ui.help.troubles import TROUBLES

START: Final = "start"
TROUBLE: Final = "troubleshooting"
PAGES: Final = (
    *(START, "tree", "candidates", "settings", "why", "ruler", "curves", "characters", "path", "stopping", "prompt"),
    *("models", "sessions", "timeline", "runs", "beams", "questions", "score", "compare", "lessons"),
    *(TROUBLE, "hosted", "glossary"),
)
"""Their names in the order of the list."""

_HEADING: Final = re.compile(r"^## +(.*?)(?: *\{#([a-z_0-9-]+)\})?$")
_MARKUP: Final = re.compile(r"[*`|#]|\[|\]\([^)]*\)")
_SNIPPET: Final = 90


@dataclass(frozen=True, slots=True)
class Section:
    """``name`` is what points at it; the first section of a page has no heading."""

    name: str
    heading: str
    body: str


@dataclass(frozen=True, slots=True)
class Page:
    name: str
    title: str
    sections: tuple[Section, ...]

    @property
    def markdown(self) -> str:
        """The whole page, without the names of its sections."""
        parts = [f"# {self.title}"]
        for section in self.sections:
            parts += [f"## {section.heading}"] if section.heading else []
            parts.append(section.body)
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class Found:
    """A place that was searched for, with some words around what matched. ``section`` counts from 0."""

    page: str
    section: int
    title: str
    snippet: str


@lru_cache(maxsize=len(LANGUAGES) * len(PAGES))
def page(name: str, language: str) -> Page:
    """One page. Raises KeyError for an unknown name; an unknown language means English."""
    if name not in PAGES:
        raise KeyError(name)
    language = language if language in LANGUAGES else "en"
    if name == TROUBLE:
        sections = (Section(key, tr_in(language, head), tr_in(language, text)) for key, head, text in TROUBLES)
        return Page(name, tr_in(language, N_("When something looks wrong")), (Section("", "", ""), *sections))
    text = (files("resources") / "help" / language / f"{name}.md").read_text("utf-8")
    title, _, rest = text.partition("\n")
    return Page(name, title.removeprefix("# ").strip(), tuple(_sections(rest)))


def section_place(shown: Page, section: str) -> int:
    """The place of a section by name; the beginning where there is none."""
    return next((place for place, known in enumerate(shown.sections) if known.name == section), 0)


def search(query: str, language: str) -> list[Found]:
    """Every section that has all the words of ``query`` in one language, headings first. Shown in ``language``."""
    words = query.casefold().split()
    if not words:
        return []
    found: list[tuple[int, Found]] = []
    for name in PAGES:
        shown = page(name, language)
        versions = [page(name, other) for other in LANGUAGES]
        for place, section in enumerate(shown.sections):
            rank = min(_rank(version, place, words) for version in versions)
            if rank < 2:
                title = f"{shown.title} › {section.heading}" if section.heading else shown.title
                found.append((rank, Found(name, place, title, _snippet(section.body, words[0]))))
    found.sort(key=lambda pair: pair[0])
    return [one for _, one in found]


def _rank(version: Page, place: int, words: list[str]) -> int:
    """0: all words stand in the heading; 1: in the section; 2: they do not."""
    if place >= len(version.sections):
        return 2
    section = version.sections[place]
    heading = f"{version.title} {section.heading}".casefold()
    if all(word in heading for word in words):
        return 0
    whole = f"{heading} {section.body.casefold()}"
    return 1 if all(word in whole for word in words) else 2


def _snippet(body: str, word: str) -> str:
    plain = " ".join(_MARKUP.sub("", body).split())
    at = max(0, plain.casefold().find(word) - _SNIPPET // 3)
    cut = plain[at : at + _SNIPPET]
    return f"{'…' if at else ''}{cut}{'…' if at + _SNIPPET < len(plain) else ''}"


def _sections(text: str) -> Iterator[Section]:
    name, heading, lines = "", "", list[str]()
    for line in text.splitlines():
        match = _HEADING.match(line)
        if match is None:
            lines.append(line)
            continue
        yield Section(name, heading, "\n".join(lines).strip())
        name, heading, lines = match[2] or "", match[1], []
    yield Section(name, heading, "\n".join(lines).strip())
