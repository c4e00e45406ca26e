"""What is put on the clipboard of a path: its token ids, and its values as a table."""

from __future__ import annotations

import math

from explorer.text import Vocabulary
from ui.format import token_label
from ui.tree.mirror import TreeMirror

_COLUMNS = (
    "position", "token_id", "token", "model_logprob", "model_probability", "sampling_logprob", "rank", "chosen",
    "path_model_logprob",
)  # fmt: skip


def path_ids(mirror: TreeMirror, node_id: int) -> str:
    """The ids of the generated tokens as a JSON list, which Python reads too."""
    return f"[{', '.join(str(mirror.nodes[node].token_id) for node in mirror.path(node_id)[1:])}]"


def path_table(mirror: TreeMirror, vocabulary: Vocabulary | None, node_id: int) -> str:
    """A row a token, tabs between, as spreadsheets and pandas take it. Natural logs in full; an excluded token has no
    sampling log-probability. Labels hold neither tabs nor newlines."""
    rows = ["\t".join(_COLUMNS)]
    for place in mirror.path(node_id)[1:]:
        node = mirror.nodes[place]
        edge = node.edge
        sampling = "" if edge.sampling_logprob is None else repr(edge.sampling_logprob)
        rows.append(
            "\t".join(
                (
                    str(node.depth),
                    str(node.token_id),
                    token_label(vocabulary, node.token_id),
                    repr(edge.model_logprob),
                    repr(math.exp(edge.model_logprob)),
                    sampling,
                    str(edge.rank),
                    edge.how,
                    repr(float(mirror.path_logprob[place])),
                )
            )
        )
    return "\n".join(rows)
