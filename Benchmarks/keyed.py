"""From Kafka to HTTP in the order of keys, in transactions, compared with a good engineer's work of a day (Peers)."""

import dataclasses
import itertools
import pathlib
import signal
import statistics
import sys
import time

import cases
import events
import faults
import usage
from kafka import java
from processes import is_alive, wait_for
from stub import Slow
from worker import numbers

HERE = pathlib.Path(__file__).resolve().parent
PEER = "own worker"
HERALD = "herald"
ROUNDS = 3
PATIENCE_SECONDS = 120
# Ages: the rate of events, the length, and the moment at which one of two workers is killed.
PACE = 1_000
WARM_UP_SECONDS = 10
SECONDS = 40
KILLED_AFTER_SECONDS = 10


@dataclasses.dataclass
class Drained:
    """A backlog of one case, several times."""

    who: str
    case: cases.Keyed
    # Events a second of each round.
    rates: list
    # Processor seconds for each event: its own, and the broker's.
    cost: float
    broker: float
    peak: int


@dataclasses.dataclass
class Aged:
    """Ages at arrival (ms) with two workers."""

    who: str
    about: str
    ages: tuple
    repeated: int
    lost: int


def measure(bench, chosen, has_kill):
    """Rows of backlogs, rows of ages; the programs take turns, because the machine becomes slower or faster."""
    drained = [Drained(who, case, rates, *rest) for case in chosen for who, (rates, *rest) in drain_all(bench, case).items()]
    aged = [row for who in (HERALD, PEER) for row in ages(bench, who)] if has_kill else []
    return drained, aged


# MARK: Backlogs


def drain_all(bench, case):
    topic = bench.backlog(
        case.circumstances.partitions, case.warm_up + case.count, case.users, cases.KEYED_BATCH)
    rounds = {HERALD: [], PEER: []}
    for number in range(ROUNDS):
        for who, found in rounds.items():
            usage.progress(f"{case.name}: {who}, round {number + 1} of {ROUNDS}")
            found.append(drain(bench, case, topic, who))
    return {who: ([rate for rate, *_ in found], *(statistics.median(values) for values in list(zip(*found))[1:]))
            for who, found in rounds.items()}


def drain(bench, case, topic, who):
    """Events a second from the end of the warm-up to the last call and its commit; processor seconds for each event; peak."""
    backend = Slow(bench.processes, bench.tools["backend"], case.circumstances.delay)
    workers = (bench.workers(case.circumstances, topic, backend.url) if who == HERALD
               else OwnWorkers(bench, case.circumstances, topic, backend.url))
    if not backend.watch(case.warm_up, workers.are_alive, patience=60):
        sys.exit(f"bench: {case.name}: {who} made no calls:\n{workers.log()}")
    begin, served, total = time.monotonic(), backend.served(), case.warm_up + case.count
    spent = workers.processor_seconds(), usage.processor_seconds(bench.broker.node)
    # Commits are no measure: Herald defers a user's excess events to a retry topic, and commits their offsets.
    if not backend.watch(total, workers.are_alive, patience=60):
        sys.exit(f"bench: {case.name}: {who} made {backend.served()} calls for {total} events:\n{workers.log()}")
    workers.await_commits(topic, total)
    seconds, count = time.monotonic() - begin, total - served
    own = workers.processor_seconds() - spent[0]
    brokers = usage.processor_seconds(bench.broker.node) - spent[1]
    peak = workers.peak_bytes()
    if backend.served() != total:
        sys.exit(f"bench: {case.name}: {who} made {backend.served()} calls for {total} events.")
    workers.stop()
    bench.processes.end(backend.process)
    return count / seconds, own / count, brokers / count, peak


class OwnWorkers:
    """The peer, in the place of `Workers`."""

    def __init__(self, bench, case, topic, url):
        self.bench, self.case = bench, case
        self.group = f"own.{next(numbers)}"
        self.results = f"{self.group}.results"
        bench.broker.create(self.results, case.partitions)
        self.process = bench.processes.start(command(bench, self.group, topic, self.results, url, 0, case.in_flight), log=self.group)

    def are_alive(self):
        return is_alive(self.process)

    def log(self):
        return self.bench.processes.tail(self.group)

    def await_commits(self, topic, count):
        self.bench.broker.ask("committed", self.group, topic, count, PATIENCE_SECONDS)

    def processor_seconds(self):
        return usage.processor_seconds(self.process)

    def peak_bytes(self):
        return usage.peak_bytes(self.process)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.bench.broker.delete(self.results)


def command(bench, group, topic, results, url, number, in_flight):
    return [*java(bench.processes, bench.broker.home, quick=False), HERE / "Peers/OwnWorker.java",
            bench.broker.bootstrap, group, topic, results, url, number, in_flight]


# MARK: Ages


class OwnPair(faults.Pair):
    """Two peers, in the place of `Pair`."""

    def __init__(self, bench, group, url):
        self.bench, self.processes, self.group, self.url = bench, bench.processes, group, url
        for topic in (group, f"{group}.results"):
            bench.broker.create(topic, cases.FIRST.partitions)
        self.runs, self.spent = itertools.count(1), 0
        self.running = [self.start(index) for index in range(2)]
        for one in self.running:
            self.await_partitions(one)

    def start(self, index):
        log = f"{self.group}-{next(self.runs)}"
        return self.processes.start(
            command(self.bench, self.group, self.group, f"{self.group}.results", self.url, index, cases.FIRST.in_flight), log=log), log

    def end(self):
        for process, _ in self.running:
            process.kill()
            process.wait()


def ages(bench, who):
    backend = Slow(bench.processes, bench.tools["backend"], 0)
    group = f"keyed.{next(numbers)}"
    pair = (faults.Pair(bench.processes, bench.herald, bench.broker, group, backend.url) if who == HERALD
            else OwnPair(bench, group, backend.url))
    pace(bench, backend, group, WARM_UP_SECONDS, lambda: None)
    for about, happens in (
            ("nothing happens", lambda: None),
            (f"one of two is killed, another comes {faults.ABSENCE_SECONDS} s later", lambda: kill(pair))):
        usage.progress(f"keyed-kill: {who}: {about}, {SECONDS} s at {PACE} events/s")
        yield Aged(who, about, *pace(bench, backend, group, SECONDS, happens))
    pair.end()
    bench.processes.end(backend.process)


def kill(pair):
    time.sleep(KILLED_AFTER_SECONDS)
    pair.replace(0, signal.SIGKILL)


def pace(bench, backend, topic, seconds, happens):
    """Publishes for a time; returns ages, calls that repeat an event's, and events that never came."""
    backend.ages()
    served = backend.served()
    log = f"{topic}-pace"
    publisher = bench.processes.start(
        bench.broker.command("pace", topic, PACE, seconds * PACE, faults.LINGER_MS), log=log)
    happens()
    wait_for(lambda: not is_alive(publisher), seconds + PATIENCE_SECONDS, "not everything was published")
    if publisher.returncode != 0:
        sys.exit(f"bench: the publisher failed:\n{bench.processes.tail(log)}")
    bench.broker.ask("committed", topic, topic, bench.broker.end(topic), PATIENCE_SECONDS)
    repeated = backend.repeated()
    lost = seconds * PACE - (backend.served() - served - repeated)
    return backend.ages()[1:], repeated, lost
