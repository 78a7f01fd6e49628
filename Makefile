# The two commands to know:   make demo   make test

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# What the build needs, and what the end-to-end tests call.
PACKAGES := libcurl4-openssl-dev zlib1g-dev curl unzip python3 libarchive-tools \
  chromium chromium-driver fonts-dejavu-core
SOURCES := Package.swift Sources Tests Benchmarks

.PHONY: help setup demo test sanitize lint format serve release clean

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

test: setup ## Builds with warnings as errors, and runs every test
	@export WARNINGS_AS_ERRORS=1; \
	swift build --build-tests; \
	swift test --skip-build --disable-xctest

sanitize: setup ## Runs every test under AddressSanitizer, then under ThreadSanitizer
	@Tests/Sanitizers/run

lint: setup ## Checks the style, strictly
	@swift format lint --strict --recursive --parallel $(SOURCES)

format: setup ## Mends the style
	@swift format --in-place --recursive --parallel $(SOURCES)

serve: setup ## Runs the server on http://127.0.0.1:8080 over Storage
	@swift run -c release snapshot serve

release: setup ## Builds the optimised command, with Swift's libraries inside
	@swift build -c release --product snapshot --static-swift-stdlib -Xlinker -s --scratch-path .build-release

clean: ## Removes what was built
	@rm -rf .build .build-release .build-asan .build-tsan
