"""Judges what the guests measured: report.py RESULTS SCENARIOS GUEST...

RESULTS/GUEST.log has lines `@@ SCENARIO CALL P50 P99 LONGEST FAILED`, in ms, of the calls of one
tenant. In each of the SCENARIOS (with commas between) another one is greedy, but in `alone`, with
which they are compared. The last line is `N passed, N failed, N skipped`, over the comparisons.
"""

import pathlib
import re
import sys

CALLS = ["list", "read", "make"]
GOAL = 1.5
# A call of make computes from its beginning to its end. At equal shares the greedy tenant has half
# of the one processor in that time.
GOAL_OF_MAKE = 2.0
# Above a goal, within that half and the kernel's next tick (4 ms at most with CONFIG_HZ=250) it is
# what one processor can give (docs/adr/0057). It fails nevertheless.
SHARES = 2.0
TICK = 4.0


def measured(log):
    """{(scenario, call): (p50, p99, longest, failed)}"""
    rows = re.findall(r"^@@ (\w+) (\w+)\S* ([\d.]+) ([\d.]+) ([\d.]+) (\d+)\r?$", log, re.M)
    return {(row[0], row[1]): (*map(float, row[2:5]), int(row[5])) for row in rows}


def main(results, scenarios, *guests):
    failures, passed = [], 0
    for guest in guests:
        log = pathlib.Path(results, f"{guest}.log")
        text = log.read_text(errors="replace") if log.exists() else ""
        kernel = re.search(r"^@@ kernel (\S+)", text, re.M)
        print(f"\n{guest}: {kernel[1] if kernel else 'did not boot'}; ms, and times that alone")
        print(f"{'':8}" + "".join(f"{call + ' p50':>12}{'p99':>9}{'':9}" for call in CALLS))
        times = measured(text)
        for scenario in scenarios.split(","):
            line = f"{scenario:8}"
            for call in CALLS:
                here = times.get((scenario, call))
                alone = times.get(("alone", call))
                if not here or not alone:
                    failures.append(f"{guest}: {call}, {scenario}: was not measured")
                    continue
                ratio = here[1] / alone[1]
                line += f"{here[0]:12.2f}{here[1]:9.2f}{ratio:8.2f}x"
                goal = GOAL_OF_MAKE if call == "make" else GOAL
                half = SHARES * alone[1] + TICK
                if here[3]:
                    failures.append(f"{guest}: {call}, {scenario}: {here[3]} calls failed")
                elif ratio > goal:
                    than = "not more" if here[1] <= half else "more"
                    failures.append(f"{guest}: {call}, {scenario}: p99 is {ratio:.2f} times that "
                                    f"alone, more than {goal}; {than} than half of the processor "
                                    f"and a tick ({half:.2f} ms)")
                elif scenario != "alone":
                    passed += 1
            print(line)
    if not failures and not passed:
        failures.append("nothing was compared: name a scenario beside alone")
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{passed} passed, {len(failures)} failed, 0 skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
