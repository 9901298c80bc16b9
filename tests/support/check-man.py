#!/usr/bin/env python3
"""Holds the manual pages against the programs:
check-man.py TREE PAGES PROJECT-ACTIONS WORKER INSTALLED PROJECT-ACTIONSD

PAGES is the directory of the scdoc sources. INSTALLED is meson's list of the files that it
installs. The pages must name all that the programs print (subcommands, options, tools, policy keys
with types and defaults, protections) and all that the sources define (error codes, variables,
relaxations, files), and nothing else.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import facts

tree, pages = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
problems = []


def complain_unless(true, what):
    if not true:
        problems.append(what)


def compare(where, shown, true):
    for missing in sorted(set(true) - set(shown)):
        problems.append(f"{where}: missing: {missing}")
    for gone in sorted(set(shown) - set(true)):
        problems.append(f"{where}: gone, or never there: {gone}")


class Page:
    def __init__(self, name):
        self.name = name
        text = (pages / f"{name}.scd").read_text(encoding="utf-8")
        self.sections = dict(re.findall(r"^# (.+)\n((?:(?!# ).*\n)*)", text, re.M))

    def entries(self, section):
        """{line: the indented text below it}"""
        found = re.findall(r"^([*_].*)\n((?:\t.*\n)+)", self.sections.get(section, ""), re.M)
        return {line: " ".join(text.split()) for line, text in found}

    def names(self, section):
        """What stands in bold at the begin of each entry."""
        return [re.match(r"\*((?:\\.|[^*])+)\*|", line)[1] for line in self.entries(section)]

    def compare(self, section, shown, true):
        compare(f"{self.name}, {section}", shown, true)


def option(names, value):
    return ", ".join(f"*{name}*" for name in names) + (f" _{value}_" if value else "")


def options_in(text):
    return set(re.findall(r"\*--?[a-z-]+\*(?: _[^_]+_)?", text))


def check_usage(page, commands):
    """SYNOPSIS: a line for each subcommand, with exactly its options and arguments."""
    lines = page.sections["SYNOPSIS"].replace("++\n", "\n").splitlines()
    common = next(line for line in lines if line.startswith("_OPTIONS_: "))
    shown = {}
    for line in lines:
        usage = re.match(r"\*project-actions\*((?: \*[a-z]+\*)+)(.*)", line)
        if usage:
            shown[" ".join(re.findall(r"[a-z]+", usage[1]))] = usage[2]
    true = {" ".join(path): text for path, text in commands.items() if not text.subcommands}
    page.compare("SYNOPSIS", shown, true)
    for path, text in true.items():
        usage = shown.get(path, "")
        arguments = re.findall(r"_([A-Z]+)_", re.sub(r"\*--[a-z-]+\* _[^_]+_|_OPTIONS_", "", usage))
        options = {option([name], value) for names, value in text.options.items() for name in names}
        page.compare(f"SYNOPSIS of {path}",
                     options_in(usage.replace("_OPTIONS_", common)) | set(arguments),
                     options - {"*-h*", "*--help*"} | set(text.arguments))
    page.compare("COMMANDS", page.names("COMMANDS"), {"project-actions " + path for path in true})


def check_program(page, program):
    commands = program.commands()
    check_usage(page, commands)
    page.compare("OPTIONS", page.entries("OPTIONS"), {
        option(names, value)
        for text in commands.values() for names, value in text.options.items()})

    page.compare("EXIT STATUS", page.names("EXIT STATUS"), {path[0] for path in commands if path})
    statuses = page.entries("EXIT STATUS")
    for command, *arguments in [["call", "no_such_tool"], ["serve", "--worker", "/nowhere"],
                                ["policy", "check", "/nowhere"], ["policy", "schema"],
                                ["audit", "verify", "/nowhere"], ["trash", "restore", "x"],
                                ["init", "codex", "--print"],
                                ["init", "codex", "--root", "/nowhere"]]:
        status = program.run(command, *arguments).returncode
        complain_unless(f"*{status}*" in statuses.get(f"*{command}*", ""),
                        f"{page.name}, EXIT STATUS: "
                        f"{command} {' '.join(arguments)} exits with {status}")
    status = program.run("--no-such-option").returncode
    complain_unless(f"Every command exits with *{status}* when the command line is wrong"
                    in page.sections["EXIT STATUS"],
                    f"{page.name}, EXIT STATUS: a wrong command line exits with {status}")

    default = {tool["name"] for tool in program.tools()}
    page.compare("TOOLS", {line + (" On by default." if text.endswith("On by default.") else "")
                           for line, text in page.entries("TOOLS").items()}, {
        "*{}* ({}){}".format(tool["name"], ", ".join(
            name + ("" if name in tool["inputSchema"].get("required", []) else "?")
            for name in tool["inputSchema"]["properties"]),
            " On by default." if tool["name"] in default else "")
        for tool in program.tools("--enable", "all")})

    page.compare("ERROR CODES", page.names("ERROR CODES"), facts.error_codes(tree))
    page.compare("ENVIRONMENT", page.names("ENVIRONMENT"), facts.environment_variables(tree))
    check_files(page)


def check_files(page):
    true, installed = facts.files(tree), facts.installed(pathlib.Path(sys.argv[5]))
    for shown in page.entries("FILES"):
        place = re.match(r"_@[A-Z]+@(/.+)_$", shown)
        known = {name for name in installed if place and (name + "/").startswith(place[1] + "/")}
        installed -= known
        known |= {max((name for name in true if name in shown), key=len, default="")} - {""}
        true -= known
        complain_unless(known, f"{page.name}, FILES: gone, or never there: {shown}")
    page.compare("FILES", [], true | installed)


def type_of(schema):
    choices = ["*1*"] if "const" in schema else [f"*{word}*" for word in schema.get("enum", [])]
    limits = re.search(r"From (\w+) to (\w+)(, or off)?\.$", schema["description"])
    items = schema.get("items", {})
    if choices:
        return " | ".join(choices)
    if schema["type"] == "integer":
        return f"_number_, {schema['minimum']} to {schema['maximum']}"
    if limits:
        kind = "duration" if "ms" in schema["pattern"] else "size"
        off = " or *off*" if limits[3] else ""
        return f"_{kind}_{off}, {limits[1]} to {limits[2]}"
    if schema["type"] == "array":
        kinds = {"object": "rules"} if items["type"] == "object" else {
            "string": "relative paths" if items.get("pattern") == "^[^/~]" else
                      "paths" if "description" in items else
                      "origins" if "https?" in items.get("pattern", "") else
                      "scopes" if "maxLength" in items else "names"}
        return f"_list of {kinds[items['type']]}_"
    return {"boolean": "*true* | *false*", "object": "_mapping_",
            "string": "_URL_" if "https?" in schema.get("pattern", "") else
                      "_text_" if "maxLength" in schema else "_path_"}[schema["type"]]


def default_of(schema):
    if "default" not in schema:
        return ", required" if "const" in schema else ""
    default = schema["default"]
    return f", default *{default if isinstance(default, str) and default else json.dumps(default)}*"


def check_examples(page, program):
    """EXAMPLES: policies, and sessions of a shell."""
    for example in re.findall(r"```\n(.*?)```", page.sections["EXAMPLES"], re.S):
        if example.startswith("$ "):
            continue
        file = program.directory / "policy.yaml"
        file.write_text(example, encoding="utf-8")
        checked = program.run("policy", "check", str(file))
        complain_unless(checked.returncode == 0, f"{page.name}, EXAMPLES: {checked.stderr}")


def check_policy(page, program):
    keys = program.policy_keys()
    entries = page.entries("KEYS")
    true = {f"*{key}* ({type_of(schema)}{default_of(schema)})": schema
            for key, schema in keys.items()}
    page.compare("KEYS", entries, true)
    for line, schema in true.items():
        for choice in (["true", "false"] if schema.get("type") == "boolean"
                       else schema.get("enum", [])):
            complain_unless(f"*{choice}*: " in entries.get(line, ""),
                            f"{page.name}, KEYS: what is {choice}? {line}")

    rules = keys["permissions"]["items"]
    page.compare("RULES", page.names("RULES"), rules["properties"])
    for name, text in zip(page.names("RULES"), page.entries("RULES").values()):
        complain_unless(text.endswith("Required.") == (name in rules["required"]),
                        f"{page.name}, RULES: is {name} required?")
        for choice in rules["properties"].get(name, {}).get("enum", []):
            complain_unless(f"*{choice}*" in text, f"{page.name}, RULES: no {choice}")

    page.compare("RELAXATIONS", page.names("RELAXATIONS"), facts.relaxations(tree))
    page.compare("ENVIRONMENT",
                 re.findall(r"\b[A-Z][A-Z_]+\*?", page.sections["ENVIRONMENT"].replace("\\", "")),
                 facts.commands_variables(tree, keys["environment.pass"]))
    check_examples(page, program)


def check_protections(page, program):
    """The levels also stand in the table of docs/security/enforcement.md, held against doctor."""
    rows = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \| (\S+) \| (\S+) \|",
                      (tree / "docs/security/enforcement.md").read_text(encoding="utf-8"), re.M)
    true = {f"*{name}* (tier 0 *{zero.strip('*')}*, tier 1 *{one.strip('*')}*)"
            for names, zero, one in rows for name in re.findall(r"`(\w+)`", names)}
    page.compare("PROTECTIONS", page.entries("PROTECTIONS"), true)
    page.compare("PROTECTIONS", page.names("PROTECTIONS"), {
        protection["name"]
        for protection in json.loads(program.run("doctor", "--json").stdout)["protections"]})


def check_worker(page, worker):
    help_text = subprocess.run([worker, "--help"],
                               capture_output=True, text=True, check=True).stdout
    true = {option([name], value)
            for name, value in re.findall(r"(--[a-z]+)(?: ([A-Z]+)\b)?", help_text)}
    page.compare("SYNOPSIS", options_in(page.sections["SYNOPSIS"]), true)
    page.compare("OPTIONS", page.entries("OPTIONS"), true)
    status = subprocess.run([worker, "--no-such-option"],
                            capture_output=True, check=False).returncode
    complain_unless("command line is wrong" in page.entries("EXIT STATUS").get(f"*{status}*", ""),
                    f"{page.name}, EXIT STATUS: a wrong command line exits with {status}")


def check_daemon(page, daemon):
    help_text = subprocess.run([daemon, "--help"],
                               capture_output=True, text=True, check=True).stdout
    true = {option([name for name in names if name], value)
            for *names, value in re.findall(r"^  (?:(-\w), )?(--[a-z-]+)(?: ([A-Z]+)\b)?", help_text,
                                            re.M)}
    page.compare("OPTIONS", page.entries("OPTIONS"), true)
    status = subprocess.run([daemon, "--no-such-option"],
                            capture_output=True, check=False).returncode
    complain_unless("command line is wrong" in page.entries("EXIT STATUS").get(f"*{status}*", ""),
                    f"{page.name}, EXIT STATUS: a wrong command line exits with {status}")


def check_tenant(page, program):
    """TOKENS: the members of tokens.json; UNITS: those that are installed, with their settings."""
    members = re.findall(r'Field\("(\w+)", [^"]*token\.',
                         (tree / "supervisor/state/token_file.cc").read_text(encoding="utf-8"))
    page.compare("TOKENS", page.names("TOKENS"), members)
    folder = tree / "packaging/daemon"
    page.compare("UNITS", page.names("UNITS"),
                 {path.name.removesuffix(".conf").replace("@.", "@UID.").replace("-.", "-UID.")
                  for path in folder.glob("project-actions[@-].*")})
    settings = re.findall(r"^\w+=.*", (folder / "project-actions-.slice.conf").read_text(
        encoding="utf-8"), re.M)
    for setting in settings:
        complain_unless(f"*{setting}*" in page.sections["UNITS"],
                        f"{page.name}, UNITS: no {setting}")
    complain_unless(settings, "project-actions-.slice.conf: no settings")
    check_examples(page, program)


with tempfile.TemporaryDirectory() as scratch:
    server = facts.Program(sys.argv[3], pathlib.Path(scratch), os.environ["PATH"])
    check_program(Page("project-actions.1"), server)
    check_policy(Page("project-actions.yaml.5"), server)
    check_protections(Page("project-actions.7"), server)
    check_worker(Page("project-actions-worker.8"), sys.argv[4])
    check_daemon(Page("project-actionsd.8"), sys.argv[6])
    check_tenant(Page("project-actions-tenant.5"), server)

for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
