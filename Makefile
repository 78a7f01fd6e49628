# The most important commands:   make demo   make test

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The packages that the build requires, and those that the tests require besides.
PACKAGES := libcurl4-openssl-dev libssl-dev zlib1g-dev libsqlite3-dev libpq-dev pkg-config curl
TESTING := openssl python3 python3-venv unzip libarchive-tools chromium chromium-driver fonts-dejavu-core \
  postgresql age
SOURCES := Package.swift Sources Tests Benchmarks

# The time in seconds for fuzzing each parser, and the parsers.
FUZZ_TIME := 600
# Linker options of the optimised command on Linux: the relocation table is made read-only at the start (full RELRO).
LINK := $(if $(filter Linux,$(shell uname)),-Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now)
# The destination of `make install`. DESTDIR is prepended to every path.
PREFIX := /usr/local
DESTDIR :=
# The targets with documentation: those that the Swift Package Index renders.
DOCUMENTED := $(shell sed -nE 's/^ *- ([A-Z][A-Za-z]+)$$/\1/p' .spi.yml)
PARSERS := $(notdir $(wildcard Tests/Fuzzing/Seeds/*))

.PHONY: help setup demo test cluster-test sanitize fuzz lint format docs articles serve release manual install package image bench catalog \
  scale clean

help: ## Shows this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: ## Installs missing system packages (Debian, Ubuntu)
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

demo: setup ## Demonstrates recording, attaching and replaying with a sample app
	@swift build --product snapshot
	@"$$(swift build --show-bin-path)/snapshot" demo

test: PACKAGES += $(TESTING)
test: setup ## Builds with warnings as errors, and runs every test
	@Tests/Accessibility/fetch
	@WARNINGS_AS_ERRORS=1 swift build --build-tests
	@WARNINGS_AS_ERRORS=1 Tests/run

cluster-test: PACKAGES += ceph-mon ceph-osd radosgw ceph-common postgresql haproxy python3 python3-venv
cluster-test: setup ## Tests stores with Ceph, and a cluster whose parts fail, and counts what is lost (UPLOADS=1000)
	@WARNINGS_AS_ERRORS=1 swift build --build-tests
	@Tests/S3Testing/run
	@Tests/Cluster/run $(if $(UPLOADS),--uploads '$(UPLOADS)')
	@Tests/Cluster/end-to-end

sanitize: PACKAGES += $(TESTING)
sanitize: setup ## Runs every test with AddressSanitizer, then with ThreadSanitizer
	@Tests/Sanitizers/run

# Besides the settings in Package.swift: -O for speed, and access to internal declarations. Inputs that make a parser
# fail are stored in Tests/Fuzzing/Found, and `make test` replays them.
fuzz: setup ## Fuzzes the parsers (FUZZ_TIME=600 PARSERS="ranges dates")
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

lint: PACKAGES += python3-venv shellcheck
lint: setup ## Checks the code style, scripts and configuration files
	@swift format lint --strict --recursive --parallel $(SOURCES)
	@.ci/check-files

format: setup ## Corrects the code style
	@swift format --in-place --recursive --parallel $(SOURCES)

# Package.resolved is restored, because only this target depends on DocC's plugin. The plugin ends at the first module
# with a warning; each warning is one line that begins with the file's path. DocC does not check links that begin with
# /documentation/, which lead to modules that the linking one does not depend on.
docs: setup ## Renders the documentation in .build/documentation, with warnings as errors
	@mkdir -p .build; \
	if [ -f Package.resolved ]; then \
	  cp Package.resolved .build/Package.resolved; trap 'mv .build/Package.resolved Package.resolved' EXIT; \
	fi; \
	WARNINGS_AS_ERRORS=1 DOCUMENTATION=1 swift package --allow-writing-to-directory .build/documentation \
	  generate-documentation $(addprefix --target ,$(DOCUMENTED)) --enable-experimental-combined-documentation \
	  --warnings-as-errors --ide-console-output --output-path .build/documentation > .build/documentation.log || { \
	  echo; echo 'Failed:'; grep -aE '(error|warning): ' .build/documentation.log; exit 1; }
	@for link in $$(grep -ohr --include='*.md' '](/documentation/[^)]*)' Sources | sed 's/^](//; s/[#)].*//' | sort -u); do \
	  [ -f ".build/documentation/data$$link.json" ] || { \
	    grep -rnoF --include='*.md' "]($$link" Sources; echo "There is no page $$link." >&2; exit 1; }; \
	done

articles: PACKAGES += python3-venv
articles: setup ## Renders the articles that the server shows, after a change of their Markdown
	@.ci/install-tools
	@.build-tools/bin/python .ci/render-articles

serve: setup ## Runs the server on http://127.0.0.1:8080 with the folder Storage
	@swift build --product snapshot
	@exec "$$(swift build --show-bin-path)/snapshot" serve

release: setup ## Builds the optimised command with static Swift libraries
	@swift build -c release --product snapshot --static-swift-stdlib -Xlinker -s $(LINK) --scratch-path .build-release
	@if [ "$$(uname)" = Linux ] && ! readelf -d .build-release/release/snapshot | grep -q 'FLAGS.*\bNOW\b'; then \
	  echo 'The command is not linked with full RELRO.' >&2; exit 1; \
	fi

# Calls the tool of swift-argument-parser's plugin generate-manual, because the plugin would build every product again.
# Each subcommand has its own page, with the name that `man snapshot serve` requires.
manual: release
	@swift build --quiet --product generate-manual --package-path .build-release/checkouts/swift-argument-parser \
	  --scratch-path .build-manual
	@pages=.build-manual/pages; rm -rf $$pages; mkdir -p $$pages/dotted; \
	.build-manual/debug/generate-manual .build-release/release/snapshot --multi-page \
	  --date "$$(git log -1 --format=%cs 2> /dev/null || date +%Y-%m-%d)" --output-directory $$pages/dotted; \
	for page in $$pages/dotted/*.1; do \
	  name=$$(basename $$page .1); title=$${name//./-}; \
	  sed -E -e ':again' -e 's/^(\.(Dt|Xr) [^ .]+)\.([^ ])/\1-\3/' -e 't again' -e 's/^$$/.Pp/' \
	    -e "s/^\.Nm \".*\"$$/.Nm $$title/" -e "s/^\.Nm$$/.Nm \"$${name//./ }\"/" $$page > $$pages/$$title.1; \
	done; \
	rm -r $$pages/dotted

install: manual ## Installs the command, manual, completions and systemd unit (PREFIX=/usr/local DESTDIR=)
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' Config/install .build-release/release/snapshot .build-manual/pages \
	  .build-release/checkouts

package: PACKAGES += build-essential dpkg-dev debhelper
package: manual ## Builds a .tar.gz and a .deb in .build-package; Tests/Package/run tests them
	@Config/Debian/build .build-release/release/snapshot .build-manual/pages .build-release/checkouts

image: PACKAGES += buildah mmdebstrap iproute2 procps python3
image: release ## Builds the container image data-snapshots with buildah, and tests it (as root)
	@docker/build .build-release/release/snapshot
	@Tests/Package/reproducible .build-release/release/snapshot
	@Tests/Package/image

# Without the file, SwiftPM plans the build again. It would not if only the manifest of the product had changed.
bench: PACKAGES += nginx zip unzip libarchive-tools
bench: release ## Compares the server with nginx, Hummingbird and FlyingFox (JSON=file, ONLY=suite, QUICK=1)
	@rm -f .build-bench/release.yaml
	@swift build -c release --package-path Benchmarks --static-swift-stdlib --scratch-path .build-bench
	@peers="$$(swift build -c release --package-path Benchmarks --static-swift-stdlib --scratch-path .build-bench \
	  --show-bin-path)"; \
	"$$peers/Benchmark" --peers "$$peers" --snapshot .build-release/release/snapshot --work .build-bench/work \
	  $(if $(JSON),--json '$(JSON)') $(if $(QUICK),--quick,--met Benchmarks/met.txt $(if $(UPDATE),--update)) \
	  $(foreach suite,$(ONLY),--only $(suite)) $(foreach kind,$(SLOW),--slow $(kind))

catalog: setup ## Measures a catalogue with a million records (JSON=file, RECORDS=1000000, POSTGRESQL=1)
	@swift build -c release --package-path Benchmarks --static-swift-stdlib --scratch-path .build-bench \
	  --product CatalogBenchmark
	@$(if $(POSTGRESQL),Benchmarks/with-postgresql) .build-bench/release/CatalogBenchmark \
	  --folder .build-bench/work --records $(or $(RECORDS),1000000) \
	  $(if $(JSON),--json '$(JSON)')

scale: release ## Measures stores of 1,000 to 1,000,000 bundles (SVG=file, SIZES=1000,1000000, TOMBSTONES=1000000)
	@swift build -c release --package-path Benchmarks --static-swift-stdlib --scratch-path .build-bench \
	  --product ScaleBenchmark
	@.build-bench/release/ScaleBenchmark --snapshot .build-release/release/snapshot --work .build-bench/work \
	  $(if $(SIZES),--sizes '$(SIZES)') $(if $(TOMBSTONES),--tombstones '$(TOMBSTONES)') $(if $(SVG),--svg '$(SVG)')

clean: ## Removes the build folders
	@rm -rf .build .build-release .build-tls .build-asan .build-tsan .build-fuzz .build-bench .build-manual .build-package \
	  .build-tools .build-axe .build-pyrage .build-moto .build-agents .build-webhooks .build-provider
