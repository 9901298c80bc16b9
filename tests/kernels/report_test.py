#!/usr/bin/env python3
"""report.py must see what is wrong: guests made up here, one for each thing that it judges."""

import contextlib
import io
import itertools
import json
import pathlib
import tempfile

import report

OPEN_BELOW = {"signals": 6, "file_metadata": 99}


def doctor(abi, tier, level=None, namespaces=None):
    full = abi >= 6 or tier == 1
    levels = {"file_read": "enforced", "signals": "enforced" if full else "partly",
              "file_metadata": "not"}
    if abi == 0:
        levels = {"file_read": "not", "file_write": "not", "process_memory": "not"}
    levels |= level or {}
    protections = [{"name": name, "level": value} for name, value in levels.items()]
    kernel = {"landlock_abi": abi, "namespaces": namespaces or ("yes" if tier else "no")}
    return {"complete": full and abi > 0, "kernel": kernel, "protections": protections,
            "probe": {"allowed": []}}


def escapes(abi, escaped=None):
    cases = []
    for tier, protection in itertools.product([0, 1], ["file_read", "signals", "file_metadata"]):
        closed = OPEN_BELOW.get(protection, 0) if tier == 0 or protection == "file_metadata" else 0
        through = (escaped or {}).get(protection, abi < closed)
        name = f"IsContained/{protection.title()}"
        said = {"tier": str(tier), "protection": protection, "escaped": "yes" if through else "no"}
        cases.append({"name": name} | said)
    text = {"testsuites": [{"testsuite": cases}]}
    return "[  PASSED  ] 3 tests.\n\n@@ report\n" + json.dumps(text, indent=1)


def log(abi, level=None, escaped=None, refusals="[  PASSED  ] 9 tests.", text=None, done=True,
        namespaces=None):
    said = text or ("NO Landlock. A protection that the default policy requires is NOT enforced. "
                    "Commands do not run.")
    steps = {"doctor_text": (said, 0)}
    for step, tier in [("doctor0", 0), ("doctor", 1)]:
        report = doctor(abi, tier, level, namespaces)
        steps[step] = (json.dumps(report), 0 if report["complete"] else 1)
    if abi > 0:
        steps["escapes"] = (escapes(abi, escaped), 0)
    else:
        steps["refusals"] = (refusals, 0 if "FAILED" not in refusals else 1)
    lines = "@@ kernel 6.1.0 1.0\n"
    for step, (out, code) in steps.items():
        for user in ("root", "daemon"):
            lines += f"@@ begin {step} {user} 1.0\n{out}\n@@ end {step} {user} {code} 2.0\n"
    return lines + ("@@ done 3.0\n" if done else "")


def judged(abi, content, seen_abi=None):
    with tempfile.TemporaryDirectory() as name:
        results = pathlib.Path(name)
        (results / "guests").write_text(f"it {abi} {'escapes' if abi else 'refusals'}\n")
        if content is None:
            (results / "it.error").write_text("Debian has no kernel 1.2 any more\n")
        else:
            (results / "it.log").write_text(content.replace("\n", "\r\n"))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = report.main(name, "61")
        return status, printed.getvalue()


def expect(what, judgement, sentence=None):
    status, printed = judgement
    assert (status == 0) == (sentence is None), f"{what}: status {status}\n{printed}"
    assert sentence is None or sentence in printed, f"{what}: does not say {sentence!r}\n{printed}"
    assert ", 0 failed," in printed.splitlines()[-1] or sentence, f"{what}: {printed}"


expect("a good guest", judged(10, log(10)))
expect("a good guest before scopes", judged(2, log(2)))
expect("a good guest without Landlock", judged(0, log(0)))
expect("another ABI", judged(9, log(10)), "sees Landlock ABI 10, not 9")
expect("an escape", judged(10, log(10, escaped={"file_read": True})),
       "doctor0 oversells file_read: File_Read as root")
expect("too modest", judged(10, log(10, escaped={"file_metadata": False})),
       "undersells file_metadata")
expect("no namespaces", judged(10, log(10, namespaces="no")),
       "doctor as root: namespaces no, not yes")
expect("unproven", judged(10, log(10, level={"mounts": "enforced"})),
       "nothing was tried against mounts in tier 0")
expect("a claim without Landlock", judged(0, log(0, level={"file_read": "enforced"})),
       "calls file_read enforced")
expect("silence", judged(0, log(0, text="all is well")), "does not say: NO Landlock")
expect("something ran",
       judged(0, log(0, refusals="[  FAILED  ] a.B (1 ms)\n[  PASSED  ] 8 tests.\n"
                                 "[  FAILED  ] 1 test")),
       "refusals as root: a.B")
expect("a hang", judged(10, log(10, done=False)), "did not come to its end")
expect("a step that is missing", judged(10, log(10).replace("@@ end escapes daemon", "@@")),
       "escapes as daemon did not end")
expect("no such kernel", judged(7, None), "no kernel 1.2 any more")
