"""Published checkpoints, and the weights that ship with the course.

format: folders in the published layout of BERT; download: such folders by name; weights: safetensors files;
dates: the model that reads dates; translator: the one of lesson 9. README.md says where the shipped weights come from.
"""
