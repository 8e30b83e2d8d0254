# `make` lists the targets. Everything runs in .venv, which scripts/setup creates.
SHELL := bash
VENV := .venv/bin
PYTHON := $(VENV)/python
JOBS := $(shell nproc)
CPP_FILES = $(shell find kernels tests/kernels -name '*.hpp' -o -name '*.cpp' -o -name '*.cu')

.PHONY: help setup build test lint fmt check asan tsan tidy cuda wheel bench docs gpu-check

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## /  \1|/' | column -t -s '|'

setup: ## create .venv, install everything for development, build the native modules in place
	@scripts/setup dev

build: setup ## the same

test: ## every test that is not slow
	scripts/test

fmt: setup ## lay out C++ and Python
	$(VENV)/clang-format -i $(CPP_FILES)
	$(VENV)/ruff check --quiet --fix-only .
	$(VENV)/ruff format --quiet .

lint: setup ## layout, ruff, mypy and our own rules
	$(VENV)/clang-format --dry-run -Werror $(CPP_FILES)
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy
	$(PYTHON) scripts/lint_kernels.py

check: lint asan tsan cuda wheel ## what .ci/run calls after the tests

asan tsan: setup ## native tests under sanitizers: asan (address, undefined), tsan (threads)
	cd kernels && ../$(VENV)/cmake --preset $@ -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(VENV)/ninja
	$(VENV)/cmake --build build/$@ --parallel $(JOBS) --target tests
	$(VENV)/ctest --test-dir build/$@ --parallel $(JOBS) --output-on-failure --no-tests=error

tidy: setup ## clang-tidy over the CPU build (slow, not part of check)
	ls kernels/*/*.cpp kernels/*/*/*.cpp build/dev/units/*_cpu.cpp | \
	  xargs -n 1 -P $(JOBS) $(VENV)/clang-tidy -p build/dev --quiet

cuda: setup ## compile the CUDA module, with NVIDIA's compiler wheels where there is no nvcc, and look for spills
	ls gpu_envs/_cuda.*.so >/dev/null 2>&1 || scripts/setup cuda-build
	GPU_ENVS_CUDA=1 $(PYTHON) setup.py --quiet build_ext --inplace
	$(PYTHON) scripts/check_spills.py build/dev/cuda

wheel: setup ## build a wheel, install it in an empty environment and play
	scripts/check_wheel

bench: setup ## steps per second of CartPole on this machine
	$(PYTHON) scripts/benchmark.py CartPole

docs: setup ## the list of environments with their parameters
	$(PYTHON) -m gpu_envs list

gpu-check: ## everything that needs a GPU, in one command
	scripts/gpu_check.sh
