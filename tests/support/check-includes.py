#!/usr/bin/env python3
"""Who may include whom: check-includes.py TREE [ARCHITECTURE.md]

The table "Folders" of docs/architecture.md says which folder may include which; this check reads it
there. A row is

    | `folder/` | what it holds | what it may include |

The third cell lists, with commas between, folders of rows above (by their names, from those in the
folder itself to those at the top) and single headers in backticks; "all" lifts the limit. As a
folder can only name folders above it, there are no circles. A folder may always include itself.
Each folder has a row, but for the precompiled headers in pch/.

Which library is included by which files alone stands in ONLY below.
"""

import re
import sys
from pathlib import Path

CHECKED = ("base", "sandbox", "worker", "policy", "supervisor")

# A library is included by one file, so that its exceptions end there and it can be replaced there.
ONLY = {
    r"simdjson": r"base/json_reader\.cc",
    r"nettle/": r"base/(base64|digest|public_key)\.cc",
    r"seccomp\.h$": r"sandbox/seccomp_compile(_test)?\.cc",
    r"yaml-cpp/": r"policy/yaml\.cc",
    r"toml\+\+/": r"supervisor/(.*/)?toml_config\.cc",
    r"CLI/": r"supervisor/(.*/)?command_line\.cc",
    r"spdlog/": r"supervisor/(.*/)?log\.cc",
    r"uv\.h$": r"supervisor/.*",
    r"fmt/": r"(base|policy|supervisor)/.*",
    r"nlohmann/": r".*_test\.cc",
    r"gtest/": r".*_test(\.cc|_support\.h)",
    r"linux/(landlock|seccomp|filter|bpf)": r"(sandbox|worker)/.*|policy/.*_test\.cc",
}

INCLUDE = re.compile(r'\s*#\s*include\s*(?:"([^"]*)"|<([^>]*)>)')


class Mistake(Exception):
    """A table that this check cannot read."""


class Row:
    def __init__(self, folder):
        self.folder = folder
        self.all = False
        self.folders = {folder}
        self.headers = set()

    def may_include(self, header, folder_of_header):
        return self.all or header in self.headers or folder_of_header in self.folders


def section_folders(text):
    """The rows of the table below the heading "Folders", as lists of cells."""
    found = re.search(r"^## Folders\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found:
        raise Mistake('there is no section "## Folders"')
    lines = [line for line in found.group(1).splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines[2:]]
    if not rows:
        raise Mistake('the section "## Folders" has no table')
    return rows


def resolve(name, folder, rows):
    """The folder that `name` means in the row of `folder`.

    That is one of the folders above: one in `folder`, one beside it, or one at the top.
    """
    parent = folder.rpartition("/")[0]
    for candidate in (f"{folder}/{name}", f"{parent}/{name}", name):
        if candidate in rows:
            return candidate
    raise Mistake(f'`{folder}/`: "{name}" is no folder of a row above')


def read_table(text):
    rows = {}
    for cells in section_folders(text):
        if len(cells) != 3:
            raise Mistake(f"three cells are expected in a row: {' | '.join(cells)}")
        name = re.fullmatch(r"`([\w/]+)/`", cells[0])
        if not name:
            raise Mistake(f"the first cell must be a folder like `base/`: {cells[0]}")
        folder = name.group(1)
        if folder in rows:
            raise Mistake(f"`{folder}/` has two rows")
        row = Row(folder)
        for entry in filter(None, (part.strip() for part in cells[2].split(","))):
            header = re.fullmatch(r"`([\w./]+\.h)`", entry)
            if entry == "all":
                row.all = True
            elif header:
                row.headers.add(header.group(1))
            else:
                row.folders.add(resolve(entry, folder, rows))
        rows[folder] = row
    return rows


def folder_of(path, rows):
    folder = path.rpartition("/")[0].removesuffix("/pch")
    return folder if folder in rows else None


def complaints_about(name, text, rows):
    folder = folder_of(name, rows)
    if folder is None:
        yield f"{name}:1: belongs to no row of the table"
        return
    is_test = name.endswith(("_test.cc", "_test_support.h"))
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        ours, library = found.groups()
        if ours is not None:
            support = is_test and ours.startswith("tests/support/")
            if not support and not rows[folder].may_include(ours, folder_of(ours, rows)):
                yield f'{name}:{number}: {folder}/ may not include "{ours}"'
        else:
            for pattern, files in ONLY.items():
                if re.match(pattern, library) and not re.fullmatch(files, name):
                    yield f"{name}:{number}: <{library}> is included only by {files}"


def complaints(tree, table):
    """What is wrong with the sources of `tree`, or with the table in the file `table`."""
    try:
        rows = read_table(table.read_text())
        for row in rows.values():
            for header in row.headers:
                if not (tree / header).is_file():
                    raise Mistake(f"`{row.folder}/`: `{header}` does not exist")
    except Mistake as mistake:
        return [f"{table}: {mistake}"]
    files = sorted(f for folder in CHECKED for f in (tree / folder).rglob("*")
                   if f.suffix in (".cc", ".h"))
    if not files:
        return [f"{tree}: no sources"]
    return [c for f in files
            for c in complaints_about(str(f.relative_to(tree)), f.read_text(), rows)]


if __name__ == "__main__":
    root = Path(sys.argv[1])
    architecture = Path(sys.argv[2]) if len(sys.argv) > 2 else root / "docs/architecture.md"
    found = complaints(root, architecture)
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)
