#!/bin/bash
# test-deb.sh OUTPUT: builds the Debian packages twice, in two places, and holds them against what
# is promised: the same bytes, lintian, blhc, hardening, contents, sizes, dependencies, units. Says
# every failure, not only the first.
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
packages="project-actions project-actionsd"
for package in $packages; do
  [ -e "$(echo ${package}-dbgsym_*.deb)" ] || fail "there is no package of debugging symbols"
done

lintian -EI --pedantic --fail-on error,warning,info,pedantic ./*.changes || fail "lintian"
blhc --all --debian build.log || fail "blhc"
! grep -E ': warning: |^WARNING' build.log || fail "the build has warnings"

rm -rf root
mkdir root
for package in $packages; do
  dpkg-deb -x ${package}_*.deb root/$package
  dpkg-deb -x ${package}_*.deb root/both
done
server=root/project-actions/usr/bin/project-actions
worker=root/project-actions/usr/libexec/project-actions/project-actions-worker
daemon=root/project-actionsd/usr/sbin/project-actionsd
# Each line: what must be seen of a program.
sees() { # PROGRAM WHAT PATTERN
  readelf --wide --file-header --program-headers --dynamic "$1" | grep -qE "$3" || fail "$1: not $2"
}
for program in $server $daemon; do
  sees $program "position-independent" 'Type: +DYN'
  sees $program "RELRO" GNU_RELRO
  sees $program "bound at its start" 'FLAGS_1.*NOW.*PIE'
done
sees $worker "position-independent" 'Type: +DYN'
sees $worker "RELRO" GNU_RELRO
for program in $server $worker $daemon; do
  # What cannot be read has no property either, so the tests below would pass.
  readelf --wide --file-header $program >/dev/null || fail "$program: readelf cannot read it"
  ! readelf --wide --program-headers $program | grep -q 'GNU_STACK.*RWE' ||
    fail "$program: its stack is executable"
  ! readelf --wide --sections $program | grep -q '\.symtab' || fail "$program: not stripped"
done
! readelf --wide --program-headers $worker | grep -q INTERP || fail "$worker: not static"
! readelf --wide --dynamic $worker | grep -q NEEDED || fail "$worker: not static"

holds() { # PACKAGE, what beneath its root must be there
  local package=$1 file
  shift
  for file in "$@"; do
    [ -e "root/$package/$file" ] || fail "$package: there is no $file"
  done
}
examples=usr/share/doc/project-actions/examples
holds project-actions etc/project-actions/{policy.yaml,jwks} var/lib/project-actions/jwks \
  usr/lib/systemd/system/project-actions-jwks@.{service,timer} \
  usr/share/{bash-completion/completions/project-actions,zsh/vendor-completions/_project-actions} \
  usr/share/fish/vendor_completions.d/project-actions.fish $examples/paranoid.yaml \
  usr/share/man/man{1/project-actions.1,5/project-actions.yaml.5,7/project-actions.7}.gz \
  usr/share/man/man8/project-actions-worker.8.gz \
  usr/share/project-actions/{policy.schema.json,profiles/node.yaml}
holds project-actionsd etc/project-actions/{nginx.conf,nginx.d} \
  usr/lib/systemd/system/project-actions{d.service,d.socket,-nginx.service,@.service,@.socket} \
  usr/lib/systemd/system/project-actions-.slice.d/10-tenants.conf \
  usr/lib/{sysusers.d,tmpfiles.d}/project-actionsd.conf usr/share/man/man8/project-actionsd.8.gz \
  usr/share/man/man5/project-actions-tenant.5.gz \
  usr/share/doc/project-actionsd/{daemon.md.gz,examples/{front-door-tls.conf,nginx-tls.conf}} \
  usr/share/doc/project-actionsd/examples/haproxy-tls.cfg

conffiles() { dpkg-deb --ctrl-tarfile "$1"_*.deb | tar -xO ./conffiles; }
for file in project-actions:policy.yaml project-actionsd:nginx.conf; do
  conffiles ${file%:*} | grep -qx "/etc/project-actions/${file#*:}" ||
    fail "${file%:*}: ${file#*:} is not configuration"
done
for name in postinst prerm postrm; do
  dpkg-deb --ctrl-tarfile project-actionsd_*.deb | tar -xO ./$name | sh -n ||
    fail "project-actionsd: $name is no script"
done

fits() { # PACKAGE, bytes packed, bytes installed
  local packed installed
  packed=$(stat -c %s "$1"_*.deb)
  installed=$(du --apparent-size --bytes --summarize "root/$1" | cut -f 1)
  echo "sizes of $1: $packed bytes packed, $installed installed"
  [ "$packed" -lt "$2" ] || fail "$1: $2 bytes packed are promised"
  [ "$installed" -lt "$3" ] || fail "$1: $3 bytes installed are promised"
}
fits project-actions 2000000 6000000
fits project-actionsd 800000 2500000

libraries='libc6|libgcc-s1|libstdc\+\+6|libfmt[0-9]+|libnettle[0-9]+(t64)?|libgmp10'
libraries="$libraries|libhogweed[0-9]+(t64)?|libseccomp2|libsimdjson[0-9]+"
libraries="$libraries|libuv1(t64)?|libyaml-cpp0\.[0-9]+"
depends_on() { # PACKAGE, what is promised beside libraries, as one regular expression
  local depends others
  depends=$(dpkg-deb -f "$1"_*.deb Depends)
  echo "$1 depends on: $depends"
  [ -n "$depends" ] || fail "$1 depends on nothing"
  # grep fails if it leaves nothing, as it should.
  others=$(echo "$depends" | tr ',' '\n' | sed 's/^ *//; s/ .*//' |
    grep -vxE -e "$2|$libraries" || true)
  [ -z "$others" ] || fail "$1 depends on what is not promised: $others"
}
depends_on project-actions 'git|make|ripgrep'
# systemd's sysusers makes the users; systemd-standalone-sysusers is enough for that.
depends_on project-actionsd 'project-actions|nginx|systemd'

# The units, read without the units and programs of this machine.
units=root/both
for program in sbin/nginx bin/sh bin/curl bin/jq bin/rm bin/mv; do
  install -D /bin/true $units/usr/$program
done
ln -s usr/bin $units/bin
for target in sysinit basic shutdown sockets timers network network-online; do
  printf '[Unit]\nDescription=%s\n' $target >$units/usr/lib/systemd/system/$target.target
done
said=$(systemd-analyze verify --root=$units --man=no \
  project-actions{d.service,d.socket,-nginx.service,@1000.service,@1000.socket} \
  project-actions-jwks@staff.{service,timer} 2>&1) || said="$said (failed)"
[ -z "$said" ] || fail "systemd-analyze verify: $said"
exposed() { # UNIT, tenths
  systemd-analyze security --offline=yes --no-pager --threshold="$2" --root=$units "$1" \
    >"$1.exposure" || fail "$1: its exposure is more than $2 tenths"
  tail -n 1 "$1.exposure"
}
exposed project-actionsd.service 10
exposed project-actions-nginx.service 15

# Users and directories, as the package makes them.
made=$(systemd-sysusers --root=$units --dry-run 2>&1) || fail "systemd-sysusers: $made"
for user in project-actions project-actionsd; do
  grep -q "^Creating user '$user' .* and GID" <<<"$made" || fail "there is no user $user"
done

echo "test-deb: $failures failures"
[ $failures = 0 ]
