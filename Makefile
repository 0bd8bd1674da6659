# Two commands do everything on a fresh machine: `make release` and `make test`. `make help` lists the rest.

PYTHON ?= python3.11
VENV ?= .venv
# Where PyTorch's default package brings CUDA along and you do not want that, name an index of CPU-only packages:
#   make release TORCH_INDEX=URL      (it is also written into the Gradescope archive)
TORCH_INDEX ?=

PY := $(VENV)/bin/python
READY := $(VENV)/.ready
CORPUS := data/corpus/fren.train.bpe

PACKAGE ?= reference
PRESET ?= course
EPOCHS ?=
SEEDS ?=
RUN ?= runs/$(PRESET)
SUBMISSION ?=
RESULTS ?= results.json
SUBMISSIONS ?= submissions
MARKS ?= marks
EVERY ?= 10

# One thread a process: two on a busy machine are much slower.
export OMP_NUM_THREADS := 1
export PATH := $(abspath $(VENV)/bin):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help install release test test-slow lint check prove mutate docs data train translate grade class calibrate bench clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(READY)  ## make the environment in .venv

$(READY): pyproject.toml
	@command -v $(PYTHON) > /dev/null || { echo "make: $(PYTHON) is missing; name another Python >= 3.11: make PYTHON=python3"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) torch==2.13.0 ".[staff,test]"
	@touch $@

data: $(READY)  ## generate the embedded corpus in data/corpus and data/private
	$(PY) -m data generate

$(CORPUS): $(READY) $(shell find data -name '*.py' -o -name '*.toml' -o -name '*.tsv' -o -name 'manifest.json')
	$(PY) -m data generate
	@touch $@

release: $(READY) $(CORPUS)  ## student/ and dist/ from reference/, through all gates
	$(PY) -m release build $(if $(TORCH_INDEX),--torch-index $(TORCH_INDEX))

test: $(READY) $(CORPUS)  ## the kit's own tests, without the slow ones
	$(PY) -m pytest

test-slow: $(READY) $(CORPUS)  ## the slow ones: training runs, hostile submissions
	$(PY) -m pytest -m "slow or hostile" -n 2 --dist loadfile

lint: $(READY)  ## check style
	$(PY) -m ruff check

check: $(READY)  ## a student's own run of the component tests, in-process: make check PACKAGE=student
	$(PY) -m pytest -c autograder/assignment/tests/pytest.ini --rootdir . --submission $(PACKAGE) -q

prove: $(READY)  ## prove the component tests: every known fault is found, every correct variant accepted
	$(PY) -m validity prove --jobs 2 $(if $(SEEDS),--seeds $(SEEDS))

mutate: $(READY)  ## prove them with mutants of the solutions: make mutate EVERY=1
	$(PY) -m validity mutate --jobs 2 --every $(EVERY)

docs: $(READY)  ## write docs/proof/ anew: the proof with more seeds, and all mutants (three quarters of an hour)
	$(PY) -m validity prove --jobs 2 --seeds 5 --variant-seeds 200 --output docs/proof
	$(PY) -m validity mutate --jobs 2 --output docs/proof

train: $(READY) $(CORPUS)  ## train: make train PRESET=fast EPOCHS=3 PACKAGE=reference
	$(PY) -m $(PACKAGE) train --preset $(PRESET) --output $(RUN) $(if $(EPOCHS),--epochs $(EPOCHS))

translate: $(READY)  ## translate the test sources with the last run: make translate RUN=runs/fast
	$(PY) -m $(PACKAGE) translate --checkpoint $(RUN)/best.pt --output $(RUN)/translations.txt

grade: $(READY)  ## grade one submission: make grade SUBMISSION=path
	@test -n "$(SUBMISSION)" || { echo "make grade: name a submission: make grade SUBMISSION=path"; exit 2; }
	$(PY) -m autograder grade "$(SUBMISSION)" --results "$(RESULTS)"

class: $(READY)  ## grade a folder of submissions: make class SUBMISSIONS=folder MARKS=folder
	$(PY) -m autograder grade-class "$(SUBMISSIONS)" --output "$(MARKS)"

calibrate: $(READY) $(CORPUS)  ## propose BLEU thresholds: make calibrate SEEDS=5 PRESET=fast EPOCHS=3
	$(PY) -m validity calibrate $(if $(SEEDS),--seeds $(SEEDS)) --preset $(PRESET) $(if $(EPOCHS),--epochs $(EPOCHS))

bench: $(READY) $(CORPUS)  ## measure the README's figures
	$(PY) -m benchmarks decoding

clean:  ## remove what was made, the environment too
	rm -rf $(VENV) build dist runs marks results.json data/corpus data/private notebooks/source *.egg-info .pytest_cache .hypothesis .ruff_cache
