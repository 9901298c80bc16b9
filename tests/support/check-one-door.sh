#!/bin/sh
# Every call goes through supervisor/engine/dispatch.cc: check-one-door.sh TREE
#
# Each step of a call has one caller, there. A door that took the steps by itself could leave one
# out.
set -eu

cd "$1/supervisor"
status=0
for step in NewCall MakeToolRequest RefusedByPolicy RunApproved ApplyResult RunAudited RefuseAudited; do
  # Definitions and declarations begin a line; what calls is indented.
  callers=$(grep -rnE --include='*.cc' --include='*.h' --exclude='*_test.cc' \
    "^[[:space:]].*\\b$step\\(" . |
    grep -vE '^[^:]*:[0-9]*:[[:space:]]*//' || true)
  case $callers in
    *"
"*) ;;
    ./engine/dispatch.cc:*) continue ;;
  esac
  echo "$step must be called by engine/dispatch.cc, once; it is called by: ${callers:-nobody}"
  status=1
done
exit $status
