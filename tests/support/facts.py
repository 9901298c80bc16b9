"""What the program and its sources say of themselves.

For the tests that hold documents against it.
"""
import json
import re
import subprocess


class Program:
    """project-actions, started where nobody's policy and nobody's state are."""

    def __init__(self, path, scratch, path_variable):
        self.path = path
        self.directory = scratch / "src"
        self.directory.mkdir()
        self.environment = {"PATH": path_variable, "HOME": str(scratch), "TMPDIR": str(scratch)}

    def run(self, *arguments, stdin=""):
        return subprocess.run([self.path, *arguments], input=stdin, capture_output=True, text=True,
                              cwd=self.directory, env=self.environment, check=False)

    def tools(self, *options):
        messages = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "facts", "version": "1"}}},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
        listing = self.run("serve", *options, stdin="".join(
            json.dumps(message) + "\n" for message in messages)).stdout
        return json.loads(listing.splitlines()[1])["result"]["tools"]

    def policy_keys(self):
        """{key with its section: its schema}"""
        def keys(schema, prefix=""):
            for name, value in schema["properties"].items():
                if value.get("type") == "object" and "properties" in value:
                    yield from keys(value, f"{prefix}{name}.")
                else:
                    yield prefix + name, value
        return dict(keys(json.loads(self.run("policy", "schema").stdout)))

    def commands(self, path=()):
        """{words of a subcommand: what its --help says}, the program itself being ()"""
        help_text = Help(self.run(*path, "--help").stdout)
        found = {path: help_text}
        for name in help_text.subcommands:
            found.update(self.commands((*path, name)))
        return found


class Help:
    """`options`: {(names): value or None}; `arguments`: [name]; `subcommands`: [name]."""

    def __init__(self, text):
        self.options, self.arguments, self.subcommands = {}, [], []
        part = ""
        for line in text.splitlines():
            part = line.rstrip(":").lower() if re.match(r"\S.*:$", line) else part
            option = re.match(r" {2,}(-\S+?(?:,\s*--\S+)?)(?: ([A-Z]\S*))?(?= |$)", line)
            word = re.match(r"  ([A-Za-z][\w-]*)", line)
            if part == "options" and option:
                self.options[tuple(re.split(r",\s*", option[1]))] = option[2]
            elif part == "positionals" and word:
                self.arguments.append(word[1])
            elif part == "subcommands" and word:
                self.subcommands.append(word[1])


def sources(tree, *folders):
    """The text of what is built into the programs."""
    return "".join(path.read_text(encoding="utf-8") for folder in folders
                   for path in (sorted((tree / folder).rglob("*.cc"))
                                + sorted((tree / folder).rglob("*.h")))
                   if "_test" not in path.name and "_for_test" not in path.name)


def error_codes(tree):
    text = (tree / "supervisor/call/error_code.cc").read_text(encoding="utf-8")
    codes = set(re.findall(r'\{ErrorCode::k\w+, "([A-Z_]+)", ', text))
    assert {"POLICY_DENIED", "INTERNAL"} <= codes, "error codes are no longer found in the sources"
    return codes


def relaxations(tree):
    found = re.findall(r'kName = "([a-z_]+)"',
                       (tree / "policy/relaxations.h").read_text(encoding="utf-8"))
    assert len(found) > 5, "relaxations are no longer found in the sources"
    return found


def host_files_for_good(tree):
    """What hosts execute and no policy gives up; the rest stands in the policy's schema."""
    text = (tree / "policy/host_files.cc").read_text(encoding="utf-8")
    found = set(re.findall(r'\{"([^"]+)", k\w+, "[^"]+", \w+,\s+(?:\{\}|kHome),\s+true\}', text))
    assert ".mcp.json" in found, "what no policy gives up is no longer found in the sources"
    return found


def environment_variables(tree):
    """What the server reads of its environment. PA_*: of test builds alone."""
    lookup = (r'(?:getenv\(|Variable\((?:environment, )?|'
              r'(?:environment|ambient)\.(?:find|contains)\()"([A-Z_]+)"')
    found = {name for name
             in re.findall(lookup, sources(tree, "base", "policy", "sandbox", "supervisor"))
             if not name.startswith("PA_")}
    assert {"HOME", "NO_COLOR", "PWD", "PROJECT_ACTIONS_POLICY"} <= found, (
        "lookups of variables are no longer found")
    return found


def commands_variables(tree, schema):
    """Variables that commands receive or never receive, by the schema of a variable's name."""
    always = re.search(r"kAlwaysPassed\[\] = \{(.*?)\}",
                       (tree / "policy/environment.cc").read_text(encoding="utf-8"), re.S)
    toolchains = (tree / "policy/toolchains.cc").read_text(encoding="utf-8")
    found = set(re.findall(r'"([^"]+)"', always[1]))
    found |= set(re.findall(r'^    \{"[^"]+", "([A-Z_]+)", "[^"]+"\},', toolchains, re.M))
    found |= {name.removesuffix("$") if name.endswith("$") else name + "*"
              for name in schema["items"]["not"]["pattern"].strip("^()").split("|")}
    assert {"PATH", "CARGO_HOME", "LD_*"} <= found, "variables of commands are no longer found"
    return found


def files(tree):
    """Files and directories of ours, each as the sources name it, in its usual place."""
    text = re.sub(r"//.*", "", sources(tree, "policy", "supervisor"))
    text = re.sub(r'(Find\(|Field = )"project-actions-[a-z]+"', "", text)  # fields of HTTP
    homes = {"ConfigHome": "~/.config", "state_home": "~/.local/state"}
    found = {homes[home] + name
             for home, name in re.findall(
                 r'(ConfigHome|state_home)\b[^";]*"(/project-actions/[^"]+)"', text)}
    found |= {"~/.local/state/project-actions/" + name
              for name in re.findall(r'k\w+Directory = "([^"]+)"', text)}
    found |= set(re.findall(r'"(/etc/project-actions/[^"]+)"', text))
    found |= set(re.findall(r'k\w+Trash = "([^"]+)"', text))
    found |= {name for line in re.findall(r"audit\.socket = .*", text)
              for name in re.findall(r'"([^"]+)"', line)}
    found |= set(re.findall(
        r'"/?((?:displaced-by-project-actions|project-actions-[a-z]+)-?)(?:X+)?"', text))
    found |= {name + "UID-"
              for name in re.findall(r'"(project-actions-)" \+ std::to_string\(geteuid', text)}
    found |= set(re.findall(r'"(\.pa-)"', sources(tree, "worker")))
    assert len(found) > 12, f"files are no longer found in the sources: {found}"
    return found


def installed(list_of_meson):
    """Files in directories of ours, each with its path from that directory on.

    For example `/project-actions/profiles/go.yaml` and `/doc/project-actions/...`.
    """
    found = set()
    for place in json.loads(list_of_meson.read_text(encoding="utf-8")).values():
        found |= set(re.findall(r".*?((?:/doc)?/project-actions/.*)", place))
    assert "/project-actions/project-actions-worker" in found, (
        f"{list_of_meson}: there is no worker")
    return found
