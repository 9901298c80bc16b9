"""Clients of the front door and what is known of its tenants, for load.py and faults.py.

Raw sockets, so that a test sees each byte of an answer. Each answer is judged here: it belongs to
the request that was sent, and holds no secret but its tenant's.
"""

import asyncio
import collections
import json
import os
import pwd
import re
import secrets
import subprocess
import time

ADDRESS = ("127.0.0.1", 8787)
DAEMON = "project-actionsd.service"
NGINX = "project-actions-nginx.service"
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
SECRET = re.compile(rb"secret of (t\d+): ([0-9a-f]{32})")
TENANTS = 20
TARGETS = 16  # of each tenant's Makefile, beside its own


class Wrong(Exception):
    """An answer that no fault explains."""


class Gone(Exception):
    """The connection has ended before the answer was complete."""


class Report:
    """Counts checks, and names those that fail."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, holds, detail=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {what}: {detail}" if detail else f"FAILED: {what}", flush=True)
        return holds

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed, 0 skipped", flush=True)
        return 1 if self.failed else 0


def run(*argv, **options):
    return subprocess.run(argv, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Tenant:
    """A user of this machine with a project of its own."""

    def __init__(self, number):
        self.name = f"t{number:02}"
        self.home = f"/home/{self.name}"
        self.project = f"{self.home}/project"
        self.state = f"{self.home}/.local/state/project-actions"

    def add(self, limits=""):
        """Makes the user and the tenant."""
        run("useradd", "--create-home", self.name)
        os.chmod(self.home, 0o700)
        os.mkdir(self.project)
        self.secret = secrets.token_hex(16)
        self.put("secret", f"secret of {self.name}: {self.secret}\n")
        targets = " ".join([f"n{number}" for number in range(TARGETS)] + [f"only-{self.name}"])
        self.put(
            "Makefile",
            f".PHONY: {targets}\n{targets}:\n\t@echo made $@ by $$(id -un)\n",
        )
        run("chown", "-R", f"{self.name}:", self.project)
        self.token = run(
            "project-actions", "tenant", "add", self.name, "--root", self.project,
            "--enable", "make,bash,write", stderr=subprocess.DEVNULL,
        ).strip()  # fmt: skip
        if limits:
            with open(f"/etc/project-actions/tenants/{self.uid}/policy.yaml", "a") as policy:
                policy.write(limits)

    @property
    def uid(self):
        return pwd.getpwnam(self.name).pw_uid

    @property
    def unit(self):
        return f"project-actions@{self.uid}.service"

    def put(self, name, text):
        with open(f"{self.project}/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def property_of(unit, name):
    return run("systemctl", "show", "-P", name, unit).strip()


def main_pid(unit):
    pid = int(property_of(unit, "MainPID"))
    if pid == 0:  # as a process to be killed it would be ourselves
        raise ProcessLookupError(unit)
    return pid


def processes():
    """The parent and the user of each process."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            status = read(f"/proc/{name}/status")
        except OSError:
            continue  # it has ended
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        if fields["State"][0] != "Z":
            found[int(name)] = (int(fields["PPid"]), int(fields["Uid"].split()[0]))
    return found


def processes_of(uid):
    return [pid for pid, (_, owner) in processes().items() if owner == uid]


def nginx_pids():
    return processes_of(pwd.getpwnam("project-actions").pw_uid)


def children_of(parent):
    return [pid for pid, (its_parent, _) in processes().items() if its_parent == parent]


def cgroups_of(unit):
    """The unit's own, and those beneath it."""
    found = []
    for tree in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        top = tree + (property_of(unit, "ControlGroup") or "/none")
        found += [directory for directory, _, _ in os.walk(top)]
    return found


def pss_of(pid):
    """KiB"""
    return int(re.search(r"^Pss:\s+(\d+)", read(f"/proc/{pid}/smaps_rollup"), re.M)[1])


def descriptors_of(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


async def eventually(holds, seconds):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.1)
    return True


Answer = collections.namedtuple("Answer", "status fields body messages")


class Client:
    """A connection that is kept, and made anew when the server has said that it ends."""

    def __init__(self, tenant, token=None):
        self.tenant = tenant
        self.token = token or tenant.token
        self.reader = self.writer = None
        self.sent = 0

    def close(self):
        if self.writer:
            self.writer.transport.abort()
        self.reader = self.writer = None

    async def connect(self):
        if not self.writer:
            self.reader, self.writer = await asyncio.open_connection(*ADDRESS, limit=1 << 20)

    def head(self, method, fields):
        all_fields = {
            "Host": f"{ADDRESS[0]}:{ADDRESS[1]}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **fields,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in all_fields.items())
        return f"{method} /mcp HTTP/1.1\r\n{lines}\r\n".encode()

    async def exchange(self, method, fields, body=b""):
        """Sends a request, and reads an answer that is complete."""
        try:
            await self.connect()
            self.writer.write(self.head(method, {"Content-Length": len(body), **fields}) + body)
            status, fields = await self.read_head()
            body = b"".join([part async for part in self.parts(fields)])
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            self.close()
            raise Gone(repr(error)) from error
        except asyncio.CancelledError:
            self.close()
            raise
        if fields.get("connection") == "close":
            self.close()
        self.judge(body)
        return Answer(status, fields, body, messages_of(fields, body))

    async def read_head(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip().split("\r\n")
        pairs = (line.split(":", 1) for line in lines)
        return int(first.split()[1]), {name.lower(): value.strip() for name, value in pairs}

    async def parts(self, fields):
        if fields.get("transfer-encoding") != "chunked":
            yield await self.reader.readexactly(int(fields["content-length"]))
            return
        while True:
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            part = await self.reader.readexactly(size + 2)
            if size == 0:
                return
            yield part[:-2]

    def judge(self, body):
        for name, secret in SECRET.findall(body):
            if (name.decode(), secret.decode()) != (self.tenant.name, self.tenant.secret):
                raise Wrong(f"{self.tenant.name} was told the secret of {name.decode()}")

    def modern(self, method, params=None, meta=None):
        """The fields and the body of a request of 2026-07-28, and its id."""
        self.sent += 1
        request_id = f"{self.tenant.name}-{id(self)}-{self.sent}"
        params = dict(params or {})
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
            **(meta or {}),
        }
        fields = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if "name" in params:
            fields["Mcp-Name"] = params["name"]
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        return fields, json.dumps(message).encode(), request_id

    async def ask(self, method, params=None):
        fields, body, request_id = self.modern(method, params)
        return result_of(await self.exchange("POST", fields, body), request_id)

    async def call(self, tool, **arguments):
        return await self.ask("tools/call", {"name": tool, "arguments": arguments})

    async def legacy(self, session, method, params=None):
        """A request of 2025-11-25; its result, and the fields of the answer."""
        self.sent += 1
        request_id = f"{self.tenant.name}-{id(self)}-{self.sent}"
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}
        answer = await self.exchange("POST", session, json.dumps(message).encode())
        return result_of(answer, request_id), answer.fields

    async def begin(self):
        """The fields of the requests of a new session of 2025-11-25."""
        result, fields = await self.legacy({}, "initialize", {
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": {"name": "load", "version": "1"},
        })  # fmt: skip
        if result["protocolVersion"] != LEGACY:
            raise Wrong(f"initialize agreed on {result['protocolVersion']}")
        return {"Mcp-Session-Id": fields["mcp-session-id"], "MCP-Protocol-Version": LEGACY}


class Refused(Exception):
    """A status that is not 200."""

    def __init__(self, answer):
        super().__init__(f"{answer.status}: {answer.body[:200].decode(errors='replace').strip()}")
        self.answer = answer


def messages_of(fields, body):
    kind = fields.get("content-type", "")
    if kind.startswith("application/json"):
        return [json.loads(body)]
    if kind.startswith("text/event-stream"):
        data = (line[6:] for line in body.decode().split("\n") if line.startswith("data: "))
        return [json.loads(line) for line in data if line]
    return []


def result_of(answer, request_id):
    if answer.status != 200:
        raise Refused(answer)
    last = answer.messages[-1]
    if last.get("id") != request_id:
        raise Wrong(f"the answer to {request_id} is that to {last.get('id')}")
    if "result" not in last:
        raise Wrong(f"an error of the protocol: {last['error']}")
    return last["result"]


def code_of(result):
    """That of the error; "": there is none."""
    return result["structuredContent"].get("error", {}).get("code", "")


def data_of(result):
    content = result["structuredContent"]
    if not content["success"]:
        raise Wrong(f"a call failed: {json.dumps(content.get('error'))[:300]}")
    return content["data"]


TENANTS_FILE = "/root/tenants.json"


def add_tenants(limits):
    """Makes them all, for this program and the next; `limits` has the policy of some, by number."""
    tenants = [Tenant(number) for number in range(1, TENANTS + 1)]
    for number, tenant in enumerate(tenants, 1):
        tenant.add(limits.get(number, ""))
    with open(TENANTS_FILE, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        json.dump([vars(tenant) for tenant in tenants], file)
    return tenants


def known_tenants():
    tenants = []
    for number, known in enumerate(json.loads(read(TENANTS_FILE)), 1):
        tenants.append(Tenant(number))
        vars(tenants[-1]).update(known)
    return tenants
