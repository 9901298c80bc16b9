#!/usr/bin/env python3
"""report.py must see what is wrong: a guest made up here, with one thing wrong at a time."""

import contextlib
import io
import pathlib
import tempfile

import report

GOOD = ["@@ kernel 6.1.0 7.0"] + [
    f"@@ {scenario} {call} {p50} {p99} 9.000 0"
    for scenario, slower in [("alone", 1), ("burn", 1.4)]
    for call, p50, p99 in [("list", 0.5, 0.5 * slower), ('read:{"path":"small"}', 2, 2 * slower),
                           ('make:{"target":"noop"}', 9, 9 * slower)]
]


def expect(what, lines, sentence=None, scenarios="alone,burn"):
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as results, contextlib.redirect_stdout(printed):
        if lines is not None:
            pathlib.Path(results, "it.log").write_text("\r\n".join(lines) + "\r\n")
        status = report.main(results, scenarios, "it")
    text = printed.getvalue()
    assert (status == 0) == (sentence is None), f"{what}: status {status}\n{text}"
    assert (sentence or "3 passed, 0 failed, 0 skipped") in text, f"{what}:\n{text}"


def changed(old, new):
    assert any(old in line for line in GOOD), old
    return [line.replace(old, new) for line in GOOD]


expect("a fair guest", GOOD)
expect("a list that waits for a tick", changed("list 0.5 0.7", "list 0.5 5.0"))
expect("a slow list", changed("list 0.5 0.7", "list 0.5 5.1"), "list, burn: 5.10 ms, more than 5.00")
expect("a slow make", changed(" 12.6 ", " 22.1 "), "make, burn: 22.10 ms, more than 22.00")
FORK = [line.replace("burn", "fork") for line in changed(" 12.6 ", " 300.0 ")]
expect("a lock that one of a hundred waits for", FORK, None, "alone,fork")
expect("a slow median", [line.replace("9 300.0", "22.1 300.0") for line in FORK],
       "make, fork: 22.10 ms", "alone,fork")
expect("a call that fails", changed("2.8 9.000 0", "2.8 9.000 3"), "read, burn: 3 calls failed")
expect("half of it", GOOD[:-1], "make, burn: was not measured")
expect("no guest", None, "list, alone: was not measured")
expect("alone and nothing else", GOOD, "nothing was compared", "alone")
expect("a call that fails alone", changed("2 2 9.000 0", "2 2 9.000 3"),
       "read, alone: 3 calls failed")
