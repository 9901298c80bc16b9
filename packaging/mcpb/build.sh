#!/bin/sh
# build.sh FOLDER JOBS: builds the server and its worker in FOLDER/build, both static, so that a
# bundle runs on every distribution of this processor. On Debian, which has static libraries of all
# but simdjson, fmt and spdlog: the headers of fmt and spdlog are enough, and simdjson is compiled
# from Debian's own source, of the version whose headers are installed.
set -eu

source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
. /etc/os-release
[ "$ID" = debian ] || {
  echo "build.sh: bundles are made on Debian, because of its source packages" >&2
  exit 1
}

if [ ! -d "$folder/simdjson" ]; then
  rm -rf "$folder/apt"
  mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/apt/simdjson"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
    "http://deb.debian.org/debian $VERSION_CODENAME main" >"$folder/apt/sources.list"
  # Nobody's own lists are touched, and nobody has to be root.
  own_apt() {
    apt-get -q -o Dir::Etc::sourcelist="$folder/apt/sources.list" \
      -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$folder/apt/lists" \
      -o Dir::Cache="$folder/apt" -o APT::Sandbox::User=root "$@"
  }
  own_apt update
  version=$(dpkg-query -W -f '${source:Version}' libsimdjson-dev)
  (cd "$folder/apt" && own_apt source --only-source --download-only "simdjson=$version")
  tar -xf "$folder"/apt/simdjson_*.orig.tar.* -C "$folder/apt/simdjson" --strip-components=1
  mv "$folder/apt/simdjson" "$folder/simdjson"
fi

[ -e "$folder/build/build.ninja" ] ||
  meson setup "$folder/build" "$source" -Dtests=disabled -Dman=disabled -Dworker_libc=musl \
    -Dsimdjson_source="$folder/simdjson"
ninja -C "$folder/build" -j "$2" supervisor/project-actions worker/project-actions-worker
