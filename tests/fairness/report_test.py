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
expect("a slow list", changed("list 0.5 0.7", "list 0.5 0.8"), "list, burn: p99 is 1.60 times")
expect("a slow make", changed(" 12.6 ", " 18.9 "), "make, burn: p99 is 2.10 times")
expect("a slow make, of half a processor", changed(" 12.6 ", " 22.0 "), "; not more than half")
expect("a slower one", changed(" 12.6 ", " 22.1 "), "; more than half")
expect("a call that fails", changed("2.8 9.000 0", "2.8 9.000 3"), "read, burn: 3 calls failed")
expect("half of it", GOOD[:-1], "make, burn: was not measured")
expect("no guest", None, "list, alone: was not measured")
expect("alone and nothing else", GOOD, "nothing was compared", "alone")
expect("a call that fails alone", changed("2 2 9.000 0", "2 2 9.000 3"),
       "read, alone: 3 calls failed")
