#!/bin/sh
# The whole suite with AddressSanitizer and UBSan, GCC, in build-sanitize, as an ordinary user; run from the
# tree's top. The worker stays as it is: a static program carries no AddressSanitizer. Not optimised and with
# line tables only, because that compiles three times faster.
set -eu

[ -f build-sanitize/build.ninja ] ||
  meson setup build-sanitize -Db_sanitize=address,undefined -Doptimization=0 -Ddebug=false \
    -Dcpp_args=-g1 -Db_lundef=false
ninja -C build-sanitize -j "$(nproc)"
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:quarantine_size_mb=16
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export PA_TEST_USERS=ordinary
exec tests/support/run-tests.sh build-sanitize --timeout-multiplier 4
