#!/bin/bash
# root.sh BUILD: BUILD/tenants/root.tar becomes Debian 12 with systemd and with both packages, made
# of what is committed, as an administrator has it who has installed them, and what tries them needs
# (python3, libfaketime). Needs root, and the network for Debian's packages.
set -eu

build=$(realpath "$1")
work="$build/tenants"
mirror=http://deb.debian.org
packaging=$(dirname "$(realpath "$0")")/../../packaging

mkdir -p "$work"
rm -rf "$work/packages" # those of an older version would be installed, too
"$packaging/build-deb.sh" "$work/packages" -j"${JOBS:-$(nproc)}" >"$work/packages.log" 2>&1 ||
  { tail -n 30 "$work/packages.log"; exit 1; }
mmdebstrap --variant=minbase --include=systemd-sysv,libnss-systemd,curl,ca-certificates,jq,\
python3,libfaketime \
  --customize-hook='copy-in '"$(ls "$work"/packages/project-actions_*.deb \
    "$work"/packages/project-actionsd_*.deb | tr '\n' ' ')"' /root' \
  --customize-hook='chroot "$1" sh -c "apt-get install -y --no-install-recommends /root/*.deb"' \
  bookworm "$work/root.tar" "$mirror/debian" \
  "deb $mirror/debian-security bookworm-security main" >"$work/debootstrap.log" 2>&1 ||
  { tail -n 30 "$work/debootstrap.log"; exit 1; }
