#!/bin/sh
# make.sh SERVER WORKER FOLDER: packs the MCP bundle FOLDER/project-actions.mcpb of these two programs, and writes
# FOLDER/server.json, what the MCP registry is told of it. OWNER names the account on GitHub that releases it.
#
# The server brings the libraries that it is linked with, all but glibc: Debian has no static simdjson, fmt and
# spdlog, and glibc has to be the machine's own (README.md beside this file).
set -eu

source=$(cd "$(dirname "$0")" && pwd)
server=$1
worker=$2
folder=$3
owner=${OWNER:-example}
version=$("$server" --version | sed 's/.* //')
stage="$folder/project-actions"

"$source/modules.sh" "$folder"
rm -rf "$stage" "$folder/project-actions.mcpb"
mkdir -p "$stage/server/lib" "$stage/licenses"
strip -o "$stage/server/project-actions" "$server"
strip -o "$stage/server/project-actions-worker" "$worker"
ldd "$server" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | while read -r library; do
  name=${library##*/}
  case $name in libc.so.* | libm.so.*) continue ;; esac
  cp -L "$library" "$stage/server/lib/$name"
  # Who passes a library on passes on its licence; Debian has them by package.
  package=$(dpkg-query -S "*/$name" 2>/dev/null | sed -n '1s/:.*//p')
  [ -z "$package" ] || cp "/usr/share/doc/$package/copyright" "$stage/licenses/$package"
done
sed "s/@VERSION@/$version/g" "$source/manifest.json.in" >"$stage/manifest.json"
cp "$source/../../LICENSE" "$stage"

# It validates the manifest, and packs nothing that is not valid.
"$folder/node_modules/.bin/mcpb" pack "$stage" "$folder/project-actions.mcpb"
sum=$(sha256sum "$folder/project-actions.mcpb" | cut -d ' ' -f 1)
sed "s/@VERSION@/$version/g; s/@OWNER@/$owner/g; s/@SHA256@/$sum/" "$source/server.json.in" >"$folder/server.json"
