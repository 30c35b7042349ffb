"""A campaign from its audience's file to its report, beside one worker with default settings."""

import dataclasses
import itertools
import os
import sys
import time

import usage
from processes import wait_for
from worker import plain_settings

MESSAGE = "Hi {{first_name}}, your parcel is on its way. Look at it in the app."
# Longer than any case takes.
PATIENCE_SECONDS = 600

numbers = itertools.count(1)


@dataclasses.dataclass
class Campaign:
    """A campaign's costs: moments in seconds from its command's start, processor time in seconds, memory in bytes."""

    recipients: int
    previewed: float
    published: float
    called: float
    ended: float
    report: float
    processor: dict
    peaks: dict


class Command:
    """A run of `herald`, watched until it ends."""

    def __init__(self, processes, arguments, log):
        self.processes, self.log = processes, log
        self.start = time.monotonic()
        self.process = processes.start(arguments, log=log)
        self.peak = 0

    def said(self, text):
        return text in self.processes.log(self.log).read_text(errors="replace")

    def has_ended(self):
        """Whether it has ended; its usage can still be read then."""
        self.peak = max(self.peak, usage.peak_bytes(self.process))
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def end(self):
        """The moment of its end (seconds since its start), and its seconds of processor time."""
        while not self.has_ended():
            time.sleep(0.01)
        seconds, processor = time.monotonic() - self.start, usage.processor_seconds(self.process)
        if self.process.wait() != 0:
            sys.exit(f"bench: {self.log} ended with {self.process.returncode}:\n{self.processes.tail(self.log)}")
        return seconds, processor


def write_audience(path, count):
    with open(path, "w") as file:
        file.write("user,first_name,city\n")
        for number in range(count):
            file.write(f"user-{number:07},Name{number % 1_000},Town {number % 97}\n")


def measure(bench):
    """Two campaigns, one after the other: the first while the broker compiles its code, the second afterwards."""
    return [run(bench, bench.count) for _ in range(2)]


def run(bench, count):
    usage.progress(f"campaign: {count:,} recipients, from the audience's file to the report")
    processes, broker, backend = bench.processes, bench.broker, bench.nginx
    group = f"campaign.{next(numbers)}"
    settings, audience = processes.directory / f"{group}.yaml", processes.directory / f"{group}.csv"
    settings.write_text(plain_settings(broker.bootstrap, group, backend.url))
    write_audience(audience, count)
    configured = ["--config", settings]
    processes.run([bench.herald, "topics", "apply", "--yes", *configured])
    worker = processes.start([bench.herald, "worker", *configured], log=f"{group}-worker")
    wait_for(lambda: "partitions assigned" in processes.log(f"{group}-worker").read_text(), 60, "no partitions were assigned")

    served = backend.served()
    spent = {"worker": worker, "backend": backend.process, "broker": broker.node}
    before = {name: usage.processor_seconds(process) for name, process in spent.items()}
    command = Command(processes, [
        bench.herald, "campaign", "start", "--name", "bench", "--audience", audience, "--message", MESSAGE, "--pns", "apns",
        "--yes", *configured], f"{group}-start")
    moments = {}
    while not command.has_ended():
        now = time.monotonic() - command.start
        if now > PATIENCE_SECONDS:
            sys.exit(f"bench: the campaign has not ended:\n{processes.tail(command.log)}")
        for name, is_there in (
                ("previewed", lambda: command.said("Campaign bench")),
                ("published", lambda: command.said("All recipients are published")),
                ("called", lambda: backend.served() >= served + count)):
            if name not in moments and is_there():
                moments[name] = now
        time.sleep(0.05)
    ended, publisher = command.end()
    processor = {"publisher": publisher} | {
        name: usage.processor_seconds(process) - before[name] for name, process in spent.items()}
    calls = backend.served() - served
    if calls != count:
        sys.exit(f"bench: {count} recipients were called {calls} times.")

    report = Command(processes, [
        bench.herald, "campaign", "report", "bench", "--html", processes.directory / f"{group}.html", *configured],
        f"{group}-report")
    reported, processor["report"] = report.end()
    peaks = {"publisher": command.peak, "worker": usage.peak_bytes(worker), "report": report.peak}
    processes.end(worker)
    for name in (f"{group}.bulk", f"{group}.results"):
        broker.delete(name)
    audience.unlink()
    return Campaign(
        count, moments.get("previewed", ended), moments.get("published", ended), moments.get("called", ended), ended, reported,
        processor, peaks)
