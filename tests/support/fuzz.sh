#!/bin/sh
# Runs each fuzz target for a while, with clang-19's libFuzzer, in build-fuzz: fuzz.sh SECONDS
#
# Starts from the kept seeds; what it finds is written to build-fuzz/findings/ and fails the run. Mend it,
# then keep the input as a seed: tests/fuzz/corpus/TARGET/.
set -eu

seconds=$1
[ -f build-fuzz/build.ninja ] ||
  CXX=clang++-19 meson setup build-fuzz -Dfuzz=true -Dtests=disabled -Dworker_libc=glibc \
    -Db_sanitize=address,undefined -Doptimization=1 -Ddebug=true -Db_lundef=false \
    -Dcpp_args=-fsanitize=fuzzer-no-link
ninja -C build-fuzz -j "$(nproc)" fuzzers

status=0
ran=0
mkdir -p build-fuzz/findings
for fuzzer in build-fuzz/tests/fuzz/*_fuzz; do
  name=$(basename "$fuzzer" _fuzz)
  new="build-fuzz/corpus/$name"
  mkdir -p "$new"
  echo "== fuzz $name, $seconds s"
  "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="build-fuzz/findings/$name-" "$new" "tests/fuzz/corpus/$name" || status=1
  ran=$((ran + 1))
done
[ "$ran" -gt 0 ] || { echo "no fuzz target was built"; exit 1; }
exit $status
