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
command -v npm >/dev/null || skip "npm is not installed"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || skip "the clients need Node 20"

mkdir -p "$modules"
cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$source"/*.test.mjs \
  "$modules"
# npm's own note of what is there, written last.
if [ ! -f "$modules/node_modules/.package-lock.json" ]; then
  npm ci --prefix "$modules" --ignore-scripts --no-audit --no-fund --loglevel=error ||
    skip "npm could not install the clients (no network?)"
fi
PROJECT_ACTIONS=$(realpath "$2")
export PROJECT_ACTIONS
exec node --test "$modules"/*.test.mjs
