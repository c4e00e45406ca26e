"""``token-tree export``: a session as a file, data or a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from explorer.cli.console import ProgressLine, interruptible, note, print_json
from explorer.cli.groups import OptionGroup, bad_argument, option, takes
from explorer.cli.options import JSON, LIBRARY
from explorer.cli.sessions import SESSION, open_library
from explorer.export import (
    PictureExporter,
    PictureOptions,
    SessionDocument,
    export_session,
    exporter,
    exporter_names,
    read_session,
)
from explorer.export.picture import LEAST_SCALE, MOST_SCALE, PictureLayout, PictureOrientation, PictureTheme
from explorer.i18n import N_, tr
from explorer.tree import ROOT, NodeId

_FORMAT = Annotated[
    str | None,
    typer.Option("--format", help=N_("png, svg, pdf, json, csv, dot, graphml, or what other packages add.")),
]
_OUTPUT = Annotated[Path, typer.Option("-o", "--output", help=N_("The file to write; its suffix names the format."))]
_DEFAULT_FORMAT = "json"
_SWITCHES = ("legend", "stamp", "phrases")


def _picture(values: Mapping[str, Any]) -> PictureOptions | None:
    """What was wished for a picture; None where nothing was."""
    wished = {name: value for name, value in values.items() if value is not None}
    if not wished:
        return None
    wished.update({name: not wished.pop(f"no_{name}") for name in _SWITCHES if f"no_{name}" in wished})
    return PictureOptions(content="path" if "node" in wished else "tree", **wished)


PICTURE: OptionGroup[PictureOptions | None] = OptionGroup(
    (
        option(
            "scale",
            float | None,
            "--scale",
            N_("Of a picture: pixels for every pixel on the screen."),
            min=LEAST_SCALE,
            max=MOST_SCALE,
        ),
        option("transparent", bool | None, "--transparent", N_("Of a picture: without a ground behind it.")),
        option("node", int | None, "--node", N_("Of a picture: only the path to this node."), min=0),
        option("layout", PictureLayout | None, "--layout", N_("Of a picture: how leaves are placed.")),
        option("orientation", PictureOrientation | None, "--orientation", N_("Of a picture: where the tree grows to.")),
        option("theme", PictureTheme | None, "--theme", N_("Of a picture: its colours.")),
        option("title", str | None, "--title", N_("Of a picture: a line above the tree.")),
        option("no_phrases", bool | None, "--no-phrases", N_("Of a picture: a box for every token, also in chains.")),
        option("no_legend", bool | None, "--no-legend", N_("Of a picture: do not explain colours and signs.")),
        option("no_stamp", bool | None, "--no-stamp", N_("Of a picture: do not say model, settings, seed and date.")),
    ),
    _picture,
)


@takes(library=LIBRARY, json=JSON, picture=PICTURE)
def export(
    session: SESSION,
    library: Path,
    json: bool,
    picture: PictureOptions | None,
    output: _OUTPUT,
    file_format: _FORMAT = None,
) -> None:
    """The model is not needed."""
    name = _format_of(file_format, output)
    if picture is not None and not isinstance(exporter(name), PictureExporter):
        raise bad_argument(
            N_("The format {name} is no picture: it has no size, title or theme."),
            N_("Leave those options out, or choose png, svg or pdf."),
            name=name,
        )
    with open_library(library) as store:
        document = read_session(store, session)
    if picture is not None and picture.node is not None:
        _check_node(document, picture.node)
    with interruptible() as cancel, ProgressLine() as progress:
        export_session(document, name, output, picture, cancel, progress)
    if json:
        print_json({"session": session, "format": name, "path": str(output.absolute())})
    else:
        note(tr(N_("Written to {path}.")).format(path=output))


def _check_node(document: SessionDocument, node: NodeId) -> None:
    if node != ROOT and not any(row.node == node and not row.hidden for row in document.nodes):
        raise bad_argument(
            N_("There is no node {node} in session {session}."),
            N_("See its nodes with: token-tree sessions show {session}."),
            node=node,
            session=document.session,
        )


def _format_of(wished: str | None, output: Path) -> str:
    """The format asked for, else that of the file's suffix. Raises `ArgumentError` for one that does not exist."""
    known = exporter_names()
    suffix = output.suffix.removeprefix(".").lower()
    name = wished or (suffix if suffix in known else _DEFAULT_FORMAT)
    if name not in known:
        raise bad_argument(
            N_("There is no export format {name}."), N_("Use one of these: {known}."), name=name, known=", ".join(known)
        )
    return name
