#!/bin/sh
# modules.sh FOLDER: installs what packing needs in FOLDER/node_modules, as package-lock.json has
# it.
set -eu

source=$(cd "$(dirname "$0")" && pwd)
[ ! -d "$1/node_modules/@anthropic-ai/mcpb" ] || exit 0
mkdir -p "$1"
cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$1"
exec npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error
