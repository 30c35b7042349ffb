"""How old events are when the backend gets them while workers and brokers come and go: three brokers, two workers."""

import dataclasses
import itertools
import pathlib
import signal
import sys
import time

import cases
import usage
import worker
from processes import Processes, is_alive, wait_for
from stub import Slow

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Soak"))

from cluster import Cluster

SECONDS = 40
WARM_UP_SECONDS = 5
# The brokers compile their code meanwhile: before that they take more than the machine has.
FIRST_WARM_UP_SECONDS = 90
# A supervisor needs about as long.
ABSENCE_SECONDS = 2
BROKER_ABSENCE_SECONDS = 15
PATIENCE_SECONDS = 120
# The default of Kafka's own producer since 4.0: without it each event is a request of its own, and three brokers on two cores
# take fewer than a thousand of those a second.
LINGER_MS = 5


@dataclasses.dataclass
class Faulty:
    """One run: ages at arrival in milliseconds, and what went wrong besides."""

    about: str
    ages: tuple
    repeated: int
    lost: int
    # Cores that the three brokers and the workers took.
    brokers: float
    workers: float


class Pair:
    """Two workers that have everything by default."""

    def __init__(self, processes, herald, cluster, group, url):
        self.processes, self.herald, self.group = processes, herald, group
        self.settings = processes.directory / f"{group}.yaml"
        self.settings.write_text(worker.plain_settings(cluster.bootstrap, group, url))
        processes.run([herald, "topics", "apply", "--yes", "--config", self.settings])
        self.runs = itertools.count(1)
        # Seconds of processor time that those spent that have ended.
        self.spent = 0
        self.running = [self.start(), self.start()]
        for one in self.running:
            self.await_partitions(one)

    def start(self):
        log = f"{self.group}-{next(self.runs)}"
        return self.processes.start([self.herald, "worker", "--config", self.settings], log=log), log

    def await_partitions(self, one):
        process, log = one

        def has_them():
            if not is_alive(process):
                sys.exit(f"bench: a worker ended:\n{self.processes.tail(log)}")
            return "partitions assigned" in self.processes.log(log).read_text()

        wait_for(has_them, 60, "a worker got no partitions")

    def replace(self, index, name):
        """Ends one with this signal, and starts another in its place."""
        process, _ = self.running[index]
        self.spent += usage.processor_seconds(process)
        process.send_signal(name)
        process.wait(timeout=60)
        time.sleep(ABSENCE_SECONDS)
        self.running[index] = self.start()

    def processor_seconds(self):
        return self.spent + sum(usage.processor_seconds(process) for process, _ in self.running)

    def end(self):
        for process, _ in self.running:
            process.send_signal(signal.SIGTERM)
        for process, log in self.running:
            if process.wait(timeout=60) != 0:
                sys.exit(f"bench: a worker ended with {process.returncode}:\n{self.processes.tail(log)}")


# Each gives the processor time (seconds) of the brokers that it ended.


def nothing(pair, cluster):
    return 0


def kill_worker(pair, cluster):
    time.sleep(10)
    pair.replace(0, signal.SIGKILL)
    return 0


def kill_broker(pair, cluster):
    time.sleep(10)
    spent = usage.processor_seconds(cluster.nodes[2].process)
    cluster.kill(2)
    time.sleep(BROKER_ABSENCE_SECONDS)
    cluster.start(2)
    return spent


def roll(pair, cluster):
    for index in range(2):
        time.sleep(10)
        pair.replace(index, signal.SIGTERM)
        pair.await_partitions(pair.running[index])
    return 0


# The broker comes last: when it is back it has everything to compile again.
FAULTS = [
    ("nothing happens", nothing),
    (f"a worker is killed, another comes {ABSENCE_SECONDS} s later", kill_worker),
    ("one worker after the other is restarted (SIGTERM)", roll),
    (f"a broker is killed, and comes back {BROKER_ABSENCE_SECONDS} s later", kill_broker),
]


def measure(bench):
    directory = bench.processes.directory / "faults"
    directory.mkdir()
    # The one node that the other cases use would only take memory and time.
    bench.broker.node.kill()
    with Processes(directory) as processes:
        usage.progress("faults: three brokers")
        cluster = Cluster(processes, bench.broker.home, quick=False)
        return [run(bench, processes, cluster, number, *fault) for number, fault in enumerate(FAULTS)]


def processor_seconds(cluster):
    return sum(usage.processor_seconds(node.process) for node in cluster.nodes.values())


def run(bench, processes, cluster, number, about, fault):
    usage.progress(f"faults: {about}, {SECONDS} s")
    backend = Slow(processes, bench.tools["backend"], 0)
    group = f"faults.{number}"
    pair = Pair(processes, bench.herald, cluster, group, backend.url)
    bare = [bench.tools["kafka-bare"], cluster.bootstrap]
    warm = cases.PACE * (WARM_UP_SECONDS if number > 0 else FIRST_WARM_UP_SECONDS)
    count = cases.PACE * SECONDS
    processes.run([*bare, "pace", group, cases.PACE, warm, LINGER_MS])
    wait_for(lambda: backend.served() >= warm, 60, "not all events arrived")
    backend.ages()
    served = backend.served()

    start, before = time.monotonic(), (processor_seconds(cluster), pair.processor_seconds())
    publisher = processes.start([*bare, "pace", group, cases.PACE, count, LINGER_MS], log=f"{group}-pace")
    gone = fault(pair, cluster)
    wait_for(lambda: not is_alive(publisher), SECONDS + PATIENCE_SECONDS, "not everything was published")
    if publisher.returncode != 0:
        sys.exit(f"bench: the publisher failed:\n{processes.tail(f'{group}-pace')}")
    seconds = time.monotonic() - start
    brokers = processor_seconds(cluster) + gone - before[0]
    workers = pair.processor_seconds() - before[1]
    end = int(processes.run([*bare, "count", group]))
    processes.run([*bare, "committed", group, group, end, PATIENCE_SECONDS])
    repeated = backend.repeated()
    arrived = backend.served() - served - repeated
    ages = backend.ages()
    pair.end()
    processes.end(backend.process)
    cluster.wait_until_healthy(120)
    return Faulty(about, ages[1:], repeated, count - arrived, brokers / seconds, workers / seconds)
