#!/usr/bin/env python3
"""The campaign's backend: answers calls, fails when told to, and keeps its own log of everything that reached it.

    Soak/backend.py PORT LOG SEED          faults come as lines on standard input

The log is for the checker, one line for each thing that happened, times in milliseconds:

    call NUMBER TIME WORKER KEY PNS USER   a whole request was read
    end NUMBER TIME HOW                    an answer's status was written, or: closed (the caller went away), reset, cut
    mark TIME TEXT                         a fault began or ended

WORKER is the user of the credentials: the campaign gives every run of a worker its own.

A line on standard input is `FAULT SECONDS SHARE`: for so long this share of the calls is answered that way. Faults:
a status (500, 503, 401, …), `429` with Retry-After, `hang` (no answer ever), `reset`, `cut` (half an answer),
`slow` (a second), `refuse` (nobody listens, every connection is reset).
"""

import asyncio
import base64
import os
import random
import socket
import struct
import sys
import time
import urllib.parse

REJECTIONS = (400, 404, 410, 422)
# The prefix of users that are always rejected, and of the events for them.
REJECTED = "rejected-"
LATENCY = (0.002, 0.03)
SLOW = 1
# The share of failures without a fault.
BASE_FAILURES = 0.003
BODY = b'{"message":"backend says no"}'


class Backend:
    def __init__(self, port, log, seed):
        self.port = port
        self.log = open(log, "w", buffering=1 << 16)
        self.random = random.Random(seed)
        self.count = 0
        self.faults = {}
        self.connections = set()
        self.server = None
        self.names = {}

    def note(self, *words):
        self.log.write(" ".join(map(str, words)) + "\n")

    @staticmethod
    def now():
        return f"{time.time() * 1000:.1f}"

    def worker(self, authorization):
        """The caller; every worker's header is decoded once."""
        name = self.names.get(authorization)
        if name is None:
            try:
                name = base64.b64decode(authorization.split(b" ", 1)[1]).decode().split(":")[0]
            except (IndexError, ValueError):
                name = "nobody"
            self.names[authorization] = name
        return name

    def choose(self, user):
        """Chooses the answer to a call of this user: a status, or the name of a fault."""
        for fault, share in self.faults.items():
            if fault not in ("refuse", "slow") and self.random.random() < share:
                return fault
        if user.startswith(REJECTED):
            return str(REJECTIONS[sum(user.encode()) % len(REJECTIONS)])
        return "500" if self.random.random() < BASE_FAILURES else "200"

    async def listen(self):
        # Another bound socket keeps the port while no server listens.
        keeper = socket.socket()
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", self.port))
        self.keeper = keeper
        await self.open()
        self.note("mark", self.now(), "listening")
        self.log.flush()

    async def open(self):
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(
            lambda: Connection(self), "127.0.0.1", self.port, reuse_address=True, backlog=1024)

    async def fault(self, name, seconds, share):
        self.note("mark", self.now(), "begin", name, share)
        self.faults[name] = share
        if name == "refuse":
            self.server.close()
            for connection in list(self.connections):
                connection.reset("reset")
        await asyncio.sleep(seconds)
        if name == "refuse":
            await self.open()
        self.faults.pop(name, None)
        self.note("mark", self.now(), "end", name)

    async def obey(self):
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        running = set()
        while line := await reader.readline():
            name, seconds, share = line.decode().split()
            # One of a kind at a time: a second one would end the first.
            if name not in self.faults:
                self.faults[name] = 0
                task = asyncio.create_task(self.fault(name, float(seconds), float(share)))
                running.add(task)
                task.add_done_callback(running.discard)

    async def flush(self):
        while True:
            await asyncio.sleep(0.2)
            self.log.flush()

    async def run(self):
        # An error of this program must not look like a fault of the backend's.
        asyncio.get_running_loop().set_exception_handler(fail)
        await self.listen()
        flushing = asyncio.create_task(self.flush())
        # The campaign's end, in whatever form, is the end of standard input.
        await self.obey()
        flushing.cancel()
        self.log.flush()


def fail(loop, context):
    loop.default_exception_handler(context)
    os._exit(1)


class Connection(asyncio.Protocol):
    """One connection; the caller sends its next request when it has the answer."""

    def __init__(self, backend):
        self.backend = backend
        self.buffer = b""
        self.call = None
        self.timer = None

    def connection_made(self, transport):
        self.transport = transport
        self.backend.connections.add(self)

    def connection_lost(self, _):
        self.backend.connections.discard(self)
        self.finish("closed")

    def finish(self, how):
        """The call's end is noted before the answer is sent: the caller's next request must not look earlier."""
        if self.timer:
            self.timer.cancel()
            self.timer = None
        if self.call is not None:
            self.backend.note("end", self.call, self.backend.now(), how)
            self.call = None

    def data_received(self, data):
        self.buffer += data
        while self.call is None and (request := self.take_request()):
            self.answer(*request)

    def take_request(self):
        """Path and headers of the next whole request."""
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        lines = self.buffer[:end].split(b"\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])}
        size = int(headers.get(b"content-length", b"0"))
        if len(self.buffer) < end + 4 + size:
            return None
        self.buffer = self.buffer[end + 4 + size:]
        return lines[0].split(b" ")[1], headers

    def answer(self, path, headers):
        backend = self.backend
        query = urllib.parse.parse_qs(path.decode().partition("?")[2])
        pns, user = query.get("pns", ["-"])[0], query.get("to_tag", ["-"])[0]
        key = urllib.parse.unquote(headers.get(b"idempotency-key", b"-").decode())
        backend.count += 1
        self.call = backend.count
        worker = backend.worker(headers.get(b"authorization", b""))
        backend.note("call", self.call, backend.now(), worker, key, pns, user)
        choice = backend.choose(user)
        is_slow = backend.random.random() < backend.faults.get("slow", 0)
        delay = SLOW if is_slow else backend.random.uniform(*LATENCY)
        if choice != "hang":
            self.timer = asyncio.get_running_loop().call_later(delay, self.write, choice)

    def write(self, choice):
        self.timer = None
        if choice == "reset":
            self.reset("reset")
        elif choice == "cut":
            self.finish("cut")
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{")
            self.transport.close()
        else:
            more = f"Retry-After: {self.backend.random.randint(1, 2)}\r\n" if choice == "429" else ""
            body = b"" if choice == "200" else BODY
            self.finish(choice)
            self.transport.write(
                f"HTTP/1.1 {choice} X\r\nContent-Type: application/json\r\n{more}Content-Length: {len(body)}\r\n\r\n"
                .encode() + body)
            if self.buffer:
                self.data_received(b"")

    def reset(self, how):
        """Ends the connection as a crash does, without a goodbye."""
        self.finish(how)
        raw = self.transport.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


if __name__ == "__main__":
    asyncio.run(Backend(int(sys.argv[1]), sys.argv[2], sys.argv[3]).run())
