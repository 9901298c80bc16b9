#!/bin/sh
# The first process of the guest: puts the files that the kernel has unpacked into rootfs onto a
# mount of their own, because pivot_root is refused in rootfs, and becomes systemd.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p /newroot
mount --bind / /newroot
cd /newroot || exit
mount --move . /
exec chroot . /sbin/init
