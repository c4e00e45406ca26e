"""Putting a session into the situation of a lesson's step, on the session's thread. No widgets here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from explorer.lessons import Lesson, LessonStep, RealModel
from explorer.tree import ROOT
from ui.bridge import JobContext
from ui.controllers.model_controller import limited

if TYPE_CHECKING:  # see ui.session_thread
    from explorer.session import Session
    from explorer.workspace import Workspace

ORIGIN = "lesson"
_MOST_STEPS = 1000  # a run of a table that never ends must end


def stage(workspace: Workspace, job: JobContext, lesson: Lesson, step: LessonStep, title: str) -> Session:
    """The session of the step: the one that is open where it has the step's prompt, else a new one.

    The lesson's model must be loaded. Raises what stepping and `Workspace.new_session` raise.
    """
    session = _with_prompt(workspace, lesson, step, title)
    settings = limited(step.settings, workspace.model)
    if session.state.settings != settings:
        session.set_settings(settings, ORIGIN)
    if step.seed is not None and (session.state.seed, session.state.next_draw_index) != (step.seed, 0):
        session.set_seed(step.seed, 0, ORIGIN)
    if step.path is None and step.by == "hand":
        return session
    if session.state.current != ROOT:
        session.select(ROOT, ORIGIN)
    if step.score:
        return session  # the path is a text to be scored from here
    if step.path is None or step.by != "hand":
        _run(session, step, job)
    else:
        _walk(session, step.path, lesson, job)
    return session


def begin_real(workspace: Workspace, real: RealModel, title: str) -> Session:
    """A session of the loaded model with what the lesson gives to try."""
    return workspace.new_session(
        workspace.encode(real.prompt), settings=limited(real.settings, workspace.model), title=title
    )


def _with_prompt(workspace: Workspace, lesson: Lesson, step: LessonStep, title: str) -> Session:
    prompt = workspace.encode(step.prompt if step.prompt is not None else _prompt_of(lesson))
    session = workspace.session
    if (
        session is not None
        and session.live
        and session.model.identity.source == lesson.source
        and session.state.prompt.ids == prompt.ids
    ):
        return session
    settings = limited(step.settings, workspace.model)
    return workspace.new_session(prompt, settings=settings, seed=step.seed or 0, title=title)


def _prompt_of(lesson: Lesson) -> str:
    prompt = lesson.table.prompt or ""
    return prompt if isinstance(prompt, str) else "".join(prompt)


def _walk(session: Session, path: tuple[str, ...], lesson: Lesson, job: JobContext) -> None:
    """Take every token of ``path`` by hand; what was tried before is gone along again."""
    for token in path:
        token_id = lesson.table.vocab.index(token)
        known = session.tree.child(session.state.current, token_id)
        if known is not None and not session.tree.is_hidden(known):
            session.select(known, ORIGIN)
        else:
            session.pick(token_id, cancel=job.cancel, origin=ORIGIN)


def _run(session: Session, step: LessonStep, job: JobContext) -> None:
    """Let the decoder go: along as many tokens as the path has, or to a stop."""
    how: Any = "sample" if step.by == "draw" else "greedy"
    most = _MOST_STEPS if step.path is None else len(step.path)
    for _ in session.run(how, max_steps=most, cancel=job.cancel, origin=ORIGIN):
        pass
