"""The beginning of a script: what it imports, the model, and the prompt with its ids."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from explorer.export.script_blocks import NEXT_LOGITS, NEXT_LOGITS_FRESH, NEXT_LOGITS_TABLE
from explorer.export.script_path import ScriptPath
from explorer.export.script_text import assignment, comment, literal
from explorer.models.hub_source import is_hub_name
from explorer.models.model_cache import ModelCache
from explorer.paths import model_cache

# Templates that write the day's date render otherwise tomorrow.
_DATED: Final = "strftime_now"
_FRESH_NOTE: Final = "Every step is computed from scratch"


def import_section(path: ScriptPath, body: str) -> str:
    """Imports of what ``body``, the rest of the script, uses."""
    neural = path.model.identity.kind == "transformers"
    names = [name for name in ("AutoModelForCausalLM", "AutoTokenizer", "GenerationConfig") if f"{name}" in body]
    standard = [f"import {name}" for name in ("math", "sys") if f"{name}." in body]
    others = ["import numpy as np"] if "np." in body else []
    others.append("import torch")
    if neural:
        others.append(f"from transformers import {', '.join(names)}")
    if "processors." in body:
        others.append("from transformers.generation import logits_process as processors")
    return "\n".join([*standard, *([""] if standard else []), *others])


def model_section(path: ScriptPath) -> str:
    """The model by its place, or the table that is the model, and ``text_of`` a token."""
    return _table_section(path) if path.table is not None else _neural_section(path)


def next_logits(path: ScriptPath) -> str:
    """The function that asks the model, as source."""
    if path.table is not None:
        return NEXT_LOGITS_TABLE
    fresh = any(text.startswith(_FRESH_NOTE) for text, _ in path.model.notes)
    return NEXT_LOGITS_FRESH if fresh else NEXT_LOGITS


def prompt_sections(path: ScriptPath) -> list[str]:
    """The prompt, encoded again where it was text, and the check that its ids are those of the session."""
    ids = assignment("PROMPT_IDS", list(path.prompt.ids))
    if path.table is not None or path.prompt.kind == "ids":
        how = "" if path.prompt.kind == "ids" else f" They read {path.prompt.text!r}."
        return [comment(f"The ids the model sees before the path.{how}") + "\n" + ids]
    message = '"the tokenizer reads the prompt otherwise"'
    check = f"assert tokenizer({{text}}).input_ids == PROMPT_IDS, {message}"
    if path.prompt.kind == "raw":
        lines = [comment("The prompt, read by the model's own tokenizer."), assignment("PROMPT", path.prompt.text), ids]
        return ["\n".join([*lines, check.format(text="PROMPT")])]
    check = check.format(text="text, add_special_tokens=False")
    return [*_chat_sections(path), f"{comment('The template has written all special tokens itself.')}\n{ids}\n{check}"]


def _chat_sections(path: ScriptPath) -> list[str]:
    messages = [{"role": message.role, "content": message.content} for message in path.prompt.messages]
    rendered = assignment("RENDERED", path.prompt.text)
    if _DATED in (path.model.chat_template or ""):
        return [
            comment("The conversation. The model's template writes the day's date, so that of the session is kept."),
            f"{assignment('MESSAGES', messages)}\n{rendered}\ntext = RENDERED",
        ]
    render = "tokenizer.apply_chat_template(MESSAGES, tokenize=False, add_generation_prompt={opens})"
    return [
        f"{comment('The conversation, and what the template of the model made of it.')}\n"
        f"{assignment('MESSAGES', messages)}\n{rendered}",
        "\n".join(
            [
                f"text = {render.format(opens=True)}  # opens the answer",
                "if text != RENDERED:",
                f"    text = {render.format(opens=False)}",
                'assert text == RENDERED, "the chat template has changed"',
            ]
        ),
    ]


def _neural_section(path: ScriptPath) -> str:
    environment = path.environment
    place, revision, explained = _place(path)
    lines = [comment(explained), f"MODEL = sys.argv[1] if len(sys.argv) > 1 else {place!r}"]
    where = "MODEL"
    if revision is not None:
        lines.append(f"REVISION = {revision!r}")
        where = "MODEL, revision=REVISION"
    if environment.device == "cpu":
        lines.append(f"torch.set_num_threads({environment.threads})  # as many as in the session")
    lines += [
        f"tokenizer = AutoTokenizer.from_pretrained({where})",
        f"model = AutoModelForCausalLM.from_pretrained({where}, dtype=torch.{environment.dtype})",
        f"model.to({environment.device!r}).eval()",
    ]
    return "\n".join(lines)


TEXT_OF_NEURAL: Final = '''
def text_of(*tokens):
    """Tokens as text; half a character shows as a replacement mark."""
    return tokenizer.decode(list(tokens))
'''
TEXT_OF_TABLE: Final = '''
def text_of(*tokens):
    """Tokens as text."""
    return "".join(VOCAB[token] for token in tokens)
'''


def _place(path: ScriptPath) -> tuple[str, str | None, str]:
    """Where the model is loaded from, its revision, and what is to be said of it."""
    identity = path.model.identity
    other = "Give another place as the first argument."
    cache = ModelCache(model_cache())
    folder = Path(identity.source)
    manifest = None if folder.is_absolute() else cache.manifest(identity.source)
    if manifest is not None:
        explained = (
            f"{identity.name}, imported from {manifest.source} ({manifest.quantisation}, sha256 "
            f"{manifest.source_sha256}). {other}"
        )
        return str(cache.folder(identity.source)), None, explained
    if folder.is_absolute():
        return identity.source, None, f"{identity.name}, a local folder (weights sha256 {identity.sha256}). {other}"
    if is_hub_name(identity.source):
        return identity.source, identity.revision, f"{identity.name} from the hub, exactly this revision. {other}"
    explained = (
        f"{identity.name} (sha256 {identity.sha256}) is not imported here at the moment: "
        f"token-tree models get {identity.source}. {other}"
    )
    return str(cache.folder(identity.source)), None, explained


def _table_section(path: ScriptPath) -> str:
    assert path.table is not None  # its caller looked
    table, identity = path.table, path.model.identity
    said = 'Rows say what follows after a sequence since the prompt; "*" stands for any one token.'
    lines = [
        comment(f"{identity.name}: a table in place of a neural network (sha256 {identity.sha256})."),
        assignment("VOCAB", list(table["vocab"])),
        comment(f"Only the rows that this path meets. {said}"),
        assignment("ROWS", [dict(row) for row in table["rows"]]),
        comment("What follows after every other sequence, where this path meets one."),
        f"OTHERWISE = {literal(table['otherwise'])}",
    ]
    return "\n".join(lines)
