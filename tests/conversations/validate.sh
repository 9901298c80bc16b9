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

"$source/../support/npm-modules.sh" "$source" "$modules"
exec node "$source/validate.mjs" "$modules" "$PA_MCP_SCHEMA_DIR" "$source"/*.jsonl
