"""The measurements themselves; report.py prints their results."""

import dataclasses
import functools
import sys
import time

import cases
import events
from processes import wait_for
from stub import Front, Nginx, Slow
from usage import machine_seconds, processor_seconds, progress
from worker import Workers, numbers

WRK_SECONDS = 3
# The floor of HTTP/2: the connections, and the calls on each at a time.
H2LOAD_CONNECTIONS, H2LOAD_CALLS = 4, 64
HANG_SECONDS = 45


@dataclasses.dataclass
class Wrk:
    """`wrk` (or `h2load`) with the worker's request, before and after a case."""

    requests: int = 0
    seconds: float = 0
    processor: float = 0

    def add(self, measured):
        requests, seconds, processor = measured
        self.requests += requests
        self.seconds += seconds
        self.processor += processor

    rate = property(lambda self: self.requests / self.seconds)
    cost = property(lambda self: self.processor / self.requests)


@dataclasses.dataclass
class Throughput:
    """One case's backlog: from the first call to the last commit."""

    case: cases.Case
    rate: float
    cost: float
    peak: int
    # Processor seconds for each event: of the other necessary processes, and of unwanted ones.
    broker: float
    backend: float
    others: float
    # The share of all cores' time.
    busy: float
    wrk: Wrk | None


@dataclasses.dataclass
class Floor:
    wrk: Wrk
    wrk_tls: Wrk
    h2load: Wrk
    h2load_tls: Wrk
    consume_rate: float
    consume_cost: float
    produce_rate: float
    produce_cost: float
    ages: tuple


class Bench:
    def __init__(self, processes, broker, herald, tools, count, profile):
        self.processes, self.broker, self.herald, self.tools = processes, broker, herald, tools
        self.count, self.profile = count, profile
        self.script = events.wrk_script(processes.directory)
        self.backlogs = set()

    @functools.cached_property
    def nginx(self):
        """Started when a case needs it."""
        return Nginx(self.processes)

    def backlog(self, partitions, count=None, users=events.USERS, batch=events.BATCH):
        """A topic with the backlog, made once for each number of partitions, events and users, and size of batches."""
        count = count or self.count
        topic = f"backlog.{partitions}.{count}.{users}.{batch}"
        if topic not in self.backlogs:
            progress(f"{count:,} events of {events.SIZE} bytes into {partitions} partitions")
            self.broker.create(topic, partitions)
            events.produce(self.processes, self.broker.bootstrap, topic, count, users, batch)
            self.backlogs.add(topic)
        return topic

    def floor(self):
        progress("floor: wrk, and librdkafka on its own")
        topic = self.backlog(cases.FIRST.partitions)
        plain, tls, shared, shared_tls = Wrk(), Wrk(), Wrk(), Wrk()
        arguments = events.h2load_arguments(self.processes.directory)
        for is_tls, by_wrk, by_h2load in ((False, plain, shared), (True, tls, shared_tls)):
            by_wrk.add(self.nginx.wrk(self.script, cases.FIRST.connections, WRK_SECONDS, is_tls))
            by_h2load.add(self.nginx.h2load(arguments, H2LOAD_CONNECTIONS, H2LOAD_CALLS, WRK_SECONDS, is_tls))
        self.broker.create("bare", cases.FIRST.partitions)
        consumed = self.broker.ask("consume", topic, self.count)
        produced = self.broker.ask("produce", "bare", self.count, 270)
        self.broker.delete("bare")
        self.broker.create("bare.ages", cases.FIRST.partitions)
        self.broker.ask("pace", "bare.ages", cases.PACE, 2 * cases.PACE)
        ages = self.broker.ask("ages", "bare.ages", cases.PACE, cases.PACED_SECONDS * cases.PACE)
        self.broker.delete("bare.ages")
        return Floor(
            plain, tls, shared, shared_tls, self.count / consumed[0], consumed[1] / self.count, self.count / produced[0],
            produced[1] / self.count, tuple(age / 1_000 for age in ages[1:]))

    def throughput(self, case):
        topic = self.backlog(case.partitions)
        progress(f"{case.name}: {case.about}")
        backend = Slow(self.processes, self.tools["backend"], case.delay) if case.delay else self.nginx
        wrk = None if case.delay else Wrk()
        if wrk:
            wrk.add(self.nginx.wrk(self.script, case.connections, WRK_SECONDS, case.tls))
        before = backend.served()
        spent = processor_seconds(backend.process), processor_seconds(self.broker.node)
        machine, start = machine_seconds(), time.monotonic()
        front = Front(self.processes, backend.port) if case.has_front else None
        url = front.url if front else backend.url if case.delay else backend.urls[case.tls, case.http2]
        workers = self.workers(case, topic, url)
        if self.profile:
            wait_for(lambda: backend.served() > before, 30, "the worker made no call")
            self.record_profile(workers)
        begin = backend.watch(before + self.count, workers.are_alive, patience=30)
        if not begin:
            sys.exit(f"bench: {case.name} stopped calling before the backlog was gone:\n{workers.log()}")
        workers.await_commits(topic, self.count)
        end, busy = time.monotonic(), machine_seconds() - machine
        processor, peak = workers.processor_seconds(), workers.peak_bytes()
        ours = processor_seconds(backend.process) - spent[0]
        brokers = processor_seconds(self.broker.node) - spent[1]
        self.check_results(case, workers)
        workers.stop()
        if wrk:
            wrk.add(self.nginx.wrk(self.script, case.connections, WRK_SECONDS, case.tls))
        else:
            for one in filter(None, (front, backend)):
                self.processes.end(one.process)
        others = max(0, busy - processor - ours - brokers)
        measured = Throughput(
            case, self.count / (end - begin), processor / self.count, peak, brokers / self.count, ours / self.count,
            others / self.count, busy / (end - start), wrk)
        progress(f"{case.name}: {measured.rate:,.0f} events/s, {measured.cost * 1e6:.1f} µs each")
        return measured

    def check_results(self, case, workers):
        """Stops the run if there are fewer results than events: the figures would be meaningless."""
        results = self.broker.end(f"{workers.group}.results")
        # The markers of transactions have offsets too.
        if results < self.count or (case.guarantee == "at-least-once" and results > self.count):
            sys.exit(f"bench: {self.count} events have {results} results in {case.name}.")

    def paced(self, case):
        """The ages of events on arrival at the backend, at a pace that leaves the machine idle (milliseconds)."""
        progress(f"age-{case.name}: {cases.PACE} events a second for {cases.PACED_SECONDS} s")
        topic = f"paced.{next(numbers)}"
        self.broker.create(topic, case.partitions)
        backend = Slow(self.processes, self.tools["backend"], 0)
        workers = self.workers(case, topic, backend.url)
        wait_for(workers.are_assigned, 60, f"{case.name}: no partitions were assigned")
        served = 0
        for seconds in (2, cases.PACED_SECONDS):
            backend.ages()  # The first seconds do not count: connections are made.
            self.broker.ask("pace", topic, cases.PACE, seconds * cases.PACE)
            served += seconds * cases.PACE
            wait_for(lambda: backend.served() >= served, 30, f"{case.name}: not all events arrived")
        ages = backend.ages()
        workers.await_commits(topic, served)
        workers.stop()
        self.processes.end(backend.process)
        self.broker.delete(topic)
        return case, ages[1:]

    def hang(self):
        """The peak memory of a worker whose backend never answers."""
        topic = self.backlog(cases.FIRST.partitions)
        progress(f"hang: a backend that never answers, {HANG_SECONDS} s")
        backend = Slow(self.processes, self.tools["backend"], None)
        workers = self.workers(cases.FIRST, topic, backend.url)
        wait_for(lambda: backend.served() > 0, 60, "the worker made no call")
        time.sleep(HANG_SECONDS)
        if not workers.are_alive():
            sys.exit(f"bench: the worker ended while its backend hung:\n{workers.log()}")
        peak = workers.peak_bytes()
        workers.kill()
        self.processes.end(backend.process)
        return peak

    def limited(self):
        """The load of a backend with a limit of CAPACITY calls a second: events a second, refused share, dead letters."""
        count = cases.LIMITED_EVENTS
        progress(f"limited: {count:,} events for a backend that takes {cases.CAPACITY} a second, {count // cases.CAPACITY} s")
        topic = f"limited.{next(numbers)}"
        self.broker.create(topic, cases.FIRST.partitions)
        events.produce(self.processes, self.broker.bootstrap, topic, count)
        case = dataclasses.replace(cases.FIRST, guarantee="at-least-once")
        before, start = self.nginx.served(), time.monotonic()
        workers = self.workers(case, topic, self.nginx.limited_url)
        workers.await_results(count, 2 * count // cases.CAPACITY)
        seconds, calls = time.monotonic() - start, self.nginx.served() - before
        dead = self.broker.end(f"{workers.group}.dead-letter")
        workers.stop()
        self.broker.delete(topic)
        return count / seconds, 1 - count / calls, dead

    def priority(self):
        """The ages of the first topic's events on arrival at the backend, beside a full second topic (milliseconds)."""
        progress(f"priority: {cases.URGENT_PACE} events a second beside a full topic, {cases.CAPACITY} calls a second")
        bulk, urgent = self.backlog(cases.FIRST.partitions), f"urgent.{next(numbers)}"
        self.broker.create(urgent, cases.FIRST.partitions)
        backend = Slow(self.processes, self.tools["backend"], 0)
        workers = self.workers(
            cases.FIRST, f"{{name: {urgent}, weight: 10}}, {{name: {bulk}, weight: 1}}", backend.url,
            limits=f"perSecond: {cases.CAPACITY}")
        wait_for(lambda: backend.served() > 2 * cases.CAPACITY, 60, "priority: the worker made no calls")
        backend.ages()
        self.broker.ask("pace", urgent, cases.URGENT_PACE, cases.URGENT_SECONDS * cases.URGENT_PACE)
        workers.await_commits(urgent, cases.URGENT_SECONDS * cases.URGENT_PACE)
        ages = backend.ages()
        workers.stop()
        self.processes.end(backend.process)
        self.broker.delete(urgent)
        return ages[1:]

    def workers(self, case, topics, url, limits=""):
        return Workers(
            self.processes, self.broker, [self.herald], case, topics, url,
            self.nginx.authority if case.tls else None, limits)

    def record_profile(self, workers):
        self.processes.start(
            ["perf", "record", "-q", "-F", "499", "-e", "cpu-clock", "-p",
             ",".join(str(worker.pid) for worker in workers.running), "-o", self.profile], log="perf")
