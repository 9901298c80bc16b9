#!/usr/bin/env python3
"""What a guest runs, out of what meson knows of its tests.

guest_tests.py programs BUILD           the files of BUILD that must be there, a line each
guest_tests.py data BUILD               what of the tree tests read, a line each, from its top on
guest_tests.py functions BUILD WHERE    shell functions `run_NAME ARGUMENT...`, with BUILD at WHERE
                                        and the tree at /tree
"""

import json
import os
import re
import shlex
import subprocess
import sys

TESTS = ["demo", "sandbox", "worker", "escapes", "integration/explain", "integration/limits"]
TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
PROGRAMS = ["supervisor/project-actions", "supervisor/project-actions-masked"] + [
    "worker/project-actions-worker" + kind for kind in ("", "-faults", "-unconfined")
]


def tests_of(build):
    out = subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True)
    tests = {}
    for test in json.loads(out.stdout):
        # Of a program that runs in parts, as `escapes/1`, the whole.
        test["env"] = {k: v for k, v in test["env"].items() if not k.startswith("GTEST_")}
        test["name"] = re.sub(r"/\d+$", "", test["name"])
        tests[test["name"]] = test
    return [tests[name] for name in TESTS]


def inside(build, text):
    """The path within the build directory, if it is one."""
    return text[len(build) + 1 :] if text.startswith(build + "/") else None


def main(what, build, where=None):
    build = os.path.realpath(build)
    files = set(PROGRAMS)
    data = set()
    for test in tests_of(build):
        words = [f"{name}={value}" for name, value in test["env"].items()]
        for path in [*test["env"].values(), *test["cmd"]]:
            if os.path.isfile(path) and inside(build, os.path.realpath(path)):
                files.add(inside(build, os.path.realpath(path)))
            elif os.path.exists(path) and inside(TREE, path) and not inside(build, path + "/"):
                data.add(inside(TREE, path))
        if what == "functions":
            line = shlex.join(words + test["cmd"]).replace(build + "/", where + "/")
            line = line.replace(TREE + "/", "/tree/")
            print(f"run_{re.sub(r'[^a-z]', '_', test['name'])}() {{ exec env {line} \"$@\"; }}")
    if what == "programs":
        print("\n".join(sorted(files)))
    if what == "data":
        print("\n".join(sorted(data)))


if __name__ == "__main__":
    main(*sys.argv[1:])
