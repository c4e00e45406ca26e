"""Lessons: a table model and a script of steps, in every language of the program. Their format: `script`.

Built-in ones lie in ``resources/lessons``, one's own in `explorer.paths.own_lessons`; `explorer.lessons.shelf` finds
both.
"""

from __future__ import annotations

from explorer.lessons.reading import LessonError, read_lesson, read_lesson_text
from explorer.lessons.script import Claims, Lesson, LessonStep, LessonText, Question, RealModel
from explorer.lessons.shelf import lesson, lessons

__all__ = [
    "Claims",
    "Lesson",
    "LessonError",
    "LessonStep",
    "LessonText",
    "Question",
    "RealModel",
    "lesson",
    "lessons",
    "read_lesson",
    "read_lesson_text",
]
