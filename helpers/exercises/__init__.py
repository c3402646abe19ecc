"""Checks of the exercises: `check(my_function)` says what an answer gets right or wrong.

exercise.py: what an exercise is, and how the verdict on an answer comes about.
lesson_XX.py: for each exercise of lesson XX its slow, plain version (`slow_...`, which the lesson shows), the
cases that an answer is tried on, and the mistakes that are answered by name.
`EXERCISES` maps the name of the function that a lesson asks for to its exercise.
"""
import difflib
import importlib
import pkgutil
from collections.abc import Callable

from helpers.exercises.exercise import verdict

LESSONS = [importlib.import_module(f"helpers.exercises.{module.name}")
           for module in pkgutil.iter_modules(__path__) if module.name.startswith("lesson_")]
EXERCISES = {name: exercise for lesson in LESSONS for name, exercise in lesson.EXERCISES.items()}


def check(answer: Callable) -> None:
    """Print a verdict on `answer`, a function named as its exercise asks, or that name and `_solution`.

    Raises TypeError for what is not a function, and ValueError for a function of another name.
    """
    if not callable(answer):
        raise TypeError(f"check takes a function, as in check(my_function), not a {type(answer).__name__}")
    given = getattr(answer, "__name__", type(answer).__name__)
    name = given.removesuffix("_solution")
    if name not in EXERCISES:
        nearest = difflib.get_close_matches(name, EXERCISES, n=1, cutoff=0)[0]
        lesson = next(lesson for lesson in LESSONS if nearest in lesson.EXERCISES)
        raise ValueError(f"no exercise asks for {given}: did you mean {nearest}? "
                         f"Lesson {lesson.__name__[-2:]} asks for {' and '.join(lesson.EXERCISES)}.")
    print(f"{given}: {verdict(answer, EXERCISES[name])}")
