#!/bin/sh
# make.sh SERVER WORKER FOLDER: packs the MCP bundle FOLDER/project-actions.mcpb of these two
# programs, and writes FOLDER/server.json, the bundle's entry for the MCP registry. OWNER names the
# account on GitHub that releases it. SHARED=yes packs a server that needs libraries, as the tests
# have one; it runs where it was built and nowhere else.
set -eu

source=$(cd "$(dirname "$0")" && pwd)
server=$1
worker=$2
folder=$3
owner=${OWNER:-example}
version=$("$server" --version | sed 's/.* //')
stage="$folder/project-actions"

if [ "${SHARED:-no}" != yes ] && readelf -lW "$server" | grep -q INTERP; then
  echo "make.sh: $server needs libraries of this machine; build it with packaging/mcpb/build.sh" >&2
  exit 1
fi
"$source/modules.sh" "$folder"
rm -rf "$stage" "$folder/project-actions.mcpb"
mkdir -p "$stage/server" "$stage/licenses"
strip -o "$stage/server/project-actions" "$server"
strip -o "$stage/server/project-actions-worker" "$worker"
# Who passes libraries on passes on their licences.
for package in libuv1-dev libyaml-cpp-dev libsimdjson-dev libfmt-dev libspdlog-dev \
  libtomlplusplus-dev libcli11-dev nettle-dev libgmp-dev libseccomp-dev libc6-dev musl-dev \
  node-llhttp \
  $(basename -a /usr/share/doc/libstdc++-*-dev); do
  [ ! -e "/usr/share/doc/$package/copyright" ] ||
    cp "/usr/share/doc/$package/copyright" "$stage/licenses/$package"
done
sed "s/@VERSION@/$version/g" "$source/manifest.json.in" >"$stage/manifest.json"
cp "$source/../../LICENSE" "$stage"

# It validates the manifest, and packs nothing that is not valid.
"$folder/node_modules/.bin/mcpb" pack "$stage" "$folder/project-actions.mcpb"
sum=$(sha256sum "$folder/project-actions.mcpb" | cut -d ' ' -f 1)
sed "s/@VERSION@/$version/g; s/@OWNER@/$owner/g; s/@SHA256@/$sum/" "$source/server.json.in" \
  >"$folder/server.json"
