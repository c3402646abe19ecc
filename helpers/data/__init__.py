"""Data sets: `load_...` gives what ships with the course, files of your own, or published archives."""
