"""Translations through gettext, for the window and the command line alike.

Strings in code are the English msgids. `tr` looks a string up in the current language; `N_` only marks a string that
is translated later, where it is shown. The catalogues lie in ``resources/locale/<language>/LC_MESSAGES``.
"""

from __future__ import annotations

import gettext
import locale
import os
from collections.abc import Iterable
from functools import lru_cache, reduce
from importlib.resources import as_file, files

DOMAIN = "token_tree_explorer"
LANGUAGES: dict[str, str] = {"en": "English", "zh_CN": "简体中文"}

_translation: gettext.NullTranslations = gettext.NullTranslations()


def N_(message: str) -> str:  # noqa: N802 - the name every gettext tool looks for
    """Mark ``message`` for translation and return it unchanged."""
    return message


def tr(message: str) -> str:
    """``message`` in the current language, or itself where no translation exists."""
    return _translation.gettext(message) if message else ""


def tr_in(language: str, message: str) -> str:
    """``message`` in a language (a key of `LANGUAGES`) that need not be the current one."""
    return _catalogue(language).gettext(message) if message else ""


def sentences(parts: Iterable[str]) -> str:
    """Translated sentences as one paragraph, without the empty ones. In Chinese no space stands between them."""
    return _joined(tr("{before} {after}"), parts)


def listed(parts: Iterable[str]) -> str:
    """Translated words as a list in one line, without the empty ones."""
    return _joined(tr("{before}, {after}"), parts)


def _joined(pair: str, parts: Iterable[str]) -> str:
    texts = [part for part in parts if part]
    return reduce(lambda before, after: pair.format(before=before, after=after), texts) if texts else ""


def set_language(language: str) -> None:
    """Use ``language`` (a key of `LANGUAGES`) from now on; an unknown one means English."""
    global _translation  # the one current language of the process, as in gettext.install
    _translation = _catalogue(language)


def lend_to_libraries() -> None:
    """Let libraries that ask gettext's default domain, as typer does, find their words among ours."""
    with as_file(files("resources") / "locale") as directory:
        gettext.bindtextdomain(DOMAIN, str(directory))
    gettext.textdomain(DOMAIN)


@lru_cache(maxsize=len(LANGUAGES))
def _catalogue(language: str) -> gettext.NullTranslations:
    if language not in LANGUAGES or language == "en":
        return gettext.NullTranslations()
    with as_file(files("resources") / "locale") as directory:
        return gettext.translation(DOMAIN, str(directory), languages=[language], fallback=True)


def system_language() -> str:
    """The language the user's environment asks for, as a key of `LANGUAGES`."""
    for name in (os.environ.get(v, "") for v in ("LC_ALL", "LC_MESSAGES", "LANGUAGE", "LANG")):
        if name:
            return "zh_CN" if name.startswith("zh") else "en"
    return "zh_CN" if (locale.getlocale()[0] or "").startswith(("zh", "Chinese")) else "en"
