#!/bin/bash
# projects.sh BUILD SCRATCH [NAME...]: builds and tests real projects outside, then inside the
# sandbox with the default policy, in both tiers, and prints a table: command, outcome outside and
# inside, time. Fails where the outcomes differ or the proof is missing. Sources come from Debian's
# source packages, its packages of Rust crates, and the npm registry, once.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)  # also for what a line prepares
build=$(cd "$1" && pwd)
mkdir -p "$2"
scratch=$(cd "$2" && pwd)
shift 2
. /etc/os-release
[ "$ID" = debian ] || { echo "projects.sh: the sources are Debian's source packages" >&2; exit 1; }
case "$scratch ${*:-libxkbcommon} " in
  # Of /tmp a command with namespaces sees only the names on the way to the project
  # (docs/policy.md).
  /tmp/*" libxkbcommon "*)
    echo "projects.sh: $scratch lies beneath /tmp," \
      "and libxkbcommon's tests write there: clone elsewhere" >&2
    exit 1 ;;
esac
export here HOME="$scratch/home" PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8
mkdir -p "$HOME" "$scratch/sources"

own_apt() {
  apt-get -q -o Dir::Etc::sourcelist="$scratch/apt/sources.list" \
    -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$scratch/apt/lists" \
    -o Dir::Cache="$scratch/apt" -o APT::Sandbox::User=root "$@"
}

# Nobody's own lists are touched.
prepare_apt() {
  [ ! -e "$scratch/apt/ready" ] || return 0
  mkdir -p "$scratch/apt/lists/partial" "$scratch/apt/archives/partial"
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
    "http://deb.debian.org/debian $VERSION_CODENAME main" >"$scratch/apt/sources.list"
  own_apt update
  touch "$scratch/apt/ready"
}

# fetch NAME SOURCE: the unpacked source in sources/NAME.
fetch() {
  local into=$scratch/sources/$1 package=${2#*:}
  [ ! -d "$into" ] || return 0
  local part=$scratch/part
  rm -rf "$part"
  mkdir -p "$part/tree"
  case $2 in
    deb:*)
      prepare_apt
      (cd "$part" && own_apt source --only-source --tar-only --download-only "$package")
      tar -xf "$part"/*.orig.tar.* -C "$part/tree" --strip-components=1 ;;
    crate:*) cp -rL /usr/share/cargo/registry/"$package"-[0-9]*/. "$part/tree" ;;
    npm:*)
      (cd "$part" && npm pack --silent "$package" >/dev/null)
      tar -xf "$part"/*.tgz -C "$part/tree" --strip-components=1 ;;
  esac
  mv "$part/tree" "$into"
}

# outside DIRECTORY COMMAND: exit status; output in DIRECTORY.log
outside() {
  (cd "$1" && env -i PATH="$PATH" HOME="$HOME" LANG="$LANG" bash -c "$2") \
    >"$1.log" 2>&1 </dev/null
}

# inside DIRECTORY COMMAND POLICY: the same through the server.
inside() {
  printf 'version: 1\ntools: {enable: [bash]}\nlimits: {wall_time: 20m}\n%s\n' "$3" >"$1.yaml"
  local arguments
  arguments=$(python3 -c \
    'import json,sys; print(json.dumps({"command": sys.argv[1], "timeout_ms": 1200000}))' "$2")
  (cd "$1" && env -i PATH="$PATH" HOME="$HOME" LANG="$LANG" \
    "$build/supervisor/project-actions" call bash "$arguments" --policy "$1.yaml") \
    >"$1.log" 2>&1 </dev/null
}

# refused DIRECTORY COMMAND POLICY: whether that fails there.
refused() { ! inside "$@"; }

failed=0 rows=
# measure LABEL PROOF FUNCTION ARGUMENTS...: runs it in a new copy of the source, prepared as its
# user would prepare it; into `cell`.
measure() {
  local label=$1 proof=$2 function=$3
  shift 3
  local copy=$scratch/work/$name-$label
  rm -rf "$copy"
  mkdir -p "$scratch/work"
  cp -r "$scratch/sources/$name" "$copy"
  local outcome=ok begin took
  if [ "$prepare" != - ]; then
    (cd "$copy" && bash -c "$prepare") >"$copy.log" 2>&1 || outcome="not prepared"
  fi
  begin=$EPOCHREALTIME
  if [ "$outcome" = ok ]; then "$function" "$copy" "$@" || outcome="exit $?"; fi
  took=$(python3 -c 'import sys; print(f"{float(sys.argv[2]) - float(sys.argv[1]):.1f}")' \
    "$begin" "$EPOCHREALTIME")
  if [ "$outcome" = ok ] && ! grep -Eq "$proof" "$copy.log"; then outcome="no proof"; fi
  if [ "$outcome" != ok ]; then
    failed=1
    echo "== $name, $label: $outcome"
    tail -n 30 "$copy.log"
  fi
  cell="$outcome, $took s"
}

while IFS=$'\t' read -r name ecosystem source prepare command proof policy without; do
  case $name in '#'*) continue ;; esac
  [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
  echo "== $name"
  fetch "$name" "$source"
  [ "$policy" != - ] || policy=
  row="| $name ($ecosystem) | \`${command//|/\\|}\`"
  measure outside "$proof" outside "$command"
  row+=" | $cell"
  if [ -z "$policy" ]; then
    row+=" | none"
  else
    measure denied "$policy" refused "$command" ""  # which suggests that line
    row+=" | \`$policy\`"
  fi
  measure default "$proof" inside "$command" "$policy"
  row+=" | $cell"
  if [ "$without" = - ]; then
    measure tier0 "$proof" inside "$command" "namespaces: off"$'\n'"$policy"
    row+=" | $cell"
  else
    row+=" | $without"
  fi
  rows+="$row |"$'\n'
done <"$here/projects.tsv"

printf '\n| project | command | outside | line, as suggested | inside | inside, namespaces: off |\n'
printf '|---|---|---|---|---|---|\n%s' "$rows"
exit $failed
