# Each target does all its own set-up, in .venv, and again only when the sources have changed since.
# Needs Python >= 3.10 with venv and headers, make, a C and a C++20 compiler, and a Python package index.

PYTHON ?= python3
CXX ?= c++
BIN := .venv/bin
ASAN_BIN := .venv-asan/bin
BUILD_TOOLS := "scikit-build-core>=0.10" "nanobind>=2.4" "mypy[mypyc]>=2.4" cmake ninja
PIP_INSTALL := -m pip install -q --disable-pip-version-check
SOURCES := pyproject.toml CMakeLists.txt README.md LICENSE tools/compile_front_ends.py \
  $(shell find src cpp cmake -type f -not -name '*.pyc')
CPP_FILES := $(shell find cpp -name '*.cpp' -o -name '*.h')
PYTHON_FILES := src tests benchmarks tools
PRELOADED := $(foreach lib,libasan.so libubsan.so libstdc++.so.6,$(shell $(CXX) -print-file-name=$(lib)))
export CXX

.PHONY: demo test lint types format stub bench asan docs clean help

demo: .venv/.demo  ## a small model's output, held to structures and free, side by side
	$(BIN)/maskwright demo

test: .venv/.dev  ## all tests
	$(BIN)/python -m pytest

lint: .venv/.dev  ## ruff and clang-format
	$(BIN)/ruff check $(PYTHON_FILES)
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)

types: .venv/.dev  ## mypy, strict
	$(BIN)/mypy --strict

format: .venv/.dev  ## rewrite the sources as `make lint` wants them
	$(BIN)/ruff check --fix $(PYTHON_FILES)
	$(BIN)/ruff format $(PYTHON_FILES)
	$(BIN)/clang-format -i $(CPP_FILES)

stub: .venv/.dev  ## the kernel's type stub, after changes to cpp/bindings
	$(BIN)/python -m nanobind.stubgen -m maskwright._kernel -o src/maskwright/_kernel.pyi
	$(BIN)/ruff format src/maskwright/_kernel.pyi

bench: .venv/.dev  ## all benchmarks, one file per question
	for question in benchmarks/bench_*.py; do $(BIN)/python $$question || exit 1; done

asan: .venv-asan/.asan  ## the kernel's tests under AddressSanitizer and UndefinedBehaviorSanitizer
	LD_PRELOAD="$(PRELOADED)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	MASKWRIGHT_EXHAUSTIVE=0.2 $(ASAN_BIN)/python -m pytest tests/exhaustive tests/contract

docs: .venv/.dev  ## the API's reference, in build/docs
	$(BIN)/python $(PIP_INSTALL) pdoc
	$(BIN)/pdoc --docformat google --output-directory build/docs maskwright

clean:  ## remove what was built and installed
	rm -rf build dist .venv .venv-asan .pytest_cache .mypy_cache .ruff_cache .hypothesis

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

.venv/bin/python .venv-asan/bin/python:
	$(PYTHON) -m venv $(@D)/..
	$@ $(PIP_INSTALL) $(BUILD_TOOLS)

.venv/.demo: $(SOURCES) | .venv/bin/python
	$(BIN)/python $(PIP_INSTALL) --no-build-isolation ".[cli]"
	touch $@

.venv/.torch: | .venv/bin/python
	$(BIN)/python $(PIP_INSTALL) torch==2.13.0
	touch $@

.venv/.dev: $(SOURCES) .venv/.torch
	$(BIN)/python $(PIP_INSTALL) --no-build-isolation ".[cli,lint,test,tokenizers,transformers]"
	touch $@ .venv/.demo

.venv-asan/.asan: $(SOURCES) | .venv-asan/bin/python
	$(ASAN_BIN)/python $(PIP_INSTALL) --no-build-isolation ".[test]" -Cbuild-dir=build/asan \
	  -Ccmake.build-type=RelWithDebInfo -Ccmake.define.MASKWRIGHT_SANITIZE=ON \
	  -Ccmake.define.MASKWRIGHT_COMPILE_FRONT_ENDS=OFF -Cinstall.strip=false
	touch $@
