"""Pretraining BERT: objectives, distributed steps, checkpoints; `python -m helpers.pretraining --help`."""
