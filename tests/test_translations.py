"""The catalogues: complete, current, well-formed, and set as Chinese is set."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("babel", reason="the catalogues are collected with babel, which only developers have")

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from explorer.i18n import LANGUAGES, listed, sentences, set_language, tr, tr_in
from explorer.messages import UserMessage

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "resources" / "locale"
TRANSLATED = [language for language in LANGUAGES if language != "en"]
# Where a function or class takes msgids: their places and names among its arguments.
TAKES_MSGIDS = {
    "UserMessage": ((1, "what"), (2, "meaning"), (3, "action")),
    "Progress": ((0, "phase"),),
    "bad_argument": ((0, "what"), (1, "action")),
    "PromptWarning": ((1, "text"),),
    "Parameter": ((3, "label"), (4, "help")),
    "ColourChoice": ((1, "name"), (2, "help")),
    "Preset": ((1, "label"),),
}
CHINESE = "一-鿿"
FULL_WIDTH = "，。；：？！、（）“”…"


class Anything:
    """Fills any placeholder, whatever its format."""

    def __format__(self, _: str) -> str:
        return "0"

    def __str__(self) -> str:
        return "0"


@pytest.fixture(scope="module")
def update() -> ModuleType:
    """The program that collects and compiles."""
    spec = importlib.util.spec_from_file_location("update_locale", LOCALE / "update.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def template(update: ModuleType) -> Catalog:
    """Every string the code marks."""
    catalogue: Catalog = update.collect()
    return catalogue


@pytest.fixture(params=TRANSLATED)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def po(language: str, update: ModuleType) -> Path:
    path: Path = LOCALE / language / "LC_MESSAGES" / f"{update.DOMAIN}.po"
    return path


@pytest.fixture
def catalogue(language: str, po: Path) -> Catalog:
    with po.open("rb") as file:
        return read_po(file, locale=language)


def pairs(catalogue: Catalog) -> Iterator[tuple[str, str]]:
    """Every string with its translation."""
    return ((str(message.id), str(message.string)) for message in catalogue if message.id)


def placeholders(text: str) -> list[str]:
    return sorted(f"{name}:{form}" for _, name, form, _ in string.Formatter().parse(text) if name is not None)


def filled(text: str) -> str:
    names = {name for _, name, _, _ in string.Formatter().parse(text) if name}
    return text.format(**dict.fromkeys(names, Anything()))


# --- complete and current ---------------------------------------------------------------------------------------------


def test_every_string_is_translated(update: ModuleType, catalogue: Catalog, template: Catalog) -> None:
    """Translated, not fuzzy, with the same placeholders."""
    assert list(update.problems(catalogue, template)) == [], "run resources/locale/update.py and translate"


def test_no_translation_outlives_its_string(catalogue: Catalog, template: Catalog) -> None:
    assert [msgid for msgid, _ in pairs(catalogue) if msgid not in template] == []


def test_what_gettext_reads_is_compiled_from_what_people_edit(update: ModuleType, catalogue: Catalog, po: Path) -> None:
    assert update.is_current(po.with_suffix(".mo"), catalogue)


def test_the_program_finds_its_translations(language: str, catalogue: Catalog) -> None:
    for msgid, translation in pairs(catalogue):
        assert tr_in(language, msgid) == translation


# --- well-formed ------------------------------------------------------------------------------------------------------


def test_placeholders_are_the_same_with_their_formats(catalogue: Catalog) -> None:
    differing = [m for m, translation in pairs(catalogue) if placeholders(m) != placeholders(translation)]
    assert differing == []


def test_every_text_can_be_filled_in(catalogue: Catalog) -> None:
    for texts in pairs(catalogue):
        for text in texts:
            assert "{" not in filled(text)


def test_mnemonics_are_kept_and_differ_in_the_menu_bar(catalogue: Catalog) -> None:
    marked = [translation for msgid, translation in pairs(catalogue) if re.search(r"&\w", msgid)]
    letters = [re.findall(r"&(\w)", translation) for translation in marked]
    assert all(len(found) == 1 for found in letters)
    assert len({found[0].casefold() for found in letters}) == len(marked)


def test_names_of_keys_and_options_are_kept(catalogue: Catalog) -> None:
    names = re.compile(r"--[a-z][a-z-]+|\b(?:Ctrl|Shift|Alt|Esc|Enter)(?:\+\w+|-C)*\b|\b\w+_\w+\b|https?:\S+")
    for msgid, translation in pairs(catalogue):
        assert sorted(names.findall(msgid)) == sorted(names.findall(translation)), msgid


# --- set as Chinese is set --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "pattern"),
    [
        ("no space between Chinese and Latin letters or digits", rf"[{CHINESE}][A-Za-z0-9{{]|[A-Za-z0-9}}][{CHINESE}]"),
        ("a space beside full-width punctuation", rf" [{FULL_WIDTH}]|[{FULL_WIDTH}] (?!\()"),
        ("half-width punctuation after Chinese", rf"[{CHINESE}][,.;:?!]"),
        ("a space between Chinese characters", rf"[{CHINESE}] [{CHINESE}]"),
        ("straight quotation marks around Chinese", rf"\"[{CHINESE}]|[{CHINESE}]\""),
    ],
)
def test_chinese_typography(update: ModuleType, fault: str, pattern: str) -> None:
    with (LOCALE / "zh_CN" / "LC_MESSAGES" / f"{update.DOMAIN}.po").open("rb") as file:
        catalogue = read_po(file, locale="zh_CN")
    assert [translation for _, translation in pairs(catalogue) if re.search(pattern, translation)] == [], fault


def test_one_term_is_kept_for_one_thing(update: ModuleType) -> None:
    """Words that other translations use for the same things must not slip in beside ours."""
    with (LOCALE / "zh_CN" / "LC_MESSAGES" / f"{update.DOMAIN}.po").open("rb") as file:
        catalogue = read_po(file, locale="zh_CN")
    others = re.compile("令牌|标记符|提示语|对数几率|集束|词汇表|贪婪|您|登录项|撤消|缺省")
    assert [translation for _, translation in pairs(catalogue) if others.search(translation)] == []


# --- on the command line ----------------------------------------------------------------------------------------------


def test_the_command_line_speaks_the_language_of_the_environment() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LC_")}
    done = subprocess.run(
        [sys.executable, "-m", "explorer", "sessions", "show", "--help"],
        env={**environment, "LANG": "zh_CN.UTF-8", "PYTHONUTF8": "1"},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    for text in ("Options", "Show this message and exit.", "The SQLite file that keeps the sessions.", "required"):
        assert tr_in("zh_CN", text) in done.stdout
        assert text not in done.stdout


# --- put together -----------------------------------------------------------------------------------------------------


def test_sentences_and_lists_are_put_together_as_the_language_does() -> None:
    message = UserMessage("x", "No session is open.", "", "Open a model, type a prompt, and start.")
    assert message.text() == "No session is open. Open a model, type a prompt, and start."
    assert listed(["a", "", "b", "c"]) == "a, b, c"
    set_language("zh_CN")
    assert message.text() == tr("No session is open.") + tr("Open a model, type a prompt, and start.")
    assert " " not in message.text()
    assert listed(["甲", "乙", ""]) == "甲，乙"
    assert sentences([]) == ""


def test_texts_with_braces_of_their_own_are_put_together_unchanged() -> None:
    assert sentences(["a {b}", "{c} {}"]) == "a {b} {c} {}"


def test_whoever_takes_a_msgid_is_given_a_marked_one() -> None:
    unmarked = [
        f"{path.relative_to(ROOT)}:{node.lineno} {argument.value!r}"
        for folder in ("explorer", "ui")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for argument in msgid_arguments(node)
        if isinstance(argument, ast.Constant) and argument.value and not str(argument.value).isdigit()
    ]
    assert unmarked == []


def msgid_arguments(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of a call that the callee translates."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    for place, keyword in TAKES_MSGIDS.get(name, ()):
        yield from call.args[place : place + 1]
        yield from (given.value for given in call.keywords if given.arg == keyword)
