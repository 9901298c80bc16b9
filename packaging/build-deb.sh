#!/bin/sh
# Builds the Debian packages, source and binary, of what is committed:
#
#   packaging/build-deb.sh OUTPUT_DIRECTORY [options of dpkg-buildpackage]
#
# packaging/debian becomes the debian/ of a copy; a link in the tree would do for binary packages
# only.
set -eu

tree=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
output=$(cd "$1" && pwd)
shift

field() { dpkg-parsechangelog -l "$tree/packaging/debian/changelog" -S "$1"; }
source=$(field Source)
version=$(field Version)
version=${version%-*}
grep -q "version: '$version'" "$tree/meson.build" || {
  echo "build-deb.sh: packaging/debian/changelog says $version, meson.build another version;" \
    "make them agree" >&2
  exit 1
}
[ -z "$(git -C "$tree" status --porcelain)" ] ||
  echo "build-deb.sh: what is not committed is not packaged" >&2

copy="$output/$source-$version"
rm -rf "$copy"
git -C "$tree" archive --format=tar --prefix="$source-$version/" HEAD |
  xz -T1 >"$output/${source}_$version.orig.tar.xz"
tar -C "$output" -xf "$output/${source}_$version.orig.tar.xz"
cp -a "$copy/packaging/debian" "$copy/debian"
cd "$copy"
dpkg-buildpackage --unsigned-source --unsigned-changes "$@"
