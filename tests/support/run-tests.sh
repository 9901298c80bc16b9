#!/bin/sh
# Runs all tests of a build directory: as whoever calls and, if that is root, once more as an
# ordinary user. Every skip is listed with its reason; the last line is `N passed, N failed, N
# skipped`.
#
# Without options, root runs all but the toolchains, and the ordinary user, as whom people build,
# all but the suite `once`: tests to which the caller makes no difference (the documents, protocols,
# formats).
#
#   tests/support/run-tests.sh [--once] BUILD_DIRECTORY [options of meson test]
#
# BUILD_DIRECTORY lies in the tree; run from the tree's top. With --once the tests run as whoever
# calls alone.
set -eu

once=
if [ "$1" = --once ]; then
  once=yes
  shift
fi
build=$1
shift
tree=$(pwd)
logs="$build/meson-logs"
root_log="as-$(id -un)"
status=0

# Tests run make, git and the server: what configures ours is not for them.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEFILES GNUMAKEFLAGS ENABLE_ADDITIONAL_TOOLS
for name in $(env | sed -n 's/^\(GIT_[A-Z_]*\|PROJECT_ACTIONS_[A-Z_]*\)=.*/\1/p'); do
  unset "$name"
done

# Time limits are there for what hangs: a slow machine with other work takes several times as long
# as others. Most of the tests wait twice as long as they compute.
run() {
  meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 4 \
    --num-processes $((3 * $(nproc))) "$@" || status=1
}

both=
if [ -z "$once" ] && [ "$(id -u)" = 0 ] && [ $# = 0 ]; then both=yes; fi

echo "== tests as $(id -un)"
run --logbase "$root_log" ${both:+--no-suite toolchains} "$@"
set_of_logs="$logs/$root_log.json"

if [ "$once" ]; then
  :
elif [ "$(id -u)" = 0 ]; then
  echo "== tests as daemon, in a copy of the tree"
  copy=$(mktemp -d "${TMPDIR:-/tmp}/pa-tests-XXXXXX")
  trap 'rm -rf "$copy"' EXIT
  trap 'exit 130' INT TERM
  # Sources with their data, then the programs of this one build directory.
  tar -C "$tree" -cf - --anchored --exclude=./.git --exclude='./build*' . | tar -C "$copy" -xf -
  tar -C "$tree" -cf - --exclude='*.p' --exclude='*.a' --exclude=meson-private \
    --exclude=meson-logs "$build" | tar -C "$copy" -xf -
  mkdir "$copy/home" "$copy/tmp"
  chown -R daemon:daemon "$copy"
  chmod -R u+rwX,go+rX "$copy"
  export PA_TREE="$tree" PA_COPY="$copy"
  run --wrapper "$tree/tests/support/as-user.sh" --logbase as-daemon ${both:+--no-suite once} "$@"
  set_of_logs="$set_of_logs $(ls -t "$logs"/as-daemon*.json | head -n 1)"
else
  echo "== not root, so tests run as $(id -un) only"
fi

python3 tests/support/summary.py $set_of_logs || status=1
exit $status
