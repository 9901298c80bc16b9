#!/bin/bash
# What happens in the guest: of three tenants, bob is measured, cat waits, and ann is greedy in the
# way that the scenario says. On the second serial port, for report.py, are lines
# `@@ SCENARIO CALL P50 P99 LONGEST FAILED`; and for people, who used the processor and who waited.
set -u
exec >/dev/ttyS1 2>&1
stty -F /dev/ttyS1 raw
. <(tr ' ' '\n' </proc/cmdline | grep '^PA_')

# The greedy targets go on until their server ends, or are called again when they end.
makefile() {
  cat <<'END'
.PHONY: noop burn fork fill print
noop:
	@:
burn:
	@for i in 1 2 3 4; do while :; do :; done & done; wait
fork:
	@for i in $$(seq 250); do while :; do /bin/true; done & done; wait
fill:
	@tail /dev/zero
print:
	@yes 'a line of 32 bytes that is printed' | head -c 300M
END
}

for user in ann bob cat; do
  useradd --create-home $user
  mkdir /home/$user/src
  makefile >/home/$user/src/Makefile
  seq 100 >/home/$user/src/small
  seq 20000 >/home/$user/src/large
  chown -R $user: /home/$user
  project-actions tenant add $user --root /home/$user/src --enable make >/root/$user 2>/dev/null ||
    { echo "tenant add $user failed"; systemctl poweroff --force --force; }
done

greedy() { # CONNECTIONS CALL...
  /root/load 8787 "$(cat /root/ann)" flood "$@" &
}
measure() { # USER ROUNDS: first of all, because it is elsewhere in life
  chrt -f 1 /root/load 8787 "$(cat "/root/$1")" measure "$2" list 'read:{"path":"small"}' \
    'make:{"target":"noop"}'
}
# For each group: the microseconds that it used the processor and that it waited for it.
spent() {
  find /sys/fs/cgroup -name clients.slice -o -name 'project-actions-*.slice' \
    -o -name project-actions-nginx.service -o -name project-actionsd.service | sort |
    while read -r group; do
      echo "${group##*/} $(sed -n 's/usage_usec //p' "$group/cpu.stat")" \
        "$(sed -n 's/^some .*total=//p' "$group/cpu.pressure")"
    done
}

echo "@@ kernel $(uname -r)"
measure cat 1 >/dev/null
for scenario in ${PA_SCENARIOS//,/ }; do
  case $scenario in
    burn | fork | fill | print) greedy 4 'make:{"target":"'$scenario'"}' ;;
    flood) greedy 256 list ;;
    calls) greedy 256 'make:{"target":"noop"}' 'read:{"path":"large"}' ;;
    all)
      for target in burn fork fill print; do greedy 1 'make:{"target":"'$target'"}'; done
      greedy 250 list 'read:{"path":"large"}'
      ;;
  esac
  sleep 5
  before=$(spent)
  measure bob "$PA_ROUNDS" | sed "s/^/@@ $scenario /"
  join <(echo "$before") <(spent) |
    awk '{printf "   %s: used %d ms, waited %d ms\n", $1, ($4 - $2) / 1000, ($5 - $3) / 1000}'
  kill $(jobs -p) 2>/dev/null
  wait 2>/dev/null
  systemctl stop project-actions@1000.service 2>/dev/null
  sleep 1
done
echo "@@ done"
systemctl poweroff --force --force
