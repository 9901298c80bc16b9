#!/bin/bash
# image.sh ROOT.TAR LOAD OUTPUT: packs the system of ROOT.TAR, with the program LOAD and what runs
# in the guest, into an initrd, OUTPUT. The system stays in memory: there is no disk.
set -eu

tar=$1
load=$2
output=$3
here=$(dirname "$(realpath "$0")")

root=$(mktemp -d "${TMPDIR:-/tmp}/pa-image-XXXXXX")
trap 'rm -rf "$root"' EXIT
trap 'exit 130' INT TERM
tar -C "$root" -xpf "$tar" --exclude='./dev/*' --exclude='./var/cache/*' \
  --exclude='./usr/share/doc/*'
: >"$root/etc/machine-id"
install "$here/init.sh" "$root/init"
install "$here/inside.sh" "$load" "$root/root/"

units="$root/etc/systemd/system"
mkdir -p "$units/multi-user.target.wants"
cat >"$units/fairness.service" <<'END_UNIT'
[Service]
Slice=clients.slice
ExecStart=/bin/bash /root/inside.sh
END_UNIT
ln -s ../fairness.service "$units/multi-user.target.wants/"
# The agents are other machines in life, so that their part of the time comes first.
printf '[Slice]\nCPUWeight=10000\n' >"$units/clients.slice"

(cd "$root" && find . -print0 | cpio --quiet --null --create --format newc) >"$output.new"
mv "$output.new" "$output"
