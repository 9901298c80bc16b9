"""Judges what the guests saw: report.py RESULTS SECONDS

RESULTS/guests has a line `GUEST ABI STEPS` for each guest, RESULTS/GUEST.log holds its report. This
program compares the report of `doctor`, the outcome of each attempt to escape, and the known
abilities of the kernel. The last line is `N passed, N failed, N skipped`, over the test cases of
all guests and the comparisons made here.
"""

import collections
import itertools
import json
import pathlib
import re
import sys

USERS = ["root", "daemon"]
TIERS = {"0": "doctor0", "1": "doctor"}  # the step that reports of it
BLOCK = re.compile(
    r"^@@ begin (\w+) (\w+) ([\d.]+)$(.*?)^@@ end \1 \2 (\d+) ([\d.]+)$", re.M | re.S)
CASES = re.compile(r"^\[  (PASSED|FAILED)  \] (\d+) tests?", re.M)
FAILED = re.compile(r"^\[  FAILED  \] (\S+).*\(\d+ ms\)$", re.M)
CGROUP = re.compile(r"^\[       OK \] (CgroupTest|\w*InCgroup)\.", re.M)
SKIPPED = re.compile(r"^.*: Skipped\n(.*)\n\[  SKIPPED \]", re.M)


class Guest:
    def __init__(self, results, name, abi, steps):
        seconds = results / f"{name}.seconds"
        self.seconds = seconds.read_text().strip() if seconds.exists() else "?"
        self.name, self.abi = name, int(abi)
        self.steps = {}  # as whom each is made
        for step in ["doctor", "doctor0", "doctor_text", *steps.split(",")]:
            step, _, user = step.partition(":")
            self.steps[step] = [user] if user else USERS
        self.passed, self.failures, self.skips, self.blocks = 0, [], [], {}
        error = results / f"{name}.error"
        log = results / f"{name}.log"
        self.missing = error.read_text().strip() if error.exists() else ""
        self.log = log.read_text(errors="replace").replace("\r\n", "\n") if log.exists() else ""
        for step, user, start, out, status, end in BLOCK.findall(self.log):
            self.blocks[step, user] = (out, int(status), float(end) - float(start))

    def check(self, holds, what):
        if holds:
            self.passed += 1
        else:
            self.failures.append(what)

    def judge(self):
        if self.missing:
            self.failures.append(self.missing)
            return
        kernel = re.search(r"^@@ kernel (\S+)", self.log)
        done = re.search(r"^@@ done ([\d.]+)", self.log, re.M)
        self.release = kernel[1] if kernel else "did not boot"
        self.check(done, "the guest did not come to its end: see its .console, .log and .qemu")
        for step, users in self.steps.items():
            for user in users:
                if (step, user) not in self.blocks:
                    self.failures.append(f"{step} as {user} did not end")
        for user in USERS:
            for tier in TIERS:
                self.judge_doctor(tier, user)
            if self.abi > 0:
                self.judge_tier1(user)
        for step, users in self.steps.items():
            for user in users:
                if not step.startswith("doctor"):
                    self.judge_step(step, user)
        if "limits_cgroup" in self.steps:
            for user in USERS:
                for step in ["cgroup" if user == "daemon" else "sandbox", "limits_cgroup"]:
                    seen = self.cgroup(step, user)
                    self.check(
                        seen,
                        f"{step} as {user}: no cgroup v2 was delegated, so nothing was seen")
        if self.abi > 0 and all(("escapes", user) in self.blocks for user in USERS):
            self.compare()

    def doctor(self, tier, user):
        out = self.blocks.get((TIERS[tier], user), ("", 0, 0))[0].strip()
        try:
            return json.loads(out.splitlines()[-1])
        except (ValueError, IndexError):
            return None

    def levels(self, tier, user):
        report = self.doctor(tier, user) or {"protections": []}
        return {entry["name"]: entry["level"] for entry in report["protections"]}

    def judge_tier1(self, user):
        """Debian's kernels grant namespaces to everybody."""
        for tier, expected in [("0", "no"), ("1", "yes")]:
            report = self.doctor(tier, user) or {"kernel": {"namespaces": "?"}}
            granted = report["kernel"]["namespaces"]
            self.check(granted == expected,
                       f"{TIERS[tier]} as {user}: namespaces {granted}, not {expected}")

    def judge_doctor(self, tier, user):
        report = self.doctor(tier, user)
        if report is None:
            self.failures.append(f"{TIERS[tier]} as {user} gave no report")
            return
        abi = report["kernel"]["landlock_abi"]
        self.check(abi == self.abi,
                   f"{TIERS[tier]} as {user} sees Landlock ABI {abi}, not {self.abi}")
        # In full from the ABI on that scopes signals, or with a pid namespace.
        status = self.blocks[TIERS[tier], user][1]
        full = self.abi >= 6 or (tier == "1" and self.abi > 0)
        self.check((status == 0) == full == report["complete"],
                   f"{TIERS[tier]} as {user}: exit status {status}")
        allowed = report["probe"]["allowed"]
        self.check(not allowed, f"{TIERS[tier]}'s probe as {user} got through: {allowed}")
        if self.abi > 0:
            return
        text = self.blocks.get(("doctor_text", user), ("", 0, 0))[0]
        levels = self.levels(tier, user)
        for said in ["NO Landlock", "is NOT enforced", "do not run"]:
            self.check(said in text, f"doctor as {user} does not say: {said}")
        for name in ["file_read", "file_write", "process_memory"]:
            self.check(
                levels.get(name) == "not",
                f"doctor as {user} calls {name} {levels.get(name)} without Landlock")

    def judge_step(self, step, user):
        if (step, user) not in self.blocks:
            return
        out, status, _ = self.blocks[step, user]
        cases = {kind: int(count) for kind, count in CASES.findall(out)}
        failed = sorted(set(FAILED.findall(out)))
        if not cases:
            self.check(status == 0, f"{step} as {user}: exit status {status}")
            return
        self.passed += cases.get("PASSED", 0)
        self.failures += [f"{step} as {user}: {name}" for name in failed]
        self.skips += [f"{step} as {user}: {why}" for why in SKIPPED.findall(out)]
        self.check((status == 0) == (not failed), f"{step} as {user}: exit status {status}")

    def attempts(self, user):
        """(attempt, tier, protection, did it escape) of each that was made in the sandbox."""
        out = self.blocks.get(("escapes", user), ("", 0, 0))[0]
        report = out.partition("\n@@ report\n")[2]
        if not report:
            self.failures.append(f"escapes as {user} left no report")
            return []
        cases = [case for suite in json.loads(report)["testsuites"] for case in suite["testsuite"]]
        return [
            (case["name"].rpartition("/")[2], case["tier"], case["protection"],
             case["escaped"] == "yes")
            for case in cases
            if "escaped" in case
        ]

    def compare(self):
        """Nobody got through a protection that doctor calls enforced; somebody through a `not`."""
        seen = {}
        for user in USERS:
            for attempt, tier, protection, escaped in self.attempts(user):
                seen.setdefault((tier, protection), []).append(escaped)
                level = self.levels(tier, user).get(protection)
                if level == "enforced":
                    self.check(
                        not escaped,
                        f"{TIERS[tier]} oversells {protection}: {attempt} as {user} escaped")
        for tier, user in itertools.product(TIERS, USERS):
            for protection, level in self.levels(tier, user).items():
                tried = seen.get((tier, protection), [])
                self.check(tried, f"nothing was tried against {protection} in tier {tier}")
                if level == "not":
                    self.check(
                        any(tried),
                        f"{TIERS[tier]} as {user} undersells {protection}: nothing escaped")

    def cgroup(self, step, user):
        return len(CGROUP.findall(self.blocks.get((step, user), ("", 0, 0))[0]))

    def cell(self, step, user):
        """passed/failed/skipped."""
        if step not in self.steps:
            return "-"
        if (step, user) not in self.blocks:
            return "?"
        out, status, _ = self.blocks[step, user]
        cases = {kind: int(count) for kind, count in CASES.findall(out)}
        if not cases:
            return "ok" if status == 0 else "FAILED"
        failed, skipped = len(set(FAILED.findall(out))), len(SKIPPED.findall(out))
        return f"{cases.get('PASSED', 0)}/{failed}/{skipped}"

    def both(self, step):
        return " ".join(self.cell(step, user) for user in self.steps.get(step, [])) or "-"

    def summary(self):
        levels = self.levels("1", "daemon")
        counts = [sum(level == kind for level in levels.values())
                  for kind in ("enforced", "partly", "not")]
        return "%d + %d, not %d" % tuple(counts) if levels else "?"

    def row(self):
        if self.missing:
            return [self.name, self.missing]
        kernel = (self.doctor("1", "daemon") or {}).get("kernel", {})
        landlock = str(kernel.get("landlock_abi", "?"))
        row = [self.name, self.release, landlock if landlock != "0" else "none", self.summary()]
        tried = "escapes" if "escapes" in self.steps else "refusals"
        row += [self.cell(tried, user) for user in USERS]
        row += [self.both(step) for step in ("sandbox", "worker")]
        row += [self.both(step) for step in ("limits", "limits_cgroup")]
        row += [self.both(step) for step in ("explain", "demo")]
        return row + [self.seconds]


HEADER = ["guest", "kernel", "Landlock", "doctor", "escapes: root", "daemon", "sandbox", "worker",
          "limits", "in cgroup", "explain", "demo", "s"]


def print_table(rows):
    width = [max(len(row[i]) for row in rows if len(row) > 2) for i in range(len(HEADER))]
    for row in rows:
        if len(row) == 2:
            print(f"{row[0]:<{width[0]}}  {row[1]}")
        else:
            print("  ".join(f"{cell:<{width[i]}}" for i, cell in enumerate(row)).rstrip())


def main(results, seconds):
    results = pathlib.Path(results)
    guests = []
    for line in (results / "guests").read_text().splitlines():
        name, abi, steps, *_ = line.split()
        guests.append(Guest(results, name, abi, steps))
    for guest in guests:
        guest.judge()
    print()
    print_table([HEADER] + [guest.row() for guest in guests])
    print("doctor: protections enforced + partly, and not; "
          "tests: passed/failed/skipped, as root and as daemon\n")
    for guest in guests:
        for skip, count in sorted(collections.Counter(guest.skips).items()):
            print(f"skipped: {guest.name}: {skip}" + (f" ({count} tests)" if count > 1 else ""))
    for guest in guests:
        for failure in guest.failures:
            print(f"FAILED: {guest.name}: {failure}")
    print(f"{int(seconds) // 60} min {int(seconds) % 60} s; logs in {results}")
    counts = [sum(guest.passed for guest in guests)]
    counts += [sum(len(which) for which in lists)
               for lists in ([g.failures for g in guests], [g.skips for g in guests])]
    print("%d passed, %d failed, %d skipped" % tuple(counts))
    return 1 if counts[1] or not counts[0] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
