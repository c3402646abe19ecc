"""Checks of the exercises: `check(my_function)` says what an answer gets right or wrong."""
from helpers.checks import lesson_01, lesson_02, lesson_03, lesson_04, lesson_05, lesson_06, lesson_07
from helpers.checks.exercise import verdict

EXERCISES = (lesson_01.EXERCISES | lesson_02.EXERCISES | lesson_03.EXERCISES | lesson_04.EXERCISES | lesson_05.EXERCISES
             | lesson_06.EXERCISES | lesson_07.EXERCISES)


def check(answer):
    """Print a verdict on `answer`, a function named as in its exercise.

    Raises ValueError for a function of another name.
    """
    if answer.__name__ not in EXERCISES:
        raise ValueError(f"no exercise asks for {answer.__name__}: there are {', '.join(EXERCISES)}")
    print(f"{answer.__name__}: {verdict(answer, EXERCISES[answer.__name__])}")
