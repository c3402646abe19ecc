"""python -m helpers.pretraining"""
from helpers.pretraining.run import main

main()
