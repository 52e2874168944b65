# Two commands: `make demo` and `make test`. Each sets up its own environment in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
MNIST ?=
SEEDS ?= 1
SETS ?= 400
ERROR_SETS ?= 200
SHARE_SETS ?= 20
CASES ?=
TABLES ?=
OUTPUT ?= zfree-results/efficiency.jsonl

.PHONY: demo test cover lint format reproduce reproduce-vae reproduce-scenes bench-readings search-truths publish bench bench-spine walk bench-efficiency bench-auto bench-memory bench-neural bench-energies bench-vae bench-small-samples bench-fit-check bench-draws bench-tails coverage fuzz docs clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[plot]"
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[dev]"
	@touch $@ $(VENV)/.demo

$(VENV)/.docs: pyproject.toml $(VENV)/.dev
	$(BIN)/python -m pip install --quiet -e ".[docs]"
	@touch $@

demo: $(VENV)/.demo  ## fit built-in data on three domains, print summaries, draw a sheet of figures
	$(BIN)/python -m zfree.demo --output demo-output

test: $(VENV)/.dev  ## every test
	$(BIN)/python -m pytest

cover: $(VENV)/.dev  ## the tests again, slower, and which lines of src/zfree they reach (make coverage is about intervals)
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage report

lint: $(VENV)/.dev  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reproduce: $(VENV)/.dev  ## every experiment of the paper, into reproduction/ (resumes an interrupted run)
	$(BIN)/zfree reproduce all --output reproduction

VAE := $(ONE_THREAD) $(BIN)/zfree reproduce vae-mnist --data "$(MNIST)" --set seeds="$(SEEDS)"
DIFFUSIONS := "I, sigmoid, exp(-|z|), exp(-z^2)"
reproduce-vae: $(VENV)/.dev  ## the autoencoders on MNIST (MNIST=mnist.npz or a folder of idx files; SEEDS= trainings of each D; hours; resumes)
	$(VAE) --diffusion $(DIFFUSIONS) --output reproduction
	$(VAE) --diffusion "0.25 + exp(-z^2)" --iterations 50000 --output reproduction/floor
	$(VAE) --diffusion $(DIFFUSIONS) --latent 32 --output reproduction/latent-32

reproduce-scenes: $(VENV)/.dev  ## the experiment on CelebA with rendered scenes in its place (half an hour; needs no data; resumes)
	$(ONE_THREAD) $(BIN)/zfree reproduce vae-scenes --jobs 1 --output reproduction

publish: reproduce  ## put the tables and figures of that run into the documentation (and of reproduce-vae and reproduce-scenes, if they were run)
	mkdir -p docs/reproduction
	for table in reproduction/*/table.md reproduction/*/vae-mnist/table.md; do \
	  folder=$$(dirname $$table); name=$$(echo $${folder#reproduction/} | tr / -); \
	  [ ! -f $$table ] || { cp $$table docs/reproduction/$$name.md; cp $$folder/figure.png docs/reproduction/$$name.png; }; done

bench: $(VENV)/.dev  ## speed as ratios measured side by side, one BLAS thread; then bench-spine
	$(ONE_THREAD) $(BIN)/python -m benchmarks.speed
	$(MAKE) bench-spine

bench-spine: $(VENV)/.dev  ## fits against the arithmetic they cannot do without (CASES= beginnings of names, such as small or k100)
	$(ONE_THREAD) $(BIN)/python -m benchmarks.spine $(CASES)

walk: $(VENV)/.dev  ## how often a fit crosses from one part of the package to another, and how often it forms Γ
	$(ONE_THREAD) $(BIN)/python -m benchmarks.walk $(CASES)

bench-efficiency: $(VENV)/.dev  ## the default against its bars: shares of the bound, errors, coverage, cost; every baseline (CASES= parts of names; resumes)
	$(ONE_THREAD) $(BIN)/python -m benchmarks.bars --sets $(SETS) --errors $(ERROR_SETS) --shares $(SHARE_SETS) --output $(OUTPUT) $(CASES)

bench-auto: $(VENV)/.dev  ## cost, coverage, win rates of the automatic choice; the combination; the J test
	$(ONE_THREAD) $(BIN)/python -m benchmarks.auto

bench-memory: $(VENV)/.dev  ## resident memory of a fit with a million rows
	$(ONE_THREAD) $(BIN)/python -m benchmarks.memory

bench-neural: $(VENV)/.dev  ## cost of a training step: probes in 1000 columns, flow losses against derivatives
	$(ONE_THREAD) $(BIN)/python -m benchmarks.neural

bench-energies: $(VENV)/.dev  ## networks on three planar domains: divergence to the truth with three weights
	$(BIN)/python -m benchmarks.energies

bench-vae: $(VENV)/.dev  ## an iteration of the implicit autoencoder against a plain one
	$(ONE_THREAD) $(BIN)/python -m benchmarks.vae

bench-small-samples: $(VENV)/.dev  ## coverage of the 95% intervals with 50 to 150 rows, worst parameter of eleven models
	$(ONE_THREAD) $(BIN)/python -m benchmarks.small_samples

bench-fit-check: $(VENV)/.dev  ## size, power and cost of the check of a fit (SETS=400; CASES= part of a name)
	$(ONE_THREAD) $(BIN)/python -m benchmarks.fit_check $(SETS) $(CASES)

search-truths: $(VENV)/.dev  ## recipes of truths scored by how near their errors are to the paper's tables (TABLES= names; resumes)
	$(ONE_THREAD) $(BIN)/python -m benchmarks.truths $(TABLES)

bench-readings: $(VENV)/.dev  ## the paper's Dirichlet baselines, understood in other ways
	$(ONE_THREAD) $(BIN)/python -m benchmarks.readings

coverage: $(VENV)/.dev  ## coverage of the 95% intervals on 400 simulated data sets
	$(ONE_THREAD) $(BIN)/python -m benchmarks.coverage

bench-draws: $(VENV)/.dev  ## draws from hard Gaussians: right, and how fast, beside version 0.1.0
	$(ONE_THREAD) $(BIN)/python -m benchmarks.draws

bench-tails: $(VENV)/.dev  ## coverage and errors where the tails are heavy, beside what the fits say of them (SETS=400)
	$(ONE_THREAD) $(BIN)/python -m benchmarks.tails $(SETS)

fuzz: $(VENV)/.dev  ## random problems in random units against a dense reference; malformed inputs by kind
	$(ONE_THREAD) $(BIN)/python -m benchmarks.fuzz
	$(ONE_THREAD) $(BIN)/python -m benchmarks.malformed

docs: $(VENV)/.docs  ## the documentation, into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean:
	rm -rf $(VENV) docs/_build demo-output reproduction
