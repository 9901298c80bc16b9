#!/usr/bin/env python3
"""first-five-minutes.py README SERVER [--write]

Records what a new user does and sees, in a home and a project of its own, between two marks in
README. Without --write: is that what is seen today? Where commands get no namespaces, refusals have
other words: then it is skipped (77). Durations, dates and places are those of the recording, not
of this run.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

MAKEFILE = """\
test: ## Run the tests
\t@echo 3 tests passed
notes:
\t@cat ~/notes.txt
.PHONY: test notes
"""
STEPS = [
    "cat Makefile",
    "project-actions doctor | tail -n 1",
    "project-actions init claude-code --yes",
    "project-actions call make_targets",
    """project-actions call make '{"target":"test"}'""",
    """project-actions call make '{"target":"test"}' --enable make""",
    """project-actions call make '{"target":"notes"}' --enable make""",
    "project-actions policy allow LAST --yes",
    """project-actions call make '{"target":"notes"}' --enable make""",
]
BEGIN = "<!-- recorded by tests/support/first-five-minutes.py -->\n```\n"
END = "```\n<!-- end of the recording -->\n"


def record(server):
    with tempfile.TemporaryDirectory() as scratch:
        home = pathlib.Path(scratch).resolve() / "me"
        project = home / "hello"
        project.mkdir(parents=True)
        (project / "Makefile").write_text(MAKEFILE)
        (home / "notes.txt").write_text("buy milk\n")
        environment = {"HOME": str(home),
                       "PATH": f"{pathlib.Path(server).resolve().parent}:/usr/bin:/bin"}

        def run(command):
            return subprocess.run(["bash", "-c", command], cwd=project, env=environment,
                                  text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

        if not re.search(r"^  namespaces +enforced", run("project-actions doctor"), re.M):
            print("first-five-minutes.py: no namespaces here, for which the recording was made")
            sys.exit(77)
        recording = ""
        for step in STEPS:
            recording += f"$ {step}\n{run(step)}"
        recording = recording.replace(str(home), "/home/me")
        recording = re.sub(r"[\d-]{10} [\d:]{8} UTC", "2026-11-26 14:02:11 UTC", recording)
        return re.sub(r"in \d+ ms", "in 9 ms", recording)


def main():
    readme_path, server = pathlib.Path(sys.argv[1]), sys.argv[2]
    readme = readme_path.read_text()
    begin, end = readme.index(BEGIN) + len(BEGIN), readme.index(END)
    seen = record(server)
    if "--write" in sys.argv[3:]:
        readme_path.write_text(readme[:begin] + seen + readme[end:])
    elif readme[begin:end] != seen:
        print("README.md has another first session than is seen now; "
              f"record it anew with --write:\n{seen}")
        sys.exit(1)


main()
