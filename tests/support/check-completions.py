#!/usr/bin/env python3
"""Tries the completions in their shell: check-completions.py bash|zsh|fish SCRIPT PROJECT-ACTIONS

After each line the shell must offer exactly what `--help` and the server say there is. Skips where
the shell is not installed.
"""
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import facts

shell, script = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
program = str(pathlib.Path(sys.argv[3]).resolve())
# The completions ask the program itself for what only it knows.
PATH = str(pathlib.Path(program).parent) + ":" + os.environ["PATH"]
MAKEFILE = ".PHONY: test notes odd$$name\ntest: ## Run: all\nnotes odd$$name:\n"

# Calls the function as bash would. compopt works only in an interactive shell.
BASH = r"""
compopt() { [[ $* == "-o filenames" || $* == "-o nospace" ]]; }
source "$1"
[[ $(complete -p project-actions) == *" -F _project_actions "* ]] || exit 1
while IFS= read -r line; do
    printf '> %s\n' "$line"
    IFS=' ' read -r -a COMP_WORDS <<<"${line//=/ = }"
    [[ $line != *[\ =] ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _project_actions && printf '%s\n' "${COMPREPLY[@]}"
done
"""

FISH = r"""
source $argv[1]; or exit
while read -l line
    echo "> $line"
    complete -C $line | string replace -r '\t.*' ''
end
true
"""

# .zshrc of an interactive shell, which needs a terminal. Every completion ends with compadd; calls
# that only ask what would match are the functions' own.
ZSH = r"""
fpath=(${SCRIPT:h} $fpath)
autoload -Uz compinit && compinit -D -u
compadd() {
    local -a found
    if [[ -z ${(M)argv[1,(i)(-|--)]:#-[OAD]*} ]]; then
        builtin compadd -O found "$@"
        print -rl -- $found >>$ANSWERS
    fi
    builtin compadd "$@"
}
zle -C offer list-choices _main_complete
offer_all() {
    local line
    while IFS= read -r line; do
        print -r -- "> $line" >>$ANSWERS
        BUFFER=$line CURSOR=$#line
        zle offer
    done <$LINES_FILE
    exit
}
zle -N zle-line-init offer_all
"""


def ask_zsh(lines, scratch):
    (scratch / ".zshrc").write_text(ZSH, encoding="utf-8")
    asked, answered = scratch / "lines", scratch / "answers"
    asked.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    answered.touch()
    environment = {"PATH": PATH, "TERM": "dumb", "HOME": str(scratch), "ZDOTDIR": str(scratch),
                   "SCRIPT": str(script), "LINES_FILE": str(asked), "ANSWERS": str(answered)}
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(scratch / "src")
        os.execvpe("zsh", ["zsh", "-d", "-i"], environment)
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 4096)
        except OSError:  # EIO: it has ended
            break
    os.waitpid(pid, 0)
    return answered.read_text(encoding="utf-8"), shown.decode(errors="replace")


def ask(lines, scratch):
    """{line: what is offered after it}"""
    if shell == "zsh":
        answers, errors = ask_zsh(lines, scratch)
    else:
        command = {"bash": ["bash", "--norc", "--noprofile", "-c", BASH, "bash"],
                   "fish": ["fish", "--no-config", "-c", FISH]}
        done = subprocess.run([*command[shell], str(script)],
                              input="".join(line + "\n" for line in lines),
                              env={**os.environ, "PATH": PATH, "HOME": str(scratch)},
                              capture_output=True, text=True, cwd=scratch / "src", check=True)
        answers, errors = done.stdout, done.stderr
    found = {}
    for answer in answers.splitlines():
        if answer.startswith("> "):
            offered = found.setdefault(answer.removeprefix("> "), set())
        elif '"' in answer:  # an argument of JSON, which some quote for the line
            offered.add(answer.strip("'").replace("\\", ""))
        elif answer:
            # Some shells repeat what stands before: of a list, or of --option=VALUE.
            offered.add(re.sub(r"^(--[a-z-]+=)?(.*,)?", "", answer).rstrip("/")
                        if "=" in answer or "," in answer else answer.rstrip("/"))
    return found, errors


def expectations(server):
    """{line: exactly what must be offered after it}"""
    tools = {tool["name"] for tool in server.tools("--enable", "all")}
    files = {"policy.yaml", "sub", "Makefile"}
    (server.directory / "gone").touch()
    server.run("call", "delete", '{"path":"gone"}', "--enable", "delete")
    deleted = {entry["id"] for entry in json.loads(server.run("trash", "list", "--json").stdout)}
    assert len(deleted) == 1
    test, notes, inner = ('{"target":"%s"}' % name for name in ("test", "notes", "inner"))
    lines = {}
    for path, text in server.commands().items():
        line = " ".join(["project-actions", *path])
        lines[f"{line} --"] = {name for names in text.options for name in names
                               if name.startswith("--")}
        if text.subcommands:
            lines[f"{line} "] = set(text.subcommands)
    lines |= {
        "project-actions po": {"policy"},
        "project-actions policy s": {"show", "schema"},
        "project-actions call ": tools,
        "project-actions call git": {"git_add", "git_commit"},
        "project-actions call --json --policy policy.yaml ": tools,
        "project-actions call make ": {test, notes},
        "project-actions call make '{\"target\":\"n": {notes},
        "project-actions call make '{\"target\":\"x": set(),
        "project-actions call --root sub make ": {inner},
        "project-actions call --root=sub make ": {inner},
        "project-actions call read ": set(),
        "project-actions serve --enable ": tools | {"all"},
        "project-actions serve --enable=": tools | {"all"},
        "project-actions serve --enable make,git": {"git_add", "git_commit"},
        "project-actions serve --enable=make,git": {"git_add", "git_commit"},
        "project-actions serve --listen ": {"stdio", "systemd"},
        "project-actions serve --policy ": files,
        "project-actions serve -v --root ": {"sub"},
        "project-actions serve --root=": {"sub"},
        "project-actions serve --policy=pol": {"policy.yaml"},
        "project-actions policy check ": files,
        "project-actions policy check pol": {"policy.yaml"},
        "project-actions policy explain ": tools | files,
        "project-actions audit verify policy.yaml ": files,
        "project-actions audit show --tool ": tools,
        "project-actions audit show --tool make,git": {"git_add", "git_commit"},
        "project-actions audit show --outcome un": {"unfinished"},
        "project-actions audit show --since ": set(),
        "project-actions trash restore ": deleted,
        "project-actions trash restore 20": deleted,
        "project-actions trash restore x": set(),
        "project-actions policy allow ": {"LAST"},
        "project-actions init ": {"claude-code", "claude-desktop", "vscode", "cursor", "codex",
                                  "gemini"},
        "project-actions init --print vs": {"vscode"},
    }
    return lines


if not shutil.which(shell):
    print(f"skipped: {shell} is not installed")
    sys.exit(77)
subprocess.run([shell, "-n", str(script)], check=True)
with tempfile.TemporaryDirectory() as directory:
    scratch_directory = pathlib.Path(directory)
    server = facts.Program(program, scratch_directory, os.environ["PATH"])
    (server.directory / "policy.yaml").touch()
    (server.directory / "sub").mkdir()
    (server.directory / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    (server.directory / "sub/Makefile").write_text(".PHONY: inner\ninner:\n", encoding="utf-8")
    expected = expectations(server)
    found, errors = ask(expected, scratch_directory)

failed = False
for line, wanted in expected.items():
    if found.get(line) != wanted:
        failed = True
        print(f"'{line}' is offered {sorted(found.get(line, []))}, not {sorted(wanted)}")
if failed or (errors and shell != "zsh"):
    print(errors)
    sys.exit(1)
