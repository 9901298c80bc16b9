#!/usr/bin/env python3
"""What must be built for tests, as ninja names it: programs-of.py BUILD TEST..."""

import json
import os
import subprocess
import sys

build, names = sys.argv[1], sys.argv[2:]


def introspect(what):
    out = subprocess.run(["meson", "introspect", what, build],
                         check=True, capture_output=True).stdout
    return json.loads(out)


made = {target["id"]: target["filename"] for target in introspect("--targets")}
tests = {test["name"]: test for test in introspect("--tests")}
missing = [name for name in names if name not in tests]
if missing:
    sys.exit(f"{build}: there is no test {', '.join(missing)}")
files = {path for name in names for target in tests[name]["depends"]
         for path in made.get(target, [])}
print(*sorted(os.path.relpath(path, build) for path in files), sep="\n")
