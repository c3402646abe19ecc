"""Checks of the exercises: `check(my_function)` says what an answer gets right or wrong."""
import importlib
import pkgutil

from helpers.exercises.exercise import verdict

LESSONS = [importlib.import_module(f"helpers.exercises.{module.name}") for module in pkgutil.iter_modules(__path__)
           if module.name.startswith("lesson_")]
EXERCISES = {name: exercise for lesson in LESSONS for name, exercise in lesson.EXERCISES.items()}


def check(answer):
    """Print a verdict on `answer`, a function named as in its exercise.

    Raises ValueError for a function of another name.
    """
    if answer.__name__ not in EXERCISES:
        raise ValueError(f"no exercise asks for {answer.__name__}: there are {', '.join(EXERCISES)}")
    print(f"{answer.__name__}: {verdict(answer, EXERCISES[answer.__name__])}")
