#!/bin/bash
# run.sh BUILD [GUEST]...: boots Debian 12 with both packages under QEMU, without KVM, with three
# tenants, and measures how much slower one tenant's calls get while another takes as much as it may
# (inside.sh). The results land in BUILD/fairness; report.py judges them. Needs root, to make the
# system, and the network for Debian's packages. ROUNDS=200 and SCENARIOS=alone,burn,... shorten it.
set -eu

build=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
results="$build/fairness"
longest=14400
rounds=${ROUNDS:-200}
scenarios=${SCENARIOS:-alone,burn,fork,fill,print,flood,calls,all}
[ "$(id -u)" = 0 ] || { echo "test-fairness: only root can make a system" >&2; exit 1; }
[ $# -gt 0 ] || set -- 6.1 6.12

boot() { # SERIES
  # As in tests/kernels/run.sh, with why.
  local quick="norandmaps nokaslr mitigations=off init_on_alloc=0 tsc=reliable"
  timeout --kill-after 10 $longest qemu-system-x86_64 -accel tcg,thread=single \
    -icount shift=0,sleep=off -cpu max -smp 1 -m 3072 \
    -nodefaults -no-reboot -display none -monitor none \
    -kernel "$results/vmlinuz-$1" -initrd "$results/initrd" \
    -serial "file:$results/$1.console" -serial "file:$results/$1.log" \
    -append "console=ttyS0 quiet panic=-1 $quick PA_ROUNDS=$rounds PA_SCENARIOS=$scenarios" \
    >"$results/$1.qemu" 2>&1 </dev/null &
  local guest=$!
  trap 'kill $guest' TERM
  wait $guest || echo "qemu ended with status $?" >>"$results/$1.qemu"
}

mkdir -p "$results"
# timeout puts each guest into a process group of its own, which no Ctrl-C reaches.
end_guests() { for pid in $(jobs -rp); do kill "$pid" 2>/dev/null || true; done; }
trap end_guests EXIT
trap 'exit 130' INT TERM
"$here/../tenants/root.sh" "$build"
"$here/image.sh" "$build/tenants/root.tar" "$build/tests/fairness/load" "$results/initrd"
for series in "$@"; do
  rm -f "$results/$series".{log,console,qemu}
  package=$("$here/../kernels/fetch.sh" "$results" "$series")
  while [ "$(jobs -rp | wc -l)" -ge "${GUESTS_AT_ONCE:-$(nproc)}" ]; do wait -n; done
  echo "booting $package"
  boot "$series" &
done
wait
python3 "$here/report.py" "$results" "$scenarios" "$@"
