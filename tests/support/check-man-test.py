#!/usr/bin/env python3
"""check-man.py notices what is missing and what is gone:
check-man-test.py CHECKER TREE PROJECT-ACTIONS WORKER INSTALLED PROJECT-ACTIONSD
"""
import pathlib
import subprocess
import sys
import tempfile

checker, tree, *build = sys.argv[1:]
originals = {page.name: page.read_text(encoding="utf-8")
             for page in pathlib.Path(tree, "docs/man").glob("*.scd")}
failures = []

# Page, what stands there, what stands there instead, what the checker must say.
CHANGES = [
    ("project-actions.1", "[*--write-spec* _FILE_] ", "",
     "SYNOPSIS of call: missing: *--write-spec* _FILE_"),
    ("project-actions.1", "*doctor* [_OPTIONS_]", "*doctor*",
     "SYNOPSIS of doctor: missing: *--root* _DIR_"),
    ("project-actions.1", "*policy* *check* _FILE_", "*policy* *check*",
     "SYNOPSIS of policy check: missing: FILE"),
    ("project-actions.1", "*trash* *list*", "*trash* *empty*", "SYNOPSIS: missing: trash list"),
    ("project-actions.1", "*project-actions trash list*", "*project-actions trash empty*",
     "COMMANDS: gone, or never there: project-actions trash empty"),
    ("project-actions.1", "*--root* _DIR_\n", "*--roots* _DIR_\n",
     "OPTIONS: missing: *--root* _DIR_"),
    ("project-actions.1", "*--root* _DIR_\n", "*--roots* _DIR_\n",
     "OPTIONS: gone, or never there: *--roots* _DIR_"),
    ("project-actions.1", "*glob* (pattern, ", "*glob* (pattern?, ",
     "TOOLS: missing: *glob* (pattern, "),
    ("project-actions.1", "sha256 and encoding; images are shown. On by default.",
     "sha256 and encoding.", "TOOLS: missing: *read* "),
    ("project-actions.1", "*125* on a refusal", "on a refusal", "call no_such_tool exits with 125"),
    ("project-actions.1", "*trash*\n", "*rubbish*\n", "EXIT STATUS: missing: trash"),
    ("project-actions.1", "*BUSY*\n", "*BUSIER*\n", "ERROR CODES: missing: BUSY"),
    ("project-actions.1", "*BUSY*\n", "*BUSIER*\n", "ERROR CODES: gone, or never there: BUSIER"),
    ("project-actions.1", "*NO_COLOR*\n", "*NO_COLOUR*\n", "ENVIRONMENT: missing: NO_COLOR"),
    ("project-actions.1", "*NO_COLOR*\n", "*NO_COLOUR*\n",
     "ENVIRONMENT: gone, or never there: NO_COLOUR"),
    ("project-actions.1", "_~/.config/project-actions/policy.yaml_\n",
     "_~/.config/project-actions/rules.yaml_\n",
     "FILES: missing: ~/.config/project-actions/policy.yaml"),
    ("project-actions.1", "_~/.local/state/project-actions/edits_\n",
     "_~/.local/state/project-actions/undo_\n",
     "FILES: gone, or never there: _~/.local/state/project-actions/undo_"),
    ("project-actions.1", "/project-actions/profiles_\n", "/project-actions/variables_\n",
     "FILES: missing: /project-actions/profiles/go.yaml"),
    ("project-actions.yaml.5", "*limits.queue* (", "*limits.waiting* (",
     "KEYS: missing: *limits.queue* ("),
    ("project-actions.yaml.5", "*limits.queue* (", "*limits.waiting* (",
     "KEYS: gone, or never there: *limits.waiting* ("),
    ("project-actions.yaml.5", "default *24KiB*", "default *32KiB*",
     "KEYS: missing: *limits.output_inline* ("),
    ("project-actions.yaml.5", "(*true* | *false*, default *true*)",
     "(*true* | *false*, default *false*)", "KEYS: missing: *filesystem.sync* ("),
    ("project-actions.yaml.5", "1ms to 168h, default", "1ms to 24h, default",
     "KEYS: missing: *limits.cpu_time* ("),
    ("project-actions.yaml.5", "*none* | *loopback* | *full*", "*none* | *full*",
     "KEYS: missing: *network* ("),
    ("project-actions.yaml.5", "*skip*: ", "skipped: ", "KEYS: what is skip?"),
    ("project-actions.yaml.5", "*examples*\n", "*samples*\n", "RULES: missing: examples"),
    ("project-actions.yaml.5", "*deny*. Required.", "*deny*.", "RULES: is decision required?"),
    ("project-actions.yaml.5", "*no_audit*\n", "*no_log*\n", "RELAXATIONS: missing: no_audit"),
    ("project-actions.yaml.5", "CARGO_HOME, ", "", "ENVIRONMENT: missing: CARGO_HOME"),
    ("project-actions.yaml.5", "LD_\\*, ", "", "ENVIRONMENT: missing: LD_*"),
    ("project-actions.yaml.5", "network: none\n", "network: no\n", "EXAMPLES: "),
    ("project-actions.7", "*scheduling* (tier 0 *enforced*", "*scheduling* (tier 0 *not*",
     "PROTECTIONS: missing: *scheduling* ("),
    ("project-actions.7", "*mounts* (", "*mounting* (", "PROTECTIONS: missing: mounts"),
    ("project-actions-worker.8", "*--spec* _FILE_\n", "*--order* _FILE_\n",
     "OPTIONS: missing: *--spec* _FILE_"),
    ("project-actions-worker.8", "or the command line is wrong", "",
     "a wrong command line exits with 125"),
    ("project-actions-tenant.5", "*expires*\n", "*ends*\n", "TOKENS: missing: expires"),
    ("project-actions-tenant.5", "*project-actions@UID.socket*\n", "*project-actions.socket*\n",
     "UNITS: missing: project-actions@UID.socket"),
    ("project-actions-tenant.5", "*MemoryMax=50%*", "*MemoryMax=40%*", "UNITS: no MemoryMax=50%"),
    ("project-actions-tenant.5", "version: 1\n", "version: 2\n", "EXAMPLES: "),
]

with tempfile.TemporaryDirectory() as pages:
    def check():
        return subprocess.run([sys.executable, checker, tree, pages, *build],
                              capture_output=True, text=True, check=False)

    def write(texts):
        for name, text in texts.items():
            pathlib.Path(pages, name).write_text(text, encoding="utf-8")

    write(originals)
    unchanged = check()
    if unchanged.returncode != 0:
        failures.append(f"the pages as they are: {unchanged.stdout}{unchanged.stderr}")
    # All at once: of the pages as they are it says nothing, so each answer is one change's.
    changed = dict(originals)
    for page, before, after, _ in CHANGES:
        if before not in originals[f"{page}.scd"]:
            failures.append(f"{page}: there is no '{before}' to change")
        changed[f"{page}.scd"] = changed[f"{page}.scd"].replace(before, after)
    write(changed)
    checked = check()
    if checked.returncode != 1:
        failures.append(
            f"with changes the checker exits with {checked.returncode}: {checked.stderr}")
    for page, before, after, answer in CHANGES:
        if not any(line.startswith(f"{page}, ") and answer in line
                   for line in checked.stdout.splitlines()):
            failures.append(f"{page}: '{before}' -> '{after}' was not noticed: "
                            f"no '{answer}' in\n{checked.stdout}")

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
