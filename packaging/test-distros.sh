#!/bin/bash
# test-distros.sh OUTPUT [DISTRO]...: builds, installs, uses, upgrades and removes the Debian
# packages in clean roots of each distribution below, or of those named; prints a table. Logs and
# packages: OUTPUT/DISTRO.
#
# The bare roots, and the packages that building needs, are kept in
# $XDG_CACHE_HOME/project-actions/distros; FRESH=1 makes them again. STEPS picks some of the steps
# below; without `build` the last packages are tried again.
set -eu

# NAME SUITE MIRROR COMPONENTS
known="debian-12 bookworm http://deb.debian.org/debian main
debian-13 trixie http://deb.debian.org/debian main
ubuntu-24.04 noble http://archive.ubuntu.com/ubuntu main,universe
ubuntu-26.04 resolute http://archive.ubuntu.com/ubuntu main,universe"

[ "$(id -u)" = 0 ] || {
  echo "test-distros.sh: making roots and entering them takes root; run: sudo make test-distros" >&2
  exit 1
}
# What is mounted below goes with this process, however it ends.
[ -n "${IN_OWN_MOUNTS:-}" ] || IN_OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"

mkdir -p "$1"
output=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- $(cut -d ' ' -f 1 <<<"$known")
here=$(dirname "$(realpath "$0")")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/project-actions/distros
mkdir -p "$cache"
[ -z "${FRESH:-}" ] || rm -rf "${cache:?}"/*
scratch=$(mktemp -d "${TMPDIR:-/tmp}/pa-distros-XXXXXX")
chmod 755 "$scratch"
leave() {
  # Of these only those are mounted at which a step ended early.
  umount -l "$scratch"/*/*/{proc,dev,sys,tmp} \
    "$scratch"/*/{builder,build,installed,archive,testbed,machine} 2>/dev/null || true
  rm -rf "$scratch"
}
trap leave EXIT
trap 'exit 130' INT TERM

# Debian's archive has Ubuntu's keys since its release 13, so they come out of that one's root.
keyring_of() { # MIRROR
  case $1 in
    *debian*) echo /usr/share/keyrings/debian-archive-keyring.gpg ;;
    *)
      if [ ! -e "$cache/ubuntu-archive-keyring.gpg" ]; then
        make_base debian-13 trixie http://deb.debian.org/debian main
        chroot "$cache/debian-13/base" apt-get install -q -y --no-install-recommends \
          --download-only ubuntu-keyring >&2
        dpkg-deb --fsys-tarfile \
          "$cache"/debian-13/base/var/cache/apt/archives/ubuntu-keyring_*.deb |
          tar -xO ./usr/share/keyrings/ubuntu-archive-keyring.gpg \
            >"$cache/ubuntu-archive-keyring.gpg"
      fi
      echo "$cache/ubuntu-archive-keyring.gpg"
      ;;
  esac
}

make_base() { # NAME SUITE MIRROR COMPONENTS
  local base="$cache/$1/base" keyring script
  if [ ! -d "$base" ]; then
    keyring=$(keyring_of "$3")
    # Ubuntu's releases are all made by one script; an older debootstrap does not know the newest
    # name.
    script=/usr/share/debootstrap/scripts/gutsy
    case $3 in *debian*) script=/usr/share/debootstrap/scripts/sid ;; esac
    rm -rf "$base.new" "$cache/$1/builder"
    mkdir -p "$cache/$1"
    debootstrap --variant=minbase --keyring="$keyring" --components="$4" \
      "$2" "$base.new" "$3" "$script" >&2
    mv "$base.new" "$base"
  fi
  cp --remove-destination /etc/resolv.conf "$base/etc/resolv.conf"
  chroot "$base" apt-get -q -q update >&2
}

# A root of its own: what is changed in it lands in UPPER and in nothing that lies below. /tmp is
# none of it, because an overlay has no file handles, which an escape uses.
layer() { # ROOT UPPER LOWER[:LOWER]
  mkdir -p "$1" "$2" "$2.work" "$1.tmp"
  chmod 1777 "$1.tmp"
  mount -t overlay overlay -o "lowerdir=$3,upperdir=$2,workdir=$2.work" "$1"
  mount -t proc proc "$1/proc"
  mount --rbind /dev "$1/dev"
  mount --rbind /sys "$1/sys"
  mount --bind "$1.tmp" "$1/tmp"
  # The network is this machine's: no service that a package brings starts here, as nginx would.
  printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
  chmod 755 "$1/usr/sbin/policy-rc.d"
}

unlayer() { umount -l "$1"/{proc,dev,sys,tmp} "$1"; }

# By pivot_root: in a mere chroot the kernel grants nobody namespaces.
enter() { # ROOT COMMAND...
  unshare --mount --pid --fork --kill-child --propagation private sh -c '
    mount -t proc proc "$1/proc"
    cd "$1"
    pivot_root . .
    umount -l .
    cd /
    shift
    exec env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive "$@"
  ' enter "$@"
}

apt_install() { # ROOT PACKAGE...
  local root=$1
  shift
  enter "$root" apt-get -q -y --no-install-recommends -o Dpkg::Options::=--force-confold \
    install "$@"
}

# The steps. Each runs in a subshell of its own with set -e; the first that fails leaves its log.

# What building needs stays for the next time; what is built does not.
builder() { # NAME
  local root="$scratch/$1/builder"
  layer "$root" "$cache/$1/builder" "$cache/$1/base"
  cp "$output"/source/* "$root/root/"
  enter "$root" sh -c 'apt-get -q -y --no-install-recommends build-dep /root/*.dsc && rm /root/*'
  unlayer "$root"
}

build() { # NAME
  local root="$scratch/$1/build"
  layer "$root" "$scratch/$1/built" "$cache/$1/builder:$cache/$1/base"
  mkdir "$root/build"
  cp "$output"/source/* "$root/build/"
  chown -R nobody "$root/build"
  enter "$root" setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/build sh -euc "
    cd /build
    dpkg-source --no-check -x *.dsc src
    cd src
    dpkg-buildpackage --unsigned-source --unsigned-changes -b -j${JOBS:-$(nproc)}"
  cp "$root"/build/*.deb "$root"/build/*.changes "$output/$1/"
  unlayer "$root"
}

warnings() { # NAME
  [ -s "$output/$1/build.log" ]
  ! grep -E ': warning: |^WARNING' "$output/$1/build.log"
}

deb() { echo "$output/$1"/project-actions_*_*.deb; }

front_door_deb() { echo "$output/$1"/project-actionsd_*_*.deb; }

# Into a root that has what the package needs, and an ordinary user.
install() { # NAME
  local root="$scratch/$1/installed"
  layer "$root" "$scratch/$1/install" "$cache/$1/base"
  cp "$(deb "$1")" "$here/debian/tests/smoke" "$root/root/"
  enter "$root" useradd --create-home tester
  enter "$root" install -m 755 /root/smoke /usr/local/bin/smoke
  apt_install "$root" "/root/$(basename "$(deb "$1")")"
}

smoke_root() { enter "$scratch/$1/installed" env AUTOPKGTEST_TMP=/tmp smoke; }
smoke_user() {
  enter "$scratch/$1/installed" setpriv --reuid tester --regid tester --clear-groups \
    env HOME=/home/tester USER=tester AUTOPKGTEST_TMP=/home/tester smoke
}

# Beside the first package, which stays as it is.
front_door() { # NAME
  local root="$scratch/$1/installed"
  cp "$(front_door_deb "$1")" "$here/debian/tests/front-door" "$root/root/"
  enter "$root" install -m 755 /root/front-door /usr/local/bin/front-door
  apt_install "$root" "/root/$(basename "$(front_door_deb "$1")")" curl iproute2
  enter "$root" env AUTOPKGTEST_TMP=/tmp front-door
  enter "$root" test ! -e /etc/systemd/system/multi-user.target.wants/project-actions-nginx.service
}

# Parsed by the parser of this release; where that is too old for the profile, there is none.
apparmor() { # NAME
  local root="$scratch/$1/installed" profile=/etc/apparmor.d/project-actions
  apt_install "$root" apparmor
  if enter "$root" dpkg --compare-versions \
    "$(enter "$root" dpkg-query -W -f '${Version}' apparmor)" ge 4~; then
    enter "$root" apparmor_parser --skip-kernel-load --skip-cache "$profile"
  else
    [ ! -e "$root$profile" ]
  fi
}

# What the administrator wrote stays, also when the file that is shipped has changed.
upgrade() { # NAME
  local root="$scratch/$1/installed" policy=/etc/project-actions/policy.yaml
  local older="$scratch/$1/older"
  dpkg-deb -R "$(deb "$1")" "$older"
  sed -i 's/^Version: .*/Version: 0.0.1-1/' "$older/DEBIAN/control"
  echo '# an older default' >>"$older$policy"
  dpkg-deb -Zgzip -b "$older" "$root/root/older.deb"
  enter "$root" dpkg --purge project-actionsd project-actions
  apt_install "$root" /root/older.deb
  echo 'network: none' >>"$root$policy"
  apt_install "$root" "/root/$(basename "$(deb "$1")")"
  grep -q '^network: none' "$root$policy"
  grep -q '^# an older default' "$root$policy"
  dpkg-deb --fsys-tarfile "$(deb "$1")" | tar -xO ".$policy" | cmp "$root$policy.dpkg-dist" -
  enter "$root" env AUTOPKGTEST_TMP=/tmp smoke
}

removal() { # NAME
  local root="$scratch/$1/installed" etc
  etc="$root/etc/project-actions"
  apt_install "$root" "/root/$(basename "$(front_door_deb "$1")")"
  echo '# edited' >>"$etc/nginx.conf"
  mkdir "$etc/tenants/1000"
  enter "$root" dpkg --remove project-actionsd project-actions
  grep -q '^network: none' "$etc/policy.yaml"
  grep -q '^# edited' "$etc/nginx.conf"
  [ -d "$etc/tenants/1000" ]
  [ ! -e "$root/usr/bin/project-actions" ]
  enter "$root" dpkg --purge project-actionsd project-actions
  # The users stay.
  enter "$root" id project-actionsd
  local left
  left=$(find "$root/etc" "$root/usr" "$root/var" "$root/run" -name '*project-actions*' \
    ! -path "$root/usr/share/doc/*" -print)
  [ -z "$left" ] || { echo "left behind: $left"; return 1; }
}

# The second package finds the first in a repository of the root, as in an archive.
purge() { # NAME
  local root="$scratch/$1/archive" upper="$scratch/$1/repository"
  unlayer "$scratch/$1/installed"
  piuparts_in "$cache/$1/base" "$1" "$(deb "$1")"
  mkdir -p "$root" "$upper/packages" "$upper/etc/apt/sources.list.d" "$upper.work"
  chmod 755 "$upper"
  cp "$(deb "$1")" "$upper/packages/"
  (cd "$upper/packages" && dpkg-scanpackages --multiversion . >Packages)
  echo 'deb [trusted=yes] file:/packages ./' >"$upper/etc/apt/sources.list.d/packages.list"
  mount -t overlay overlay \
    -o "lowerdir=$cache/$1/base,upperdir=$upper,workdir=$upper.work" "$root"
  piuparts_in "$root" "$1" "$(front_door_deb "$1")"
  umount "$root"
}

piuparts_in() { # ROOT NAME DEB
  piuparts --existing-chroot="$1" --no-eatmydata --keep-sources-list --skip-logrotatefiles-test \
    --no-upgrade-test --warn-on-others --distribution="$(suite_of "$2")" "$3"
}

autopkgtests() { # NAME
  local root="$scratch/$1/testbed"
  layer "$root" "$scratch/$1/test" "$cache/$1/builder:$cache/$1/base"
  # In place, with what this release has of it: its own chroot would have no namespaces.
  apt_install "$root" autopkgtest
  mkdir "$root/packages"
  cp "$output/$1"/*.deb "$output"/source/* "$root/packages/"
  enter "$root" sh -c 'autopkgtest /packages/project-actions_*.deb \
    /packages/project-actionsd_*.deb /packages/*.dsc -- null'
}

# The kernel of this release, under QEMU without KVM: an ordinary user has namespaces with the
# package's AppArmor profile; without it doctor says that and why there are none, and the rest
# holds.
vm() { # NAME
  local root="$scratch/$1/machine" image="$scratch/$1/image" said="$output/$1/console.log" kernel
  layer "$root" "$scratch/$1/vm" "$cache/$1/base"
  cp "$(deb "$1")" "$root/root/"
  enter "$root" useradd --create-home tester
  command install -m 755 "$here/debian/tests/smoke" "$root/usr/local/bin/smoke"
  command install -m 755 "$here/vm-init.sh" "$root/init"
  apt_install "$root" "/root/$(basename "$(deb "$1")")" apparmor
  # Of the kernel's package only the kernel: what this needs is built in.
  kernel=$(enter "$root" apt-cache depends linux-image-virtual |
    sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p')
  enter "$root" sh -c "cd /root && apt-get -q download $kernel"
  dpkg-deb --fsys-tarfile "$root/root/$kernel"_*.deb |
    tar -xO --wildcards './boot/vmlinuz-*' >"$scratch/$1/kernel"
  umount -l "$root"/{proc,dev,sys,tmp}
  mke2fs -q -t ext4 -d "$root" "$image" 3G
  timeout 1200 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 2048 -nodefaults \
    -no-reboot -display none -monitor none -kernel "$scratch/$1/kernel" \
    -drive "file=$image,format=raw,if=virtio,cache=unsafe" -serial "file:$said" \
    -append 'console=ttyS0 quiet panic=-1 root=/dev/vda rw init=/init mitigations=off'
  cat "$said"
  grep -q '@@ without doctor .*"namespaces":"no","no_namespaces":"[^"]' "$said"
  grep -q '^denied: .*landlock' "$said"
  grep -q '@@ with doctor .*"namespaces":"yes"' "$said"
  grep -q '^denied: .*mounts' "$said"
  [ "$(grep -c '@@ .* smoke status 0' "$said")" = 2 ]
}

suite_of() { sed -n "s/^$1 \([^ ]*\) .*/\1/p" <<<"$known"; }

default_steps="builder build warnings install smoke_root smoke_user front_door apparmor upgrade"
steps=${STEPS:-"$default_steps removal purge autopkgtests"}

# One row of the table, while it grows.
run_distro() { # NAME
  local step began status=0
  printf '%-14s' "$1"
  for step in $steps; do
    began=$SECONDS
    if [ $status != 0 ]; then
      printf '%14s' -
      continue
    fi
    # Not in a condition, in which -e would mean nothing.
    set +e
    (set -e; "$step" "$1") >"$output/$1/$step.log" 2>&1
    status=$?
    set -e
    if [ $status = 0 ]; then
      printf '%14s' "ok $((SECONDS - began)) s"
    else
      printf '%14s' FAILED
    fi
  done
  echo
  [ $status = 0 ] || failed="$failed $1"
}

main() { # DISTRO...
  failed=
  "$here/build-deb.sh" "$output/source.build" -S -d >"$output/source.log" 2>&1 ||
    { cat "$output/source.log"; exit 1; }
  rm -rf "$output/source"
  mkdir "$output/source"
  cp "$output"/source.build/*.{dsc,tar.xz} "$output/source/"
  printf '%-14s' ''
  printf '%14s' $steps
  echo
  local name line
  for name in "$@"; do
    line=$(grep "^$name " <<<"$known") ||
      { echo "no distribution $name; there are:"; echo "$known"; exit 2; }
    case " $steps " in *" build "*) rm -rf "${output:?}/$name" ;; esac
    mkdir -p "$output/$name"
    # Word splitting is meant.
    make_base $line >"$output/$name/base.log" 2>&1
    run_distro "$name"
  done
  for name in $failed; do echo "$name failed: see $output/$name"; done
  [ -z "$failed" ]
}

main "$@"
