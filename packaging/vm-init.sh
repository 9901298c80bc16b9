#!/bin/sh
# The first process of the virtual machine of test-distros.sh: what does an ordinary user have where
# AppArmor restricts user namespaces, without the package's profile and with it? Said to the
# console.
set -u
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t securityfs securityfs /sys/kernel/security
mount -t tmpfs tmp /tmp

as_user() {
  setpriv --reuid tester --regid tester --clear-groups \
    env HOME=/home/tester USER=tester AUTOPKGTEST_TMP=/home/tester "$@"
}
ask() { # HOW
  echo "@@ $1 doctor $(as_user project-actions doctor --json)"
  as_user smoke
  echo "@@ $1 smoke status $?"
}

# As Ubuntu's own start does it.
echo 1 >/proc/sys/kernel/apparmor_restrict_unprivileged_userns
apparmor_parser --replace --skip-cache /etc/apparmor.d/unprivileged_userns
ask without
apparmor_parser --replace --skip-cache /etc/apparmor.d/project-actions
ask with
echo "@@ end"
sync
echo o >/proc/sysrq-trigger
sleep 60
