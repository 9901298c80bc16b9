#!/bin/sh
# check-includes.py refuses what it must and lets the rest through:
# check-includes-test.sh CHECKER ARCHITECTURE.md
set -eu

checker=$1 architecture=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
# The headers that the table names have to exist.
for header in $(sed -n '/^## Folders/,/^## Types/p' "$architecture" | grep -o '`[a-z_/]*\.h`' | tr -d '`'); do
  mkdir -p "$tree/$(dirname "$header")"
  printf '#pragma once\n' >"$tree/$header"
done
table=$architecture

fail() {
  echo "$1"
  cat "$tree/said"
  exit 1
}

# expect allowed|refused FILE LINE: with LINE in FILE.
expect() {
  wanted=$1 file=$2 line=$3
  mkdir -p "$tree/$(dirname "$file")"
  printf '%s\n' "$line" >"$tree/$file"
  if "$checker" "$tree" "$table" >"$tree/said"; then got=allowed; else got=refused; fi
  rm "$tree/$file"
  [ "$got" = "$wanted" ] || fail "$file with $line was $got, not $wanted"
}

expect allowed sandbox/a.h '#include "base/error.h"'
expect refused base/a.h '#include "sandbox/confinement.h"'
expect refused sandbox/a.cc '#include "policy/policy.h"'
expect refused worker/a.cc '#include "supervisor/call/tool.h"'
expect allowed policy/a.cc '#include "sandbox/prepared.h"'
expect refused policy/a.cc '#include "worker/spec.h"'
expect allowed supervisor/run/a.cc '#include "worker/spec.h"'
expect refused supervisor/run/a.cc '#include "worker/wire.h"'
expect allowed supervisor/run/a.cc '#include "sandbox/enforcement.h"'
expect refused supervisor/run/a.cc '#include "sandbox/landlock.h"'
expect refused supervisor/run/a.cc '#include <linux/landlock.h>'
expect allowed base/json_reader.cc '#include <simdjson.h>'
expect refused base/json.cc '#include <simdjson.h>'
expect refused policy/load.cc '#include <yaml-cpp/yaml.h>'
expect refused worker/a.cc '#include <fmt/format.h>'
expect allowed supervisor/run/a_test.cc '#include "tests/support/temp_dir.h"'
expect refused supervisor/run/a.cc '#include "tests/support/temp_dir.h"'
expect allowed supervisor/run/a.cc '#include "supervisor/loop/task.h"'
expect refused supervisor/loop/a.h '#include "supervisor/run/runner.h"'
expect refused supervisor/tools/a.cc '#include "supervisor/mcp/session.h"'
expect allowed supervisor/main.cc '#include "supervisor/cli/serve.h"'
expect refused supervisor/a_room/a.cc '#include "supervisor/cli/serve.h"'

# Tables of other trees, each with a base/ that may include nothing.
rm -r "${tree:?}"/*
table="$tree/table.md"
rows() {
  {
    printf '# A title\n\n## Folders\n\n| folder | holds | may include |\n|---|---|---|\n| `base/` | x | |\n'
    printf '%s\n' "$@"
    printf '\n## Another section\n\n| `no/row/` | x | |\n'
  } >"$table"
}
mkdir -p "$tree/policy/deep" "$tree/worker"
printf '#pragma once\n' >"$tree/policy/deep/a.h"
printf '#pragma once\n' >"$tree/worker/spec.h"

all='| `worker/` | x | base |'
rows "$all" '| `policy/low/` | x | |' '| `policy/deep/` | x | low, base |' '| `policy/` | x | `worker/spec.h`, deep |'
expect allowed policy/deep/b.cc '#include "policy/low/a.h"'
expect allowed policy/deep/b.cc '#include "policy/deep/a.h"'
expect refused policy/deep/b.cc '#include "policy/a.h"'
expect refused policy/deep/b.cc '#include "worker/spec.h"'
expect refused policy/low/b.cc '#include "policy/deep/a.h"'
expect allowed policy/b.cc '#include "worker/spec.h"'
expect refused policy/b.cc '#include "worker/wire.h"'
expect allowed policy/b.cc '#include "policy/deep/a.h"'
expect refused policy/b.cc '#include "policy/low/a.h"'
expect refused policy/b.cc '#include "base/error.h"'
# A file for which there is no row.
expect refused sandbox/b.cc '#include <string>'

# refuse WORDS ROW...: the table itself is refused, and WORDS say why.
refuse() {
  words=$1
  shift
  rows "$@"
  if "$checker" "$tree" "$table" >"$tree/said"; then fail "allowed: $*"; fi
  grep -qF "$words" "$tree/said" || fail "no word of \"$words\" about: $*"
}
refuse '"deep" is no folder of a row above' "$all" '| `policy/` | x | deep |' '| `policy/deep/` | x | |'
refuse '"above" is no folder of a row above' "$all" '| `policy/` | x | above |'
refuse '`policy/` has two rows' "$all" '| `policy/` | x | |' '| `policy/` | x | base |'
refuse 'three cells are expected' "$all" '| `policy/` | x |'
refuse 'the first cell must be a folder' "$all" '| policy | x | |'
refuse '`worker/none.h` does not exist' "$all" '| `policy/` | x | `worker/none.h` |'
printf '# A title\n' >"$table"
if "$checker" "$tree" "$table" >"$tree/said"; then fail "allowed a document without a table"; fi
rm -r "${tree:?}"/*
rows "$all"
if "$checker" "$tree" "$table" >"$tree/said"; then fail "allowed a tree without sources"; fi
