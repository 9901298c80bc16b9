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

# The worker as a glibc program: clang is not told musl's headers, and its sources are the same. An old
# build-lint learns of new files.
configure() {
  if [ -f build-lint/build.ninja ]; then
    ninja -C build-lint build.ninja >/dev/null
  else
    CXX=clang++-19 meson setup build-lint -Dtests=disabled -Dworker_libc=glibc -Dwerror=false >/dev/null
  fi
}

# run-clang-tidy also counts what it suppressed; what someone must act on is kept.
tidy() {
  run-clang-tidy-19 -quiet -p build-lint -j "$(nproc)" "^$(pwd)/(base|sandbox|worker|policy|supervisor)/" \
    >build-lint/tidy.log 2>&1
  result=$?
  grep -E '(warning|error):' build-lint/tidy.log | sort -u
  return $result
}

step "clang-format-19" format
step "include directions" tests/support/check-includes.sh .
step "banned functions" tests/support/check-banned.sh .
step "configure for clang-tidy-19" configure
step "clang-tidy-19" tidy
exit $status
