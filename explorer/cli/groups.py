"""Option groups: several commands take the same options, declared once and handed over as one value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import typer

from explorer.i18n import N_
from explorer.messages import ExplorerError, UserMessage

Value = TypeVar("Value")


class ArgumentError(ExplorerError):
    """An argument that cannot be used; nothing was done."""


def bad_argument(what: str, action: str, **params: Any) -> ArgumentError:
    """An `ArgumentError`; ``what`` and ``action`` are msgids."""
    return ArgumentError(UserMessage("cli.argument", what, N_("Nothing was done."), action, params))


@dataclass(frozen=True, slots=True)
class OptionGroup(Generic[Value]):
    """Options by their Python names, and the function that turns their values into one."""

    options: tuple[inspect.Parameter, ...]
    build: Callable[[Mapping[str, Any]], Value]


def option(name: str, kind: Any, flag: str, help_text: str, default: Any = None, **details: Any) -> inspect.Parameter:
    """One option; ``help_text`` is a msgid, ``details`` are typer's."""
    info = typer.Option(flag, help=help_text, **details)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def takes(**groups: OptionGroup[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of ``groups``; it receives one argument a group, by the name used here."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            built = {name: group.build(_taken(values, group)) for name, group in groups.items()}
            function(**values, **built)

        own = inspect.signature(function, eval_str=True).parameters.values()
        parameters = [parameter for parameter in own if parameter.name not in groups]
        for group in groups.values():
            parameters += group.options
        # What typer reads instead of the catch-all above.
        command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        )
        command.__annotations__ = {}
        command.__name__ = function.__name__
        return command

    return decorate


def _taken(values: dict[str, Any], group: OptionGroup[Any]) -> dict[str, Any]:
    return {parameter.name: values.pop(parameter.name) for parameter in group.options}
