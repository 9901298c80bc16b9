"""Counts what meson's test logs say: summary.py LOG.json...

A GoogleTest program counts once for each of its cases, any other program once. Every skip is
printed with its reason, every failure with its program. Fails if anything failed or nothing ran.
"""

import json
import re
import sys

CASES = re.compile(r"^\[  (PASSED|FAILED)  \] (\d+) tests?", re.M)
SKIPS = re.compile(r"^\[  SKIPPED \] (\S+) \(\d+ ms\)", re.M)
REASON = re.compile(r"^.*: Skipped\n(.*)$", re.M)


def count(test):
    """(passed, failed, reasons of skips) of one program."""
    out, result = test.get("stdout") or "", test["result"]
    if result == "SKIP":
        return 0, 0, [out.strip().splitlines()[-1] if out.strip() else "no reason given"]
    cases = {kind: int(number) for kind, number in CASES.findall(out)}
    if "PASSED" not in cases:
        return (1, 0, []) if result == "OK" else (0, 1, [])
    reasons = [reason.strip() or "no reason given" for reason in REASON.findall(out)]
    reasons += ["no reason given"] * (len(SKIPS.findall(out)) - len(reasons))
    failed = cases.get("FAILED", 0)
    return cases["PASSED"], failed or int(result != "OK"), reasons


def main(logs):
    passed, failed, skips = 0, 0, []
    for log in logs:
        with open(log, encoding="utf-8") as lines:
            for line in lines:
                test = json.loads(line)
                good, bad, reasons = count(test)
                passed, failed = passed + good, failed + bad
                skips += [f"skipped: {test['name']}: {reason}" for reason in reasons]
                if bad:
                    print(f"failed: {test['name']} ({test['result']}, {log})")
    for skip in sorted(set(skips)):
        print(skip)
    print(f"{passed} passed, {failed} failed, {len(skips)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
