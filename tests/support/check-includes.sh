#!/bin/sh
# Who may include whom (docs/architecture.md), checked over the sources: check-includes.sh TREE
#
# To add a permission: a line in `allow` below, with an ADR if it is a new direction.
set -eu

cd "$1"
find base sandbox worker policy supervisor -name '*.cc' -o -name '*.h' | sort | xargs awk '
BEGIN {
  # Our own headers: first, everything is excluded.
  allow["base"] = "^base/"
  allow["sandbox"] = "^(sandbox|base)/"
  allow["worker"] = "^(worker|sandbox|base)/"
  allow["policy"] = "^(policy|sandbox|base)/"
  allow["supervisor"] = "^(supervisor|policy|base)/|^worker/(spec|status|probe|file_header)\\.h$|" \
    "^sandbox/(cgroup|confinement|enforcement|prepared|view_plan)\\.h$"

  # A library is included by one file, so that its exceptions end there and it can be replaced there.
  only["^simdjson"] = "^base/json_reader\\.cc$"
  only["^nettle/"] = "^base/(base64|digest)\\.cc$"
  only["^seccomp\\.h$"] = "^sandbox/seccomp_compile(_test)?\\.cc$"
  only["^yaml-cpp/"] = "^policy/yaml\\.cc$"
  only["^toml\\+\\+/"] = "^supervisor/toml_config\\.cc$"
  only["^CLI/"] = "^supervisor/command_line\\.cc$"
  only["^spdlog/"] = "^supervisor/log\\.cc$"
  only["^uv\\.h$"] = "^supervisor/"
  only["^fmt/"] = "^(base|policy|supervisor)/"
  only["^nlohmann/"] = "_test\\.cc$"
  only["^gtest/"] = "_test(\\.cc|_support\\.h)$"
  only["^linux/(landlock|seccomp|filter|bpf)"] = "^(sandbox|worker)/|^policy/.*_test\\.cc$"
}
function complain(why) {
  printf "%s:%d: %s\n", FILENAME, FNR, why
  failed = 1
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
  split($0, part, "\"")
  folder = FILENAME
  sub("/.*", "", folder)
  test = FILENAME ~ /_test\.cc$/ && part[2] ~ /^tests\/support\//
  if (part[2] !~ allow[folder] && !test) complain(folder " may not include \"" part[2] "\"")
}
/^[ \t]*#[ \t]*include[ \t]*</ {
  split($0, part, "[<>]")
  for (library in only)
    if (part[2] ~ library && FILENAME !~ only[library])
      complain("<" part[2] "> belongs to " only[library] " alone")
}
END { exit failed }
'
