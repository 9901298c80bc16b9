#!/usr/bin/env python3
"""faults.py [FAULT...]: something of one tenant, or of the front door, fails or is used up. Others
do not notice, and all works again without an administrator. Runs after load.py, with its tenants.

Each fault is made to programs of this machine alone, by pid, by a limit of one process or in a
tmpfs of a few MiB."""

import asyncio
import contextlib
import glob
import os
import pwd
import re
import signal
import socket
import subprocess
import sys
import time

import client
from client import DAEMON, NGINX, Client, Gone, Refused, code_of, data_of, eventually
from load import Load

report = client.Report()
check = report.check
DOOR = "/run/project-actionsd.sock"
SO_ERROR = (socket.SOL_SOCKET, socket.SO_ERROR)
# Of the tenants who have no part in a fault.
QUIET_MIX = [(Load.list, 6), (Load.read, 2), (Load.stranger, 1), (Load.bash, 1), (Load.session, 1)]


class Others:
    """Clients of other tenants, who go on during a fault. Of a fault of the front door they may
    lose requests: those are refused, or their connection ends."""

    def __init__(self, what, tenants, may_lose=False, pause=0.1):
        self.what, self.may_lose, self.pause = what, may_lose, pause
        self.load = Load(tenants, 2 * len(tenants))
        self.over = False

    async def go(self, one):
        while not self.over:
            await self.load.once(one, QUIET_MIX)
            await asyncio.sleep(self.pause)
        one.close()

    async def __aenter__(self):
        self.tasks = [asyncio.create_task(self.go(one)) for one in self.load.clients]
        return self.load

    async def __aexit__(self, *error):
        self.over = True
        await asyncio.gather(*self.tasks)
        wrong = self.load.wrong + ([] if self.may_lose else self.load.lost)
        check(f"{self.what}: others have right answers", not wrong, "\n".join(wrong[:10]))
        enough = self.load.done.total() - len(self.load.lost) >= len(self.load.clients)
        check(f"{self.what}: and have answers", enough, dict(self.load.done))
        print(
            f"{self.what}: others made {self.load.done.total()} requests, lost "
            f"{len(self.load.lost)}, slowest {self.load.slowest:.1f} s"
        )


async def works(what, tenant, seconds=20):
    """A command of the tenant, soon."""
    said = ""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        one = Client(tenant)
        try:
            data = data_of(await asyncio.wait_for(one.call("bash", command="id -un"), seconds))
            return check(what, data["stdout"] == f"{tenant.name}\n", data)
        except (Gone, Refused, client.Wrong, asyncio.TimeoutError) as error:
            said = repr(error)
            await asyncio.sleep(0.2)
        finally:
            one.close()
    return check(what, False, said)


async def outcome(made):
    """How a request ends: `ok`, the code of an error, a status, `gone`, or `hangs`."""
    try:
        result = await asyncio.wait_for(made, 90)
    except Refused as refused:
        return str(refused.answer.status)
    except Gone:
        return "gone"
    except asyncio.TimeoutError:
        return "hangs"
    code = code_of(result)
    details = result["structuredContent"].get("error", {}).get("details", {})
    if code in ("BUSY", "RATE_LIMITED") and not details.get("retry_after_ms"):
        return f"{code} without a time"
    return code or "ok"


async def outcomes(clients, make):
    """How often each is that of the requests which all clients make at once."""
    found = await asyncio.gather(*(outcome(make(one)) for one in clients))
    for one in clients:
        one.close()
    return {name: found.count(name) for name in sorted(set(found))}


def only(found, *allowed):
    return found.get("ok", 0) + sum(found.get(name, 0) for name in allowed) == sum(found.values())


async def workers_die(tenant, others):
    await works("the server runs", tenant)
    async with Others("workers die", others):
        server = client.main_pid(tenant.unit)
        sleepers = [Client(tenant) for _ in range(4)]
        calls = [
            asyncio.create_task(outcome(one.call("bash", command="sleep 61"))) for one in sleepers
        ]

        def sleeping():
            lines = (client.read(f"/proc/{p}/comm") for p in client.processes_of(tenant.uid))
            return sum(line == "sleep\n" for line in lines) == len(calls)

        check("four commands run", await eventually(sleeping, 20))
        for pid in client.children_of(server):
            # Without it the server ends.
            if client.read(f"/proc/{pid}/comm") == "pa-spawner\n":
                continue
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        found = await asyncio.gather(*calls)
        check("each call whose worker dies has an error", set(found) == {"COMMAND_FAILED"}, found)
        await works("the next call works", tenant)
        check("the server was not lost", client.main_pid(tenant.unit) == server)


async def server_dies(tenant, others):
    async with Others("a server dies", others):
        one = Client(tenant)
        command = {"command": "while sleep 0.2; do date +%N; done"}
        fields, body, _ = one.modern(
            "tools/call", {"name": "bash", "arguments": command}, {"progressToken": "p"}
        )
        await one.connect()
        one.writer.write(one.head("POST", {**fields, "Content-Length": len(body)}) + body)
        _, fields = await one.read_head()
        parts = one.parts(fields)
        first = await asyncio.wait_for(anext(parts), 20)
        check("a call streams", b"notifications/progress" in first, first)
        died = client.processes_of(tenant.uid)
        os.kill(client.main_pid(tenant.unit), signal.SIGKILL)
        try:
            async with asyncio.timeout(20):
                rest = b"".join([part async for part in parts])
            check("the stream of a server that died has no end", False, rest)
        except (asyncio.IncompleteReadError, OSError):
            check("the stream of a server that died has no reply", True)
        one.close()
        await works("the next request starts the server", tenant)
        left = [pid for pid in died if pid in client.processes_of(tenant.uid)]
        check("nothing of it is left", not left, left)


async def front_door_dies(tenants):
    for unit in (DAEMON, NGINX):
        async with Others(f"{unit} dies", tenants, may_lose=True, pause=0.05) as load:
            longest = 0
            for number in range(10):
                main = client.main_pid(unit)
                its_workers = client.children_of(main)  # nginx has some
                for pid in its_workers if its_workers and number % 2 else [main]:
                    os.kill(pid, signal.SIGKILL)
                died = time.monotonic()
                await asyncio.sleep(0.2)
                await works(f"served after kill -9 of {unit}, {number + 1}", tenants[0])
                longest = max(longest, time.monotonic() - died)
            reasons = {re.sub(r" of t\d+", "", reason) for reason in load.lost}
            check(f"{unit} dies: all else is said", all(map(is_said, reasons)), reasons)
            for tenant in tenants:
                await works(f"{tenant.name} is served after kill -9 of {unit}", tenant)
        print(f"{unit} was killed ten times: served again after {longest:.1f} s at most")


def is_said(reason):
    """Of a request that was lost: by the end of its connection, or with what to look for."""
    return "503: " in reason or "IncompleteRead" in reason or "Connect" in reason


def set_limit(pid, kind, value):
    """As the user of the process, who needs no capability for it. Undone by what is returned."""
    _, user = client.processes()[pid]
    name = pwd.getpwuid(user).pw_name
    as_user = ["setpriv", f"--reuid={name}", f"--regid={name}", "--clear-groups"]

    def prlimit(*argv):
        return client.run(*as_user, "prlimit", f"--pid={pid}", *argv).strip()

    hard = prlimit(f"--{kind}", "--output=HARD", "--noheadings")
    prlimit(f"--{kind}={value}:")
    return lambda: prlimit(f"--{kind}={hard}:")


async def health():
    """What project-actionsd itself says, without nginx."""
    reader, writer = await asyncio.open_unix_connection(DOOR)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try:
        return await reader.readuntil(b"\r\n")
    finally:
        writer.close()


@contextlib.asynccontextmanager
async def long_heads(count):
    """Connections to project-actionsd with the most that it reads of a head, but for its end: the
    number of those that it ends."""
    held = [await asyncio.open_unix_connection(DOOR) for _ in range(count)]
    for _, writer in held:
        writer.write(b"GET /healthz HTTP/1.1\r\nX: " + b"x" * (15 << 10))
    await asyncio.sleep(1)
    yield sum(reader.at_eof() or reader.exception() is not None for reader, _ in held)
    for _, writer in held:
        writer.transport.abort()


async def descriptors_end(tenant, others):
    await works("the server runs", tenant)
    server = client.main_pid(tenant.unit)
    async with Others("a server has no descriptors", others):
        # For one call, also where the shortage has ended the spare launcher and its worker.
        mend = set_limit(server, "nofile", client.descriptors_of(server) + 16)
        echo = lambda one: one.call("bash", command="echo x")
        # No more than limits.queue has places for, so none is refused for another reason.
        found = await outcomes([Client(tenant) for _ in range(60)], echo)
        check("each call is answered or refused", only(found, "BUSY", "503"), found)
        check("descriptors were short", found.get("ok", 0) < 60, found)
        print(f"without descriptors, of a server: {found}")
        await works("with fewer calls it works", tenant)
        mend()
        found = await outcomes([Client(tenant) for _ in range(60)], echo)
        check("with descriptors each call is answered", found == {"ok": 60}, found)
        check("the server was not lost", client.main_pid(tenant.unit) == server)

    client.run("systemctl", "restart", DAEMON)  # nginx keeps no connections to it, as yet
    await works("project-actionsd runs", tenant)
    door = client.main_pid(DAEMON)
    async with Others("project-actionsd has no descriptors", others, may_lose=True):
        mend = set_limit(door, "nofile", client.descriptors_of(door) + 2)
        requests = asyncio.create_task(outcomes(
            [Client(tenant) for _ in range(200)], lambda one: one.call("read", path="secret")
        ))  # fmt: skip
        await asyncio.sleep(1)
        # nginx has all connections that there may be: a further one waits behind its others.
        one_more = asyncio.create_task(health())
        done, _ = await asyncio.wait([one_more], timeout=1)
        check("descriptors were short", not done)
        found = await requests
        check("each request is answered or refused", only(found, "BUSY", "503"), found)
        print(f"without descriptors, of project-actionsd: {found}")
        await works("with fewer requests it works", tenant)
        mend()
        check("with descriptors it is answered", b" 200 " in await asyncio.wait_for(one_more, 5))
        check("project-actionsd was not lost", client.main_pid(DAEMON) == door)

    read = lambda one: one.call("read", path="secret")
    async with Others("nginx has no descriptors", others, may_lose=True):
        mends = [
            set_limit(pid, "nofile", client.descriptors_of(pid) + 20)
            for pid in client.nginx_pids()
        ]
        found = await outcomes([Client(tenant) for _ in range(200)], read)
        check("each request is answered or refused", only(found, "503", "gone"), found)
        check("descriptors were short", found.get("ok", 0) < 200, found)
        print(f"without descriptors, of nginx: {found}")
        await works("with fewer connections it works", tenant)
        for mend in mends:
            mend()
        found = await outcomes([Client(tenant) for _ in range(200)], read)
        check("with descriptors each request is answered", only(found, "BUSY"), found)
        await asyncio.sleep(1)  # others have answers again


def address_space(pid):
    return int(re.search(r"^VmSize:\s+(\d+)", client.read(f"/proc/{pid}/status"), re.M)[1]) << 10


async def memory_ends(tenant, others):
    """By the limit of an address space: a machine in a machine often has no cgroup controllers, so
    MemoryMax of the slice cannot be tried."""
    await works("the server runs", tenant)
    server = client.main_pid(tenant.unit)
    async with Others("a server has no memory", others):
        mend = set_limit(server, "as", address_space(server) + (8 << 20))
        text = "x" * (12 << 20)
        # Each to a file of its own: of a file that another call has made STALE_FILE is said.
        write = lambda one: one.call("write", path=f"long-{time.monotonic_ns()}", content=text)
        found = await outcomes([Client(tenant) for _ in range(8)], write)
        check("each long call is answered, or its connection ends", "hangs" not in found, found)
        check("memory was short", found.get("ok", 0) < 8, found)
        print(f"without memory, of a server: {found}")
        await works("a short call works", tenant)
        if client.main_pid(tenant.unit) == server:
            mend()
        else:
            print("the server has ended for want of memory, and was started again")
        found = await outcomes([Client(tenant) for _ in range(8)], write)
        check("with memory each long call is answered", found == {"ok": 8}, found)

    client.run("systemctl", "restart", DAEMON)  # it keeps no memory that it has needed before
    await works("project-actionsd runs", tenant)
    door = client.main_pid(DAEMON)
    async with Others("project-actionsd has no memory", others, may_lose=True):
        mend = set_limit(door, "as", address_space(door) + (1 << 20))
        async with long_heads(250) as ended:
            found = await outcomes(
                [Client(tenant) for _ in range(250)], lambda one: one.call("read", path="secret")
            )
        check("each request is answered or refused", only(found, "BUSY", "503"), found)
        check("memory was short", ended > 0)
        print(f"without memory, of project-actionsd: {found}, {ended} of 250 connections ended")
        await works("it works", tenant)
        mend()
        async with long_heads(250) as ended:
            check("with memory it keeps the connections", ended == 0, ended)
        check("project-actionsd was not lost", client.main_pid(DAEMON) == door)


@contextlib.contextmanager
def small_disk(tenant, path, size):
    """A tmpfs of the tenant's; the path of a file in it that takes all room."""
    os.makedirs(path, exist_ok=True)
    client.run(
        "mount", "-t", "tmpfs", "-o", f"size={size},uid={tenant.uid},gid={tenant.uid},mode=700",
        "tmpfs", path,
    )  # fmt: skip
    try:
        yield f"{path}/filler"
    finally:
        client.run("umount", "--lazy", path)


def fill(path):
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def stop(tenant):
    client.run("systemctl", "stop", tenant.unit, stderr=subprocess.DEVNULL)


async def disk_is_full(tenant, others):
    one = Client(tenant)
    async with Others("a project's disk is full", others):
        with small_disk(tenant, f"{tenant.project}/disk", "1m") as filler:
            first = data_of(await one.call("write", path="disk/kept", content="as it was\n"))
            fill(filler)
            for arguments in (
                {"path": "disk/fresh", "content": "x" * 65536},
                {
                    "path": "disk/kept",
                    "content": "y" * 65536,
                    "expected_sha256": first["sha256"],
                },
            ):
                result = await one.call("write", **arguments)
                text = result["content"][0]["text"]
                check("a full disk is said", "no room left" in text, text)
            data = data_of(await one.call("read", path="disk/kept"))
            check("what was there is whole", "as it was" in data["content"], data)
            check("no part is left", sorted(os.listdir(f"{tenant.project}/disk")) ==
                  ["filler", "kept"], os.listdir(f"{tenant.project}/disk"))  # fmt: skip
            os.unlink(filler)
            data_of(await one.call("write", path="disk/fresh", content="x" * 65536))
            check("with room it works", True)

    async with Others("the disk of the log is full", others):
        stop(tenant)
        with small_disk(tenant, tenant.state, "64k") as filler:
            await works("with a log of its own", tenant)
            fill(filler)
            for number in range(50):  # the last page of the log has room for some lines
                result = await one.call("bash", command=f"touch ran-{number}")
                if code_of(result):
                    break
            text = result["content"][0]["text"]
            check("a call that cannot be recorded is refused", "audit" in text, text)
            check("and does not run", not os.path.exists(f"{tenant.project}/ran-{number}"), number)
            os.unlink(filler)
            await works("with room calls run", tenant)
            stop(tenant)

    async with Others("the disk of results is full", others):
        stop(tenant)
        with small_disk(tenant, f"/mnt/{tenant.name}", "256k") as filler, drop_in(
            tenant.unit, f"Environment=TMPDIR=/mnt/{tenant.name}"
        ):
            await works("with a directory of its own", tenant)
            fill(filler)
            result = await one.call("bash", command="head -c 100000 /dev/zero | tr '\\0' x")
            text = result["content"][0]["text"] + str(result["structuredContent"])
            check("a result that cannot be kept says so", "ENOSPC" in text, text[-400:])
            os.unlink(filler)
            result = await one.call("bash", command="head -c 100000 /dev/zero | tr '\\0' x")
            meta = result["structuredContent"]["meta"]
            check("with room it is kept", "result_uri" in meta, meta)
            stop(tenant)
    one.close()
    await works("it works as before", tenant)


@contextlib.contextmanager
def drop_in(unit, lines):
    directory = f"/run/systemd/system/{unit}.d"
    os.makedirs(directory)
    with open(f"{directory}/fault.conf", "w", encoding="utf-8") as file:
        file.write(f"[Service]\n{lines}\n")
    client.run("systemctl", "daemon-reload")
    try:
        yield
    finally:
        os.unlink(f"{directory}/fault.conf")
        os.rmdir(directory)
        client.run("systemctl", "daemon-reload")


async def clock_jumps(tenant, others):
    """That of the tenant's server and of project-actionsd, by libfaketime: the machine's clock is
    that of the machine outside, too."""
    library = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")[0]
    offset = "/etc/project-actions/offset"  # where project-actionsd may read

    def jump(text):
        with open(f"{offset}.new", "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.rename(f"{offset}.new", offset)

    jump("+0")
    environment = "Environment=" + " ".join((
        f"LD_PRELOAD={library}", f"FAKETIME_TIMESTAMP_FILE={offset}", "FAKETIME_NO_CACHE=1",
        "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DISABLE_SHM=1",
    ))  # fmt: skip
    hour = client.run(
        "project-actions", "token", "new", "hour", "--tenant", tenant.name, "--expires", "1h",
        stderr=subprocess.DEVNULL,
    ).strip()  # fmt: skip
    stop(tenant)
    async with Others("clocks jump", others, may_lose=True):
        with drop_in(tenant.unit, environment), drop_in(DAEMON, environment):
            client.run("systemctl", "restart", DAEMON)
            await works("with a clock of their own", tenant)
            server, door = client.main_pid(tenant.unit), client.main_pid(DAEMON)
            by_hour = Client(tenant, hour)
            lasting = Client(tenant)
            session = await lasting.begin()
            check("a token of an hour is taken", await ask(by_hour) == "ok")
            for text, of_hour, of_days in (
                ("+2h", "401", "ok"), ("-20y", "ok", "ok"), ("+2h", "401", "ok"),
                ("+0", "ok", "ok"), ("+100d", "401", "401"),
            ):  # fmt: skip
                running = asyncio.create_task(
                    outcome(Client(tenant).call("bash", command="sleep 2", timeout_ms=20000))
                )
                await asyncio.sleep(1)
                jump(text)
                found = (await ask(by_hour), await ask(lasting))
                check(f"clock at {text}: expiry follows it", found == (of_hour, of_days), found)
                ends = await running
                # What a client has open ends within five seconds when its token has expired.
                allowed = ("ok",) if of_days == "ok" else ("ok", "CANCELLED", "gone")
                check(f"clock at {text}: a call that runs goes on", ends in allowed, ends)
                if of_days == "ok":
                    result, _ = await lasting.legacy(session, "ping")
                    check(f"clock at {text}: a session goes on", result == {}, result)
            jump("+0")
            check("the clock as it was: all is taken", await ask(by_hour) == "ok")
            check("no server has ended", (server, door) ==
                  (client.main_pid(tenant.unit), client.main_pid(DAEMON)))  # fmt: skip
            stop(tenant)
        client.run("systemctl", "restart", DAEMON)
        os.unlink(offset)
    client.run("project-actions", "token", "revoke", "hour", "--tenant", tenant.name)
    await works("with the machine's clock", tenant)


async def ask(one):
    """How a request that needs no command ends."""
    try:
        await one.ask("tools/list")
        return "ok"
    except Refused as refused:
        return str(refused.answer.status)


async def half_open(tenant, others):
    """Clients that stop in the middle of a request, or do not read: by when each is cut off."""
    await works("the server runs", tenant)
    pids = [*client.nginx_pids(), client.main_pid(tenant.unit), client.main_pid(DAEMON)]
    before = sum(map(client.descriptors_of, pids))
    fields, body, _ = Client(tenant).modern("tools/list")
    whole = Client(tenant).head("POST", {**fields, "Content-Length": len(body)}) + body
    long = Client(tenant).head("POST", {**fields, "Content-Length": 1000}) + body
    kinds = {
        "nothing": (b"", 10, 100), "half a head": (whole[:60], 10, 100),
        "half a body": (long, 30, 100), "reads nothing": (whole * 400, 30, 20),
    }  # fmt: skip

    async def cut(sends, reads):
        # The kernel takes little for who reads nothing: nginx waits for it almost at once.
        mine = socket.socket()
        mine.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        mine.connect(client.ADDRESS)
        reader, writer = await asyncio.open_connection(sock=mine, limit=1 << 14)
        writer.write(sends)
        try:
            if reads:
                with contextlib.suppress(OSError):
                    while await reader.read(1 << 16):
                        pass
            else:
                # The kernel says that the other side has reset the connection.
                writer.transport.pause_reading()
                while not mine.getsockopt(*SO_ERROR) and not writer.transport.is_closing():
                    await asyncio.sleep(0.2)
        finally:
            writer.transport.abort()

    async def until_cut(sends, reads, longest):
        """How long it lasts, if not longer than that."""
        began = time.monotonic()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(cut(sends, reads), longest)
        return time.monotonic() - began

    async with Others("half-open connections", others):
        tasks = {
            kind: [asyncio.create_task(until_cut(sends, kind != "reads nothing", deadline + 5))
                   for _ in range(count)]
            for kind, (sends, deadline, count) in kinds.items()
        }  # fmt: skip
        await asyncio.sleep(1)
        held = sum(map(client.descriptors_of, pids))
        check("they are held", held >= before + 320, f"{before}, {held}")
        await works("their own tenant is served", tenant)
        for kind, (_, deadline, _) in kinds.items():
            longest = max(await asyncio.gather(*tasks[kind]))
            if check(f"{kind}: cut off in time", longest < deadline + 5, f"not in {longest:.1f} s"):
                print(f"half-open, {kind}: cut off after {longest:.1f} s, of {deadline}")
    back = lambda: sum(map(client.descriptors_of, pids)) <= before + 80  # kept, to project-actionsd
    check("their descriptors return", await eventually(back, 30), before)


async def sessions_stay(tenant, others):
    """10,000 sessions that never say goodbye."""
    await works("the server runs", tenant)
    pid = client.main_pid(tenant.unit)
    used = Client(tenant)
    session = await used.begin()
    await used.connect()
    used.writer.write(used.head("GET", {**session, "Accept": "text/event-stream"}))
    status, _ = await used.read_head()
    check("a session that is used has a stream", status == 200, status)
    clients = [Client(tenant) for _ in range(16)]
    begun = []

    async def begin(one, count):
        for _ in range(count):
            begun.append(await one.begin())

    async with Others("10,000 sessions", others):
        await asyncio.gather(*(begin(one, 125) for one in clients))
        then = client.pss_of(pid), client.descriptors_of(pid)
        await asyncio.gather(*(begin(one, 500) for one in clients))
        now = client.pss_of(pid), client.descriptors_of(pid)
    print(f"{len(begun)} sessions: {then[0]} KiB after 2,000, {now[0]} KiB at the end")
    check("memory is flat", now[0] <= then[0] + 1024, f"{then}, {now}")
    check("no descriptors are kept", now[1] <= then[1] + 8, f"{then}, {now}")

    async def knows(one_session):
        try:
            await clients[0].legacy(one_session, "ping")
            return True
        except Refused as refused:
            return refused.answer.status != 404

    # With that which is used. Those that began at once may be in another order in the server.
    there = [await knows(one) for one in begun[-100:]]
    newest_are_there = all(there[-32:]) and there.count(True) == 63
    check("the 64 newest sessions are there", newest_are_there, there)
    check("a session that is used stays", await knows(session))

    # Those that are used are all that there may be.
    streams = [Client(tenant) for _ in range(63)]
    for one in streams:
        mine = await one.begin()
        await one.connect()
        one.writer.write(one.head("GET", {**mine, "Accept": "text/event-stream"}))
        await one.read_head()
    try:
        await clients[0].begin()
        check("one more is refused", False)
    except Refused as refused:
        check("one more is refused", "too many sessions" in str(refused), refused)
    for one in (*streams, *clients, used):
        one.close()

    async def again():
        with contextlib.suppress(Refused):
            return await clients[0].begin()

    end = time.monotonic() + 20
    while not await again() and time.monotonic() < end:
        await asyncio.sleep(0.2)
    check("with fewer streams a session begins", time.monotonic() < end)
    clients[0].close()


async def main():
    tenants = client.known_tenants()
    one, two, three, four = tenants[:4]
    others = tenants[4:18]  # without those that have limits
    for fault, *its_tenants in (
        (workers_die, one, others), (server_dies, one, others), (front_door_dies, others[:6]),
        (descriptors_end, two, others), (memory_ends, two, others), (disk_is_full, three, others),
        (clock_jumps, three, others), (sessions_stay, four, others), (half_open, four, others),
    ):  # fmt: skip
        if sys.argv[1:] and fault.__name__ not in sys.argv[1:]:
            continue
        began = time.monotonic()
        try:
            await asyncio.wait_for(fault(*its_tenants), 300)
        except Exception as error:  # the faults that follow say more
            check(f"{fault.__name__} comes to its end", False, repr(error))
        print(f"{fault.__name__}: {time.monotonic() - began:.0f} s", flush=True)
    return report.end()


if __name__ == "__main__":

    sys.exit(asyncio.run(main()))
