#!/bin/sh
# run.sh BUILD [SECTION]...: measures the programs in BUILD and writes BUILD/bench.json. What it
# compares with and cannot get is left out, with the reason.
set -eu

build=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")

# Compilers and git as the distribution has them, for both sides.
export PATH=/usr/local/bin:/usr/bin:/bin
export PA_SERVER="$build/supervisor/project-actions"
export PA_WORKER="$build/worker/project-actions-worker"
export PA_DAEMON="$build/supervisor/project-actionsd"
export PA_NGINX_CONF="$here/../../packaging/daemon/nginx.conf"
export PA_BENCH_STAMP="$build/tests/bench/stamp"

if why=$("$here/fetch-source.sh" "$build/bench-source"); then
  export PA_BENCH_SOURCE="$build/bench-source/tree"
else
  export PA_BENCH_NO_SOURCE="its source is not to be had: $why"
fi

peer="$build/bench-peer"
program="$peer/node_modules/mcp-server-commands/build/index.js"
file_program="$peer/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
if ! command -v npm >/dev/null; then
  export PA_BENCH_NO_PEER="npm is not installed"
else
  mkdir -p "$peer"
  cp "$here/peer/package.json" "$here/peer/package-lock.json" "$here/peer/.npmrc" \
    "$here/peer/http.mjs" "$peer"
  if { [ -e "$program" ] && [ -e "$file_program" ]; } ||
    (cd "$peer" && npm ci --ignore-scripts >npm.log 2>&1); then
    export PA_BENCH_PEER="$program" PA_BENCH_FILE_PEER="$file_program" \
      PA_BENCH_HTTP_PEER="$peer/http.mjs"
  else
    export PA_BENCH_NO_PEER="npm ci failed, see $peer/npm.log"
  fi
fi

optimization=$(meson introspect "$build" --buildoptions |
  sed -n 's/.*"name": "optimization", "value": "\([^"]*\)".*/\1/p')
case $optimization in 0 | g) echo "WARNING: this build is not optimised (-O$optimization)" ;; esac
echo "$(nproc) processors, load $(cut -d ' ' -f 1-3 /proc/loadavg), $(uname -r)"
"$build/tests/bench/bench" "$build/bench.json" "$@"
