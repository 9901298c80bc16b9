#!/bin/sh
# What no C++ source may hold: check-banned.sh TREE
#
# Functions that the house does not use, each with its replacement. Tests are free: they play the
# part of programs that use them. To ban one: a line in `ban`. A use that is right all the same says
# so: `// banned-ok: reason`.
#
# Lines over 100 columns, in tests too: clang-format breaks no string, no long word, and no line of
# the tables for which it is off.
#
# Two types of one name in one namespace, each in a header: the linker takes them for one (ODR).
set -eu

cd "$1"
# In the locale C every awk counts bytes.
export LC_ALL=C
find base sandbox worker policy supervisor tests -name '*.cc' -o -name '*.h' | sort | xargs awk '
BEGIN {
  ban["system"] = ban["popen"] = \
    "a CommandPlan: nothing runs outside a worker, nothing is a shell string"
  ban["strcpy"] = ban["strcat"] = ban["sprintf"] = ban["vsprintf"] = \
    "std::string, or snprintf with its size"
  ban["strncpy"] = "memcpy with a checked length: strncpy may leave no NUL"
  ban["atoi"] = ban["atol"] = ban["strtol"] = ban["strtoul"] = ban["sscanf"] = \
    "std::from_chars: it reports errors"
  ban["strtok"] = ban["asctime"] = ban["ctime"] = ban["localtime"] = ban["gmtime"] = \
    "a function without hidden state"
  ban["rand"] = ban["srand"] = "getrandom(2)"
  ban["tmpnam"] = ban["mktemp"] = ban["tempnam"] = "mkstemp or mkdtemp"
  ban["signal"] = "sigaction"
  ban["vfork"] = "posix_spawn or clone"
  ban["setenv"] = ban["putenv"] = ban["unsetenv"] = \
    "a map that is passed on; the environment is a global"
  ban["alloca"] = "std::vector"
}
{
  line = $0
  gsub(/[\200-\277]/, "", line)                 # all bytes of a character but its first
  if (length(line) > 100) {
    printf "%s:%d: %d columns; at most 100 are allowed\n", FILENAME, FNR, length(line)
    failed = 1
  }
}
FNR == 1 { namespace = "" }
/^namespace .*[{]$/ { namespace = $2 }
# A specialisation has the name of its template.
/^(struct|class) [A-Za-z_0-9]+</ { next }
FILENAME ~ /\.h$/ && /^(struct|class|union|enum|enum class) [A-Za-z_0-9]+.*[{]/ {
  type = $1 == "enum" && $2 == "class" ? $3 : $2
  sub(/[^A-Za-z_0-9].*/, "", type)
  type = namespace "::" type
  if (type in defined) {
    printf "%s:%d: %s is defined in %s too: the linker takes both for one\n", FILENAME, FNR, type,
        defined[type]
    failed = 1
  }
  defined[type] = FILENAME
}
FILENAME !~ /_test|^tests\// {
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
