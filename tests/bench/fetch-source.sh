#!/bin/sh
# fetch-source.sh DIRECTORY: unpacks the distribution's source of Lua, a C project that needs
# nothing but a compiler, as DIRECTORY/tree. Asks the mirrors that this machine uses, with lists and
# caches of its own: nothing of the system's changes.
set -eu

directory=$1
[ ! -d "$directory/tree" ] || exit 0
command -v apt-get >/dev/null ||
  { echo "only Debian's source packages are fetched, with apt-get"; exit 1; }

rm -rf "$directory"
mkdir -p "$directory/sources" "$directory/lists/partial" "$directory/cache/archives/partial"
cd "$directory"

# The distribution's own entries, asking for sources; a third party's have no Lua.
for file in /etc/apt/sources.list.d/*.sources; do
  [ ! -e "$file" ] || ! grep -q '^Signed-By: .*\(debian\|ubuntu\)-archive' "$file" ||
    sed 's/^Types:.*/Types: deb-src/' "$file" >"sources/$(basename "$file")"
done
[ ! -e /etc/apt/sources.list ] ||
  sed -n 's/^deb\(-src\)\?[[:space:]]/deb-src /p' /etc/apt/sources.list >sources/machine.list

apt() {
  apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$directory/sources" \
    -o Dir::State::Lists="$directory/lists" -o Dir::Cache="$directory/cache" "$@" >apt.log 2>&1 ||
    { tail -n 1 apt.log; exit 1; }
}
apt update
apt source --download-only lua5.4
mkdir unpacked
tar -xzf lua5.4_*.orig.tar.gz -C unpacked --strip-components=1
mv unpacked tree
