#!/bin/sh
# Everything about the sources that a tool can judge; run from the tree's top. Prints what is wrong.
#
#   tests/support/lint.sh [REVISION [AT_MOST]]
#
# With a REVISION clang-tidy-19, which takes most of the time, reads only the files that have
# changed since then, comments aside: the sources, and for each header one source that includes it;
# if these are more than AT_MOST, the AT_MOST sources in which most lines changed. A shallow clone
# may not have the revision; then it reads everything, as without one, and as when the checks
# themselves changed and nobody gave a limit.
set -u

since=${1:-}
at_most=${2:-}
folders="base sandbox worker policy supervisor"
status=0
step() {
  echo "== $1"
  shift
  "$@" || { status=1; echo "FAILED: $*" | cut -c 1-200; }
}

format() { git ls-files '*.cc' '*.h' | xargs clang-format-19 --dry-run -Werror; }

# The worker as a glibc program: clang is not told musl's headers, and its sources are the same. An
# old build-lint learns of new files. Without precompiled headers each source shows that it includes
# what it uses.
configure() {
  if [ -f build-lint/build.ninja ]; then
    ninja -C build-lint build.ninja >/dev/null
  else
    CC=clang-19 CXX=clang++-19 meson setup build-lint -Dtests=disabled -Dworker_libc=glibc \
      -Dwerror=false -Db_pch=false -Dunity=off >/dev/null
  fi
}

# The sources, as regular expressions of whole paths, that show clang-tidy what changed since
# REVISION. Tests are not in build-lint.
changed() {
  paths=$(git diff --numstat -M -I'^ *//' --diff-filter=d "$since" -- $folders) || return 1
  # A renamed file is `{old => new}` in the middle of its path; what it was is of no interest.
  printf '%s\n' "$paths" | sed 's/{[^}]* => \([^}]*\)}/\1/; s|//|/|; s/\t[^\t]* => /\t/' |
    sort -rn | while read -r added removed path; do
    [ "$added $removed" != "0 0" ] || continue
    case $path in
      *.cc) echo "$path" ;;
      *.h)
        if [ -f "${path%.h}.cc" ]; then echo "${path%.h}.cc"
        else
          git grep -lF "#include \"$path\"" -- $folders | grep '\.cc$' | grep -v '_test\.cc$' |
            head -n 1
        fi ;;
    esac
  done | grep -v '_test\(_support\)\?\.cc$' | awk '!seen[$0]++' | sed "s|.*|^$(pwd)/&\$|"
}

# run-clang-tidy also counts what it suppressed; what someone must act on is kept.
tidy() {
  if git rev-parse -q --verify "$since^{commit}" >/dev/null &&
    { [ "$at_most" ] || git diff --quiet "$since" -- .clang-tidy; }; then
    sources=$(changed) || return 1
    set -- $sources
    echo "$# sources that differ from $since; clang-tidy reads at most ${at_most:=$#}"
    [ $# != 0 ] || return 0
    set -- $(printf '%s\n' "$@" | head -n "$at_most")
  else
    set -- "^$(pwd)/($(echo $folders | tr ' ' '|'))/"
  fi
  run-clang-tidy-19 -quiet -p build-lint -j "$(nproc)" "$@" >build-lint/tidy.log 2>&1
  result=$?
  grep -E '(warning|error):' build-lint/tidy.log | sort -u
  return $result
}

step "clang-format-19" format
step "include directions" tests/support/check-includes.py .
step "banned functions, long lines" tests/support/check-banned.sh .
step "configure for clang-tidy-19" configure
step "clang-tidy-19" tidy
exit $status
