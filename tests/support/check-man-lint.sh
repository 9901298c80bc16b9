#!/bin/sh
# check-man-lint.sh PAGE...: mandoc has nothing to say of the manual pages, but for two matters of
# style:
#   the title is in lower case, as the program's name is;
#   lines are longer than 80 bytes, as they are in scdoc's sources, which nobody reads as roff.
set -eu
command -v mandoc >/dev/null || {
  echo "skipped: mandoc is not installed"
  exit 77
}

lint() { mandoc -T lint -W style "$@" | grep -v -e 'STYLE: lower case character in document title' \
  -e 'STYLE: input text line longer than 80 bytes'; }

# It would be heard.
printf '.TH x 1\n.SH NAME\nx \\- y\n.XX\n' | lint >/dev/null || {
  echo "mandoc says nothing of a page that is wrong"
  exit 1
}
! lint "$@"
