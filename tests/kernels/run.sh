#!/bin/bash
# run.sh BUILD [GUEST]...: boots Debian's kernels under QEMU, without KVM, and lets each run the
# escapes; all guests of the list below, or those named. The results land in BUILD/kernels;
# report.py judges them.
#
# GUESTS_AT_ONCE guests run side by side, with one processor each: as many as there are processors
# here unless the variable says otherwise.
set -eu

build=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
results="$build/kernels"
at_once=${GUESTS_AT_ONCE:-$(nproc)}
# Of one guest. The slowest steps have less than that each (init.sh).
longest=7200

# GUEST SERIES ABI STEPS [KERNEL COMMAND LINE]: the kernel series, and the Landlock ABI that the
# server shall see there: on a kernel without Landlock, nothing may run. An ABI for which Debian has
# no kernel is masked. STEPS are those of init.sh, each as root and as an ordinary user, or as one
# of them: the unit tests become nobody by themselves where that makes a difference.
all=demo,sandbox:root,cgroup:daemon,worker:root,limits,limits_cgroup,escapes,explain
known() {
  cat <<END
5.10 5.10 0 refusals
6.1 6.1 2 $all
6.1-apparmor 6.1 0 refusals lsm=apparmor
6.12 6.12 6 $all
6.18 6.18 7 $all
7.0 7.0 8 $all
7.1 7.1 9 $all
7.2 7.2 10 $all
7.3 7.3 10 $all
abi-1 7.2 1 escapes PA_MASK=1
abi-3 7.2 3 escapes PA_MASK=3
abi-4 7.2 4 escapes PA_MASK=4
abi-5 7.2 5 escapes PA_MASK=5
END
}
[ $# -gt 0 ] || set -- 5.10 6.1 6.1-apparmor 6.12 7.0 7.1 7.2 abi-1 abi-3 abi-4 abi-5

boot() { # GUEST SERIES STEPS KERNEL-COMMAND-LINE
  local name=$1 series=$2 steps=$3
  shift 3
  # Addresses that stay the same let QEMU keep what it has translated, which is three times faster,
  # and nobody attacks this kernel by its addresses, its processor or its old memory.
  local quick="norandmaps nokaslr mitigations=off init_on_alloc=0 tsc=reliable"
  # icount: the guest's clock counts its instructions, a thousand in a microsecond, and leaps over
  # idleness. So a wait in the tests takes no time here, and a time-out there does not depend on
  # this machine's other work.
  timeout --kill-after 10 $longest qemu-system-x86_64 -accel tcg,thread=single \
    -icount shift=0,sleep=off -cpu max -smp 1 -m 2048 \
    -nodefaults -no-reboot -display none -monitor none \
    -kernel "$results/vmlinuz-$series" -initrd "$results/initrd" \
    -serial "file:$results/$name.console" -serial "file:$results/$name.log" \
    -append "console=ttyS0 quiet panic=-1 $quick PA_STEPS=doctor,doctor0,doctor_text,$steps $*" \
    >"$results/$name.qemu" 2>&1 </dev/null &
  local guest=$! began=$SECONDS
  trap 'kill $guest' TERM
  wait $guest || echo "qemu ended with status $?" >>"$results/$name.qemu"
  echo $((SECONDS - began)) >"$results/$name.seconds"
}

mkdir -p "$results"
# timeout puts each guest into a process group of its own, which no Ctrl-C reaches.
end_guests() { for pid in $(jobs -rp); do kill "$pid" 2>/dev/null || true; done; }
trap end_guests EXIT
trap 'exit 130' INT TERM
"$here/image.sh" "$build" "$results/initrd"
: >"$results/guests"
for name in "$@"; do
  line=$(known | grep "^${name//./\\.} ") || {
    echo "no guest $name; there are: $(known | cut -d ' ' -f 1 | tr '\n' ' ')"
    exit 2
  }
  read -r _ series abi steps rest <<<"$line"
  rm -f "$results/$name".{log,console,qemu,error,seconds}
  echo "$name $abi $steps" >>"$results/guests"
  if ! package=$("$here/fetch.sh" "$results" "$series" 2>&1); then
    echo "$package" | tee "$results/$name.error"
    continue
  fi
  while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
  echo "booting $name: $package${rest:+, $rest}"
  # Word splitting is meant: the rest is parameters of the kernel.
  boot "$name" "$series" "$steps" $rest &
done
wait
python3 "$here/report.py" "$results" $SECONDS
