"""The first picture of each lesson: where it leads."""
from helpers.previews.bert import lesson_12, lesson_13, lesson_14, lesson_15
from helpers.previews.further import lesson_16
from helpers.previews.models import lesson_04, lesson_07, lesson_08, lesson_09, lesson_10, lesson_11
from helpers.previews.parts import lesson_00, lesson_01, lesson_02, lesson_03, lesson_05, lesson_06

__all__ = ["lesson_00", "lesson_01", "lesson_02", "lesson_03", "lesson_04", "lesson_05", "lesson_06", "lesson_07", "lesson_08",
           "lesson_09", "lesson_10", "lesson_11", "lesson_12", "lesson_13", "lesson_14", "lesson_15", "lesson_16"]
