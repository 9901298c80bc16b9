#!/bin/sh
# validate.sh FOLDER: runs validate.mjs on all conversations, with its modules in FOLDER, or skips
# (77) and says why. PA_MCP_SCHEMA_DIR names the folder with the official schemas, one REVISION.json
# each.
set -eu
skip() {
  echo "skipped: $1"
  exit 77
}

source=$(dirname "$0")
modules=$1
[ -n "${PA_MCP_SCHEMA_DIR:-}" ] ||
  skip "PA_MCP_SCHEMA_DIR does not name the folder of the official schemas"
[ -d "$PA_MCP_SCHEMA_DIR" ] ||
  { echo "no folder: PA_MCP_SCHEMA_DIR=$PA_MCP_SCHEMA_DIR" >&2; exit 1; }
command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"

mkdir -p "$modules"
cp "$source/package.json" "$source/package-lock.json" "$modules"
if [ ! -d "$modules/node_modules/ajv-formats" ]; then
  npm ci --prefix "$modules" --no-audit --no-fund --loglevel=error ||
    skip "npm could not install ajv (no network?)"
fi
exec node "$source/validate.mjs" "$modules" "$PA_MCP_SCHEMA_DIR" "$source"/*.jsonl
