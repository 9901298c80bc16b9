#!/bin/sh
# install.sh ROOT: installs beneath ROOT what the package project-actionsd has beside the program
# and its manual pages. Both the .deb and the .rpm are built with it.
set -eu

mkdir -p "$1"
root=$(cd "$1" && pwd)
cd "$(dirname "$0")"
etc="$root/etc/project-actions"
lib="$root/usr/lib"
install -D -m 644 nginx.conf "$etc/nginx.conf"
install -d "$etc/nginx.d"
install -D -m 644 -t "$lib/systemd/system" ./*.service ./*.socket
install -D -m 644 project-actions-.slice.conf \
  "$lib/systemd/system/project-actions-.slice.d/10-tenants.conf"
install -D -m 644 sysusers.conf "$lib/sysusers.d/project-actionsd.conf"
install -D -m 644 tmpfiles.conf "$lib/tmpfiles.d/project-actionsd.conf"
install -D -m 644 -t "$root/usr/share/doc/project-actionsd/examples" examples/*
