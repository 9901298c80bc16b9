#!/bin/sh
# The whole suite with AddressSanitizer and UBSan, as whoever calls; run from the tree's top. `make test` also
# runs it as an ordinary user, without the sanitizers.
set -eu

tests/support/sanitized-build.sh all
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:quarantine_size_mb=16
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
exec tests/support/run-tests.sh --once build-sanitize
