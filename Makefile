# A thin front for people and for project-actions itself: each target is one command on the build
# directory. Packages that are missing are installed first, by packaging/install-deps.sh, which says
# so; DEPS=: skips that.

BUILD ?= build
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 30
PORT ?= 8080
REQUESTS ?= 100000
DEPS ?= packaging/install-deps.sh

# Tests run make themselves: what this make was told is not for them.
unexport MAKEFLAGS MFLAGS MAKELEVEL

.PHONY: default help build demo test test-toolchains test-clients conformance-server test-kernels \
  test-mutants test-tenants test-fairness test-package test-distros test-vm package package-rpm mcpb \
  soak bench lint format fuzz sanitize clean

default: build ## the same as build

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 17

build: $(BUILD)/build.ninja ## build everything in ./build
	@ninja -C $(BUILD) -j $(JOBS)

$(BUILD)/build.ninja:
	@$(DEPS) build
	@meson setup $(BUILD)

demo: $(BUILD)/build.ninja ## a client lists, runs, stages and commits, and a theft is refused
	@ninja -C $(BUILD) -j $(JOBS) tests/support/demo supervisor/project-actions \
	  worker/project-actions-worker
	@PA_SERVER=$(abspath $(BUILD))/supervisor/project-actions \
	  PA_WORKER=$(abspath $(BUILD))/worker/project-actions-worker \
	  $(BUILD)/tests/support/demo

test: build ## all tests; as root also once more as an ordinary user
	@tests/support/run-tests.sh $(BUILD)

test-toolchains: build ## toolchains, 24 projects outside and inside; installs what is missing
	@$(DEPS) toolchains
	@PA_TOOLCHAINS_REQUIRED=1 tests/support/run-tests.sh $(BUILD) --suite toolchains
	@tests/toolchains/projects.sh $(BUILD) $(BUILD)/projects $(PROJECTS)

test-clients: build ## Claude Code, Codex and Gemini CLI read what init writes; npm loads 740 MB
	@$(DEPS) clients
	@tests/clients/run.sh $(BUILD)/tests/clients/readers $(BUILD)/supervisor/project-actions \
	  tests/clients/readers

conformance-server: build ## serves what the official conformance suite expects; PORT=8080
	@$(BUILD)/tests/conformance/conformance-server $(PORT) $(BUILD)/worker/project-actions-worker

test-kernels: build ## boot Debian's kernels and try to escape there; GUESTS="6.1 7.2" picks
	@$(DEPS) build kernels
	@tests/kernels/run.sh $(BUILD) $(GUESTS)

test-tenants: ## both packages in a machine of systemd-nspawn: tenants, load, faults; as root; REQUESTS=5000
	@$(DEPS) build package machine
	@JOBS=$(JOBS) tests/tenants/run.sh $(BUILD) $(REQUESTS)

test-fairness: $(BUILD)/build.ninja ## a greedy tenant beside another, under QEMU, as root: p99 and p50; hours
	@$(DEPS) build package machine kernels
	@ninja -C $(BUILD) -j $(JOBS) tests/fairness/load
	@JOBS=$(JOBS) tests/fairness/run.sh $(BUILD) $(GUESTS)

test-mutants: ## change lines that carry trust: tests must notice each; WORDS="guardian trash" picks
	@$(DEPS) build
	@tests/mutants/run.py . $(WORDS)

package: ## .deb or .rpm, whichever is this system's, of what is committed, into ./build/package
	@$(DEPS) build package
	@if command -v dpkg-buildpackage >/dev/null; \
	  then packaging/build-deb.sh $(BUILD)/package -j$(JOBS); \
	  else packaging/build-rpm.sh $(BUILD)/package; fi

package-rpm: ## .rpm, also on Debian, to try the spec
	@$(DEPS) build package
	@packaging/build-rpm.sh $(BUILD)/package-rpm --define '_smp_build_ncpus $(JOBS)'

test-package: ## both packages: lintian, blhc, rpmlint, same bytes twice, hardening, sizes, rpm -V
	@$(DEPS) build package
	@JOBS=$(JOBS) packaging/test-deb.sh $(BUILD)/test-deb
	@JOBS=$(JOBS) packaging/test-rpm.sh $(BUILD)/test-rpm

test-distros: ## try the .deb on Debian 12, 13, Ubuntu 24.04, 26.04; DISTROS="debian-12" picks
	@$(DEPS) build package
	@JOBS=$(JOBS) packaging/test-distros.sh $(BUILD)/distros $(DISTROS)

test-vm: ## Ubuntu 24.04's kernel under QEMU: namespaces with the AppArmor profile and without
	@$(DEPS) build package kernels
	@JOBS=$(JOBS) STEPS="builder build vm" packaging/test-distros.sh $(BUILD)/vm ubuntu-24.04

soak: build ## 10,000 calls with random cancels and kills; nothing may grow
	@PA_SOAK_CALLS=10000 meson test -C $(BUILD) --no-rebuild --timeout-multiplier 10 integration/soak

bench: build ## measure what is promised, beside what it is compared with; writes bench.json
	@$(DEPS) bench
	@tests/bench/run.sh $(BUILD) $(SECTIONS)

lint: ## formatting, includes, clang-tidy; SINCE=HEAD~9: clang-tidy of changes, AT_MOST=9 sources
	@$(DEPS) build lint
	@tests/support/lint.sh $(SINCE) $(AT_MOST)

format: ## format all sources in place
	@$(DEPS) lint
	@git ls-files '*.cc' '*.h' | xargs clang-format-19 -i

fuzz: ## each fuzz target for FUZZ_SECONDS (30)
	@$(DEPS) build lint
	@tests/support/fuzz.sh $(FUZZ_SECONDS)

sanitize: ## tests with ASan and UBSan, but for toolchains and clients; TESTS="base policy" picks
	@$(DEPS) build lint
	@tests/support/sanitize.sh $(TESTS)

mcpb: ## an MCP bundle for clients' one-click installation, and the registry's server.json
	@$(DEPS) build clients
	@packaging/mcpb/build.sh $(BUILD)/mcpb $(JOBS)
	@tests/bundle/run.sh $(BUILD)/mcpb $(BUILD)/mcpb/build/supervisor/project-actions \
	  $(BUILD)/mcpb/build/worker/project-actions-worker docs/examples

clean: ## remove all build directories
	@rm -rf build build-*
