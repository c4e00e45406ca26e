"""The options that give a grammar: ``--json-schema``, ``--regex``, ``--grammar``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from explorer.cli.groups import bad_argument, option
from explorer.cli.options import read_text
from explorer.grammar.constraint import Constraint
from explorer.i18n import N_

GRAMMAR_OPTIONS: Final = (
    option(
        "json_schema",
        str | None,
        "--json-schema",
        N_("Let the generated text be JSON of this schema: a file, or the schema itself."),
        metavar="FILE|TEXT",
    ),
    option("regex", str | None, "--regex", N_("Let the generated text match this regular expression as a whole.")),
    option("grammar", Path | None, "--grammar", N_("Let the generated text follow the Lark grammar in this file.")),
)


def read_grammar(values: Mapping[str, Any]) -> Constraint | None:
    """The grammar that was asked for; None where none was. Raises `ArgumentError`."""
    given = [name for name in ("json_schema", "regex", "grammar") if values[name] is not None]
    if not given:
        return None
    if len(given) > 1:
        raise bad_argument(
            N_("Only one grammar can be in force."), N_("Use one of --json-schema, --regex and --grammar.")
        )
    if values["regex"] is not None:
        return Constraint("regex", values["regex"])
    if values["grammar"] is not None:
        return Constraint("lark", read_text(values["grammar"]))
    schema: str = values["json_schema"]
    # A schema begins with a brace, or is true or false; a file of such a name would be asked for with its path.
    if schema.lstrip().startswith("{") or schema.strip() in ("true", "false"):
        return Constraint("json_schema", schema)
    return Constraint("json_schema", read_text(Path(schema)))
