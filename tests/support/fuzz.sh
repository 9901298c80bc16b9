#!/bin/sh
# Runs each fuzz target for a while, with clang-19's libFuzzer: fuzz.sh SECONDS
#
# Starts from the kept seeds; what it finds is written to build-sanitize/findings/ and fails the
# run. Mend it, then keep the input as a seed: tests/fuzz/corpus/TARGET/.
set -eu

seconds=$1
tests/support/sanitized-build.sh fuzzers
mkdir -p build-sanitize/findings build-sanitize/corpus
# As many at once as there are processors; each tells what it has to say when it is done.
export seconds
printf '%s\n' build-sanitize/tests/fuzz/*_fuzz | xargs -n 1 -P "$(nproc)" sh -c '
  name=$(basename "$1" _fuzz)
  new=build-sanitize/corpus/$name
  mkdir -p "$new"
  "$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="build-sanitize/findings/$name-" "$new" "tests/fuzz/corpus/$name" \
    >"$new.log" 2>&1
  result=$?
  printf "== fuzz %s, %s s\n%s\n" "$name" "$seconds" "$(cat "$new.log")"
  exit $result' fuzz && result=0 || result=$?
# Last, where the end of a long log shows it: the inputs that fail.
[ $result = 0 ] || for found in build-sanitize/findings/*; do
  [ -e "$found" ] || continue
  printf '%s: %s\n' "$found" "$(head -c 2000 "$found" | base64 -w 0)"
done
exit $result
