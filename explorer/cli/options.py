"""The options that commands share: which model, which library, which prompt, and how to print."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from explorer.cli.groups import ArgumentError, OptionGroup, bad_argument, option
from explorer.i18n import N_
from explorer.models.base import DeviceChoice, DtypeChoice, ModelRef
from explorer.paths import default_library
from explorer.text import ChatMessage, Prompt
from explorer.workspace import Workspace

_HARDWARE = (
    option("device", DeviceChoice, "--device", N_("Where the model runs."), "auto"),
    option("dtype", DtypeChoice, "--dtype", N_("The number format the model runs in."), "auto"),
    option("threads", int | None, "--threads", N_("CPU threads; as many as are fastest unless set."), min=1),
)
_MODEL_HELP = N_("A catalogue or hub name, a folder, a GGUF file, table:FILE or lesson:NAME.")
_REVISION = option("revision", str | None, "--revision", N_("The revision of a hub model."))


def _model_ref(values: Mapping[str, Any]) -> ModelRef:
    return ModelRef(values["model"], values["revision"], values["device"], values["dtype"], values["threads"])


MODEL: OptionGroup[ModelRef] = OptionGroup(
    (option("model", str, "--model", _MODEL_HELP, ...), _REVISION, *_HARDWARE), _model_ref
)


@dataclass(frozen=True, slots=True)
class Hardware:
    """How to run a model that is known already, namely that of a stored session."""

    device: DeviceChoice
    dtype: DtypeChoice
    threads: int | None


HARDWARE: OptionGroup[Hardware] = OptionGroup(_HARDWARE, lambda values: Hardware(**values))

LIBRARY: OptionGroup[Path] = OptionGroup(
    (option("library", Path | None, "--library", N_("The SQLite file that keeps the sessions.")),),
    lambda values: values["library"] or default_library(),
)

JSON: OptionGroup[bool] = OptionGroup(
    (option("json", bool, "--json", N_("Print one JSON document and nothing else on standard output."), False),),
    lambda values: bool(values["json"]),
)


@dataclass(frozen=True, slots=True)
class PromptChoice:
    """The prompt as it was given; ``kind`` None means the model's own."""

    kind: Literal["raw", "ids", "chat"] | None
    text: str = ""
    ids: tuple[int, ...] = ()
    messages: tuple[ChatMessage, ...] = ()

    def encode(self, workspace: Workspace) -> Prompt | None:
        """What the loaded model makes of it. Raises `PromptError`."""
        if self.kind == "raw":
            return workspace.encode(self.text)
        if self.kind == "ids":
            return workspace.prompt_of_ids(self.ids)
        if self.kind == "chat":
            return workspace.encode_chat(self.messages)
        return None


def _prompt_choice(values: Mapping[str, Any]) -> PromptChoice:
    given = [name for name, value in values.items() if value is not None]
    if len(given) > 1:
        raise bad_argument(
            N_("The prompt was given {count} times."),
            N_("Use one of --prompt, --prompt-file, --ids and --chat."),
            count=len(given),
        )
    if values["prompt"] is not None:
        return PromptChoice("raw", values["prompt"])
    if values["prompt_file"] is not None:
        return PromptChoice("raw", read_text(values["prompt_file"]))
    if values["ids"] is not None:
        return PromptChoice("ids", ids=_token_ids(values["ids"]))
    if values["chat"] is not None:
        return PromptChoice("chat", messages=_messages(values["chat"]))
    return PromptChoice(None)


PROMPT: OptionGroup[PromptChoice] = OptionGroup(
    (
        option("prompt", str | None, "--prompt", N_("The prompt as text; the model's own prompt unless set.")),
        option("prompt_file", Path | None, "--prompt-file", N_("A text file (UTF-8) with the prompt, taken as it is.")),
        option("ids", str | None, "--ids", N_("The prompt as token ids, for example 1,2,3.")),
        option("chat", Path | None, "--chat", N_("A JSON file with a list of messages: role and content.")),
    ),
    _prompt_choice,
)


def read_text(path: Path) -> str:
    """A UTF-8 file exactly as it is, line ends included. Raises `ArgumentError`."""
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, str(error)) from error


def _unreadable(path: Path, problem: str) -> ArgumentError:
    return bad_argument(
        N_("The file {path} cannot be used: {problem}."),
        N_("Correct the file or its name."),
        path=path,
        problem=problem,
    )


def _token_ids(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise bad_argument(
            N_("{text} is not a list of token ids."), N_("Write whole numbers with commas: 1,2,3."), text=text
        ) from None


def _messages(path: Path) -> tuple[ChatMessage, ...]:
    try:
        data = json.loads(read_text(path))
    except ValueError as error:
        raise _unreadable(path, str(error)) from error
    entries = data.get("messages") if isinstance(data, dict) else data
    if not isinstance(entries, list) or not entries or not all(_is_message(entry) for entry in entries):
        raise _unreadable(path, "[{role: system|user|assistant, content: text}, ...]")
    return tuple(ChatMessage(entry["role"], entry["content"]) for entry in entries)


def _is_message(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("role") in ("system", "user", "assistant")
        and isinstance(entry.get("content"), str)
    )
