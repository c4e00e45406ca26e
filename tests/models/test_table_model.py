"""Table models: the format, its errors, and exact logits."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explorer.messages import EngineError, ModelLoadError, PromptError
from explorer.models.base import LanguageModel
from explorer.models.table_model import TableModel
from explorer.progress import Cancelled, CancelToken, Progress
from explorer.text import ChatMessage

# shared figures: A C EOS .297, B D EOS .324, A C .33
EOS_TREE: dict[str, Any] = {
    "name": "eos-tree",
    "vocab": ["A", "B", "C", "D", "<eos>"],
    "eos": ["<eos>"],
    "context_length": 64,
    "rows": [
        {"after": [], "probs": {"A": 0.6, "B": 0.4}},
        {"after": ["A"], "probs": {"C": 0.55, "D": 0.45}},
        {"after": ["A", "*"], "probs": {"<eos>": 0.9, "A": 0.1}},
    ],
    "otherwise": {"probs": {"<eos>": 1.0}},
}
A, B, C, D, EOS = range(5)


def model(**changes: Any) -> TableModel:
    return TableModel.from_json({**EOS_TREE, **changes}, source="table:test")


def probabilities(table: LanguageModel, *prefix: int, prompt_length: int | None = None) -> list[float]:
    logits = table.next_token_logits([prefix], prompt_length=prompt_length)[0].astype(float)
    return [round(value, 6) for value in (np.exp(logits) / np.exp(logits).sum()).tolist()]


# --- Logits -----------------------------------------------------------------------------------------------------------


def test_logits_are_logs_of_the_probabilities() -> None:
    logits = model().next_token_logits([(), (A,), (A, D), (B,)])
    assert logits.dtype == np.float32
    assert logits.shape == (4, 5)
    expected = [[0.6, 0.4, 0, 0, 0], [0, 0, 0.55, 0.45, 0], [0.1, 0, 0, 0, 0.9], [0, 0, 0, 0, 1]]
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(logits, np.log(np.array(expected)).astype(np.float32))


def test_rows_match_exactly_and_the_first_one_wins() -> None:
    rows = [{"after": ["A", "*"], "probs": {"C": 1}}, {"after": ["A", "B"], "probs": {"D": 1}}, *EOS_TREE["rows"][:2]]
    table = model(rows=rows)
    assert probabilities(table, A, B)[C] == 1  # the wildcard row stands first
    assert probabilities(table, A, B, A)[EOS] == 1  # longer than every row: otherwise


def test_probabilities_need_not_add_up_to_one() -> None:
    table = model(rows=[{"after": [], "probs": {"A": 3, "B": 1}}])
    assert probabilities(table) == [0.75, 0.25, 0, 0, 0]
    assert float(np.exp(table.next_token_logits([()])[0].astype(float)).sum()) == pytest.approx(1, abs=1e-6)


def test_logits_are_taken_as_they_are() -> None:
    table = model(rows=[{"after": [], "logits": {"A": 2, "B": 1, "C": 0}}])
    np.testing.assert_array_equal(table.next_token_logits([()])[0], [2, 1, 0, -np.inf, -np.inf])


def test_a_prefix_gives_the_same_numbers_in_any_company() -> None:
    table = model()
    together = table.next_token_logits([(), (A,), ()])
    np.testing.assert_array_equal(together[0], together[2])
    np.testing.assert_array_equal(together[1], table.next_token_logits([(A,)])[0])
    together[:] = 7  # the caller may do what it likes with its answer
    assert probabilities(table)[A] == 0.6


def test_rows_speak_of_what_follows_the_prompt() -> None:
    """C19: the same table after a prompt of one token and of ten."""
    table = model()
    for prompt in ((B,), (D,) * 10):
        assert probabilities(table, *prompt, prompt_length=len(prompt))[A] == 0.6
        assert probabilities(table, *prompt, A, C, prompt_length=len(prompt))[EOS] == 0.9


def test_the_default_prompt_is_recognised_without_being_told() -> None:
    table = model(prompt="D B")
    assert table.info.default_prompt == "D B"
    assert table.encode("D B") == (D, B)
    assert probabilities(table, D, B)[A] == 0.6
    assert probabilities(table, D, B, A)[C] == 0.55
    assert model(prompt=["D", "B"]).info.default_prompt == "DB"


def test_prompt_tokens_have_scores_but_the_first() -> None:
    """C16: p(B|A) = .9, p(C|B) = .8; position t uses the logits after t - 1."""
    rows = [{"after": ["A"], "probs": {"B": 0.9, "C": 0.1}}, {"after": ["A", "B"], "probs": {"C": 0.8, "A": 0.2}}]
    table = model(rows=rows)
    ids = table.encode("A B C")
    scores = [probabilities(table, *ids[:t])[ids[t]] for t in range(1, len(ids))]
    assert scores == [0.9, 0.8]


def test_a_sequence_without_a_row_is_an_error_that_names_it() -> None:
    table = TableModel.from_json({key: EOS_TREE[key] for key in EOS_TREE if key != "otherwise"}, source="table:test")
    with pytest.raises(EngineError) as caught:
        table.next_token_logits([(B, D)])
    assert caught.value.message.code == "model.table_gap"
    assert "B D" in str(caught.value)


def test_ids_and_lengths_are_checked() -> None:
    table = model(context_length=3)
    table.next_token_logits([(A, B, C)])
    for prefix, code in (((A, 5), "prompt.unknown_id"), ((-1,), "prompt.unknown_id"), ((A,) * 4, "prompt.too_long")):
        with pytest.raises(PromptError) as caught:
            table.next_token_logits([prefix])
        assert caught.value.message.code == code
        assert all(caught.value.message.sentences())


def test_progress_and_cancel() -> None:
    reports: list[Progress] = []
    model().next_token_logits([(), (A,)], progress=reports.append)
    assert [(report.done, report.total) for report in reports] == [(2, 2)]
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        model().next_token_logits([()], cancel=cancel)


# --- Text -------------------------------------------------------------------------------------------------------------


def test_text_is_read_by_the_longest_token() -> None:
    table = model(vocab=["A", "AB", "ABC", "B", "<eos>"], rows=[])
    assert table.encode("ABCABA<eos>") == (2, 1, 0, 4)
    assert table.encode("A B\nABC") == (0, 3, 2)
    assert table.encode("") == ()
    assert table.vocabulary.decode(table.encode("ABCAB")) == "ABCAB"


def test_a_space_that_is_a_token_is_read_as_one() -> None:
    table = model(vocab=["A", " ", " A", "B", "<eos>"], rows=[])
    assert table.encode("A A B") == (0, 2, 1, 3)


def test_other_text_is_refused_with_its_place() -> None:
    with pytest.raises(PromptError) as caught:
        model().encode("AB?C")
    assert caught.value.message.code == "prompt.not_tokens"
    assert caught.value.message.params["place"] == 2
    assert "“?C”" in str(caught.value)


def test_there_is_no_chat_template() -> None:
    with pytest.raises(PromptError) as caught:
        model().encode_chat([ChatMessage("user", "A")])
    assert caught.value.message.code == "prompt.no_template"


# --- Identity ---------------------------------------------------------------------------------------------------------


def test_a_file_is_known_by_its_digest_and_opens_again(tmp_path: Path) -> None:
    path = tmp_path / "表 1.json"
    content = json.dumps({key: EOS_TREE[key] for key in EOS_TREE if key != "name"}, ensure_ascii=False)
    path.write_text(content, "utf-8")
    info = TableModel.from_file(path).info
    assert info.identity.name == "表 1"
    assert info.identity.sha256 == hashlib.sha256(content.encode()).hexdigest()
    assert info.identity.source == f"table:{path}"
    assert info.identity.kind == "table"
    assert (info.vocab_size, info.context_length, info.eos_token_ids, info.bos_token_id) == (5, 64, (4,), None)
    assert TableModel.from_file(Path(info.identity.source.removeprefix("table:"))).info == info


def test_equal_tables_have_equal_identities_and_others_do_not() -> None:
    assert model().info.identity == model().info.identity
    assert model().info.identity.sha256 != model(context_length=65).info.identity.sha256
    assert model().vocabulary.is_special(EOS)


# --- Wrong tables -----------------------------------------------------------------------------------------------------


def test_what_may_be_left_out() -> None:
    table = TableModel.from_json({"vocab": ["A"]}, source="table:test", name="small")
    assert table.info.identity.name == "small"
    assert (table.info.eos_token_ids, table.info.default_prompt) == ((), None)
    assert table.info.context_length >= 1


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"rows": [{"after": [], "probs": {"A": 0.5, "Z": 0.5}}]}, "row 1", "Z"),
        ({"rows": [{"after": [], "probs": {"A": 1}}, {"after": ["Q"], "probs": {"A": 1}}]}, "row 2", "Q"),
        ({"rows": [{"after": [], "probs": {"A": 0}}]}, "row 1", "0"),
        ({"rows": [{"after": [], "probs": {"A": -0.1}}]}, "row 1", "-0.1"),
        ({"rows": [{"after": [], "probs": {"A": True}}]}, "row 1", "A"),
        ({"rows": [{"after": [], "logits": {"A": 1e39}}]}, "row 1", "1e+39"),
        ({"rows": [{"after": [], "logits": {"A": math.inf}}]}, "row 1", "inf"),
        ({"rows": [{"after": [], "logits": {"A": math.nan}}]}, "row 1", "nan"),
        ({"rows": [{"after": [], "logits": {"A": 10**400}}]}, "row 1", "A"),
        ({"rows": [{"after": [], "probs": {}}]}, "row 1", "no token"),
        ({"rows": [{"after": [], "probs": {"A": 1}, "logits": {"A": 1}}]}, "row 1", "either"),
        ({"rows": [{"after": []}]}, "row 1", "either"),
        ({"rows": [{"probs": {"A": 1}}]}, "row 1", "after"),
        ({"rows": [[]]}, "row 1", "braces"),
        ({"rows": {}}, "rows", "list"),
        ({"otherwise": {"probs": {"Z": 1}}}, "otherwise", "Z"),
        ({"otherwise": None}, "otherwise", "braces"),
        ({"vocab": []}, "vocab", "at least one"),
        ({"vocab": ["A", "A"]}, "vocab", "twice"),
        ({"vocab": ["A", ""]}, "vocab", "1"),
        ({"vocab": ["A", "\ud800"]}, "vocab", "1"),
        ({"eos": ["end"]}, "eos", "end"),
        ({"eos": "<eos>"}, "eos", "list"),
        ({"context_length": 0}, "context_length", "0"),
        ({"context_length": True}, "context_length", "True"),
        ({"prompt": "xyz"}, "prompt", "prompt"),
        ({"prompt": ["Z"]}, "prompt", "Z"),
        ({"name": ""}, "name", "name"),
        ({"row": []}, "row", "row"),
    ],
)
def test_errors_name_the_row(changes: dict[str, Any], place: str, words: str) -> None:
    with pytest.raises(ModelLoadError) as caught:
        model(**changes)
    message = caught.value.message
    assert message.code == "model.table"
    assert str(message.params["place"]).startswith(place)
    assert words in message.sentences()[0]
    assert all(message.sentences())
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_prompt_that_would_be_read_as_other_tokens_is_refused() -> None:
    with pytest.raises(ModelLoadError) as caught:
        model(vocab=["A", "B", "AB", "A B", "<eos>"], rows=[], prompt=["A", "B"])
    assert caught.value.message.params["place"] == "prompt"


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"vocab": ["A"], "rows": [{"after": [], "probs": {"A": NaN}}]}',
        b'{"vocab": ["A"], "rows": [{"after": [], "probs": {"A": 1, "A": 2}}]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_files_that_are_not_strict_json_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "wrong.json"
    path.write_bytes(content)
    with pytest.raises(ModelLoadError) as caught:
        TableModel.from_file(path)
    assert caught.value.message.code == "model.table"
    assert "wrong" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError) as caught:
        TableModel.from_file(tmp_path / "none.json")
    assert caught.value.message.code == "model.missing"
    assert "none.json" in str(caught.value)
