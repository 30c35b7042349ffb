"""One-time codes for some users, beside others' effects on the worker: a loud user, a failing shard, calls that hang."""

import base64
import collections
import dataclasses
import itertools
import json
import math
import subprocess
import sys
import time
import urllib.request

import cases
import events
import usage
import worker
from processes import Failure, free_ports, is_alive, wait_for

# Until then all calls are answered soon: connections are made, and code is compiled at its first run.
WARM_SECONDS = 5
# A code without a call this long after the last one was published counts as never called.
PATIENCE_SECONDS = 10
# All other settings have their defaults.
SETTINGS = ["--backend-timeout", "3s", "--retry-immediate", "1", "--retry-delays", "1s,2s"]
CONTROL = "Basic " + base64.b64encode(b"bench:bench").decode()


@dataclasses.dataclass
class Loud:
    """The user whose events came all at once."""

    calls: int
    # The share of the calls that fit into the time one after the other.
    share: float
    out_of_order: int


@dataclasses.dataclass
class Beside:
    """The waits of the codes."""

    case: cases.Bystanding
    # For each called code the seconds from its publication to its first call, and its number.
    waits: list[tuple[float, int]]
    count: int
    # Calls for the others, and the number of them for users with special treatment.
    calls: int
    treated: int
    # Bytes.
    peak: int
    loud: Loud | None

    never = property(lambda self: self.count - len(self.waits))
    latest = property(lambda self: max(self.waits, default=(math.inf, 0))[0])
    # The moment of the latest one's publication, in seconds after the first.
    latest_at = property(lambda self: max(self.waits, default=(0, 0))[1] / cases.CODE_RATE)

    def percentile(self, share):
        """A percentile of the waits, with uncalled codes last."""
        waits = sorted(wait for wait, _ in self.waits) + [math.inf] * self.never
        return waits[min(int(share * self.count), self.count - 1)]


def measure(bench, chosen):
    return [Run(case, bench).measure() for case in chosen]


class Backend:
    """Herald's reference backend: it treats users as told, and logs each call on arrival."""

    def __init__(self, processes, herald, name):
        self.processes = processes
        [port] = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        self.calls = processes.directory / f"{name}.calls"
        self.process = processes.start(
            [herald, "backend", "--port", port, "--call-log", self.calls, "--misbehave", f"latency={cases.CALL}"],
            log=f"{name}-backend")
        wait_for(self.is_up, 10, "the backend was not up")

    def is_up(self):
        if not is_alive(self.process):
            raise Failure("the backend ended")
        try:
            self.treat([])
        except OSError:
            return False
        return True

    def treat(self, rules):
        """All users are answered after CALL, except for those of the rules."""
        body = json.dumps([{"latency": cases.CALL}, *rules]).encode()
        request = urllib.request.Request(f"{self.url}/sandbox/misbehaviour", body, {"Authorization": CONTROL}, method="PUT")
        with urllib.request.urlopen(request, timeout=5):
            pass

    def end(self):
        self.processes.end(self.process)
        self.calls.unlink()


class CallLog:
    """The calls written so far."""

    def __init__(self, path):
        self.file = open(path)
        # The moment of each code's first call, by its user, in seconds of the clock.
        self.codes = {}
        self.others = collections.Counter()
        # The numbers of the loud user's events in the order of their first calls, and the moment of the first one.
        self.loud = {}
        self.loud_begin = None

    def read(self):
        for line in self.file:
            call = json.loads(line)
            user, moment = call["user"], call["receivedAt"] / 1_000
            if user.startswith("code-"):
                self.codes.setdefault(user, moment)
            elif user == "loud":
                self.loud_begin = self.loud_begin or moment
                self.loud.setdefault(int(call["key"].split(":")[0].removeprefix("loud-")))
            else:
                self.others[user.split("-")[0]] += 1
        return self


class Run:
    def __init__(self, case, bench):
        usage.progress(f"{case.name}: {case.about}")
        self.case, self.processes, self.herald = case, bench.processes, bench.herald
        self.name = f"bystanders.{next(worker.numbers)}"
        self.backend = Backend(self.processes, self.herald, self.name)
        self.worker = self.start_worker(bench.broker.bootstrap)
        self.publisher = self.processes.start(
            bench.broker.command("lines", self.name), log=f"{self.name}-lines", stdin=subprocess.PIPE)
        # The moment of each code's publication, in seconds of the clock.
        self.codes = {}
        self.sent = 0

    def start_worker(self, bootstrap):
        path = self.processes.directory / f"{self.name}.yaml"
        path.write_text(worker.plain_settings(bootstrap, self.name, self.backend.url))
        flags = ["--config", path, *SETTINGS]
        self.processes.run(
            [self.herald, "topics", "apply", "--yes", *flags, "--topics-partitions", self.case.partitions])
        running = self.processes.start([self.herald, "worker", *flags], log=self.name)

        def has_partitions():
            if not is_alive(running):
                sys.exit(f"bench: a worker ended:\n{self.processes.tail(self.name)}")
            return "partitions assigned" in self.processes.log(self.name).read_text()

        wait_for(has_partitions, 60, "the worker got no partitions")
        return running

    def measure(self):
        begin = time.monotonic()
        if not self.case.is_from_start:
            self.publish(begin, WARM_SECONDS)
        self.backend.treat([{"user": "loud", "latency": cases.LOUD_CALL - cases.CALL}, *self.case.rules])
        self.shout()
        self.publish(begin, time.monotonic() - begin + self.case.settle)
        first = time.monotonic()
        self.publish(begin, first - begin + cases.CODES / cases.CODE_RATE, first)
        log = CallLog(self.backend.calls)
        # The load beside continues.
        end = time.monotonic() + PATIENCE_SECONDS
        while len(log.read().codes) < cases.CODES and time.monotonic() < end:
            self.publish(begin, time.monotonic() - begin + 0.2)
        if not is_alive(self.worker) or not is_alive(self.publisher):
            sys.exit(f"bench: the worker or the publisher ended:\n{self.processes.tail(self.name)}")
        treated = sum(log.others[kind] for kind in self.case.kinds)
        measured = Beside(
            self.case, self.waits(log), len(self.codes), log.others.total(), treated, usage.peak_bytes(self.worker),
            self.loud(log, time.time()))
        self.end()
        return measured

    def waits(self, log):
        return [(max(0, log.codes[user] - at), number) for number, (user, at) in enumerate(self.codes.items())
                if user in log.codes]

    def publish(self, begin, seconds, first_code=None):
        """Publishes at the case's rate for `seconds` after `begin`, and one code after the other."""
        while (now := time.monotonic()) < begin + seconds:
            while self.sent < self.case.rate * (now - begin):
                self.send(self.user(self.sent), f"load-{self.sent:06}")
                self.sent += 1
            while first_code and len(self.codes) < min(cases.CODES, cases.CODE_RATE * (now - first_code)):
                user = f"code-{len(self.codes):04}"
                self.codes[user] = time.time()
                self.send(user, user)
            self.publisher.stdin.flush()
            time.sleep(0.002)

    def shout(self):
        for number in range(self.case.flood):
            self.send("loud", f"loud-{number:06}")

    def user(self, number):
        place = number * 7919 % self.case.users
        share = place / self.case.users
        for kind, part in self.case.kinds.items():
            if share < part:
                return f"{kind}-{place:04}"
            share -= part
        return f"quiet-{place:04}"

    def send(self, user, identifier):
        self.publisher.stdin.write(f"{user}\t{events.value(identifier, user)}\n".encode())

    def loud(self, log, now):
        if not self.case.flood:
            return None
        numbers = list(log.loud)
        seconds = now - log.loud_begin if numbers else math.inf
        highest = itertools.accumulate(numbers, max)
        return Loud(len(numbers), len(numbers) * cases.LOUD_CALL / 1_000 / seconds,
                    sum(number < most for number, most in zip(numbers, highest)))

    def end(self):
        self.publisher.stdin.close()
        self.publisher.wait(timeout=60)
        # The remaining events do not matter.
        self.worker.kill()
        self.worker.wait()
        self.backend.end()
