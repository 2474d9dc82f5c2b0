# The two commands and their friends. Everything is built by CMake; this file only forwards.
PREFIX ?= /usr/local
DESTDIR ?=
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: all needed demo test bench lint format install deps deb check-deb check-builds check-arm64 check-card clean debug asan python processors tsan msan coverage faults kills fuzz experiments wheel wheel-check release docs

all: needed
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS)

needed: # asks before anything is installed; `make deps` has been asked
	@scripts/deps build

deps:
	@scripts/deps --yes build

demo: needed # only the command: tests and benchmarks can wait
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target medley
	@build/medley demo

asan: needed
	@cmake --preset asan >/dev/null
	@cmake --build build-asan -j $(JOBS)

debug: needed
	@cmake --preset debug >/dev/null
	@cmake --build build-debug -j $(JOBS)

# The Python package in a virtual environment of its own, on Debian's NumPy and scikit-learn.
python:
	@scripts/deps build python
	@scripts/install-python
	@echo
	@echo "use it:   . build-python/venv/bin/activate && python3 -c 'import medley; help(medley)'"
	@echo "learn it: build-python/venv/bin/python3 python/tutorial.py"

# The Python package with its library and BLAS inside, for machines with nothing but Python: dist/ (docs/guides/wheel.md).
PYTHON ?= /usr/bin/python3
wheel:
	@scripts/deps build python wheel
	@$(PYTHON) scripts/make-wheel dist

# ... installed and tested on a bare Debian 12 (root; 1.2 GB in build-bare/).
wheel-check: wheel
	@scripts/deps bare
	@scripts/check-wheel "$$(ls -t dist/medley-*.whl | head -n 1)" build-bare

# Tarball, sdist, wheel, Debian packages, checksums and the tag (docs/releasing.md). DRY_RUN=1: no tag.
release:
	@scripts/deps build python wheel lint
	@scripts/release $(if $(DRY_RUN),--dry-run)

# The documents as a site, in build-docs/html (docs/site/build.py).
docs:
	@scripts/deps build python docs
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target medley libmedley_shared make_pages
	@$(PYTHON) docs/site/build.py

test:
	@scripts/deps build test python wheel
	@cmake --preset check >/dev/null && cmake --build build -j $(JOBS)
	@$(MAKE) asan
	@MEDLEY_BUILT_LIBRARY=$(CURDIR)/build/libmedley.so scripts/install-python --quiet
	@scripts/run-tests build build-asan

# Every table and figure of experiments/, from one commit; QUICK=1: a look at each.
# PUBLISH=1 puts them into the repository's folders.
experiments: all
	@experiments/all.py $(if $(QUICK),--quick) $(if $(PUBLISH),--publish)

# Every test with each variant of the vector loops and of OpenBLAS that this processor runs.
processors: all
	@scripts/deps test python
	@scripts/install-python --quiet
	@scripts/processors build

# Data races: every test under ThreadSanitizer.
tsan: needed
	@scripts/deps test
	@cmake --preset tsan >/dev/null
	@cmake --build build-tsan -j $(JOBS)
	@LIMIT=1500 scripts/run-tests build-tsan

# Memory that is read before it is written: the corpora of the readers under MemorySanitizer.
msan:
	@scripts/deps build fuzz
	@cmake --preset msan >/dev/null
	@cmake --build build-msan -j $(JOBS) --target fuzz_readers
	@for program in build-msan/fuzz/bin/*; do $$program fuzz/corpus/$$(basename $$program) || exit 1; done

# How much of src the tests run.
coverage: needed
	@scripts/deps test python coverage
	@cmake --preset coverage >/dev/null
	@cmake --build build-coverage -j $(JOBS)
	@scripts/install-python --quiet
	@LIMIT=1500 scripts/coverage

# Every call fails in turn; runs are killed and resumed (CONTRIBUTING.md). COUNT: how many kills.
COUNT ?= 200
faults: all asan
	@scripts/faults build --jobs $(JOBS)
	@scripts/faults build-asan --jobs $(JOBS)

kills: all
	@scripts/kills build --count $(COUNT) --jobs $(JOBS)

# make fuzz SECONDS=600 TARGET=model: what is found is in build-fuzz/findings.
SECONDS ?= 60
TARGET ?=
fuzz:
	@scripts/deps build fuzz
	@cmake --preset fuzz >/dev/null
	@cmake --build build-fuzz -j $(JOBS) --target fuzz
	@scripts/fuzz -s '$(SECONDS)' -j $(JOBS) -o build-fuzz build-fuzz/fuzz/bin $(TARGET)

bench: all
	@scripts/deps bench
	@scripts/run-bench build

lint:
	@scripts/deps build test lint
	@cmake --preset check >/dev/null
	@scripts/lint

format:
	@scripts/deps lint
	@git ls-files -z -co --exclude-standard '*.c' '*.h' | xargs -0 clang-format -i

install: all
	@DESTDIR='$(DESTDIR)' cmake --install build --prefix '$(PREFIX)'

# The packages in build-deb/ (docs/guides/packages.md).
deb:
	@scripts/deps build deb
	@scripts/build-deb

# They are built twice and compared, and installed in a bare Debian 12, used and removed again (as root: a chroot).
check-deb: deb
	@scripts/deps bare
	@scripts/check-deb build-deb

# Every compiler, with and without each optional part.
check-builds:
	@scripts/deps build test fuzz
	@scripts/check-builds

# A cross build for another processor (as root: a chroot).
check-arm64: all
	@scripts/deps bare
	@scripts/check-arm64 build

# On a machine with an NVIDIA card: its tests, NVIDIA's tools for memory and races, benchmarks.
check-card: all
	@scripts/check-card build --bench

clean:
	@rm -rf build build-*
