"""The pages of the help: whole in both languages, their links lead somewhere, the search finds across languages."""

from __future__ import annotations

import re

import pytest

from explorer.i18n import LANGUAGES
from explorer.lessons import lessons
from ui.help.library import PAGES, START, TROUBLE, page, search, section_place
from ui.help.troubles import TROUBLES

LINK = re.compile(r"\]\(([a-z_]+)(?:#([a-z_]+))?\)")
MACHINE = ("stop", "length", "tool_calls", "end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_there_in_every_language(name: str) -> None:
    english = page(name, "en")
    for language in LANGUAGES:
        shown = page(name, language)
        assert shown.title
        assert [section.name for section in shown.sections] == [section.name for section in english.sections]
        assert all(section.heading and section.body for section in shown.sections[1:])
        for target, section in LINK.findall(shown.markdown):
            assert target in PAGES
            assert not section or section_place(page(target, language), section)
    if name != TROUBLE:
        assert re.search("[一-鿿]", page(name, "zh_CN").title)
        assert re.search("[一-鿿]", page(name, "zh_CN").sections[0].body)


def test_lessons_point_at_pages() -> None:
    assert {step.page for lesson in lessons() for step in lesson.steps} - {""} <= set(PAGES)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("temperature", "settings"),
        ("温度", "settings"),
        ("困惑度", "curves"),
        ("end_turn", "hosted"),
        ("length penalty", "beams"),
        ("长度惩罚", "beams"),
        ("讲堂", "lessons"),
    ],
)
def test_the_search_finds_in_both_languages(query: str, expected: str) -> None:
    for language in LANGUAGES:
        assert expected in [found.page for found in search(query, language)]


def test_what_stands_in_a_heading_comes_first_and_nothing_is_nothing() -> None:
    assert search("length penalty", "en")[0].title == "Beam search › Length penalty"
    assert search("  ", "en") == []
    assert search("zyzzyva", "en") == []


def test_the_table_of_hosted_names_is_whole() -> None:
    for language in LANGUAGES:
        text = page("hosted", language).markdown
        assert all(f"`{name}`" in text for name in (*MACHINE, "refusal", "model_context_window_exceeded", "incomplete"))


def test_every_trouble_can_be_opened_and_unknown_pages_are_unknown() -> None:
    shown = page(TROUBLE, "en")
    assert [section_place(shown, name) for name, _, _ in TROUBLES] == list(range(1, len(TROUBLES) + 1))
    assert section_place(shown, "nowhere") == 0
    with pytest.raises(KeyError):
        page("nowhere", "en")
    assert page(START, "fr").title == page(START, "en").title
