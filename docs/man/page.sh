#!/bin/sh
# page.sh SCDOC SOURCE: the manual page on standard output. scdoc begins paragraphs that stay empty:
# those go, or come after the end of an indent, so that `mandoc -Tlint` complains only about the
# author's text.
set -eu
"$1" <"$2" | awk '
  $0 == ".P" { paragraph = 1; next }
  $0 == ".RE" { print; next }
  {
    if (paragraph && before !~ /^\.SH/ && $0 !~ /^\.S[HS]/) print ".P"
    paragraph = 0
    before = $0
    print
  }'
