#!/bin/bash
# fetch.sh DIRECTORY SERIES: DIRECTORY/vmlinuz-SERIES becomes Debian's newest cloud kernel of SERIES
# (6.12, ...); prints its package and version.
#
# apt downloads and checks signatures and sums, with sources, lists and caches of its own beneath
# DIRECTORY: nothing of the system's changes, whichever distribution that is. DEBIAN_MIRROR (with
# debian and debian-security beneath it) takes the place of http://deb.debian.org.
set -eu

directory=$(realpath -m "$1")
series=$2
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=${DEBIAN_MIRROR:-http://deb.debian.org}
lists_last_hours=12

mkdir -p "$directory"/{lists/partial,cache/archives/partial,debs}
cd "$directory"

cat >debian.sources <<END
Types: deb
URIs: $mirror/debian
Suites: bullseye bookworm bookworm-backports trixie-backports
Components: main
Architectures: amd64
Signed-By: $keyring

Types: deb
URIs: $mirror/debian-security
Suites: bullseye-security bookworm-security
Components: main
Architectures: amd64
Signed-By: $keyring
END

apt() {
  program=$1
  shift
  "$program" -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$directory/parts" \
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
    -o Dir::State::Lists="$directory/lists" -o Dir::Cache="$directory/cache" \
    -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User="$(id -un)" \
    -o Acquire::Languages=none "$@"
}
mkdir -p parts
cmp -s debian.sources parts/debian.sources ||
  { cp debian.sources parts/debian.sources; rm -f updated; }

if [ -z "$(find updated -mmin "-$((lists_last_hours * 60))" 2>/dev/null)" ]; then
  apt apt-get update -o APT::Update::Error-Mode=any >apt.log 2>&1 ||
    { grep '^[EW]:' apt.log | head -n 3; exit 1; }
  apt apt-cache dumpavail | sed -n 's/^Package: //p' |
    grep -E '^linux-(image|binary)-.*-cloud-amd64$' >available
  touch updated
fi

# Newer packages keep the kernel in linux-binary, and linux-image only depends on it.
version=$(sed -nE "s/^linux-(image|binary)-(${series//./\\.}\\.[0-9].*)-cloud-amd64\$/\\2/p" \
  available | sort -uV | tail -n 1)
[ -n "$version" ] || { echo "Debian has no kernel $series any more in the suites of $0"; exit 1; }
package=$(grep -xE "linux-(binary|image)-${version//[.+]/\\&}-cloud-amd64" available |
  sort | head -n 1)

# 'URL' FILE SIZE SHA256:SUM, from the signed index.
read -r _ deb _ sum <<END
$(apt apt-get download --print-uris "$package")
END
deb=debs/$deb
matches() { echo "${sum#SHA256:}  $deb" | sha256sum --check --status 2>/dev/null; }
if ! matches; then
  rm -f "$deb"
  (cd debs && apt apt-get download "$package" >../apt.log 2>&1) ||
    { grep '^[EW]:' apt.log | head -n 3; exit 1; }
  matches || { echo "$deb is not what the signed index describes"; exit 1; }
fi
kernel=$(dpkg-deb --fsys-tarfile "$deb" | tar -tf - | grep -E '/vmlinuz[^/]*$' | head -n 1)
[ -n "$kernel" ] || { echo "$deb holds no kernel"; exit 1; }
dpkg-deb --fsys-tarfile "$deb" | tar -xOf - "$kernel" >"vmlinuz-$series.new"
mv "vmlinuz-$series.new" "vmlinuz-$series"
basename "$deb" .deb
