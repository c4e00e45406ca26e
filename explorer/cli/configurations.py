"""``--with "NAME: --temperature 0.7 …"``: several configurations in one command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import typer

from explorer.cli.groups import bad_argument, takes
from explorer.cli.settings import SETTINGS, SettingsChoice
from explorer.decoding.params import Settings
from explorer.i18n import N_, tr
from explorer.studies.plan import Configuration

# Base of all that its parser says of wrong words. By its version typer brings a click of its own, or takes the usual.
_UsageError: Any = typer.BadParameter.__bases__[0]


def configurations(texts: Sequence[str], base: Settings) -> tuple[Configuration, ...]:
    """The settings of the command itself where ``texts`` is empty, else one configuration a text, each over them.

    Raises `ArgumentError`, `SettingsError`.
    """
    if not texts:
        return (Configuration(tr(N_("these settings")), base),)
    return tuple(_configuration(text, base) for text in texts)


def _configuration(text: str, base: Settings) -> Configuration:
    name, colon, options = text.partition(":")
    if not colon or not name.strip():
        raise _refused(text, tr(N_("the name and the colon are missing")))
    try:
        words = shlex.split(options)
    except ValueError as error:
        raise _refused(text, str(error)) from error
    return Configuration(name.strip(), _choice(text, words).over(base))


def _choice(text: str, words: list[str]) -> SettingsChoice:
    """The options read as on the command line."""
    found: list[SettingsChoice] = []

    @takes(settings=SETTINGS)
    def take(settings: SettingsChoice) -> None:
        found.append(settings)

    app = typer.Typer(add_completion=False)
    app.command()(take)
    command: Any = typer.main.get_command(app)
    try:
        command.main(args=words, prog_name="", standalone_mode=False)
    except _UsageError as error:
        raise _refused(text, error.format_message()) from error
    if not found or found[0].model_defaults:  # --help, too, is none of a configuration's options
        raise _refused(text, "--help, --model-defaults")
    return found[0]


def _refused(text: str, problem: str) -> Exception:
    return bad_argument(
        N_("The configuration {text} cannot be read: {problem}."),
        N_(
            "Write a name, a colon and options for settings, for example: --with 'warm: --temperature 1.2 --top-p 0.9'."
        ),
        text=text,
        problem=problem,
    )
