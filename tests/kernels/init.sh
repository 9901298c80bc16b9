#!/bin/sh
# The first process of a guest. run.sh says by variables on the kernel's command line what to do:
#
#   PA_STEPS=doctor,worker:root,...   each as root and then as daemon, or only as the one named
#   PA_MASK=3                         with a server that sees no more of Landlock than this ABI
#
# What is said goes to the first serial port, and to the second one for report.py: a line of
# `@@ begin STEP USER SECONDS`, what the step printed, `@@ end STEP USER STATUS SECONDS`.
set -u

export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C GTEST_COLOR=no
report=/dev/ttyS1
# Of the guest's own seconds; what hangs must end all the same.
patience=1200

uptime() { cut -d ' ' -f 1 /proc/uptime; }

# The kernel unpacks us into rootfs, from where pivot_root is refused. The same files as a mount of
# their own do.
leave_rootfs() {
  mount --bind / /newroot
  cd /newroot || exit
  mount --move . /
  exec chroot . /init second
}

mount_all() {
  mount -t proc proc /proc
  mount -t sysfs sysfs /sys
  mount -t securityfs securityfs /sys/kernel/security
  mount -t devtmpfs dev /dev
  mkdir -p /dev/pts /dev/shm
  mount -t devpts -o ptmxmode=666 devpts /dev/pts
  mount -t tmpfs -o mode=1777 shm /dev/shm
  mount -t tmpfs -o mode=1777 tmp /tmp
  mount -t tmpfs -o mode=1777 tmp /var/tmp
  mount -t cgroup2 -o nsdelegate cgroup2 /sys/fs/cgroup
  ip link set lo up
  # Bytes as they are; the other end is no terminal.
  stty -F "$report" raw
}

# A part of the cgroup tree, GROUP, for USER, as a service manager delegates it.
delegate() { # USER GROUP
  group=/sys/fs/cgroup/$2
  mkdir "$group"
  chown "$1" "$group" "$group/cgroup.procs" "$group/cgroup.threads" "$group/cgroup.subtree_control"
}

# The same build, as old as PA_MASK says: a worker has no environment, but may be a script.
mask() {
  mkdir -p /masked/supervisor /masked/worker
  cp /build/supervisor/project-actions-masked /masked/supervisor/project-actions
  printf '#!/bin/sh\nPA_LANDLOCK_ABI=%s exec /build/worker/project-actions-worker-faults "$@"\n' \
    "$PA_MASK" >/masked/worker/project-actions-worker
  printf '#!/bin/sh\nPA_LANDLOCK_ABI=%s exec /masked/supervisor/project-actions "$@"\n' "$PA_MASK" \
    >/masked/server
  chmod 755 /masked/server /masked/worker/project-actions-worker
  sed 's,PA_SERVER=[^ ]*,PA_SERVER=/masked/server,' /tests.sh >/tests.sh.new
  mv /tests.sh.new /tests.sh
}

# Where it is not alone in its cgroup, and so has none for its calls; like the servers of the
# attempts.
step_doctor() { "$server" doctor --json; }
# Without namespaces: unshare(CLONE_NEWUSER | CLONE_NEWNS) is EPERM.
step_doctor0() { /build/tests/support/deny 272 0 268566528 1 "$server" doctor --json; }
step_doctor_text() { NO_COLOR=1 "$server" doctor; }
step_demo() { run_demo; }
step_sandbox() { run_sandbox; }
step_cgroup() { run_sandbox --gtest_filter='CgroupTest.*'; }
step_worker() { run_worker; }
step_explain() { run_integration_explain; }
step_limits() { run_integration_limits; }
# Each server in a cgroup of its own, as `systemd-run --scope --property Delegate=yes` starts it.
step_limits_cgroup() {
  cat >"$HOME/server" <<'END'
#!/bin/sh
group=/sys/fs/cgroup/$(id -un)/server-$$
mkdir "$group" && echo $$ >"$group/cgroup.procs" && exec /build/supervisor/project-actions "$@"
END
  chmod 755 "$HOME/server"
  sed "s,PA_SERVER=[^ ]*,PA_SERVER=$HOME/server," /tests.sh >"$HOME/tests.sh"
  . "$HOME/tests.sh"
  run_integration_limits --gtest_filter='*InCgroup.*'
}
# Without Landlock: nothing may run, neither the attempts nor what is allowed elsewhere.
step_refusals() { run_escapes --gtest_filter='*.IsContained/*:*.TwinWorks/*:Protections.*'; }
step_escapes() {
  # What happens without the sandbox no mask changes.
  which="*"
  [ -z "${PA_MASK:-}" ] || which="-Off/*"
  (run_escapes --gtest_output=json:"$HOME/escapes.json" --gtest_filter="$which")
  status=$?
  echo '@@ report'
  cat "$HOME/escapes.json"
  return $status
}

run_step() { # STEP USER
  delegate "$2" "$2/$1"
  echo "@@ begin $1 $2 $(uptime)"
  # In a cgroup of the user's, from a directory in which calls may work.
  timeout --kill-after 10 $patience sh -c '
    echo $$ >"/sys/fs/cgroup/$2/$1/cgroup.procs"
    home=/root
    [ "$2" = root ] || home="/home/$2"
    mkdir -p "$home/work" && chown -R "$2" "$home" && cd "$home/work"
    export HOME="$home" USER="$2" LOGNAME="$2"
    exec setpriv --reuid "$2" --regid "$2" --clear-groups $3 sh /init step "$1"
  ' sh "$1" "$2" "$([ "$2" = root ] || echo --inh-caps=-all)" 2>&1 </dev/null
  echo "@@ end $1 $2 $? $(uptime)"
}

case ${1:-} in
  second) ;;
  step)
    . /tests.sh
    server=/build/supervisor/project-actions
    [ -z "${PA_MASK:-}" ] || server=/masked/server
    "step_$2"
    exit
    ;;
  # The kernel's arguments are those of its own command line that it does not know.
  *) leave_rootfs ;;
esac

mount_all
[ -z "${PA_MASK:-}" ] || mask
echo '+cpu +memory +pids' >/sys/fs/cgroup/cgroup.subtree_control
for user in root daemon; do
  delegate $user $user
  echo '+cpu +memory +pids' >/sys/fs/cgroup/$user/cgroup.subtree_control
done
{
  echo "@@ kernel $(uname -r) $(uptime)"
  for step in $(echo "$PA_STEPS" | tr , ' '); do
    case $step in
      *:*) run_step "${step%:*}" "${step#*:}" ;;
      *) for user in root daemon; do run_step "$step" "$user"; done ;;
    esac
  done
  echo "@@ done $(uptime)"
} | tee "$report"
sync
echo o >/proc/sysrq-trigger
sleep 60
