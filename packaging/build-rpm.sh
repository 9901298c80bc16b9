#!/bin/sh
# Builds the RPM packages, source and binary, of what is committed:
#
#   packaging/build-rpm.sh OUTPUT_DIRECTORY [options of rpmbuild]
set -eu

tree=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1/SOURCES"
output=$(cd "$1" && pwd)
shift

spec="$tree/packaging/rpm/project-actions.spec"
version=$(sed -n 's/^Version: *//p' "$spec")
grep -q "version: '$version'" "$tree/meson.build" || {
  echo "build-rpm.sh: $spec says $version, meson.build another version; make them agree" >&2
  exit 1
}
[ -z "$(git -C "$tree" status --porcelain)" ] ||
  echo "build-rpm.sh: what is not committed is not packaged" >&2

git -C "$tree" archive --format=tar --prefix="project-actions-$version/" HEAD |
  xz -T1 >"$output/SOURCES/project-actions-$version.tar.xz"
# The same sources make the same packages.
SOURCE_DATE_EPOCH=$(git -C "$tree" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
[ ! -e /etc/debian_version ] || set -- --nodeps --load "$tree/packaging/rpm/macros.debian" "$@"
exec rpmbuild -ba --define "_topdir $output" --define 'use_source_date_epoch_as_buildtime 1' \
  --define 'clamp_mtime_to_source_date_epoch 1' --define '_buildhost localhost' "$@" "$spec"
