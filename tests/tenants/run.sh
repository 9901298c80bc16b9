#!/bin/bash
# run.sh BUILD: installs the packages in a machine of its own (systemd-nspawn, Debian 12) and uses
# them as an administrator and two tenants would (inside.sh). Needs root, and the network for
# Debian's packages. The machine is BUILD/tenants/root; it has no network.
set -eu

build=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
work="$build/tenants"
machine="$work/root"
mirror=http://deb.debian.org
[ "$(id -u)" = 0 ] || { echo "test-tenants: only root can start a machine" >&2; exit 1; }

mkdir -p "$work"
packaging=$here/../../packaging
"$packaging/build-deb.sh" "$work/packages" -j"${JOBS:-$(nproc)}" >"$work/packages.log" 2>&1 ||
  { tail -n 30 "$work/packages.log"; exit 1; }
rm -rf "$machine"
mkdir -p "$machine"
mmdebstrap --variant=minbase --include=systemd-sysv,libnss-systemd,curl,ca-certificates,jq \
  --customize-hook='copy-in '"$(ls "$work"/packages/project-actions_*.deb \
    "$work"/packages/project-actionsd_*.deb | tr '\n' ' ')"' /root' \
  --customize-hook='chroot "$1" sh -c "apt-get install -y --no-install-recommends /root/*.deb"' \
  bookworm "$work/root.tar" "$mirror/debian" \
  "deb $mirror/debian-security bookworm-security main" >"$work/debootstrap.log" 2>&1 ||
  { tail -n 30 "$work/debootstrap.log"; exit 1; }
tar -C "$machine" -xpf "$work/root.tar"
: >"$machine/etc/machine-id"
cp "$here/inside.sh" "$machine/root/"

# systemd 252 does not know that a container may use Landlock.
systemd-nspawn -D "$machine" --boot --register=no --keep-unit --machine=pa-tenants \
  --private-network \
  --system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self" \
  >"$work/console.log" 2>&1 </dev/null &
nspawn=$!
trap 'kill -TERM $nspawn 2>/dev/null; wait $nspawn 2>/dev/null || true' EXIT

init=
for _ in $(seq 60); do
  init=$(pgrep -P $nspawn | head -n 1) || true
  [ -n "$init" ] && nsenter -t "$init" -a systemctl is-system-running --quiet 2>/dev/null && break
  sleep 1
done
[ -n "$init" ] || { echo "the machine does not start:"; tail -n 20 "$work/console.log"; exit 1; }
nsenter -t "$init" -a env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  bash /root/inside.sh
