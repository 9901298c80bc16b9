#!/bin/sh
# npm-modules.sh SOURCE FOLDER: installs in FOLDER/node_modules what SOURCE/package-lock.json names,
# unless it is there. Skips (77) without npm or a network, and says why.
set -eu
source=$1
folder=$2
skip() {
  echo "skipped: $1"
  exit 77
}

command -v npm >/dev/null || skip "npm is not installed"
mkdir -p "$folder"
for file in package.json package-lock.json .npmrc; do
  [ ! -f "$source/$file" ] || cp "$source/$file" "$folder"
done
# npm's own note of what is there, written last.
[ ! -f "$folder/node_modules/.package-lock.json" ] || exit 0
npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error ||
  skip "npm could not install what $source needs (no network?)"
