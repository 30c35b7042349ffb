"""The cost of little work, beside librdkafka alone on the same broker; and the cost of no work."""

import dataclasses
import time

import cases
from processes import wait_for
from stub import Slow
from usage import processor_seconds, progress, resident_bytes
from worker import numbers

# Until then connections are made, and code is compiled at its first run.
WARM_SECONDS = 4
# The broker's own first events: its code is compiled while it runs.
WARM_UP = 60_000
WARM_UP_RATE = 6_000
# The first requests follow an assignment.
SETTLE_SECONDS = 12


@dataclasses.dataclass
class LowLoad:
    """An event's cost at a pace: processor seconds of its consumer and of the broker; ages on arrival (ms)."""

    who: str
    rate: int
    cost: float
    broker: float
    ages: tuple


@dataclasses.dataclass
class Idle:
    """A worker with nothing to do: its share of a core, the broker's, and its memory."""

    case: cases.Idle
    share: float
    broker: float
    resident: int


def measure(bench, rates):
    """All programs for each rate, one after another on a broker that has compiled its code."""
    if rates:
        warm_up(bench)
    return [row for rate in rates for row in (
        bare(bench, rate, "plain"), herald(bench, rate, "at-least-once"), bare(bench, rate, "atomic"),
        herald(bench, rate, "atomic"))]


def warm_up(bench):
    progress("the broker warms up")
    for kind in ("plain", "atomic"):
        echo(bench, WARM_UP_RATE, kind, 0, WARM_UP)


def bare(bench, rate, kind):
    progress(f"low-{rate}: librdkafka alone, {kind}")
    cost, broker, ages = echo(bench, rate, kind, rate * WARM_SECONDS, rate * cases.LOW_SECONDS)
    return LowLoad(f"bare, {kind}", rate, cost, broker, ages)


def echo(bench, rate, kind, warm, count):
    """Consumes events at a pace and produces as many, by librdkafka alone."""
    topic = f"echo.{next(numbers)}"
    for name in (topic, f"{topic}.results"):
        bench.broker.create(name, cases.FIRST.partitions)
    running = bench.processes.start(
        bench.broker.command("echo", topic, f"{topic}.results", kind, warm, count), log=topic)
    log = bench.processes.log(topic)
    wait_for(lambda: running.poll() is not None or "ready" in log.read_text(), 30, f"{topic} was not ready")
    if warm:
        bench.broker.ask("pace", topic, rate, warm)
    before = processor_seconds(bench.broker.node)
    bench.broker.ask("pace", topic, rate, count)
    wait_for(lambda: running.poll() is not None, 30, f"{topic} did not come to its end")
    broker = processor_seconds(bench.broker.node) - before
    # The client may have written messages before.
    *_, spent, ages = log.read_text().splitlines()
    for name in (topic, f"{topic}.results"):
        bench.broker.delete(name)
    return float(spent) / count, broker / count, tuple(float(age) / 1_000 for age in ages.split()[1:])


def herald(bench, rate, guarantee):
    progress(f"low-{rate}: a worker, {guarantee}")
    case = dataclasses.replace(cases.FIRST, guarantee=guarantee)
    topic = f"low.{next(numbers)}"
    bench.broker.create(topic, case.partitions)
    backend = Slow(bench.processes, bench.tools["backend"], 0)
    workers = bench.workers(case, topic, backend.url)
    wait_for(workers.are_assigned, 60, "no partitions were assigned")
    warm, count = rate * WARM_SECONDS, rate * cases.LOW_SECONDS
    bench.broker.ask("pace", topic, rate, warm)
    workers.await_commits(topic, warm)
    backend.ages()
    spent, before = workers.processor_seconds(), processor_seconds(bench.broker.node)
    bench.broker.ask("pace", topic, rate, count)
    workers.await_commits(topic, warm + count)
    spent, broker = workers.processor_seconds() - spent, processor_seconds(bench.broker.node) - before
    ages = backend.ages()
    workers.stop()
    bench.processes.end(backend.process)
    bench.broker.delete(topic)
    return LowLoad(f"herald, {guarantee}", rate, spent / count, broker / count, ages[1:])


def idle(bench, case):
    """A worker whose topics are empty."""
    progress(f"{case.name}: {case.about}, {cases.IDLE_SECONDS} s")
    topic = f"idle.{next(numbers)}"
    bench.broker.create(topic, case.circumstances.partitions)
    workers = bench.workers(case.circumstances, topic, bench.nginx.url)
    wait_for(workers.are_assigned, 60, f"{case.name}: no partitions were assigned")
    time.sleep(SETTLE_SECONDS)
    spent, before = workers.processor_seconds(), processor_seconds(bench.broker.node)
    time.sleep(cases.IDLE_SECONDS)
    share = (workers.processor_seconds() - spent) / cases.IDLE_SECONDS
    broker = (processor_seconds(bench.broker.node) - before) / cases.IDLE_SECONDS
    resident = resident_bytes(workers.running[0])
    workers.stop()
    bench.broker.delete(topic)
    return Idle(case, share, broker, resident)
