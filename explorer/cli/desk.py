"""What every decoding command works at: a library, a loaded model, progress on standard error, Ctrl-C as a cancel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from explorer.cli.console import ProgressLine, interruptible, note, print_message
from explorer.cli.options import PromptChoice
from explorer.cli.settings import SettingsChoice
from explorer.i18n import N_, tr
from explorer.messages import StoreError
from explorer.models.base import ModelRef
from explorer.progress import CancelToken
from explorer.session import Session
from explorer.store.backups import backup_if_due
from explorer.text import prompt_warnings
from explorer.workspace import Workspace, with_default_limit


@dataclass(frozen=True, slots=True)
class Desk:
    """A workspace with what its long calls report to and are cancelled by."""

    workspace: Workspace
    progress: ProgressLine
    cancel: CancelToken

    def load(self, ref: ModelRef) -> None:
        """Open a model. Raises what `Workspace.open_model` raises."""
        self.workspace.open_model(ref, progress=self.progress, cancel=self.cancel)

    def new_session(
        self, prompt: PromptChoice, settings: SettingsChoice, *, seed: int = 0, limit: int | None = None
    ) -> Session:
        """A session on the loaded model; warns of what commonly bites in a prompt. ``limit``: new tokens if unset."""
        workspace = self.workspace
        chosen = settings.build(workspace.model)
        session = workspace.new_session(
            prompt.encode(workspace),
            settings=chosen if limit is None else with_default_limit(chosen, limit),
            seed=seed,
        )
        for unenforced in session.check_grammar(session.state.settings):
            note(tr(N_("The schema asks for more than is enforced: {problem}.")).format(problem=unenforced))
        model = workspace.model
        for warning in prompt_warnings(session.state.prompt, session.vocabulary, model.bos_token_id, model.adds_bos):
            note(tr(warning.text).format(**warning.params))
        return session


@contextmanager
def open_desk(library: Path | None) -> Iterator[Desk]:
    """A desk at a library; None means one that is forgotten afterwards, for what is looked at and not kept."""
    with (
        TemporaryDirectory(prefix="token-tree-") as folder,
        interruptible() as cancel,
        ProgressLine() as progress,
        closing(Workspace(library or Path(folder) / "library.sqlite")) as workspace,
    ):
        yield Desk(workspace, progress, cancel)
    if library is not None:
        _back_up(library)


def _back_up(library: Path) -> None:
    """Make the library's next backup if that is due. Only damage is worth a word here."""
    try:
        backup_if_due(library)
    except StoreError as error:
        if error.message.code == "store.damaged":
            print_message(error.message)
