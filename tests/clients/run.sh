#!/bin/sh
# run.sh FOLDER SERVER [TESTS]: runs the real clients of the folder TESTS (else its own), with their
# modules in FOLDER, or skips (77) and says why.
set -eu
skip() {
  echo "skipped: $1"
  exit 77
}

source=$(cd "${3:-$(dirname "$0")}" && pwd)
modules=$1
command -v node >/dev/null || skip "node is not installed"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || skip "the clients need Node 20"

"$(dirname "$0")/../support/npm-modules.sh" "$source" "$modules"
cp "$source"/*.test.mjs "$modules"
PROJECT_ACTIONS=$(realpath "$2")
export PROJECT_ACTIONS
exec node --test "$modules"/*.test.mjs
