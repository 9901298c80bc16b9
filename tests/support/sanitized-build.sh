#!/bin/sh
# Builds in build-sanitize, with clang-19, AddressSanitizer, UBSan and libFuzzer's coverage; run
# from the tree's top: sanitized-build.sh TARGET... The worker stays as it is: a static program
# carries no sanitizer. Not optimised and with line tables only, because that compiles three times
# faster. UBSan's check of vptr opens a pipe to see whether memory can be read: where a test has
# taken all descriptors away, it would report objects that are right.
set -eu

[ -f build-sanitize/build.ninja ] ||
  CC=clang-19 CXX=clang++-19 meson setup build-sanitize -Dfuzz=true -Db_sanitize=address,undefined \
    -Doptimization=0 -Ddebug=false -Dcpp_args="-g1 -fno-sanitize=vptr" \
    -Db_lundef=false
exec ninja -C build-sanitize -j "$(nproc)" "$@"
