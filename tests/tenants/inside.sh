#!/bin/bash
# What an administrator and two tenants do, in the machine that run.sh has started. Ends with
# `N passed, N failed, N skipped`.
set -u
passed=0 failed=0

# check WHAT COMMAND...: it must succeed.
check() {
  what=$1
  shift
  if said=$("$@" 2>&1); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $what"
    echo "$said" | head -n 20
  fi
}
no() { ! "$@"; }
says() {  # TEXT COMMAND...: it is in what the command prints
  text=$1
  shift
  said=$("$@" 2>&1)
  case $said in *"$text"*) return 0 ;; *) echo "$said"; return 1 ;; esac
}
is() {  # TEXT COMMAND...: it is all that the command prints
  text=$1
  shift
  said=$("$@" 2>&1)
  [ "$said" = "$text" ] || { echo "$said"; return 1; }
}

# call TOKEN TOOL ARGUMENTS: the answer of a client of MCP 2026-07-28
call() {
  curl --silent --show-error --max-time 30 http://127.0.0.1:8787/mcp \
    -H "Authorization: Bearer $1" -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2026-07-28' \
    -H 'Mcp-Method: tools/call' -H "Mcp-Name: $2" \
    -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"$2"'","arguments":'"$3"',
         "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
                  "io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},
                  "io.modelcontextprotocol/clientCapabilities":{}}}}'
}
who() { call "$1" make '{"target":"who"}'; }
as() {
  user=$1
  shift
  setpriv --reuid="$user" --regid="$user" --init-groups "$@"
}

for user in ann bob; do
  useradd --create-home $user
  mkdir /home/$user/src
  printf '.PHONY: who\nwho:\n\t@id -un\n' >/home/$user/src/Makefile
  echo "of $user" >/home/$user/src/secret
  chown -R $user: /home/$user
  chmod 700 /home/$user
done
ann=$(id -u ann) bob=$(id -u bob)

check "nothing of ours runs before it is asked for" \
  no systemctl is-active --quiet project-actionsd.socket project-actions-nginx
# The exposure is at most 1.5. Its word is no judge: "UNSAFE" has "SAFE" in it.
for unit in project-actionsd project-actions-nginx; do
  check "the unit $unit is confined" \
    systemd-analyze security --no-pager --threshold=15 $unit.service
done

# A directory stands where the link of a unit would be: adding fails at its first unit, and at its
# last one, when the others are enabled.
units="project-actions@$ann.socket project-actionsd.socket project-actions-nginx.service"
for link in sockets.target.wants/project-actions@$ann.socket \
  multi-user.target.wants/project-actions-nginx.service; do
  mkdir -p /etc/systemd/system/$link
  check "a step that fails, $link" no sh -c 'project-actions tenant add ann 2>/root/failed'
  check "is said, and those before it are undone" \
    says "undone: made /etc/project-actions/tenants/ann" cat /root/failed
  check "no unit stays enabled" no systemctl is-enabled $units
  check "or active" no systemctl is-active $units
  check "no tenant stays" no test -e /etc/project-actions/tenants/$ann
  check "and no link" no test -L /etc/project-actions/tenants/ann
  rmdir /etc/systemd/system/$link
done
check "two units had been enabled" is 2 grep -c '^undone: enabled and started ' /root/failed

check "the first tenant" \
  sh -c 'project-actions tenant add ann --enable make,bash >/root/ann 2>/root/ann.said'
check "the second" sh -c 'project-actions tenant add bob --enable make,bash >/root/bob'
check "its units are enabled" is $'enabled\nenabled\nenabled' systemctl is-enabled $units
check "both are listed" says "$bob  bob  tokens: 1" project-actions tenant list
check "each step was said" says "enabled and started project-actions@$ann.socket" cat /root/ann.said
check "no tenant's server runs yet" no systemctl is-active --quiet project-actions@$ann.service
check "ann's token leads to ann" says 'ann\n' who "$(cat /root/ann)"
check "bob's to bob" says 'bob\n' who "$(cat /root/bob)"
check "ann's server runs as ann" is ann \
  stat -c %U "/proc/$(systemctl show -P MainPID project-actions@$ann)"
check "in a slice of its own" says "project-actions-$ann.slice" \
  systemctl show -P Slice project-actions@$ann
weight() {  # UID: the kernel's, where this machine has the controller; else systemd's
  slice=project-actions-$1.slice
  cat "/sys/fs/cgroup$(systemctl show -P ControlGroup $slice)/cpu.weight" 2>/dev/null ||
    systemctl show -P CPUWeight $slice
}
check "with the weight of all" is 100 weight $ann
check "another weight" systemctl set-property project-actions-$ann.slice CPUWeight=200
check "counts at once" is 200 weight $ann
check "for ann alone" is 100 weight $bob
check "it is taken back" systemctl revert project-actions-$ann.slice
check "and ann has the weight of all" is 100 weight $ann
check "systemd knows that it is ready" says serving systemctl show -P StatusText project-actions@$ann
check "and the front door, with two tenants" says "2 tenants" \
  systemctl show -P StatusText project-actionsd
check "each tenant reads its own metrics" says 'calls_total{tool="make",outcome="ok"} 1' \
  curl --silent http://127.0.0.1:8787/metrics -H "Authorization: Bearer $(cat /root/ann)"
check "nobody else's" no curl --silent --fail http://127.0.0.1:8787/metrics
check "root sees all of them" says 'calls_total{server="bob",tool="make",outcome="ok"} 1' \
  project-actions top --open-metrics
check "and the front door" says 'front_door_requests_total{status="200"}' \
  project-actions top --open-metrics
check "ann does not" no as ann project-actions top
check "ann sees her own" says running: env PROJECT_ACTIONS_TOKEN="$(cat /root/ann)" \
  setpriv --reuid=ann --regid=ann --init-groups project-actions top http://127.0.0.1:8787
systemctl stop project-actions@$bob.service
check "to look at a tenant does not start it" says "bob            does not run" project-actions top
check "really not" no systemctl is-active --quiet project-actions@$bob.service
check "its next request does" says 'bob\n' who "$(cat /root/bob)"
check "healthy" is ok curl --silent http://127.0.0.1:8787/healthz

# As ann, without a sandbox.
for path in /etc/project-actions/tenants /etc/project-actions/tenants/$bob \
  /etc/project-actions/tenants/$bob/tokens.json /run/project-actions /home/bob/src/secret; do
  check "$path is closed to ann" no as ann sh -c "ls '$path/' || cat '$path'"
done
check "ann can read her own policy" as ann cat /etc/project-actions/tenants/$ann/policy.yaml
check "and cannot write it" no as ann sh -c "echo >>/etc/project-actions/tenants/$ann/policy.yaml"
for socket in /run/project-actions/$bob.sock /run/project-actions/$ann.sock \
  /run/project-actionsd.sock; do
  check "ann cannot connect to $socket" no as ann curl --silent --unix-socket $socket http://x/
done
check "nginx cannot read tokens" \
  no as project-actions cat /etc/project-actions/tenants/$ann/tokens.json
check "the front door cannot connect to a tenant" \
  no as project-actionsd curl --silent --unix-socket /run/project-actions/$ann.sock http://x/
check "by a command of ann's neither" says '"success":false' \
  call "$(cat /root/ann)" bash '{"command":"cat /home/bob/src/secret"}'

# What dies is started again, for the next request.
for unit in project-actionsd project-actions-nginx project-actions@$ann; do
  systemctl kill --kill-whom=main --signal=KILL $unit
  sleep 2
  check "after kill -9 of $unit" says 'ann\n' who "$(cat /root/ann)"
done
# Its loop stands still.
mkdir -p /run/systemd/system/project-actions@$ann.service.d
printf '[Service]\nWatchdogSec=2s\n' >/run/systemd/system/project-actions@$ann.service.d/w.conf
systemctl daemon-reload
systemctl restart project-actions@$ann
stopped=$(systemctl show -P MainPID project-actions@$ann)
sleep 5
check "a watchdog that hears from it does nothing" \
  test "$stopped" = "$(systemctl show -P MainPID project-actions@$ann)"
systemctl kill --kill-whom=main --signal=STOP project-actions@$ann
sleep 5
check "one that does not kills it" no test -e "/proc/$stopped"
check "and the next request starts another" says 'ann\n' who "$(cat /root/ann)"
rm -r /run/systemd/system/project-actions@$ann.service.d
systemctl daemon-reload
check "the journal has priorities" says watchdog \
  journalctl --no-pager -p warning -u project-actions@$ann
echo 'nonsense: 1' >>/etc/project-actions/tenants/$ann/policy.yaml
check "a reload with a broken policy" systemctl reload project-actions@$ann
sleep 1
check "says that the previous one stays" says "policy not changed" \
  systemctl show -P StatusText project-actions@$ann
check "in the log, too, as an error" says "policy not changed" \
  journalctl --no-pager -p err -u project-actions@$ann
sed -i '$d' /etc/project-actions/tenants/$ann/policy.yaml
check "reload" systemctl reload project-actionsd project-actions-nginx project-actions@$ann
check "after it" says 'ann\n' who "$(cat /root/ann)"
for unit in project-actions@$ann project-actionsd; do
  check "stop" systemctl stop $unit.service
  check "$unit ends well" is success systemctl show -P Result $unit.service
done
check "after it" says 'ann\n' who "$(cat /root/ann)"

# An upgrade, by the same release: what runs begins anew, but nginx.
server=$(systemctl show -P MainPID project-actions@$ann)
nginx=$(systemctl show -P MainPID project-actions-nginx)
check "an upgrade" dpkg --install /root/*.deb
check "restarts the tenant's server" \
  no test "$server" = "$(systemctl show -P MainPID project-actions@$ann)"
check "and not nginx" is "$nginx" systemctl show -P MainPID project-actions-nginx
check "after it" says 'ann\n' who "$(cat /root/ann)"

# A server that nobody asks ends, and the next request starts it.
mkdir -p /etc/systemd/system/project-actions@.service.d
sed -n 's/--idle-exit [0-9a-z]*/--idle-exit 2s/; s/^ExecStart=/[Service]\nExecStart=\nExecStart=/p' \
  /lib/systemd/system/project-actions@.service >/etc/systemd/system/project-actions@.service.d/x.conf
systemctl daemon-reload
systemctl restart project-actions@$ann
check "asked" says 'ann\n' who "$(cat /root/ann)"
sleep 5
check "idle, it has ended" no systemctl is-active --quiet project-actions@$ann.service
check "and is started again" says 'ann\n' who "$(cat /root/ann)"
rm -r /etc/systemd/system/project-actions@.service.d
systemctl daemon-reload

# A policy that is not valid, and is mended.
policy=/etc/project-actions/tenants/$ann/policy.yaml
echo 'nonsense: 1' >>$policy
systemctl stop project-actions@$ann.service
for _ in 1 2 3 4 5 6; do
  check "with a broken policy" says 'cannot start' who "$(cat /root/ann)"
done
sed -i '$d' $policy
check "mended, it starts with the next request" says 'ann\n' who "$(cat /root/ann)"

# As docs/daemon.md says it: a backup, and a tenant who has to stop.
check "a backup" tar --acls -C /etc -cf /root/backup.tar project-actions
rm -r /etc/project-actions/tenants
check "without its directory nobody is known" no says 'ann\n' who "$(cat /root/ann)"
check "the backup is brought back" tar --acls -C /etc -xpf /root/backup.tar
touch /etc/project-actions/tenants
check "ann is known again" says 'ann\n' who "$(cat /root/ann)"
check "reads her own policy" as ann cat /etc/project-actions/tenants/$ann/policy.yaml
check "and not bob's" no as ann cat /etc/project-actions/tenants/$bob/policy.yaml
check "a tenant is kept out" systemctl disable --now --quiet project-actions@$ann.socket
check "with what runs" systemctl stop project-actions@$ann.service
check "its clients are told" says "cannot be reached" who "$(cat /root/ann)"
check "its server does not run" no systemctl is-active --quiet project-actions@$ann.service
check "nor does a reboot start its socket" \
  is disabled systemctl is-enabled project-actions@$ann.socket
check "others go on" says 'bob\n' who "$(cat /root/bob)"
check "it is let in" systemctl enable --now --quiet project-actions@$ann.socket
check "and is served" says 'ann\n' who "$(cat /root/ann)"
check "also after a reboot" is enabled systemctl is-enabled project-actions@$ann.socket

check "a token more" sh -c 'project-actions token new phone --tenant ann >/root/phone'
check "counts" says 'ann\n' who "$(cat /root/phone)"
check "revoked" project-actions token revoke first --tenant ann
check "it is nobody's" says 'a valid token is needed' who "$(cat /root/ann)"
check "the other still counts" says 'ann\n' who "$(cat /root/phone)"

check "bob is removed" project-actions tenant remove bob
check "his token is nobody's" says 'a valid token is needed' who "$(cat /root/bob)"
check "his socket is gone" no test -e /run/project-actions/$bob.sock
check "his files are there" test -e /home/bob/src/secret
check "ann does not notice" says 'ann\n' who "$(cat /root/phone)"

# The unit files alone: a socket that waits has no process.
before=$(sed -n 's/VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/1/status)
sockets=$(seq -f 'project-actions@%g.socket' 20000 20999)
systemctl start $sockets
after=$(sed -n 's/VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/1/status)
echo "1,000 sockets more: $((after - before)) KiB of PID 1"
# systemctl is-active of many succeeds if one of them is.
active() { systemctl is-active $sockets | grep -cx active; }
check "1,000 tenants wait" is 1000 active
systemctl stop $sockets
check "and do not any more" is 0 active

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
