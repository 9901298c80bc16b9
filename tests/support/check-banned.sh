#!/bin/sh
# Functions that the house does not use, each with what to use instead: check-banned.sh TREE
# Tests are free: they play the part of whoever does.
#
# To ban one: a line in `ban`. A use that is right all the same says so: `// banned-ok: reason`.
set -eu

cd "$1"
find base sandbox worker policy supervisor -name '*.cc' -o -name '*.h' | grep -v _test | sort | xargs awk '
BEGIN {
  ban["system"] = ban["popen"] = "a CommandPlan: nothing runs outside a worker, nothing is a shell string"
  ban["strcpy"] = ban["strcat"] = ban["sprintf"] = ban["vsprintf"] = "std::string, or snprintf with its size"
  ban["strncpy"] = "memcpy with a checked length: strncpy may leave no NUL"
  ban["atoi"] = ban["atol"] = ban["strtol"] = ban["strtoul"] = ban["sscanf"] = "std::from_chars: it reports errors"
  ban["strtok"] = ban["asctime"] = ban["ctime"] = ban["localtime"] = ban["gmtime"] = "a function without hidden state"
  ban["rand"] = ban["srand"] = "getrandom(2)"
  ban["tmpnam"] = ban["mktemp"] = ban["tempnam"] = "mkstemp or mkdtemp"
  ban["signal"] = "sigaction"
  ban["vfork"] = "posix_spawn or clone"
  ban["setenv"] = ban["putenv"] = ban["unsetenv"] = "a map that is passed on; the environment is a global"
  ban["alloca"] = "std::vector"
}
{
  line = $0
  sub(/\/\/ banned-ok:.+/, "banned_ok", line)
  if (line ~ /banned_ok/) next
  sub(/\/\/.*/, "", line)                       # comments may name them
  gsub(/"([^"\\]|\\.)*"/, "\"\"", line)         # strings too
  while (match(line, /[A-Za-z_][A-Za-z_0-9]*\(/)) {
    name = substr(line, RSTART, RLENGTH - 1)
    before = RSTART > 1 ? substr(line, RSTART - 1, 1) : ""
    if (name in ban && before != "." && before != ">") {
      printf "%s:%d: %s is banned: use %s\n", FILENAME, FNR, name, ban[name]
      failed = 1
    }
    line = substr(line, RSTART + RLENGTH)
  }
}
END { exit failed }
'
