# `make` lists the targets. Everything runs in .venv, which scripts/setup creates.
SHELL := bash
VENV := .venv/bin
PYTHON := $(VENV)/python
JOBS := $(shell nproc)
CPP_FILES = $(shell find kernels tests/kernels scripts -name '*.hpp' -o -name '*.cpp' -o -name '*.cu')
# What .ci/run calls, in this order, up to the first that fails: what fails most for its minutes stands first. Lint and the
# thread sanitizer take seconds; the tests find most of what there is to find; the wheel takes seconds more, of what the
# tests have built, and so does the dry run of the GPU check; modules for web pages take two minutes where zig's libraries are not
# compiled yet; CUDA takes half as long as the other sanitizers, and a new
# kernel that spills is the likelier failure.
GATE := lint tsan test wheel dry-run web cuda asan
CHECKS := $(filter-out test,$(GATE))
BUILD := $(or $(GPU_ENVS_BUILD_DIR),build)
CMAKE = cd kernels && ../$(VENV)/cmake -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(VENV)/ninja -DGE_PYTHON=$(CURDIR)/$(PYTHON)

# A check that has passed with the same inputs is skipped; `make ANEW=--anew` runs it.
PROVEN = $(PYTHON) scripts/checks/proofs.py $(ANEW)
INPUTS = $(PYTHON) scripts/checks/package_inputs.py
LISTED = $(BUILD)/package_inputs_$@.txt

.PHONY: help setup build test quick layout lint fmt gate check check-all asan tsan asan-all blocks-all lanes-all cuda-all ptx-all web web-all browsers links tidy cuda spills wheel release bench docs gpu-check dry-run ptx-coverage

help: ## list the targets
	@grep -hE '^[a-z-]+( [a-z-]+)*:.*##' Makefile | sed -E 's/^([a-z -]+):.*## /  \1|/' | column -t -s '|'

setup: ## create .venv and install everything for development
	@scripts/setup dev

build: setup ## the engine and every environment for this processor, and the catalogue
	$(PYTHON) -m gpu_envs build

test: ## every test that is not slow
	scripts/test

quick: setup ## lint, and the tests nearest to what changed, in two minutes
	@$(PYTHON) scripts/checks/quick.py

fmt: setup ## lay out C++, Python and pages
	$(VENV)/clang-format -i $(CPP_FILES)
	$(VENV)/ruff check --quiet --fix-only .
	$(VENV)/ruff format --quiet .
	$(PYTHON) scripts/house/wrap_pages.py

layout: setup ## clang-format and ruff: what pre-commit calls
	$(VENV)/clang-format --dry-run -Werror $(CPP_FILES)
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .

lint: layout ## layout, mypy and our own rules
	$(VENV)/mypy
	$(PYTHON) scripts/house/lint_kernels.py

check: $(CHECKS) ## what .ci/run calls beside the tests

gate:
	@echo $(GATE)

check-all: ANEW := --anew
check-all: check asan-all blocks-all lanes-all cuda-all ptx-all web-all release ## check, and what is rarer, believing no proof: docs/checks.md says when
	scripts/test --slow --anew

asan tsan: export CXXFLAGS += -Werror
asan tsan: setup ## native tests under sanitizers: asan (address, undefined), tsan (threads)
	$(CMAKE) --preset $@
	$(VENV)/cmake --build build/$@ --parallel $(JOBS) --target tests
	$(PYTHON) scripts/checks/native_tests.py --build build/$@ $(ANEW)

asan-all: setup # the same with every environment
	$(CMAKE) --preset asan -B ../build/asan-all -DGE_SANITIZED_ENVS=all
	$(VENV)/cmake --build build/asan-all --parallel $(JOBS) --target tests
	$(PYTHON) scripts/checks/native_tests.py --build build/asan-all $(ANEW)

blocks-all: setup # both block sizes with every environment
	$(CMAKE) --preset dev -B ../build/blocks-all -DGE_BLOCKS_OF_ALL=ON -DGE_TEST_FILTER=_blocks
	$(VENV)/cmake --build build/blocks-all --parallel $(JOBS) --target tests
	$(PYTHON) scripts/checks/native_tests.py --build build/blocks-all $(ANEW)

lanes-all: setup # emulated lanes and flat jobs with every environment
	$(CMAKE) --preset dev -B ../build/lanes-all -DGE_LANES_OF_ALL=ON -DGE_TEST_FILTER='executors_(lanes|flat)'
	$(VENV)/cmake --build build/lanes-all --parallel $(JOBS) --target tests
	$(PYTHON) scripts/checks/native_tests.py --build build/lanes-all $(ANEW)

tidy: setup ## clang-tidy over the CPU build (slow, not part of check)
	$(CMAKE) --preset dev
	ls kernels/{engine/*,learning,physics,spatial,pictures}/*.cpp build/dev/units/*_cpu_*.cpp 2>/dev/null | \
	  grep -v engine/cuda/ | xargs -n 1 -P $(JOBS) $(VENV)/clang-tidy -p build/dev --quiet

# Tests that need a GPU, or interpreted kernels instead; scripts/ptx/golden.py does what test_golden.py would.
TESTS_OF_A_GPU = $(shell grep -rl --include='test_*.py' --exclude=test_golden.py '^@pytest.mark.gpu' tests | sort)

# Machine code and PTX come from one run of nvcc's front end: the first shows spills, the second is run on the CPU.
cuda cuda-all ptx-all: export GPU_ENVS_CUDA_RUNTIME = interpreted
cuda: setup ## compile for CUDA, look for spills, run the kernels' PTX and the tests of a GPU on the CPU; installs NVIDIA's compiler if need be
	$(PYTHON) -c 'from gpu_envs.building import toolchain; toolchain.nvcc()' 2>/dev/null || scripts/setup cuda-build
	$(PYTHON) -m gpu_envs build --target cuda
	$(PYTHON) -m gpu_envs build --target cuda_ptx
	@$(MAKE) --silent spills ANEW=$(ANEW)
	$(PYTHON) scripts/checks/ptx_lint.py
	$(INPUTS) cuda >$(LISTED)
	$(PROVEN) occupancy --reads $(BUILD)/cuda/*.ptxas.txt benchmarks/instructions.json $(LISTED) \
	  -- $(PYTHON) scripts/gpu/occupancy.py
	$(PYTHON) scripts/ptx/golden.py --shipped $(ANEW)
	$(PROVEN) device-tests --reads $(LISTED) tests scripts/ptx -- bash -c \
	  '$(PYTHON) -m pytest -q tests/ptx && $(PYTHON) -m pytest -q -m gpu $(TESTS_OF_A_GPU)'

ptx-all: cuda # every recorded run, in every way
	$(PYTHON) scripts/ptx/golden.py --all-ways --long $(ANEW)
	$(PYTHON) -m pytest -q tests/contract/test_golden.py -k on_cuda

cuda-all: cuda # nvcc over the tests' own environments and the examples
	$(PYTHON) scripts/checks/compile_for_cuda.py

web: setup ## the client's lint and tests, and CartPole's golden hashes, in a module for web pages under node; installs what they need
	scripts/setup web
	scripts/web/lint
	$(PYTHON) -m gpu_envs build --target wasm CartPole-v0
	scripts/web/node --test tests/client/*.test.js
	$(PYTHON) -m pytest -q -m "web and not slow" tests
	$(PYTHON) -m scripts.web.site --out $(BUILD)/small-site CartPole-v0

web-all: web docs # every environment's module, every recorded run in it, and the site
	scripts/web/node scripts/web/golden.mjs --long
	$(PYTHON) -m pytest -q -m web tests/client

browsers: docs ## the site in Chromium and in Firefox, where they are on this machine: every environment, as a visitor uses it
	scripts/setup browsers
	$(PYTHON) -m pytest -q -m browser tests/client

links: ## links of the pages to other sites
	$(PYTHON) -m scripts.web.site --links CartPole-v0

spills:
	$(PROVEN) spills --reads $(BUILD)/cuda/*.ptxas.txt $$(find kernels/envs -name '*.measures.json' | sort) \
	  $$(command -v cu++filt c++filt) -- $(PYTHON) scripts/gpu/check_spills.py $(BUILD)/cuda

# The list is made again at the end: what was edited meanwhile is not proven.
wheel: build ## build a wheel, install it in an empty environment and play
	$(INPUTS) >$(LISTED)
	$(PROVEN) wheel --reads $(LISTED) -- bash -c 'scripts/release/check_wheel && $(INPUTS) | cmp - $(LISTED)'

release: build ## build the release wheel, measure it, and run the golden hashes of what is in it
	$(INPUTS) >$(LISTED)
	$(PROVEN) release --reads $(LISTED) -- bash -c 'scripts/release/check_release && $(INPUTS) | cmp - $(LISTED)'

bench: setup ## all measurements and bars of CartPole on this machine, into benchmarks/results
	$(PYTHON) scripts/benchmark.py CartPole --full --bars --out benchmarks/results

docs: setup ## the site, in build/site: pages, and every environment live; `python -m http.server -d build/site` shows it
	scripts/setup web
	$(PYTHON) -m scripts.web.site

gpu-check: ## everything that needs a GPU, in one command
	scripts/gpu/check.sh --out benchmarks/results/gpu

ptx-coverage: setup ## which instructions of the kernels no run has executed, on interpreted PTX
	$(PYTHON) scripts/ptx/coverage.py

# The modules are made first; steps that compile nothing read the sources too.
DRY_RUN_READS = kernels scripts pyproject.toml tests/golden tests/conftest.py tests/gpu_envs/conftest.py \
  tests/gpu_envs/test_errors.py $(filter-out %/modules %/__pycache__,$(wildcard gpu_envs/*))

dry-run: build ## the steps of gpu-check, tried on the CPU
	@$(INPUTS) --built >$(LISTED)
	@$(PROVEN) dry-run --reads $(LISTED) $(DRY_RUN_READS) -- $(PYTHON) scripts/gpu/check_dry_run.py
