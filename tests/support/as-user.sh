#!/bin/sh
# A wrapper for `meson test` run by root: runs one test as an ordinary user in a copy of the tree,
# because the tree itself may lie where only root may go.
#
#   PA_TREE=/root/project PA_COPY=/tmp/copy meson test --wrapper tests/support/as-user.sh
#
# Paths into PA_TREE in the arguments and in PA_* variables are made to point into PA_COPY.
set -eu

moved() {
  case $1 in
    "$PA_TREE"*) printf '%s' "$PA_COPY${1#"$PA_TREE"}" ;;
    *) printf '%s' "$1" ;;
  esac
}

for name in $(env | sed -n 's/^\(PA_[A-Z_]*\)=.*/\1/p'); do
  case $name in PA_TREE | PA_COPY) continue ;; esac
  eval "value=\$$name"
  export "$name=$(moved "$value")"
done

remaining=$#
while [ "$remaining" -gt 0 ]; do
  set -- "$@" "$(moved "$1")"
  shift
  remaining=$((remaining - 1))
done

# The user is daemon, because every system has it, and tests of ours use nobody as somebody else.
# Its home is of no use, so it gets one.
export HOME="$PA_COPY/home" TMPDIR="$PA_COPY/tmp" USER=daemon LOGNAME=daemon
cd "$(moved "$(pwd)")"
exec setpriv --reuid daemon --regid daemon --clear-groups --inh-caps=-all "$@"
