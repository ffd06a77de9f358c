# `make demo` and `make test` work on a fresh machine: each installs what it uses.

PYTHON ?= python3
VENV   := .venv
export PIP_QUIET = 1
BIN    := $(VENV)/bin
DEMO   := results/demo
FLOORS := $(VENV)-floors
# Programs outside the workspace that bring models of their own.
PROGRAMS := $(wildcard examples/*/Cargo.toml)

# The simulator as WebAssembly, for a page.
WASM := wasm32-unknown-unknown

.PHONY: demo test check-platforms test-floors playground test-playground site wheel wheels tutorial bench validate validate-ns3 validate-cost validate-executors reproduce test-kills test-properties fuzz \
	sanitize audit format clean

# The main job: which routing with which congestion control, on a grid of small cells, and on a real
# microwave backhaul in a storm. One page, $(DEMO)/report.html.
demo: $(VENV)/.installed
	$(BIN)/backlane campaign run examples/demo/grid.toml --out $(DEMO)/grid --no-report
	$(BIN)/backlane campaign run examples/storm/scenario.toml --out $(DEMO)/storm --no-report
	$(BIN)/backlane report $(DEMO)/grid $(DEMO)/storm --out $(DEMO)/report.html

# Formatting, lints, types, layering, licences, docs and every test. Properties draw the same cases each
# time; `make test-properties` draws new ones.
test: $(VENV)/.installed-dev
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	$(BIN)/ruff format --check python tests validation docs/site
	$(BIN)/ruff check python tests validation docs/site
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin python/backlane
	$(BIN)/mypy --platform win32 python/backlane
	PROPTEST_RNG_SEED=1 cargo test --workspace --quiet
	for program in $(PROGRAMS); do \
		cargo fmt --manifest-path $$program --check && \
		cargo run --manifest-path $$program --target-dir $${CARGO_TARGET_DIR:-target} --quiet || exit 1; \
	done
	$(BIN)/pytest tests/python

# The native module checked by the compiler for macOS and Windows, whose standard libraries rustup
# has to have; nothing is linked, and nothing runs there.
check-platforms:
	for target in aarch64-apple-darwin x86_64-pc-windows-gnu; do \
		[ -d "$$(rustc --print sysroot)/lib/rustlib/$$target" ] || rustup target add $$target || exit 1; \
		PYO3_NO_PYTHON=1 cargo check -p backlane-python --target $$target --quiet || exit 1; \
	done

# The Python tests with the oldest version of each package that pyproject.toml admits; the oldest
# numpy has wheels for Python 3.10 to 3.12.
test-floors: $(FLOORS)/.installed
	$(FLOORS)/bin/pytest tests/python

# The playground, target/playground/index.html, to be served by any web server.
playground: $(VENV)/.installed
	@[ -d "$$(rustc --print sysroot)/lib/rustlib/$(WASM)" ] || rustup target add $(WASM) || { echo "make playground needs the Rust target $(WASM): rustup target add $(WASM)"; exit 1; }
	$(BIN)/python playground/build.py target/playground
	@echo "target/playground/index.html"

# The playground against the native simulator in Node, and its page and that of a report in Chromium. Node, npm and
# Chromium have to be there; CHROMIUM names the browser.
test-playground: playground $(VENV)/.installed-dev
	cargo fmt --manifest-path playground/engine/Cargo.toml --check
	cargo clippy --manifest-path playground/engine/Cargo.toml --quiet --locked --target $(WASM) \
		--target-dir $${CARGO_TARGET_DIR:-target}/playground -- -D warnings
	$(BIN)/pytest tests/python/test_playground.py
	npm install --prefix playground/tests --no-package-lock --no-audit --no-fund --silent
	node playground/tests/browser.mjs target/playground
	$(BIN)/backlane campaign run playground/tests/report.toml --out target/report-page --quiet
	node playground/tests/report.mjs target/report-page/report.html

# The documentation as a site, target/site/index.html; the first warning or dead link fails the build.
# It needs Python 3.11 or newer and fetches nothing. See docs/site/conf.py.
site: $(VENV)/.installed-docs
	rm -rf target/site docs/site/api
	$(BIN)/python -m sphinx -b html -c docs/site -d target/site-doctrees --fresh-env --jobs auto \
		--fail-on-warning --keep-going --quiet . target/site
	$(MAKE) --no-print-directory playground
	cp -r target/playground target/site/playground
	@echo "target/site/index.html"

# A wheel in target/wheels that is compiled with a profile of scenes, with the results of a build from
# source: three builds and two minutes of runs. See CONTRIBUTING.md.
wheel: $(BIN)/python
	$(BIN)/python -m validation.wheel

# Wheels for Linux in target/wheels, by cross-compilation with zig, and the source distribution:
# manylinux_2_28 and musllinux_1_2 on x86-64 and aarch64. TARGET names one of x86_64-gnu, x86_64-musl,
# aarch64-gnu, aarch64-musl. The modules are compiled without a profile.
wheels: $(BIN)/python
	$(BIN)/pip install --quiet 'ziglang>=0.13'
	PYTHONPATH=python $(BIN)/python -m validation.wheels --sdist $(TARGET)

# The tutorial, followed in an empty folder and environment from a wheel; its sizes and times.
# WHEEL names it; default the one of target/wheels for this machine.
WHEEL ?= $(firstword $(wildcard target/wheels/backlane-*-manylinux*_$(shell uname -m).whl))
tutorial: $(BIN)/python
	@[ -n "$(WHEEL)" ] || { echo "there is no wheel: make wheel, or make wheels"; exit 1; }
	PYTHONPATH=python $(BIN)/python -m validation.tutorial_from_wheel $(WHEEL)

# CPU time of whole scenarios; see docs/performance.md.
bench: $(VENV)/.installed
	cargo run --release --quiet -p backlane-bench
	$(BIN)/python -m validation.bench

# TCP compared with traces of the kernel, LTE with LENA, and BP-MR with its authors' simulator, with
# plots; see validation/.
validate: $(VENV)/.installed
	$(BIN)/python -m validation.linux
	$(BIN)/python -m validation.ns3
	$(BIN)/python -m validation.bp_mr_authors

# The same with ns-3 run again, and the cost of both: half an hour; needs g++ and libns3-dev.
validate-ns3: $(VENV)/.installed
	$(BIN)/python -m validation.ns3 --record --speed

# Estimates of cost compared with the recorded measurement; see docs/concepts/cost.md.
validate-cost: $(VENV)/.installed
	$(BIN)/python -m validation.cost

# Campaigns on Dask: a killed worker, efficiency, memory with 100 000 runs; see
# docs/validation/executors.md.
validate-executors: $(VENV)/.installed-dev
	$(BIN)/python -m validation.executors

# Every study in full; writes studies/**/README.md. The last full runs took in CPU-seconds, the runs
# under other assumptions apart: bp_mr_mesh/paper 3310, extensions 1018; tcp_aware_bp/paper 275,
# extensions 175; tcp_over_lte/paper 533; mesh_reordering/paper 1223, extensions 1082;
# who_should_run_what/routings 1618.
# real_linux needs a kernel: backlane linux build 6.1, then backlane reproduce real_linux/confirmed.
STUDIES := $(filter-out real_linux/%,$(patsubst studies/%/study.toml,%,$(wildcard studies/*/*/study.toml)))
reproduce: $(VENV)/.installed
	for study in $(STUDIES); do $(BIN)/backlane reproduce $$study || exit 1; done

# The properties of TCP and of the small crates with CASES new cases each; a failure prints its case
# and its seed. Seven minutes on two cores.
CASES ?= 100000
test-properties:
	PROPTEST_CASES=$(CASES) cargo test --quiet -p backlane-tcp --test properties
	PROPTEST_CASES=$$(( $(CASES) / 100 )) cargo test --quiet --workspace --exclude backlane-world --exclude backlane-tcp

# A campaign killed 100 times: ten minutes.
test-kills: $(VENV)/.installed-dev
	BACKLANE_TEST_KILLS=100 $(BIN)/pytest tests/python/test_store.py -k killed_again

# Properties that hold for any bytes, tested with libFuzzer; see fuzz/README.md. Half of the time is
# for runs of scenarios, the rest is shared equally by all other targets.
MINUTES ?= 10
TARGETS := $(sort $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs))))
FUZZING := -dict=fuzz/scenario.dict -timeout=100 -rss_limit_mb=4096 -print_final_stats=1
fuzz:
	@command -v cargo-fuzz >/dev/null || { echo "make fuzz needs cargo-fuzz: cargo install cargo-fuzz"; exit 1; }
	@cargo +nightly --version >/dev/null 2>&1 || { echo "make fuzz needs a nightly compiler: rustup toolchain install nightly"; exit 1; }
	cargo +nightly fuzz build --sanitizer none
	@found=; for target in $(TARGETS); do \
		seconds=$$(( $(MINUTES) * 60 / 22 )); \
		[ $$target = runs ] && seconds=$$(( $(MINUTES) * 30 )); \
		mkdir -p fuzz/target/corpus/$$target; \
		cargo +nightly fuzz run --sanitizer none $$target fuzz/target/corpus/$$target fuzz/corpus/$$target -- \
			$(FUZZING) -max_total_time=$$seconds || found="$$found $$target"; \
	done; \
	[ -z "$$found" ] || { echo "findings in fuzz/artifacts:$$found"; exit 1; }

# AddressSanitizer over the tests of crates/coding, whose vector instructions are the only unsafe
# code, and Miri over the test of all their paths; Miri needs the target features as flags.
MIRI := PROPTEST_CASES=20 MIRIFLAGS="-Zmiri-strict-provenance -Zmiri-disable-isolation" \
	RUSTFLAGS="-Ctarget-feature=+avx2,+ssse3"
sanitize:
	@cargo +nightly miri --version >/dev/null 2>&1 || { echo "make sanitize needs Miri: rustup toolchain install nightly --component miri,rust-src"; exit 1; }
	RUSTFLAGS=-Zsanitizer=address cargo +nightly test -p backlane-coding --target x86_64-unknown-linux-gnu --target-dir target/sanitize
	$(MIRI) cargo +nightly miri test -p backlane-coding --lib --target-dir target/miri any_slice

# Licences, sources and versions of all crates; see deny.toml.
audit:
	@command -v cargo-deny >/dev/null || { echo "make audit needs cargo-deny: cargo install --locked cargo-deny"; exit 1; }
	cargo deny --all-features check bans licenses sources

format:
	cargo fmt --all
	$(BIN)/ruff format python tests validation docs/site
	$(BIN)/ruff check --fix python tests validation docs/site

clean:
	rm -rf target $(VENV) $(FLOORS) results

SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name Cargo.toml)

$(BIN)/python:
	@command -v cargo >/dev/null || { echo "Backlane needs a Rust toolchain (cargo): install one with rustup"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "Backlane needs Python 3.10 or newer: set PYTHON=python3.x"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "Python's venv module is missing: on Debian, apt-get install python3-venv"; exit 1; }
	$(BIN)/pip install --quiet 'maturin>=1.16,<2'

$(VENV)/.installed: $(BIN)/python $(SOURCES)
	$(BIN)/maturin develop --profile source --quiet
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python $(SOURCES)
	$(BIN)/maturin develop --profile source --quiet --extras dev
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(BIN)/python $(SOURCES)
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make site needs Python 3.11 or newer: set PYTHON=python3.x and remove $(VENV)"; exit 1; }
	$(BIN)/maturin develop --profile source --quiet --extras docs
	@touch $@ $(VENV)/.installed

$(FLOORS)/.installed: $(BIN)/python $(SOURCES)
	$(PYTHON) -m venv $(FLOORS)
	VIRTUAL_ENV=$(CURDIR)/$(FLOORS) $(BIN)/maturin develop --profile source --quiet
	$(FLOORS)/bin/pip install pytest hypothesis \
	  $$(sed -n '/^dependencies/,/^]/s/^  "\([a-z]*\)>=\([0-9.]*\).*/\1==\2/p' pyproject.toml)
	@touch $@
