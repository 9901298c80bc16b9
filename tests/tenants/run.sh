#!/bin/bash
# run.sh BUILD [REQUESTS]: installs the packages in a machine of its own (systemd-nspawn, Debian
# 12) and uses them there: as an administrator and two tenants would (inside.sh), as 500 clients of
# 20 tenants that send so many requests (load.py), and while one thing after the other fails
# (faults.py). Needs root, and the network for Debian's packages. The machine is BUILD/tenants/root;
# it has no network but its own loopback.
set -eu

build=$(realpath "$1")
requests=${2:-100000}
here=$(dirname "$(realpath "$0")")
work="$build/tenants"
machine="$work/root"
[ "$(id -u)" = 0 ] || { echo "test-tenants: only root can start a machine" >&2; exit 1; }

"$here/root.sh" "$build"
rm -rf "$machine"
mkdir -p "$machine"
tar -C "$machine" -xpf "$work/root.tar"
: >"$machine/etc/machine-id"
cp "$here"/inside.sh "$here"/*.py "$machine/root/"

# Where no systemd gives it one, a machine has no cgroup of its own: two at once would take the
# processes of each other for theirs.
groups=
if [ ! -d /run/systemd/system ]; then
  for tree in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
    if mkdir $tree/pa-tenants-$$; then groups="$groups $tree/pa-tenants-$$"; fi
  done
fi
# systemd 252 does not know that a container may use Landlock.
{
  for group in $groups; do echo $BASHPID >$group/cgroup.procs; done
  exec systemd-nspawn -D "$machine" --boot --register=no --keep-unit --machine=pa-tenants \
    --private-network \
    --system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self" \
    >"$work/console.log" 2>&1 </dev/null
} &
nspawn=$! init=
# Where a process has ended by itself already, kill fails, and the rest has to be done nevertheless.
end() {
  kill -TERM $nspawn 2>/dev/null || true
  # A machine that does not power off must not keep its caller. With its init all of it dies.
  for last in $init $nspawn; do
    if timeout 30 tail -f /dev/null --pid=$nspawn; then break; fi
    kill -KILL $last 2>/dev/null || true
  done
  wait $nspawn 2>/dev/null || true
  for group in $groups; do find $group -depth -type d -exec rmdir {} + || true; done
}
trap end EXIT

for _ in $(seq 60); do
  init=$(pgrep -P $nspawn | head -n 1) || true
  [ -n "$init" ] && nsenter -t "$init" -a systemctl is-system-running --quiet 2>/dev/null && break
  sleep 1
done
[ -n "$init" ] || { echo "the machine does not start:"; tail -n 20 "$work/console.log"; exit 1; }

passed=0 failed=0 skipped=0
for part in "bash inside.sh" "python3 load.py $requests" "python3 faults.py"; do
  echo "== $part"
  nsenter -t "$init" -a env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    sh -c "cd /root && $part" 2>&1 | tee "$work/part.log" | sed -u '/^[0-9]* passed, /d'
  count='^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$'
  if [[ $(tail -n 1 "$work/part.log") =~ $count ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + BASH_REMATCH[3]))
  else
    failed=$((failed + 1))
    echo "FAILED: $part has not come to its end"
  fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
