# The two commands to know:   make demo   make test

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# What the build needs, and what the end-to-end tests call.
PACKAGES := libcurl4-openssl-dev zlib1g-dev libsqlite3-dev curl unzip python3 libarchive-tools \
  chromium chromium-driver fonts-dejavu-core
SOURCES := Package.swift Sources Tests Benchmarks

# How long each parser is fuzzed, in seconds, and which.
FUZZ_TIME := 600
# How the optimised command is linked: its table of addresses is filled before it starts, and read-only from then on
# (full RELRO). Only the linkers of ELF know that.
LINK := $(if $(filter Linux,$(shell uname)),-Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now)
PARSERS := $(notdir $(wildcard Tests/Fuzzing/Seeds/*))

.PHONY: help setup demo test sanitize fuzz lint format serve release bench catalog clean

help: ## Shows this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: ## Installs the system packages that are missing (Debian, Ubuntu)
	@command -v swift > /dev/null || { \
	  echo 'Swift is not installed, or not on PATH: see https://www.swift.org/install' >&2; exit 1; }
	@if command -v dpkg-query > /dev/null; then \
	  missing=""; \
	  for package in $(PACKAGES); do \
	    state=$$(dpkg-query -W -f '$${db:Status-Status}' $$package 2> /dev/null || true); \
	    [ "$$state" = installed ] || missing="$$missing $$package"; \
	  done; \
	  if [ -n "$$missing" ]; then \
	    as_root=""; [ "$$(id -u)" = 0 ] || as_root=sudo; \
	    echo "Installing$$missing"; \
	    $$as_root apt-get update -qq; \
	    $$as_root env DEBIAN_FRONTEND=noninteractive \
	      apt-get install -y -qq --no-install-recommends $$missing > /dev/null; \
	  fi; \
	fi

demo: setup ## Shows the whole story on real data, and leaves nothing behind
	@swift build --product snapshot
	@"$$(swift build --show-bin-path)/snapshot" demo

# So many tests at once that none waits long for a thread, and what failed once more at the end, where it is seen.
test: setup ## Builds with warnings as errors, and runs every test
	@export WARNINGS_AS_ERRORS=1 SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=32; \
	swift build --build-tests; \
	swift test --skip-build --disable-xctest 2>&1 | tee .build/tests.log || { \
	  echo; echo 'Failed:'; grep -a '✘' .build/tests.log; exit 1; }

sanitize: setup ## Runs every test under AddressSanitizer, then under ThreadSanitizer
	@Tests/Sanitizers/run

# Beside what Package.swift says: -O, for speed, with internal declarations in reach. What a parser fails at is kept in
# Tests/Fuzzing/Found, and replayed by `make test` from then on.
fuzz: setup ## Tries made-up input on the parsers (FUZZ_TIME=600 PARSERS="ranges dates")
	@FUZZING=1 swift build -c release --product fuzz --sanitize fuzzer --sanitize address \
	  -Xswiftc -enable-testing --scratch-path .build-fuzz
	@status=0; \
	export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0; \
	for parser in $(PARSERS); do \
	  cases=Tests/Fuzzing; corpus=.build-fuzz/corpus/$$parser; log=.build-fuzz/$$parser.log; \
	  mkdir -p $$corpus $$cases/Found/$$parser; \
	  if FUZZED=$$parser .build-fuzz/release/fuzz $$corpus $$cases/Seeds/$$parser $$cases/Found/$$parser \
	    -max_total_time=$(FUZZ_TIME) -timeout=10 -rss_limit_mb=1024 -max_len=2048 -detect_leaks=0 \
	    -dict=$$cases/Words/$$parser.dict -artifact_prefix=$$cases/Found/$$parser/ > $$log 2>&1; \
	  then echo "$$parser: $$(grep -a '^Done' $$log)"; \
	  else echo "$$parser failed:"; tail -n 30 $$log; status=1; fi; \
	done; \
	exit $$status

lint: setup ## Checks the style, strictly
	@swift format lint --strict --recursive --parallel $(SOURCES)

format: setup ## Mends the style
	@swift format --in-place --recursive --parallel $(SOURCES)

serve: setup ## Runs the server on http://127.0.0.1:8080 over Storage
	@swift run -c release $(LINK) snapshot serve

release: setup ## Builds the optimised command, with Swift's libraries inside
	@swift build -c release --product snapshot --static-swift-stdlib -Xlinker -s $(LINK) --scratch-path .build-release
	@if [ "$$(uname)" = Linux ] && ! readelf -d .build-release/release/snapshot | grep -q 'FLAGS.*\bNOW\b'; then \
	  echo 'The command is not linked with full RELRO.' >&2; exit 1; \
	fi

bench: PACKAGES += nginx zip
bench: release ## Holds the server against nginx, Hummingbird and FlyingFox (JSON=file, QUICK=1)
	@swift build -c release --package-path Benchmarks --static-swift-stdlib --scratch-path .build-bench
	@peers="$$(swift build -c release --package-path Benchmarks --static-swift-stdlib --scratch-path .build-bench \
	  --show-bin-path)"; \
	"$$peers/Benchmark" --peers "$$peers" --snapshot .build-release/release/snapshot --work .build-bench/work \
	  $(if $(JSON),--json '$(JSON)') $(if $(QUICK),--quick) $(foreach suite,$(ONLY),--only $(suite)) \
	  $(foreach kind,$(SLOW),--slow $(kind))

catalog: setup ## Fills a catalogue with a million records, and searches it (JSON=file, RECORDS=1000000)
	@swift build -c release --package-path Benchmarks --static-swift-stdlib --scratch-path .build-bench \
	  --product CatalogBenchmark
	@.build-bench/release/CatalogBenchmark --folder .build-bench/work --records $(or $(RECORDS),1000000) \
	  $(if $(JSON),--json '$(JSON)')

clean: ## Removes what was built
	@rm -rf .build .build-release .build-asan .build-tsan .build-fuzz .build-bench
