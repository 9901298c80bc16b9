#!/bin/sh
# The tests with AddressSanitizer and UBSan, as whoever calls and without real toolchains and
# clients; run from the tree's top: sanitize.sh [TEST...]. With names, only those are built and run.
# `make test` also runs the tests as an ordinary user, and those of toolchains and clients, without
# the sanitizers.
set -eu

if [ $# = 0 ]; then
  tests/support/sanitized-build.sh all
  set -- --no-suite toolchains --no-suite clients
else
  # What a test runs is built with it.
  tests/support/sanitized-build.sh build.ninja
  programs=$(python3 tests/support/programs-of.py build-sanitize "$@")
  tests/support/sanitized-build.sh $programs
fi
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:quarantine_size_mb=16
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
exec tests/support/run-tests.sh --once build-sanitize "$@"
