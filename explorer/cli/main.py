"""The program ``token-tree``: its commands put together, its language, and its exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import typer

from explorer.allocation import keep_freed_memory
from explorer.cli.care import library_group
from explorer.cli.compare import compare
from explorer.cli.console import note, print_message
from explorer.cli.decoding import distribution, pick, run
from explorer.cli.exits import BAD_ARGUMENTS, ERROR, INTERRUPTED, NO_MODEL
from explorer.cli.export import export
from explorer.cli.groups import ArgumentError
from explorer.cli.library import add_to
from explorer.cli.models import models
from explorer.cli.proof import check, script
from explorer.cli.query import query_command
from explorer.cli.replay import replay
from explorer.cli.score import score
from explorer.cli.search import beam_command, expand_command
from explorer.cli.sessions import sessions
from explorer.cli.statistics import stats
from explorer.i18n import N_, lend_to_libraries, set_language, system_language, tr
from explorer.messages import ExplorerError, ModelLoadError, PromptError, SettingsError, UserMessage
from explorer.progress import Cancelled

_HELP = N_(
    "Look inside decoding without a window: exact token probabilities, runs, and the sessions that keep them. Exit "
    "codes: 0 done, 2 bad arguments, 3 the model could not be loaded, 4 stopped by an error, 130 interrupted (what was "
    "finished is saved)."
)
# What typer itself says, marked here so that it is translated with the rest.
_TYPER_SAYS = (
    N_("Options"),
    N_("Arguments"),
    N_("Commands"),
    N_("default: {default}"),
    N_("required"),
    N_("Show this message and exit."),
    N_("Missing command."),
    N_("No such command {name!r}."),
    N_("Aborted!"),
)

app = typer.Typer(name="token-tree", help=_HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None)
app.add_typer(models, name="models")
add_to(sessions)
app.add_typer(sessions, name="sessions")
app.add_typer(stats, name="stats")
app.add_typer(library_group, name="library")
app.command("distribution", help=N_("Show the next-token distribution after a prompt."))(distribution)
app.command("run", help=N_("Generate from a prompt, greedily or by drawing, and keep every step."))(run)
app.command("pick", help=N_("Take one token by hand in a stored session."))(pick)
app.command("expand", help=N_("Show many continuations of a prompt, with what they leave out."))(expand_command)
app.command("beam", help=N_("Search for the best endings with beams, step by step."))(beam_command)
app.command("score", help=N_("Score a given text token by token."))(score)
app.command("compare", help=N_("Compare settings on the same prompt, model and draws."))(compare)
app.command("query", help=N_("Bound how likely it is that the text goes on to match."))(query_command)
app.command("replay", help=N_("Show a session step by step, or run it again and compare."))(replay)
app.command("check", help=N_("Compare the numbers of a node with transformers itself."))(check)
app.command("script", help=N_("Write a path as a Python script for torch and transformers."))(script)
app.command("export", help=N_("Write a session to a file: a picture of its tree, or its data."))(export)


@app.command(
    "gui", help=N_("Open the window."), context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def gui(context: typer.Context) -> None:
    """Become the window's process: this one has nothing more to do."""
    os.execv(sys.executable, [sys.executable, "-m", "ui", *context.args])


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line in the user's language and leave with its exit code."""
    set_language(system_language())
    keep_freed_memory()
    lend_to_libraries()
    sys.exit(invoke(arguments))


def invoke(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; whatever goes wrong has been said on standard error then."""
    command: Any = typer.main.get_command(app)
    _translate(command)
    try:
        command.main(args=arguments, prog_name="token-tree")
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    except ExplorerError as error:
        print_message(error.message)
        return _code_of(error)
    except Cancelled:
        note(tr(N_("Cancelled. What was finished is kept.")))
        return INTERRUPTED
    except Exception:  # a defect of ours: say so, with what a report needs
        print_message(
            UserMessage(
                "cli.internal",
                N_("The program met a defect of its own."),
                N_("What was recorded before is in the library."),
                N_("Please report the lines below."),
                details=traceback.format_exc(),
            )
        )
        return ERROR
    return 0


def _code_of(error: ExplorerError) -> int:
    if isinstance(error, ModelLoadError):
        return NO_MODEL
    wrong_argument = (
        isinstance(error, ArgumentError | PromptError | SettingsError) or error.message.code == "store.missing"
    )
    return BAD_ARGUMENTS if wrong_argument else ERROR


def _translate(command: Any) -> None:
    """Put the help of a command, its options and everything below it into the current language."""
    command.help = tr(command.help)
    command.short_help = tr(command.short_help)
    for parameter in command.get_params(typer.Context(command)):  # with --help, which is typer's
        if getattr(parameter, "help", None):
            parameter.help = tr(parameter.help)
    for child in getattr(command, "commands", {}).values():
        _translate(child)
