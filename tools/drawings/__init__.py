"""The course's drawings: `svg` is the toolkit, `lesson_NN` holds the drawings of a lesson, and `mermaid` draws the
Mermaid diagrams for the site.
"""
