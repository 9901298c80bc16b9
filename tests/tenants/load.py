#!/usr/bin/env python3
"""load.py [REQUESTS]: 500 clients of 20 tenants send 100,000 requests, each answer is checked, and
nothing may have grown. Runs in the machine of run.sh, as root."""

import asyncio
import collections
import os
import random
import secrets
import subprocess
import sys
import time

import client
from client import DAEMON, NGINX, Client, Gone, Refused, Wrong, code_of, data_of

CLIENTS = 500
WARM_UP = 0.2  # of the requests
# KiB that may have come since the warm-up.
GROWTH = {"project-actionsd": 1 << 10, "project-actions-nginx": 4 << 10, "server": 2 << 10}
# What a server keeps for calls to come, such as four workers of a kind, may be made late.
SPARE_DESCRIPTORS = 32
# One tenant is told BUSY now and then, one RATE_LIMITED.
LIMITS = {19: "limits: {concurrent: 1, queue: 0}\n", 20: "limits: {calls_per_minute: 60}\n"}


class Load:
    def __init__(self, tenants, clients=CLIENTS):
        self.clients = [Client(tenants[number % len(tenants)]) for number in range(clients)]
        self.done = collections.Counter()
        self.refused = collections.Counter()
        self.wrong = []  # answers, or none
        self.lost = []  # for want of a server
        self.slowest = 0.0

    async def some(self, requests):
        """So many requests, shared by all clients; a client has one at a time."""
        until = self.done.total() + requests
        await asyncio.gather(*(self.work(one, until) for one in self.clients))

    async def work(self, one, until):
        while self.done.total() < until:
            await self.once(one, MIX)

    async def once(self, one, mix):
        kinds, weights = zip(*mix)
        kind = random.choices(kinds, weights)[0]
        began = time.monotonic()
        requests = 1
        try:
            # A call that waits for ever is a wrong answer.
            requests = await asyncio.wait_for(kind(self, one), 120)
        except (Gone, Refused) as error:
            self.lost.append(f"{kind.__name__} of {one.tenant.name}: {error}")
        except (Wrong, KeyError, ValueError, asyncio.TimeoutError) as error:
            self.wrong.append(f"{kind.__name__} of {one.tenant.name}: {error!r}")
        self.done[kind.__name__] += requests
        self.slowest = max(self.slowest, time.monotonic() - began)

    async def called(self, one, tool, **arguments):
        """The data of a call; nothing: the tenant is asked to come back, and does."""
        return await self.told(one.tenant, await one.call(tool, **arguments))

    async def told(self, tenant, result):
        code = code_of(result)
        if code not in ("BUSY", "RATE_LIMITED"):
            return data_of(result)
        if (code, tenant.name) not in (("BUSY", "t19"), ("RATE_LIMITED", "t20")):
            raise Wrong(f"{code}, with few calls")
        self.refused[code] += 1
        pause = result["structuredContent"]["error"]["details"]["retry_after_ms"]
        if not 0 < pause <= 60_000:
            raise Wrong(f"{code}: come back in {pause} ms")
        await asyncio.sleep(min(pause, 2_000) / 1_000)
        return None

    async def list(self, one):
        tools = {tool["name"] for tool in (await one.ask("tools/list"))["tools"]}
        if not {"make", "bash", "write", "read", "grep"} <= tools:
            raise Wrong(f"tools: {tools}")
        return 1

    async def read(self, one):
        data = await self.called(one, "read", path="secret")
        if data and one.tenant.secret not in data["content"]:
            raise Wrong(f"the secret is {data['content']}")
        return 1

    async def make(self, one):
        target = random.choice([f"n{random.randrange(client.TARGETS)}", f"only-{one.tenant.name}"])
        data = await self.called(one, "make", target=target)
        if data and data["stdout"] != f"made {target} by {one.tenant.name}\n":
            raise Wrong(f"{target} printed {data['stdout']}")
        return 1

    async def bash(self, one):
        nonce = secrets.token_hex(8)
        data = await self.called(one, "bash", command=f"echo $(id -un) {nonce}; cat secret")
        if data and not data["stdout"].startswith(f"{one.tenant.name} {nonce}\nsecret of"):
            raise Wrong(f"{nonce} printed {data['stdout']}")
        return 1

    async def write_and_read(self, one):
        nonce = secrets.token_hex(8)
        path = f"written/{nonce}"
        if not await self.called(one, "write", path=path, content=nonce, create_parents=True):
            return 1
        data = await self.called(one, "read", path=path)
        if data and nonce not in data["content"]:
            raise Wrong(f"{path} holds {data['content']}")
        os.unlink(f"{one.tenant.project}/{path}")
        return 2

    async def grep(self, one):
        data = await self.called(one, "grep", pattern="^secret of", mode="content")
        if data is None:
            return 1
        found = [(match["path"], match["text"]) for match in data["matches"]]
        if found != [("secret", f"secret of {one.tenant.name}: {one.tenant.secret}")]:
            raise Wrong(f"grep found {found}")
        return 1

    async def stranger(self, one):
        """With a token that is nobody's, on a connection that has been a tenant's."""
        own, one.token = one.token, f"pat_{secrets.token_hex(24)}"
        try:
            await one.ask("tools/list")
        except Refused as refused:
            if refused.answer.status != 401:
                raise
            return 1
        finally:
            one.token = own
        raise Wrong("a token that is nobody's has an answer")

    async def session(self, one):
        session = await one.begin()
        told = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
        answer = await one.exchange("POST", session, told)
        if answer.status != 202:
            raise Refused(answer)
        result, _ = await one.legacy(
            session, "tools/call", {"name": "read", "arguments": {"path": "secret"}}
        )
        data = await self.told(one.tenant, result)
        if data and one.tenant.secret not in data["content"]:
            raise Wrong(f"the secret is {data['content']}")
        answer = await one.exchange("DELETE", session)
        if answer.status != 200:
            raise Refused(answer)
        return 4


# By how often each is done; a session is four requests.
MIX = [
    (Load.list, 56), (Load.read, 12), (Load.stranger, 9), (Load.grep, 5), (Load.make, 4),
    (Load.session, 3), (Load.bash, 2), (Load.write_and_read, 2),
]  # fmt: skip


class Footprint:
    """What a program has while nobody asks it anything."""

    def __init__(self, unit, pids):
        self.pss = sum(map(client.pss_of, pids))
        self.descriptors = sum(map(client.descriptors_of, pids))
        self.cgroups = client.cgroups_of(unit)


def footprints(tenants):
    found = {
        "project-actionsd": Footprint(DAEMON, [client.main_pid(DAEMON)]),
        "project-actions-nginx": Footprint(NGINX, client.nginx_pids()),
    }
    for tenant in tenants:  # without its workers, which come and go
        found[tenant.name] = Footprint(tenant.unit, [client.main_pid(tenant.unit)])
    return found


async def at_rest(tenants):
    """Each tenant has its server, and of it only launchers and workers that wait for an order."""

    def rest(tenant):
        server = client.main_pid(tenant.unit)
        found = client.processes_of(tenant.uid)
        return len(found) <= 16 and set(found) <= {server, *client.children_of(server)}

    return await client.eventually(lambda: all(map(rest, tenants)), 30)


def left_by(tenant, cgroups):
    """What the tenant's server has left when it has ended, its log and its caches apart. It had
    these cgroups: systemd does not name those of a unit that has ended."""
    kept = ("audit", "caches")
    left = [f"process {pid}" for pid in client.processes_of(tenant.uid)]
    left += [f"/tmp/{name}" for name in os.listdir("/tmp") if f"-{tenant.uid}-" in name]
    left += filter(os.path.exists, cgroups)
    for directory, _, files in os.walk(tenant.state):
        left += [
            f"{directory}/{name}"
            for name in files
            if os.path.relpath(directory, tenant.state).split("/")[0] not in kept
        ]
    return left


async def main(requests):
    report = client.Report()
    tenants = client.add_tenants(LIMITS)
    load = Load(tenants)
    for kind, name in ((Load.bash, "t19"), (Load.read, "t20")):  # more at once than they may
        its_clients = (one for one in load.clients if one.tenant.name == name)
        await asyncio.gather(*(load.once(one, [(kind, 1)]) for one in its_clients))
    await load.some(int(requests * WARM_UP))
    report.check("the servers rest after the warm-up", await at_rest(tenants))
    before = footprints(tenants)

    began = time.monotonic()
    warmed_up = load.done.total()
    await load.some(requests - warmed_up)
    took = time.monotonic() - began
    total = load.done.total()
    wrong = load.wrong + load.lost
    report.check(f"{total} requests, no wrong answer", not wrong, "\n".join(wrong[:20]))
    for kind, _ in MIX:
        report.check(f"{kind.__name__} was among them", load.done[kind.__name__])
    for code in ("BUSY", "RATE_LIMITED"):
        report.check(f"{code} was said", load.refused[code])
    print(
        f"{CLIENTS} clients, {total} requests, {(total - warmed_up) / took:.0f} a second, "
        f"slowest {load.slowest:.1f} s, BUSY {load.refused['BUSY']}, "
        f"RATE_LIMITED {load.refused['RATE_LIMITED']}"
    )

    report.check("the servers rest afterwards", await at_rest(tenants))
    after = footprints(tenants)
    for name, now in after.items():
        then = before[name]
        bound = GROWTH.get(name, GROWTH["server"])
        report.check(
            f"the memory of {name} is flat", now.pss <= then.pss + bound, f"{then.pss}, {now.pss}"
        )
        # Clients have kept their connections.
        report.check(
            f"{name} keeps no descriptors",
            now.descriptors <= then.descriptors + SPARE_DESCRIPTORS,
            f"{then.descriptors}, {now.descriptors}",
        )
        # One at least: else this looks where none can be.
        kept = 0 < len(now.cgroups) <= len(then.cgroups)
        report.check(f"{name} keeps no cgroups", kept, f"{then.cgroups}, {now.cgroups}")
    print("PSS in KiB: " + ", ".join(f"{n} {before[n].pss} {after[n].pss}" for n in after))

    for one in load.clients:
        one.close()
    units = [tenant.unit for tenant in tenants]
    client.run("systemctl", "stop", *units, stderr=subprocess.DEVNULL)
    for tenant in tenants:
        left = left_by(tenant, after[tenant.name].cgroups)
        report.check(f"the server of {tenant.name} leaves nothing", not left, "; ".join(left[:5]))
    return report.end()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)))
