"""The settings on the command line, built from what every filter declares, so that a new filter needs no line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.cli.grammar import GRAMMAR_OPTIONS, read_grammar
from explorer.cli.groups import OptionGroup, bad_argument, option
from explorer.decoding.params import Parameter, ParamValue, Settings, settings_from_generation_config
from explorer.decoding.processors import PARAMETERS
from explorer.grammar.compiling import check_without_vocabulary
from explorer.i18n import N_
from explorer.models.base import ModelInfo

_STOPPING = ("max_new_tokens", "max_length", "stop", "eos")


@dataclass(frozen=True, slots=True)
class SettingsChoice:
    """The settings that were given; checked when they are built (`SettingsError`)."""

    sampling: Mapping[str, ParamValue]
    stopping: Mapping[str, Any]
    order: str | tuple[str, ...] | None
    model_defaults: bool

    def check(self) -> None:
        """Raise `SettingsError` before a model is loaded for nothing."""
        constraint = self.over(Settings()).sampling.grammar()
        if constraint is not None:
            check_without_vocabulary(constraint)

    def build(self, model: ModelInfo) -> Settings:
        """The settings in force: the model's own below the user's where they were asked for."""
        base = settings_from_generation_config(model.generation_defaults) if self.model_defaults else Settings()
        return self.over(base)

    def over(self, base: Settings) -> Settings:
        """What was given, above other settings. Raises `SettingsError`."""
        settings = base if self.order is None else base.with_order(self.order)
        return settings.with_sampling("user", **self.sampling).with_stopping("user", **self.stopping)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _options() -> tuple[Any, ...]:
    kinds = {"float": float | None, "int": int | None, "ids": list[int] | None, "id_values": list[str] | None}
    metavars = {"ids": "ID", "id_values": "ID=VALUE"}
    filters = [
        option(p.name, kinds[p.kind], _flag(p.name), p.help, metavar=metavars.get(p.kind))
        for p in PARAMETERS.values()
        if p.kind in kinds
    ]
    return (
        *filters,
        *GRAMMAR_OPTIONS,
        option(
            "order", str | None, "--order", N_("The order of the filters: transformers, llama.cpp, or stages a,b,c.")
        ),
        option("max_new_tokens", int | None, "--max-new-tokens", N_("Stop after so many new tokens.")),
        option("max_length", int | None, "--max-length", N_("Stop when prompt and new tokens together are so many.")),
        option("stop", list[str] | None, "--stop", N_("Stop where the generated text has this; repeat for several.")),
        option("eos", list[int] | None, "--eos", N_("A token id that ends the text, instead of the model's own.")),
        option("model_defaults", bool, "--model-defaults", N_("Start from the model's own generation config."), False),
    )


def _choice(values: Mapping[str, Any]) -> SettingsChoice:
    given = {p: values[p.name] for p in PARAMETERS.values() if p.kind != "grammar" and values[p.name] is not None}
    sampling = {p.name: _value(p, value) for p, value in given.items()}
    constraint = read_grammar(values)
    if constraint is not None:
        sampling["grammar"] = constraint
    names = {"stop": "stop_strings", "eos": "eos_token_ids"}
    stopping = {names.get(name, name): values[name] for name in _STOPPING if values[name] is not None}
    stopping = {name: tuple(value) if isinstance(value, list) else value for name, value in stopping.items()}
    order = values["order"]
    choice = SettingsChoice(
        sampling, stopping, tuple(order.split(",")) if order and "," in order else order, values["model_defaults"]
    )
    choice.check()
    return choice


def _value(parameter: Parameter, value: Any) -> ParamValue:
    if parameter.kind == "ids":
        return tuple(value)
    if parameter.kind == "id_values":
        return tuple(_id_value(parameter, text) for text in value)
    return value  # type: ignore[no-any-return]  # typer made it a float or an int


def _id_value(parameter: Parameter, text: str) -> tuple[int, float]:
    token_id, _, value = text.partition("=")
    try:
        return int(token_id), float(value)
    except ValueError:
        raise bad_argument(
            N_("{text} is no value for {flag}."),
            N_("Write a token id, an equals sign and a number, for example 7042=1.5."),
            text=text,
            flag=_flag(parameter.name),
        ) from None


SETTINGS: OptionGroup[SettingsChoice] = OptionGroup(_options(), _choice)
