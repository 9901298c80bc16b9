#!/usr/bin/env python3
"""Lines that carry trust, changed one at a time: a test must notice each (docs/adr/0032).

  run.py --check TREE            every line of the table still stands in its file, exactly once
  run.py TREE [WORD...]          tries all, or those whose file or reason has a WORD, in copies of
                                 TREE: a build and a share for each processor

The table is mutants.txt, in blocks of

  FILE
  - the line as it stands there, without the blanks around it
  + what stands there instead; without a + the line is left out
  ? TEST FILTER                  a test of meson, and the part of it that shall notice, as a filter
                                 of GoogleTest; may be repeated
  # why: what becomes possible

Exit status 1: a mutant that nothing notices, that does not compile, or whose tests do not pass
without it.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

AT_LEAST = 60
LONGEST = 120  # seconds, of what a filter selects: what does not end has noticed


class Mutant:
    def __init__(self, block):
        lines = block.strip().split("\n")
        self.file = lines[0].strip()
        self.old = self.new = ""
        self.tests = []
        self.why = ""
        for line in lines[1:]:
            mark, _, text = line.partition(" ")
            if mark == "-":
                self.old = text.strip()
            elif mark == "+":
                self.new = text.strip()
            elif mark == "?":
                name, _, selected = text.strip().partition(" ")
                self.tests.append((name, selected))
            elif mark == "#":
                self.why += text.strip()
            else:
                sys.exit(f"mutants.txt: what is '{line}'?")

    def __str__(self):
        return f"{self.file}: {self.why}"

    def places(self, tree):
        """The numbers of the lines that it is about."""
        lines = (tree / self.file).read_text(encoding="utf-8").split("\n")
        return lines, [number for number, line in enumerate(lines) if line.strip() == self.old]

    def complaint(self, tree):
        if not (self.old and self.tests and self.why and self.old != self.new):
            return "a part of it is missing"
        if not (tree / self.file).is_file():
            return "there is no such file"
        count = len(self.places(tree)[1])
        return "" if count == 1 else f"{count} lines are '{self.old}'"

    def text(self, tree):
        lines, (number,) = self.places(tree)
        indent = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
        lines[number] = indent + self.new if self.new else ""
        return "\n".join(lines)


def table(tree):
    text = (tree / "tests/mutants/mutants.txt").read_text(encoding="utf-8")
    blocks = re.split(r"\n\s*\n", text)
    return [Mutant(block) for block in blocks if block.strip() and not block.startswith("//")]


def check(tree):
    mutants = table(tree)
    complaints = [f"{mutant}: {mutant.complaint(tree)}"
                  for mutant in mutants if mutant.complaint(tree)]
    if len(mutants) < AT_LEAST:
        complaints.append(f"{len(mutants)} mutants; at least {AT_LEAST} are wanted")
    print("\n".join(complaints))
    return not complaints


def copy(tree, to):
    """What git knows or would add, as it is now."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"],
                            cwd=tree, check=True, capture_output=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (tree / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, to / name)


class Copy:
    def __init__(self, tree, place):
        self.tree = place / "tree"
        self.build = self.tree / "build"
        copy(tree, self.tree)
        # A warning about code that a change leaves unused is no error. Not optimised, because that
        # compiles three times faster.
        self.call(["meson", "setup", "-Dwerror=false", "-Doptimization=0", "-Dunity=off",
                   str(self.build)])
        described = json.loads(self.call(["meson", "introspect", "--tests", str(self.build)]))
        # Of a program that runs in parts, as `escapes/1`, the whole.
        self.described = {}
        for test in described:
            test["env"] = {name: value for name, value in test["env"].items()
                           if not name.startswith("GTEST_")}
            self.described[re.sub(r"/\d+$", "", test["name"])] = test
        targets = json.loads(self.call(["meson", "introspect", "--targets", str(self.build)]))
        self.outputs = {target["id"]: target["filename"] for target in targets}
        self.faults = {}  # of tests, by name and filter

    def call(self, command):
        done = subprocess.run(command, cwd=self.tree, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
        return done.stdout

    def make(self, tests):
        files = []
        for name, _ in tests:
            test = self.described[name]
            programs = [path for identity in test["depends"]
                        for path in self.outputs.get(identity, [])]
            # The environment names the server.
            files += programs + test["cmd"][:1] + list(test["env"].values())
        made = {path for paths in self.outputs.values() for path in paths}
        wanted = {os.path.relpath(path, self.build) for path in files if path in made}
        self.call(["ninja", "-C", str(self.build)] + sorted(wanted))

    def run(self, name, selected, *options):
        """Whether it passed, and what it said."""
        test = self.described[name]
        command = test["cmd"] + ([f"--gtest_filter={selected}"] if selected else []) + list(options)
        try:
            done = subprocess.run(command, cwd=test["workdir"] or self.build,
                                  env=os.environ | test["env"],
                                  capture_output=True, text=True, errors="replace",
                                  timeout=min(test["timeout"], LONGEST))
        except subprocess.TimeoutExpired:
            return False, "it did not end"
        return done.returncode == 0, done.stdout + done.stderr

    def fault(self, name, selected):
        """Why it could not notice anything, before anything is changed; "" when it could."""
        if name not in self.described:
            return f"there is no test {name}"
        self.make([(name, selected)])
        passed, said = self.run(name, selected)
        ran = re.search(r"\[  PASSED  \] (\d+) test", said)
        if not passed:
            return f"{name} {selected} fails without it: {said[-1500:]}"
        if selected and (ran is None or ran[1] == "0"):
            return f"{name} {selected}: no test ran"
        return ""

    def prepare(self, mutants):
        """Asks each test once what it says without any change."""
        for test in sorted({test for mutant in mutants for test in mutant.tests}):
            self.faults[test] = self.fault(*test)

    def judge(self, mutant):
        """noticed, UNNOTICED, or what is wrong with it."""
        for test in mutant.tests:
            if self.faults[test]:
                return self.faults[test]
        file = self.tree / mutant.file
        before = file.read_text(encoding="utf-8")
        try:
            file.write_text(mutant.text(self.tree), encoding="utf-8")
            try:
                self.make(mutant.tests)
            except RuntimeError as error:
                return f"does not compile: {error}"
            noticed = any(not self.run(name, selected, "--gtest_fail_fast")[0]
                          for name, selected in mutant.tests)
            return "noticed" if noticed else "UNNOTICED"
        finally:
            file.write_text(before, encoding="utf-8")


def try_all(tree, mutants):
    """In a copy of its own; how many were not noticed."""
    bad = 0
    with tempfile.TemporaryDirectory(prefix="pa-mutants-") as place:
        os.chmod(place, 0o755)
        work = Copy(tree, pathlib.Path(place))
        work.prepare(mutants)
        for mutant in mutants:
            start = time.monotonic()
            verdict = work.judge(mutant)
            bad += verdict != "noticed"
            print(f"{verdict}: {mutant} ({time.monotonic() - start:.0f} s)", flush=True)
    return bad


def shares(mutants, count):
    """As many of them each, those of one file together: the file is compiled once less."""
    shared = [[] for _ in range(count)]
    for _, group in itertools.groupby(sorted(mutants, key=str), key=lambda mutant: mutant.file):
        min(shared, key=len).extend(group)
    return [share for share in shared if share]


def main():
    parser = argparse.ArgumentParser(
        description="changes lines that carry trust and asks the tests")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    tree = options.tree.resolve()
    right = check(tree)
    if options.check or not right:
        return 0 if right else 1
    chosen = [mutant for mutant in table(tree)
              if not options.words or any(word in str(mutant) for word in options.words)]
    began = time.monotonic()
    # What is compiled and linked for one is mostly one file after the other, so several at once.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        bad = sum(pool.map(lambda share: try_all(tree, share), shares(chosen, os.cpu_count() or 1)))
    print(f"{len(chosen)} mutants, {len(chosen) - bad} noticed, {bad} not; "
          f"{time.monotonic() - began:.0f} s")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
