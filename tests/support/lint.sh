#!/bin/sh
# Everything about the sources that a tool can judge; run from the tree's top. Prints what is wrong.
set -u

status=0
step() {
  echo "== $1"
  shift
  "$@" || { status=1; echo "FAILED: $*" | cut -c 1-200; }
}

format() { git ls-files '*.cc' '*.h' | xargs clang-format-19 --dry-run -Werror; }

# The worker as a glibc program: clang is not told musl's headers, and its sources are the same.
configure() {
  [ -f build-lint/build.ninja ] ||
    CXX=clang++-19 meson setup build-lint -Dworker_libc=glibc -Dwerror=false >/dev/null
}

# tidy CONFIGURATION REGULAR_EXPRESSION: run-clang-tidy also counts what it suppressed; what someone must act
# on is kept.
tidy() {
  run-clang-tidy-19 -quiet -p build-lint -j "$(nproc)" -config-file="$1" "$2" >build-lint/tidy.log 2>&1
  result=$?
  grep -E '(warning|error):' build-lint/tidy.log | sort -u
  return $result
}

step "clang-format-19" format
step "include directions" tests/support/check-includes.sh .
step "banned functions" tests/support/check-banned.sh .
step "configure for clang-tidy-19" configure
here=$(pwd)
step "clang-tidy-19, sources" tidy .clang-tidy \
  "^$here/(base|sandbox|worker|policy|supervisor)/(?!.*_test(_support)?\.cc).*\.cc\$"
step "clang-tidy-19, tests" tidy tests/.clang-tidy \
  "^$here/(tests/.*|.*_test(_support)?)\.cc\$"
exit $status
