# Two commands do everything on a fresh machine: `make release` and `make test`. `make help` lists the rest.

# The interpreter: the first of these that is there, or yours: make PYTHON=/path/to/python3.12
PYTHON ?= python3.11 python3.12 python3.13
VENV ?= .venv
# Exact versions of all packages; `make install LOCK=` takes the newest that pyproject.toml allows.
LOCK ?= requirements.lock
# Where PyTorch's default package brings CUDA along and you do not want that, name an index of CPU-only packages:
#   make release TORCH_INDEX=URL      (it is also written into the Gradescope archive)
TORCH_INDEX ?=

PY := $(VENV)/bin/python
READY := $(VENV)/.ready
CORPUS := data/corpus/fren.train.bpe

PACKAGE ?= reference
TEXT ?=
OPTIONS ?=
PRESET ?= course
EPOCHS ?=
SEEDS ?=
RUN ?= runs/$(PRESET)
SUBMISSION ?=
RESULTS ?= results.json
SUBMISSIONS ?= submissions
MARKS ?= marks
ROSTER ?=
EVERY ?= 1
START ?= 0
JOBS ?= 2
TESTS ?=
WHOLE ?=

# One thread a process: two on a busy machine are much slower.
export OMP_NUM_THREADS := 1
# Byte code is kept, or each test process compiles everything anew.
export PYTHONDONTWRITEBYTECODE :=
export PATH := $(abspath $(VENV)/bin):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help install release data check train setting translate grade class demo calibrate tables \
	prove same mutate proof test test-slow lint site pictures lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Build

install: $(READY)  ## make the environment in .venv, with the versions in requirements.lock

$(READY): pyproject.toml $(LOCK)
	@for python in $(PYTHON); do \
		"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2> /dev/null || continue; \
		echo "$$python -m venv $(VENV)"; exec "$$python" -m venv $(VENV); \
	done; \
	echo "make: no Python with venv found: tried $(PYTHON); name one that is 3.11 or later: make PYTHON=python3" >&2; exit 2
	$(PY) -m pip install --quiet --disable-pip-version-check $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) \
		$(if $(LOCK),--constraint $(LOCK)) --no-compile torch==2.13.0 ".[staff,test,docs]"
	@$(PY) -m compileall -qq -j 0 $(VENV)/lib || true  # as pip would, on all cores; some files are of other Pythons
	@touch $@

release: $(READY) $(CORPUS)  ## student/ and dist/ from reference/, through all gates
	$(PY) -m release build $(if $(TORCH_INDEX),--torch-index $(TORCH_INDEX))

data: $(READY)  ## generate the bundled corpus in data/corpus and data/private
	$(PY) -m data generate

$(CORPUS): $(READY) $(shell find data -name '*.py' -o -name '*.toml' -o -name '*.tsv' -o -name 'manifest.json')
	$(PY) -m data generate
	@touch $@

##@ Work as a student does

check: $(READY)  ## run the component tests in-process: make check PACKAGE=student
	$(PY) -m pytest -c assignment/tests/pytest.ini --rootdir . --submission $(PACKAGE) -q

train: $(READY) $(CORPUS)  ## train: make train PRESET=fast EPOCHS=3 PACKAGE=reference
	$(PY) -m $(PACKAGE) train --preset $(PRESET) --output $(RUN) $(if $(EPOCHS),--epochs $(EPOCHS))

setting: $(READY)  ## a public corpus and its model: make setting PRESET=wmt14-de-en TEXT="--dataset folder"
	$(PY) -m data prepare --preset $(PRESET) $(TEXT) --output corpora/$(PRESET)
	$(PY) -m $(PACKAGE) train --preset $(PRESET) --corpus corpora/$(PRESET) --output $(RUN) $(OPTIONS)

translate: $(READY)  ## translate the test sources with the last run: make translate RUN=runs/fast
	$(PY) -m $(PACKAGE) translate --checkpoint $(RUN)/best.pt --output $(RUN)/translations.txt

##@ Grade

grade: $(READY)  ## grade one submission: make grade SUBMISSION=path
	@test -n "$(SUBMISSION)" || { echo "make grade: name a submission: make grade SUBMISSION=path"; exit 2; }
	$(PY) -m autograder grade "$(SUBMISSION)" --results "$(RESULTS)"

class: $(READY)  ## grade a folder of submissions: make class SUBMISSIONS=folder [ROSTER=file] MARKS=folder
	$(PY) -m autograder grade-class "$(SUBMISSIONS)" --output "$(MARKS)" $(if $(ROSTER),--roster "$(ROSTER)")

demo: $(READY) $(CORPUS)  ## grade a sample class of six, in under a minute: build/demo/marks/class.html
	$(PY) -m autograder demo --output build/demo

calibrate: $(READY) $(CORPUS)  ## propose BLEU thresholds: make calibrate SEEDS=5 PRESET=fast EPOCHS=3
	$(PY) -m validity calibrate $(if $(SEEDS),--seeds $(SEEDS)) --preset $(PRESET) $(if $(EPOCHS),--epochs $(EPOCHS))

##@ Prove that the marks are correct

prove: $(READY)  ## known faults are found, variants accepted: all, or a sample: make prove EVERY=3 START=1
	$(PY) -m validity prove --jobs $(JOBS) --every $(EVERY) --start $(START) $(if $(SEEDS),--seeds $(SEEDS))

same: $(READY)  ## home and grading judge alike: all faults and variants, or a sample: make same EVERY=20
	$(PY) -m validity same --jobs $(JOBS) --every $(EVERY) --start $(START)

mutate: $(READY)  ## mutants of the solutions are found: all, or a sample: make mutate EVERY=30
	$(PY) -m validity mutate --jobs $(JOBS) --every $(EVERY) --start $(START)

proof: $(READY)  ## write docs/proof/ anew: more seeds, all mutants (three quarters of an hour)
	$(PY) -m validity prove --jobs $(JOBS) --tests all --seeds 5 --variant-seeds 200 --output docs/proof
	$(PY) -m validity mutate --jobs $(JOBS) --output docs/proof

tables: $(READY) $(CORPUS)  ## the report's tables with SEEDS seeds; resumes: make tables SEEDS=3
	$(PY) -m benchmarks tables --test data/private/fren.test.bpe $(if $(SEEDS),--seeds $(SEEDS))

##@ Develop

test: $(READY) $(CORPUS)  ## the kit's own tests, without the slow ones; of one folder: make test TESTS=tests/data
	$(PY) -m pytest $(or $(TESTS),-n $(JOBS) --no-loadscope-reorder)

test-slow: $(READY) $(CORPUS)  ## the slow ones: training, browsers, hostile submissions; with whole samples: WHOLE=1
	$(PY) -m pytest $(TESTS) -m "(slow or hostile)$(if $(WHOLE),, and not nightly)" -n $(JOBS) --no-loadscope-reorder $(if $(WHOLE),--whole)

lint: $(READY)  ## check style, types, and which package may import which
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	$(PY) -m pytest -q tests/project/test_code.py

site: $(READY)  ## build the documentation's site in build/site, strictly and offline
	$(PY) -m docs.figures
	$(PY) -m zensical build --clean --strict --config-file mkdocs.yml

pictures: $(READY) $(CORPUS)  ## draw the documentation's pictures of attention anew: of a model in training, of one head
	$(PY) -m reference train --preset quick --epochs 4 --report-epochs 1 --output runs/pictures \
		--attention-through-time "elles ne sont pas seu@@ les ."
	$(PY) -m reference attention --through-time runs/pictures --output docs/pictures/attention.svg
	$(PY) -m docs.pictures.matrices

lock: $(READY)  ## pin the newest versions that pyproject.toml allows in requirements.lock
	$(PY) -m pip install --quiet --disable-pip-version-check uv
	$(PY) -m uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --upgrade \
		--no-header --no-annotate --quiet --output-file build/requirements.txt
	@{ echo "# Written by make lock. Exact versions for Python 3.11 and later, without what only builds of PyTorch for"; \
		echo "# graphics cards need: pip install --constraint requirements.lock torch==2.13.0 \".[staff,test,docs]\""; \
		grep -vE '^(cuda|nvidia|triton)[-=]' build/requirements.txt | sed -E 's/^(torch==[0-9.]+)\+[a-z0-9]+/\1/'; } > $(LOCK)

clean:  ## remove what was made, the environment too; the term's secret stays
	rm -rf $(VENV) build dist runs marks results.json data/corpus data/private/fren.* notebooks/source *.egg-info \
		.pytest_cache .hypothesis .ruff_cache .mypy_cache .cache
