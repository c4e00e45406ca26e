"""Field cases that need no neural network, through sessions over the real engine process and a real library."""

from __future__ import annotations

import math
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import engine_fakes as fakes
import pytest

from explorer.cli.main import invoke
from explorer.decoding.choice import draw_uniform
from explorer.decoding.params import Settings, settings_from_generation_config
from explorer.engine.client import Engine
from explorer.messages import EngineError, ModelLoadError, SettingsError, StoreError
from explorer.models.base import ModelRef
from explorer.session import Session
from explorer.tree import ROOT
from explorer.workspace import Workspace

from .conftest import OpenTable

A, B, C, D = range(4)
LETTERS = ["a", "b", "c", "d"]
V0 = {"a": 2, "b": 1, "c": 0, "d": -1}
OLD_LIBRARIES = Path(__file__).parents[1] / "data" / "sessions"


@pytest.fixture
def v0(open_table: OpenTable) -> Workspace:
    """Logits 2, 1, 0, -1 after everything."""
    return open_table(vocab=LETTERS, otherwise={"logits": V0})


def started(workspace: Workspace, **sampling: Any) -> Session:
    return workspace.new_session(workspace.prompt_of_ids(()), settings=Settings().with_sampling(**sampling))


def reopened(session: Session, library: Path) -> tuple[Workspace, Session]:
    """The session as a program that was started anew finds it, without its model."""
    assert session.unsaved == 0
    assert session.id is not None
    workspace = Workspace(library)
    return workspace, workspace.open_session(session.id)


# --- A: filters -------------------------------------------------------------------------------------------------------


def test_c07_what_the_model_file_sets_is_offered_and_never_in_force_unasked(v0: Workspace) -> None:
    assert v0.engine.info is not None
    defaults = {"do_sample": True, "temperature": 0.6, "top_k": 1, "top_p": 0.5}
    v0.engine.info = replace(v0.engine.info, generation_defaults=defaults)
    session = started(v0)
    found = session.distribution(ROOT)
    assert found is not None
    assert found.kept == len(LETTERS)
    assert session.state.settings == Settings()
    session.set_settings(settings_from_generation_config(session.model.generation_defaults))
    found = session.distribution(ROOT)
    assert found is not None
    assert found.kept == 1
    session.step_draw()
    (step,) = session.commands[-1].steps
    assert {name: step.settings.source(name) for name in ("temperature", "top_k", "top_p", "min_p")} == {
        "temperature": "model",
        "top_k": "model",
        "top_p": "model",
        "min_p": "off",
    }


# --- A: logits that are none ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_c11_a_step_without_usable_logits_writes_nothing(library: Path, dtype: str) -> None:
    """The error says how many are unusable and in which number format; the session goes on elsewhere."""
    workspace = Workspace(library, Engine(fakes.OPENER))
    with closing(workspace):
        info = workspace.open_model(fakes.ref())
        workspace.engine.info = replace(info, environment=replace(info.environment, dtype=dtype))
        session = workspace.new_session(workspace.prompt_of_ids((fakes.NOT_A_NUMBER,)))
        for step in (
            session.step_greedy,
            session.step_draw,
            lambda: session.pick(5),
            lambda: list(session.run("greedy")),
        ):
            with pytest.raises(EngineError, match=rf"2 unusable numbers among 32 \({dtype}\)") as failure:
                step()
            assert failure.value.message.code == "logits.nonfinite"
        assert len(session.tree) == 0
        assert [command.kind for command in session.commands] == ["stop"]  # of the run: its error, no token
        assert session.commands[-1].stops[0].event.particulars["code"] == "logits.nonfinite"
        with closing(sqlite3.connect(library)) as connection:
            for table, rows in {"nodes": 1, "steps": 0, "observations": 0}.items():  # the one node is the prompt
                assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (rows,)
        healthy = workspace.new_session(workspace.prompt_of_ids((fakes.PLAIN,)))
        healthy.step_greedy()
        assert len(healthy.tree) == 1


# --- B: probabilities and scores --------------------------------------------------------------------------------------


def test_c13_both_probabilities_are_stored_at_every_step(v0: Workspace, library: Path) -> None:
    session = started(v0, temperature=0.5, top_k=2)
    session.pick(B)
    session.pick(B)
    before = session.tree.path_values(session.state.current)
    assert before.model_logprob == pytest.approx(-2.8804, abs=1e-4)
    assert math.exp(before.model_logprob) == pytest.approx(0.0561, abs=1e-4)
    assert before.sampling_logprob == pytest.approx(-4.2539, abs=1e-4)
    assert math.exp(before.sampling_logprob) == pytest.approx(0.0142, abs=1e-4)
    assert [edge.model_logprob for edge in session.view().edges] == pytest.approx([-1.4402] * 2, abs=1e-4)
    assert [edge.sampling_logprob for edge in session.view().edges] == pytest.approx([-2.1269] * 2, abs=1e-4)
    session.set_settings(Settings().with_sampling(temperature=3.0))
    assert session.tree.path_values(session.state.current) == before
    workspace, after = reopened(session, library)
    assert after.tree.path_values(after.state.current) == before
    workspace.close()


NINE = {"a": 9, "b": 8, "c": 7, "d": 6}


def test_c14_a_drawn_token_outside_the_listed_ones_keeps_its_rank(open_table: OpenTable) -> None:
    workspace = open_table(vocab=LETTERS, otherwise={"logits": NINE})
    session = started(workspace)
    session.set_seed(next(seed for seed in range(1000) if draw_uniform(seed, 0) > 0.97))
    session.step_draw()
    edge = session.tree.node(session.state.current).edge
    assert (session.tree.token_ids(session.state.current), edge.rank, edge.how) == ((D,), 4, "drawn")
    assert math.exp(edge.model_logprob) == pytest.approx(0.0321, abs=1e-4)
    assert (edge.forced, edge.sampling_logprob) == (False, pytest.approx(edge.model_logprob, abs=1e-6))
    view = session.view(ROOT)
    assert view.taken == {D: session.state.current}
    assert view.distribution is not None
    assert [view.distribution.row_at(place).rank for place in range(4)] == [1, 2, 3, 4]
    assert session.vocabulary.find("d") == session.vocabulary.find(str(D)) == [D]


def test_c14_a_filtered_token_taken_by_hand_does_not_poison_its_branch(open_table: OpenTable, library: Path) -> None:
    workspace = open_table(vocab=LETTERS, otherwise={"logits": NINE})
    session = started(workspace, top_k=2)
    session.pick(D)
    forced = session.state.current
    session.step_greedy()
    edge = session.tree.node(forced).edge
    assert (edge.forced, edge.rank, edge.sampling_logprob) == (True, 4, None)
    assert edge.model_logprob == pytest.approx(-3.4402, abs=1e-4)
    values = session.tree.path_values(session.state.current)
    assert (values.tokens, values.forced) == (2, 1)
    assert math.isfinite(values.sampling_logprob)
    assert values.model_logprob == pytest.approx(-3.4402 - 0.4402, abs=1e-4)
    again, after = reopened(session, library)
    assert after.tree.node(forced).edge == edge
    assert after.tree.path_values(after.state.current) == values
    again.close()


# --- D: stopping ------------------------------------------------------------------------------------------------------


def test_c25_the_end_token_is_kept_out_for_so_many_new_tokens(open_table: OpenTable) -> None:
    """min_new_tokens leaves the prompt out; what counts the prompt as well would do nothing here."""
    workspace = open_table(vocab=["a", "<eos>"], eos=["<eos>"], otherwise={"probs": {"a": 0.1, "<eos>": 0.9}})
    prompt = workspace.prompt_of_ids((0, 0, 0))
    for least in (0, 2):
        session = workspace.new_session(prompt, settings=Settings().with_sampling(min_new_tokens=least))
        *_, last = session.run("greedy")
        assert last.stop is not None
        assert last.stop[1].particulars == {"step": least + 1, "token_id": 1}
        assert session.tree.token_ids(session.state.current) == (0,) * least + (1,)


def test_c25_two_limits_say_which_one_holds(v0: Workspace) -> None:
    settings = Settings().with_stopping(max_length=5, max_new_tokens=1)
    session = v0.new_session(v0.prompt_of_ids((A, A, A)), settings=settings)
    *_, last = session.run("greedy")
    assert last.stop is not None
    assert last.stop[1].particulars == {"step": 1, "limit": 1, "ignored_max_length": 5}
    assert "overrules" in last.stop[1].explanation().text()
    assert len(session.tree) == 1


# --- F: the model -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["gguf", "accelerate"])
def test_c40_a_missing_package_is_named_and_the_old_model_works(library: Path, tmp_path: Path, package: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    with closing(Workspace(library, Engine(f"case_openers:open_without_{package}"))) as workspace:
        workspace.open_model(ModelRef("lesson:breakfast"))
        session = workspace.new_session()
        with pytest.raises(ModelLoadError, match=f"pip install {package}") as refusal:
            workspace.open_model(ModelRef(str(path)))
        assert refusal.value.message.code == "model.package_missing"
        assert session.live
        session.step_greedy()
        assert len(session.tree) == 1


# --- G: the library ---------------------------------------------------------------------------------------------------


def test_c41_the_largest_seed_is_read_back_exactly_and_draws_the_same(v0: Workspace, library: Path) -> None:
    session = started(v0)
    session.set_seed(2**63 - 1, 2**62)
    session.step_draw()
    session.step_draw()
    with pytest.raises(ValueError, match="seed"):
        session.set_seed(2**63)
    workspace, after = reopened(session, library)
    assert (after.state.seed, after.state.next_draw_index) == (2**63 - 1, 2**62 + 2)
    steps = [command.steps[0] for command in after.commands if command.steps]
    assert [(step.seed, step.draw_index) for step in steps] == [(2**63 - 1, 2**62), (2**63 - 1, 2**62 + 1)]
    assert [step.u for step in steps] == [draw_uniform(2**63 - 1, 2**62 + i) for i in range(2)]
    workspace.close()


def test_c41_an_impossible_token_taken_by_hand_comes_back(open_table: OpenTable, library: Path) -> None:
    """Its log-probability is minus infinity, which is not nothing."""
    workspace = open_table(vocab=["a\x00b", "c"], otherwise={"probs": {"c": 1}})
    session = started(workspace)
    session.pick(0)
    again, after = reopened(session, library)
    edge = after.tree.node(after.state.current).edge
    assert (edge.model_logprob, edge.logit, edge.sampling_logprob) == (-math.inf, -math.inf, None)
    assert after.view().text == "a\x00b"
    again.close()


def test_c42_a_deleted_session_leaves_no_ghost_in_the_next(v0: Workspace, library: Path) -> None:
    first = started(v0)
    list(first.run("greedy", max_steps=5))
    first.view()
    assert first.id is not None
    with closing(sqlite3.connect(library)) as connection:
        assert connection.execute("SELECT count(*) FROM nodes").fetchone() == (6,)  # the prompt as well
        assert connection.execute("SELECT count(*) FROM observations").fetchone() == (6,)
    v0.delete_session(first.id)
    assert v0.session is None
    assert v0.sessions() == []
    second = started(v0)
    second.step_greedy()
    assert second.id is not None
    assert second.id != first.id
    with closing(sqlite3.connect(library)) as connection:
        found = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' "
            "AND sql LIKE '%session_id%' AND sql NOT LIKE '%VIRTUAL%'"
        )
        tables = [name for (name,) in found]
        assert {"nodes", "steps", "observations", "commands"} <= set(tables)
        for table in tables:
            owners = connection.execute(f"SELECT DISTINCT session_id FROM {table}").fetchall()
            assert owners in ([], [(second.id,)]), table
    workspace, after = reopened(second, library)
    assert [node.token_id for node in after.tree.nodes()] == [A]
    workspace.close()


@pytest.mark.parametrize("name", sorted(path.name for path in OLD_LIBRARIES.glob("v*.sqlite")))
def test_c44_an_older_library_opens_with_every_node(library: Path, name: str) -> None:
    shutil.copyfile(OLD_LIBRARIES / name, library)
    for _ in range(2):
        with closing(Workspace(library)) as workspace:
            assert len(workspace.sessions()) == 2
            session = workspace.open_session(1)
            assert [node.id for node in session.tree.nodes()] == [1, 2, 3]
            view = session.view(ROOT)
            assert (view.source, view.distribution is not None) == ("stored", True)
            assert all(math.isfinite(session.tree.path_values(node.id).model_logprob) for node in session.tree.nodes())


def test_c44_a_newer_library_is_refused_and_never_rewritten(v0: Workspace, library: Path, tmp_path: Path) -> None:
    started(v0).step_greedy()
    newer = tmp_path / "newer.sqlite"
    with closing(sqlite3.connect(library)) as source, closing(sqlite3.connect(newer)) as target:
        source.backup(target)
        target.execute("UPDATE alembic_version SET version_num = '9999'")
        target.commit()
    before = newer.read_bytes()
    with pytest.raises(StoreError) as refusal:
        Workspace(newer)
    assert refusal.value.message.code == "store.newer"
    assert all(refusal.value.message.sentences())
    assert invoke(["sessions", "--library", str(newer), "--json"]) == 4
    assert newer.read_bytes() == before


# --- ids that do not exist --------------------------------------------------------------------------------------------

STRAY: list[tuple[str, Settings, str]] = [
    ("ban", Settings().with_sampling(ban=(0, 4)), "4"),
    ("logit_bias", Settings().with_sampling(logit_bias=((1, 2.0), (4, -1.5))), "4=-1.5"),
    ("eos_token_ids", Settings().with_stopping(eos_token_ids=(3, 4)), "4"),
]


@pytest.mark.parametrize(("name", "settings", "shown"), STRAY, ids=[name for name, _, _ in STRAY])
def test_ids_outside_the_vocabulary_are_refused_in_settings(
    v0: Workspace, name: str, settings: Settings, shown: str
) -> None:
    """The setting, the id and the permitted range are named, and nothing has changed."""
    session = started(v0)
    words = rf"^{name} cannot be {shown}\. .*ids 0 to 3\."
    with pytest.raises(SettingsError, match=words) as refusal:
        session.set_settings(settings)
    assert refusal.value.message.code == "settings.unknown_id"
    assert (session.state.settings, session.commands) == (Settings(), ())
    with pytest.raises(SettingsError, match=words):
        v0.new_session(v0.prompt_of_ids(()), settings=settings)
    assert v0.session is session


def test_the_last_id_of_the_vocabulary_is_one(v0: Workspace) -> None:
    last = Settings().with_sampling(ban=(D,), logit_bias=((D, 1.0),)).with_stopping(eos_token_ids=(D,))
    session = started(v0)
    session.set_settings(last)
    assert session.state.settings == last


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--ban", "4"], "ban cannot be 4."),
        (["--logit-bias", "4=1"], "logit_bias cannot be 4=1."),
        (["--eos", "4"], "eos_token_ids cannot be 4."),
        (["--ban", "99999999999999999999"], "ban cannot be 99999999999999999999."),
    ],
)
def test_ids_outside_the_vocabulary_are_refused_by_the_command_line(
    v0: Workspace, library: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    model = v0.model.identity.source
    assert invoke(["run", "--model", model, "--ids", "0", *options, "--library", str(library), "--json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert "ids 0 to 3." in said.err
    assert v0.sessions() == []
