#!/usr/bin/env python3
"""Holds the documents against the program: check-docs.py TREE PROJECT-ACTIONS

The documents must name all that the program prints (policy keys, tools, options, protections) and
all that the sources define (error codes, decisions, make targets). Links must lead somewhere.
Policies that are shown must be accepted or refused as the text says.
"""
import json
import os
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
import facts

tree = pathlib.Path(sys.argv[1])
problems = []


def complain_unless(true, what):
    if not true:
        problems.append(what)


def text_of(name):
    return (tree / name).read_text(encoding="utf-8")


with tempfile.TemporaryDirectory() as scratch:
    program = facts.Program(sys.argv[2], pathlib.Path(scratch), os.environ["PATH"])
    run = program.run

    def check_policy(text):
        file = pathlib.Path(scratch, "policy.yaml")
        file.write_text(text, encoding="utf-8")
        return run("policy", "check", str(file))

    readme, policy, security = (text_of("README.md"), text_of("docs/policy.md"),
                                text_of("SECURITY.md"))
    tools_page, clients_page = text_of("docs/tools.md"), text_of("docs/clients.md")
    enforcement, troubleshooting = (text_of("docs/security/enforcement.md"),
                                    text_of("docs/troubleshooting.md"))
    complain_unless(len(readme.encode()) <= 10_000,
                    f"README.md: {len(readme.encode())} bytes, more than 10,000")

    # Each key has its row, with its default.
    found = program.policy_keys()
    complain_unless(len(found) > 20, "policy schema: hardly any keys")
    for key, schema in found.items():
        row = re.search(rf"^\| `{re.escape(key)}` \|[^|\n]*\|([^|\n]*)\|", policy, re.M)
        complain_unless(row, f"docs/policy.md: no row for {key}")
        if row and "default" in schema:
            default = schema["default"]
            shown = default if isinstance(default, str) and default else json.dumps(default)
            complain_unless(row[1].strip() == f"`{shown}`",
                            f"docs/policy.md: default of {key} is {shown}")

    # The policy file that packages install names all keys, and its lines show the defaults that the
    # schema names. No line can show the default of roots.
    installed = text_of("packaging/policy.yaml")
    uncommented = re.sub(r"^#((?!roots)(?:  )?[a-z_]+:)", r"\1", installed, flags=re.M)
    for key, schema in found.items():
        value = (re.escape(json.dumps(schema["default"]).strip('"') or '""')
                 if "default" in schema else "")
        complain_unless(re.search(rf"^#?(  )?{key.split('.')[-1]}: {value}", uncommented, re.M),
                        f"packaging/policy.yaml: no line {key} with its default "
                        f"{schema.get('default')}")
    for text in installed, uncommented:
        checked = check_policy(text)
        complain_unless(checked.returncode == 0 and "relaxed" not in checked.stdout,
                        "packaging/policy.yaml relaxes something, or is refused:\n"
                        f"{checked.stdout}{checked.stderr}")

    # What other programs execute: the table names all of it, and no more. No policy gives up those
    # that are marked with *.
    table = policy.split("### What other programs execute", 1)[1].split("\n## ", 1)[0]
    cells = re.findall(r"^\|[^|\n]*\|([^|\n]*)\|$", table, re.M)
    named = sorted(name + star for name, star in re.findall(r"`([^`]+)`(\*?)", "".join(cells)))
    protected = set(found["filesystem.unprotect"]["items"]["enum"])
    protected |= {name + "*" for name in facts.host_files_for_good(tree)}
    for name in sorted(protected - set(named)):
        problems.append(
            f"docs/policy.md: {name} is not in the table of what other programs execute")
    for name in sorted(set(named) - protected):
        problems.append(
            f"docs/policy.md: {name} is in the table, but not protected, or not so marked")
    complain_unless(len(named) == len(set(named)), "docs/policy.md: that table names one twice")

    # Policies that are shown pass; those that are said to be refused are refused in these words.
    examples = re.findall(r"```yaml\n(.*?)```", readme + policy, re.S)
    complain_unless(len(examples) >= 2, "no example of a policy")
    for example in examples:
        checked = check_policy(example)
        complain_unless(checked.returncode == 0, f"refused example of a policy:\n{checked.stderr}")
    refused = re.findall(r"^\| `(.+?)` \| (.+) \|$", policy.split("not built yet", 1)[1], re.M)
    complain_unless(len(refused) == 3, f"docs/policy.md: {len(refused)} refused lines, not 3")
    for line, answer in refused:
        checked = check_policy(f"version: 1\n{line}\n")
        complain_unless(checked.returncode == 1 and answer in checked.stderr,
                        f"docs/policy.md: '{line}' is answered by: {checked.stderr}")

    # Tools: all in README, which marks those that are on by default; their arguments in
    # docs/tools.md.
    on = {tool["name"] for tool in program.tools()}
    tools = program.tools("--enable", "all")
    complain_unless(len(tools) > 1, "the server lists hardly any tool")
    for tool in tools:
        marked = re.search(rf"^\|[^|\n]*`{tool['name']}`( \*)?[^|\n]*\|", readme, re.M)
        complain_unless(marked and bool(marked[1]) == (tool["name"] in on),
                        f"README.md: no row for the tool {tool['name']}, "
                        "or it is not marked as it is by default")
        row = re.search(rf"^\| `{tool['name']}` \|([^|\n]*)\|", tools_page, re.M)
        complain_unless(row, f"docs/tools.md: no row for the tool {tool['name']}")
        named = sorted(re.findall(r"[a-z][a-z_0-9]*", row[1])) if row else []
        complain_unless(named == sorted(tool["inputSchema"]["properties"]),
                        f"docs/tools.md: arguments of {tool['name']} are "
                        f"{sorted(tool['inputSchema']['properties'])}")

    # A client's own tools: the row of docs/clients.md and init name the same ones, and the same
    # ways to switch them off.
    clients = re.findall(r'\.name = "(.+)",\s*\.title = "(.+)"',
                         text_of("supervisor/clients/client_config.cc"))
    for client, title in clients:
        complain_unless(f"\n| `{client}` | {title} |" in readme, f"README.md: no row for {title}")
    table = clients_page.partition("| its own tools |")[2].partition("\n\n")[0]
    rows = {row[0]: row[1:]
            for row in re.findall(r"^\| ([^|]+) \| ([^|]+) \| (.+) \|$", table, re.M)}
    complain_unless(len(clients) > 5 and len(rows) == len(clients),
                    f"docs/clients.md: {len(clients)} clients, "
                    f"{len(rows)} rows about their own tools")
    for client, title in clients:
        said = run("init", client, "--print").stderr.replace("`", "")
        own, off = rows.get(title, ("?", ""))
        for name in re.split("[,;] ", own):
            complain_unless(name in said, f"docs/clients.md: init {client} does not name '{name}'")
        for word in re.findall(r"\S*[_*/-]\S+|\w+\.\w\S+|\w+,\w\S+", said):
            complain_unless(word.strip(",.;") in f"{own} {off}".replace("`", ""),
                            f"docs/clients.md: no '{word}' in the row of {title}")

    # Protections: all in docs/security/enforcement.md; what is open here stands in SECURITY.
    protections = json.loads(run("doctor", "--json").stdout)["protections"]
    for protection in protections:
        name = protection["name"]
        complain_unless(f"`{name}`" in enforcement,
                        f"docs/security/enforcement.md: no protection {name}")
        if protection["level"] != "enforced":
            complain_unless(f"`{name}`" in security, f"SECURITY.md: {name} is open, and not listed")

# System calls of the workers that work alone.
syscall_sets = text_of("sandbox/syscall_sets.cc")
counts = [len(re.findall(r'^    \{"', syscall_sets.split(f"{name}[] = {{")[1].split("};")[0], re.M))
          for name in ("kFileSyscalls", "kFileChangeSyscalls")]
complain_unless("{} to read and {} more to write".format(*counts) in security and min(counts) > 10,
                f"SECURITY.md: the workers of read and write may make {counts} system calls")

# Error codes.
for code in facts.error_codes(tree):
    complain_unless(f"\n## `{code}`\n" in troubleshooting,
                    f"docs/troubleshooting.md: no section `{code}`")

# Relaxations: each has its row.
for name in facts.relaxations(tree):
    complain_unless(f"\n| `{name}` |" in policy, f"docs/policy.md: no relaxation {name}")

# Decisions: numbered without gaps, each in the index with its title.
index = text_of("docs/adr/README.md")
pages = sorted((tree / "docs/adr").glob("[0-9]*.md"))
for number, page in enumerate(pages, start=1):
    title = page.read_text(encoding="utf-8").splitlines()[0]
    complain_unless(page.name.startswith(f"{number:04}-"),
                    f"docs/adr: expected {number:04}, found {page.name}")
    complain_unless(title.startswith(f"# {number:04} "), f"{page.name}: its title is '{title}'")
    complain_unless(f"| [{number:04}]({page.name}) | {title[7:]} |" in index,
                    f"docs/adr/README.md: no {page.name}")

# Make targets and links.
makefile = text_of("Makefile").replace("\\\n", " ")  # .PHONY goes on in a second line
for target in " ".join(re.findall(r"^\.PHONY:(.*)", makefile, re.M)).split():
    if target not in ("default", "help", "clean"):
        complain_unless(f"`make {target}" in readme + text_of("CONTRIBUTING.md")
                        or f"\nmake {target}" in readme,
                        f"README.md, CONTRIBUTING.md: no make {target}")
for page in [*tree.glob("*.md"), *tree.glob("docs/**/*.md")]:
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        complain_unless((page.parent / link).exists(),
                        f"{page.relative_to(tree)}: {link} leads nowhere")

for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
