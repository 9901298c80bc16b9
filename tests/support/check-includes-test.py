#!/usr/bin/env python3
"""check-includes.py refuses what it must and lets the rest through:
check-includes-test.py CHECKER ARCHITECTURE.md
"""

import importlib.util
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
checker_path, architecture = map(Path, sys.argv[1:])
spec = importlib.util.spec_from_file_location("check_includes", checker_path)
checker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checker)

ALLOWED, REFUSED = True, False


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def expect(wanted, file, line):
    """Whether a tree whose `file` holds `line` is let through."""
    write(tree / file, line + "\n")
    found = checker.complaints(tree, table)
    (tree / file).unlink()
    assert (not found) == wanted, (
        f"{file} with {line} must be {'allowed' if wanted else 'refused'}: {found}")


def rows(*lines):
    """A table of its own, whose base/ may include nothing."""
    head = ("# A title\n\n## Folders\n\n"
            "| folder | holds | may include |\n|---|---|---|\n| `base/` | x | |\n")
    write(table, head + "\n".join(lines) + "\n\n## Another section\n\n| `no/row/` | x | |\n")


def refuse(words, *lines):
    """The table itself is refused, and `words` say why."""
    rows(*lines)
    found = checker.complaints(tree, table)
    assert len(found) == 1 and words in found[0], f'no word of "{words}" about {lines}: {found}'


def test_the_table_of_this_project():
    folders = re.search(r"^## Folders\n(.*?)^## ", architecture.read_text(), re.M | re.S).group(1)
    for header in re.findall(r"`([a-z_/]*\.h)`", folders):
        write(tree / header, "#pragma once\n")
    expect(ALLOWED, "sandbox/a.h", '#include "base/error.h"')
    expect(REFUSED, "base/a.h", '#include "sandbox/confinement.h"')
    expect(REFUSED, "sandbox/a.cc", '#include "policy/policy.h"')
    expect(REFUSED, "worker/a.cc", '#include "supervisor/call/tool.h"')
    expect(ALLOWED, "policy/a.cc", '#include "sandbox/prepared.h"')
    expect(REFUSED, "policy/a.cc", '#include "worker/spec.h"')
    expect(ALLOWED, "supervisor/run/a.cc", '#include "worker/spec.h"')
    expect(REFUSED, "supervisor/run/a.cc", '#include "worker/wire.h"')
    expect(ALLOWED, "supervisor/run/a.cc", '#include "sandbox/enforcement.h"')
    expect(REFUSED, "supervisor/run/a.cc", '#include "sandbox/landlock.h"')
    expect(REFUSED, "supervisor/run/a.cc", '#include <linux/landlock.h>')
    expect(ALLOWED, "base/json_reader.cc", '#include <simdjson.h>')
    expect(REFUSED, "base/json.cc", '#include <simdjson.h>')
    expect(REFUSED, "policy/load.cc", '#include <yaml-cpp/yaml.h>')
    expect(REFUSED, "worker/a.cc", '#include <fmt/format.h>')
    expect(ALLOWED, "supervisor/run/a_test.cc", '#include "tests/support/temp_dir.h"')
    expect(REFUSED, "supervisor/run/a.cc", '#include "tests/support/temp_dir.h"')
    expect(ALLOWED, "supervisor/run/a.cc", '#include "supervisor/loop/task.h"')
    expect(REFUSED, "supervisor/loop/a.h", '#include "supervisor/run/runner.h"')
    expect(REFUSED, "supervisor/tools/a.cc", '#include "supervisor/mcp/session.h"')
    expect(ALLOWED, "supervisor/main.cc", '#include "supervisor/cli/serve.h"')
    expect(REFUSED, "supervisor/a_room/a.cc", '#include "supervisor/cli/serve.h"')


def test_tables():
    write(tree / "policy/deep/a.h", "#pragma once\n")
    write(tree / "worker/spec.h", "#pragma once\n")
    every = "| `worker/` | x | base |"
    rows(every, "| `policy/low/` | x | |", "| `policy/deep/` | x | low, base |",
         "| `policy/` | x | `worker/spec.h`, deep |")
    expect(ALLOWED, "policy/deep/b.cc", '#include "policy/low/a.h"')
    expect(ALLOWED, "policy/deep/b.cc", '#include "policy/deep/a.h"')
    expect(REFUSED, "policy/deep/b.cc", '#include "policy/a.h"')
    expect(REFUSED, "policy/deep/b.cc", '#include "worker/spec.h"')
    expect(REFUSED, "policy/low/b.cc", '#include "policy/deep/a.h"')
    expect(ALLOWED, "policy/b.cc", '#include "worker/spec.h"')
    expect(REFUSED, "policy/b.cc", '#include "worker/wire.h"')
    expect(ALLOWED, "policy/b.cc", '#include "policy/deep/a.h"')
    expect(REFUSED, "policy/b.cc", '#include "policy/low/a.h"')
    expect(REFUSED, "policy/b.cc", '#include "base/error.h"')
    # A file for which there is no row.
    expect(REFUSED, "sandbox/b.cc", '#include <string>')
    refuse('"deep" is no folder of a row above',
           every, "| `policy/` | x | deep |", "| `policy/deep/` | x | |")
    refuse('"above" is no folder of a row above', every, "| `policy/` | x | above |")
    refuse("`policy/` has two rows", every, "| `policy/` | x | |", "| `policy/` | x | base |")
    refuse("three cells are expected", every, "| `policy/` | x |")
    refuse("the first cell must be a folder", every, "| policy | x | |")
    refuse("`worker/none.h` does not exist", every, "| `policy/` | x | `worker/none.h` |")
    write(table, "# A title\n")
    assert checker.complaints(tree, table), "a document without a table is allowed"
    shutil.rmtree(tree)
    tree.mkdir()
    rows(every)
    assert checker.complaints(tree, table), "a tree without sources is allowed"


with tempfile.TemporaryDirectory() as folder:
    tree, table = Path(folder), architecture
    test_the_table_of_this_project()
with tempfile.TemporaryDirectory() as folder:
    tree, table = Path(folder) / "tree", Path(folder) / "table.md"
    test_tables()
