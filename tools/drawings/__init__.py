"""The course's drawings: `svg` is the toolkit, `lesson_NN` holds the drawings of a lesson."""
