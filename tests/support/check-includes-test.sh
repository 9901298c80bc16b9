#!/bin/sh
# check-includes.sh refuses what it must and lets the rest through: check-includes-test.sh CHECKER
set -eu

checker=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/base" "$tree/sandbox" "$tree/worker" "$tree/policy" "$tree/supervisor"
printf '#pragma once\n' >"$tree/base/error.h"

expect() {
  wanted=$1 file=$2 line=$3
  printf '%s\n' "$line" >"$tree/$file"
  if "$checker" "$tree" >/dev/null; then got=allowed; else got=refused; fi
  rm "$tree/$file"
  [ "$got" = "$wanted" ] && return
  echo "$file with $line was $got, not $wanted"
  exit 1
}

expect allowed sandbox/a.h '#include "base/error.h"'
expect refused base/a.h '#include "sandbox/confinement.h"'
expect refused sandbox/a.cc '#include "policy/policy.h"'
expect refused worker/a.cc '#include "supervisor/tool.h"'
expect allowed policy/a.cc '#include "sandbox/prepared.h"'
expect refused policy/a.cc '#include "worker/spec.h"'
expect allowed supervisor/a.cc '#include "worker/spec.h"'
expect refused supervisor/a.cc '#include "worker/wire.h"'
expect allowed supervisor/a.cc '#include "sandbox/enforcement.h"'
expect refused supervisor/a.cc '#include "sandbox/landlock.h"'
expect refused supervisor/a.cc '#include <linux/landlock.h>'
expect allowed base/json_reader.cc '#include <simdjson.h>'
expect refused base/json.cc '#include <simdjson.h>'
expect refused policy/load.cc '#include <yaml-cpp/yaml.h>'
expect refused worker/a.cc '#include <fmt/format.h>'
expect allowed supervisor/a_test.cc '#include "tests/support/temp_dir.h"'
expect refused supervisor/a.cc '#include "tests/support/temp_dir.h"'
