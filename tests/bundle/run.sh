#!/bin/sh
# run.sh FOLDER SERVER WORKER EXAMPLES: packs the MCP bundle in FOLDER and tests it and the policies
# in EXAMPLES with the modules that packing needs, or skips (77) and says why.
set -eu
skip() {
  echo "skipped: $1"
  exit 77
}

source=$(cd "$(dirname "$0")" && pwd)
folder=$1
for program in node npm strip readelf; do
  command -v $program >/dev/null || skip "$program is not installed"
done
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || skip "the packer needs Node 20"

"$source/../../packaging/mcpb/modules.sh" "$folder" ||
  skip "npm could not install the packer (no network?)"
"$source/../../packaging/mcpb/make.sh" "$2" "$3" "$folder"
cp "$source"/*.test.mjs "$folder"
PROJECT_ACTIONS=$(realpath "$2") EXAMPLES=$(realpath "$4")
export PROJECT_ACTIONS EXAMPLES
exec node --test "$folder"/*.test.mjs
