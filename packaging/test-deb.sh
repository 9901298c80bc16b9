#!/bin/bash
# test-deb.sh OUTPUT: builds the Debian packages twice, in two places, and holds them against what
# is promised: the same bytes, lintian, blhc, hardening, sizes, dependencies. Says every failure,
# not only the first.
set -eu

mkdir -p "$1"
output=$(cd "$1" && pwd)
here=$(dirname "$(realpath "$0")")
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

twice="$output/twice/in/another/place"
for place in "$output/once" "$twice"; do
  mkdir -p "$place"
  echo "building in $place"
  "$here/build-deb.sh" "$place" "-j${JOBS:-$(nproc)}" >"$place/build.log" 2>&1 ||
    { tail -n 30 "$place/build.log"; exit 1; }
done
cd "$output/once"
for made in *.deb *.dsc *.tar.xz; do
  cmp "$made" "$twice/$made" || fail "$made: another build makes other bytes"
done
# By name, or a package that is not made would not be missed.
deb=$(echo project-actions_*.deb)
[ -e "$(echo project-actions-dbgsym_*.deb)" ] || fail "there is no package of debugging symbols"

lintian -EI --pedantic --fail-on error,warning,info,pedantic ./*.changes || fail "lintian"
blhc --all --debian build.log || fail "blhc"
! grep -E ': warning: |^WARNING' build.log || fail "the build has warnings"

rm -rf root
dpkg-deb -x "$deb" root
server=root/usr/bin/project-actions
worker=root/usr/libexec/project-actions/project-actions-worker
# Each line: what must be seen of a program.
sees() { # PROGRAM WHAT PATTERN
  readelf --wide --file-header --program-headers --dynamic "$1" | grep -qE "$3" || fail "$1: not $2"
}
sees $server "position-independent" 'Type: +DYN'
sees $server "RELRO" GNU_RELRO
sees $server "bound at its start" 'FLAGS_1.*NOW.*PIE'
sees $worker "position-independent" 'Type: +DYN'
sees $worker "RELRO" GNU_RELRO
for program in $server $worker; do
  # What cannot be read has no property either, so the tests below would pass.
  readelf --wide --file-header $program >/dev/null || fail "$program: readelf cannot read it"
  ! readelf --wide --program-headers $program | grep -q 'GNU_STACK.*RWE' ||
    fail "$program: its stack is executable"
  ! readelf --wide --sections $program | grep -q '\.symtab' || fail "$program: not stripped"
done
! readelf --wide --program-headers $worker | grep -q INTERP || fail "$worker: not static"
! readelf --wide --dynamic $worker | grep -q NEEDED || fail "$worker: not static"

packed=$(stat -c %s "$deb")
installed=$(du --apparent-size --bytes --summarize root | cut -f 1)
echo "sizes: $packed bytes packed, $installed installed"
[ "$packed" -lt 2000000 ] || fail "2 MB packed are promised"
[ "$installed" -lt 6000000 ] || fail "6 MB installed are promised"
depends=$(dpkg-deb -f "$deb" Depends)
echo "depends: $depends"
[ -n "$depends" ] || fail "it depends on nothing, not even on git"
# grep fails if it leaves nothing, as it should.
others=$(echo "$depends" | tr ',' '\n' | sed 's/^ *//; s/ .*//' |
  grep -vxE -e 'git|make|ripgrep|libc6|libgcc-s1|libstdc\+\+6|libfmt[0-9]+|libnettle[0-9]+(t64)?' \
    -e 'libgmp10|libhogweed[0-9]+(t64)?' \
    -e 'libseccomp2|libsimdjson[0-9]+|libspdlog1\.[0-9]+(-fmt[0-9]+)?|libuv1(t64)?' \
    -e 'libyaml-cpp0\.[0-9]+' || true)
[ -z "$others" ] || fail "depends on what is not promised: $others"

echo "test-deb: $failures failures"
[ $failures = 0 ]
