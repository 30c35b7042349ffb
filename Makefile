# Herald's one door for people and CI: `make help` lists what there is. What takes more than a line is in scripts/.
#
# On a fresh Debian 12 machine with Swift 6.3, `make demo` and `make test` do everything: what is missing of Debian's
# packages is installed first (as root, or with sudo; `make deps` does just that and says what and why).
#
#   KAFKA_HOME=…               an unpacked Apache Kafka 3.7 or newer: the tests start brokers of their own from it
#   KAFKA_BOOTSTRAP_SERVERS=…  a running broker that the tests may use instead
#   FILTER=…                   `make test FILTER=OffsetTracker` (or `make check`) runs only the tests whose name matches
#   EVENTS=…                   how many events `make bench` (1000000) and `make soak` (500000) send
#   CASES=floor,atomic,age*    which of its cases `make bench` runs (default: all of them, about 55 minutes)
#   KILLS=, MINUTES=, SEED=, GUARANTEE=
#                              how often `make soak` kills a worker, for how long, when (by the seed), and what it expects;
#                              MINUTES and SEED are `make simulate`'s too
#   SCENARIO='seed=3 crashes=9'  what `make simulate` runs instead of a seed (a wrong name makes it say which there are)
#   FUZZ_SECONDS=60            how long `make fuzz` spends on each target
#
# Five build directories, so that no flag makes another build start anew: .build (debug and release), .build/thread and
# .build/address (sanitizers), .build/benchmarks (what Benchmarks/Package.swift makes), .build/mutants (the simulation).

MAKEFLAGS += --no-builtin-rules --no-print-directory
FUZZ_SECONDS ?= 60
CASES ?=
export FILTER

.DEFAULT_GOAL := help
.PHONY: help deps root build deb check-deb release check-release demo check test long search browser screenshots \
	cast simulate mutants soak soak-short soak-words bench micro lint check-deploy sanitize fuzz clean

help: ## lists these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

deps: ## installs the Debian packages that are missing, and checks the version of Swift
	@scripts/deps

# What makes a Debian 13 of its own says at once that it can't, and not after an hour.
root:
	@[ "$$(id -u)" -eq 0 ] || { echo "make $(MAKECMDGOALS): debootstrap and chroot make a Debian 13 for this, and they take root" >&2; exit 1; }

build: deps ## builds the release binary, .build/release/herald
	swift build --configuration release --static-swift-stdlib --product herald
	@scripts/name-commit .build/release/herald

deb: root build ## makes the package for Debian 13, .build/package/herald_VERSION_amd64.deb, and checks it with lintian (as root)
	@scripts/contained scripts/make-deb

check-deb: deb ## installs the package in a clean Debian 13; with KAFKA_HOME logs in to a secured broker in all ways (as root)
	@scripts/contained scripts/beside debian13 clean scripts/check-package .build/package/herald_*_amd64.deb

release: root build ## makes a release in .build/dist: program, package, tarball, image, SBOMs, checksums (as root)
	@scripts/contained scripts/make-release

check-release: release ## runs tarball and image on clean systems: Debian 12 and 13, Ubuntu 24.04 (as root)
	@scripts/contained scripts/check-release .build/dist

# The debug build: `make test` goes on from it.
demo: deps ## shows every outcome live on an embedded broker; without a terminal once, checked, in under 30 seconds
	swift build --product herald
	@if [ -t 0 ] && [ -t 1 ]; then exec .build/debug/herald demo; else exec .build/debug/herald demo --once; fi

check: deps ## the quick check after an edit: format, build, unit tests, fixed seeds of the simulation; FILTER chooses tests
	@scripts/contained scripts/check

test: deps ## what a change must pass: contract, tests, simulation; with KAFKA_HOME on real brokers and in a browser
	@scripts/contained scripts/test

long: root deps ## everything else, in an hour, before a release (root, KAFKA_HOME); writes .ci/last-long when all is green
	@scripts/contained scripts/long

search: deps ## looks for MINUTES (30) with new seeds: simulation, fuzzers, random kills (KAFKA_HOME)
	@scripts/contained scripts/search

browser: deps ## opens the console in Chromium, on a broker of KAFKA_HOME; FILTER chooses tests by a part of their sentence
	swift build --product herald
	@scripts/contained scripts/browser $(FILTER)

screenshots: deps ## makes the pictures of docs/CONSOLE.md anew (KAFKA_HOME)
	swift build --product herald
	@scripts/contained scripts/browser --pictures

cast: deps ## records the demo on a terminal: docs/demo.svg
	swift build --product herald
	@scripts/contained scripts/record-demo .build/debug/herald

simulate: deps ## runs the simulation for MINUTES (10) with new seeds, or replays SEED, SCENARIO (or LOCALITY) with a trace
	@scripts/simulate $(if $(SEED),--seed $(SEED),$(if $(SCENARIO),--scenario '$(SCENARIO)',$(if $(LOCALITY),--locality \
		$(LOCALITY),$(if $(BYSTANDERS),--bystanders $(BYSTANDERS),$(if $(REFUSALS),--refusals \
		$(REFUSALS),--minutes $(or $(MINUTES),10))))))

mutants: deps ## breaks engine and lane on purpose, each time in another way, and shows that the simulation finds it
	@scripts/contained Tests/Simulation/Mutants/mutants.py

soak: deps ## kills workers and brokers (of KAFKA_HOME) under 500000 events for half an hour, and checks every promise
	@Soak/soak.py --check
	@$(MAKE) build
	@scripts/contained Soak/soak.py $(if $(KILLS),--kills $(KILLS)) $(if $(EVENTS),--events $(EVENTS)) \
		$(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) $(if $(GUARANTEE),--guarantee $(GUARANTEE))

# The checker was seen green in this form; Soak/soak.py --short alone is the one of ten minutes.
soak-short: deps ## the soak in two minutes, on three brokers (of KAFKA_HOME)
	@Soak/soak.py --check
	swift build --product herald
	@scripts/contained Soak/soak.py --short --kills 6 --events 15000 --minutes 0.8

soak-words: deps ## a campaign of 100000 whose users opt out, sleep, are capped and recalled, with kills (KAFKA_HOME)
	@Soak/soak.py --check
	@$(MAKE) build
	@scripts/contained Soak/words.py

bench: ## measures a worker on a real broker (KAFKA_HOME) beside wrk; EVENTS is the backlog, CASES what is measured
	@Benchmarks/bench.py --check --cases "$(CASES)"
	@$(MAKE) build
	$(benchmarks)
	@scripts/contained Benchmarks/bench.py $(or $(EVENTS),1000000) --cases "$(CASES)"

micro: deps ## counts an event's instructions and allocations under valgrind, with KAFKA_HOME those of a whole worker too
	$(benchmarks)
	$(if $(KAFKA_HOME),@$(MAKE) build)
	@scripts/contained Benchmarks/micro.py

benchmarks = swift build --configuration release --static-swift-stdlib --package-path Benchmarks \
	--scratch-path .build/benchmarks -Xcc -Wall -Xcc -Wextra -Xcc -Werror

lint: deps ## checks formats: Swift, JavaScript, shell scripts, Dockerfile, compose file, AsyncAPI document
	@scripts/contained scripts/lint

check-deploy: export CHECK_DEPLOY = yes
check-deploy: deps ## checks alerts, runbook, dashboard, Kubernetes manifests and compose file; with KAFKA_HOME on workers
	swift build --product herald
	@scripts/contained scripts/check-deploy

sanitize: deps ## runs the unit tests under the thread sanitizer and under the address sanitizer
	@scripts/contained scripts/sanitize thread
	@scripts/contained scripts/sanitize address

fuzz: deps ## fuzzes the event decoder, whole records, the readers of HTTP answers and the map in a commit, FUZZ_SECONDS each
	@scripts/contained scripts/fuzz event-decoder $(FUZZ_SECONDS)
	@scripts/contained scripts/fuzz whole-record $(FUZZ_SECONDS)
	@scripts/contained scripts/fuzz answer-reader $(FUZZ_SECONDS)
	@scripts/contained scripts/fuzz http2-session $(FUZZ_SECONDS)
	@scripts/contained scripts/fuzz completion-map $(FUZZ_SECONDS)

clean: ## removes what was built and the tools in .venv
	rm -rf .build .venv .venv-browser .venv-checkov
