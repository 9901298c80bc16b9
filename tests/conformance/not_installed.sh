#!/bin/sh
# not_installed.sh CONFORMANCE_SERVER PROGRAM...: no PROGRAM has a fixture of the conformance suite.
set -eu
mark=test_input_required_result_
grep -q "$mark" "$1" || {
  echo "$1 has no '$mark': the mark is not one of the fixtures"
  exit 1
}
shift
for program; do
  if grep -q -e "$mark" -e test_simple_text "$program"; then
    echo "$program has fixtures of the conformance suite"
    exit 1
  fi
done
