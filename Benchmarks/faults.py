"""The ages of events on arrival at the backend while workers and brokers come and go: three brokers, two workers."""

import dataclasses
import itertools
import pathlib
import signal
import sys
import time

import usage
import worker
from processes import Processes, is_alive, wait_for
from stub import Slow

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "Soak"))

from cluster import Cluster

SECONDS = 40
WARM_UP_SECONDS = 5
# The brokers compile their code meanwhile: before that they need more than the machine has.
FIRST_WARM_UP_SECONDS = 240
# A supervisor needs about as long.
ABSENCE_SECONDS = 2
BROKER_ABSENCE_SECONDS = 15
PATIENCE_SECONDS = 120
# The default of Kafka's own producer since 4.0: without it each event is a request of its own, of which three brokers
# on
# two cores take fewer than a thousand a second.
LINGER_MS = 5


@dataclasses.dataclass
class Faulty:
    """One run: ages on arrival in milliseconds, and other faults."""

    about: str
    # Events a second.
    pace: int
    ages: tuple
    repeated: int
    lost: int
    # Cores that the three brokers and the workers took.
    brokers: float
    workers: float


class Pair:
    """Two workers with default settings."""

    def __init__(self, processes, herald, cluster, group, url):
        self.processes, self.herald, self.group = processes, herald, group
        self.settings = processes.directory / f"{group}.yaml"
        self.settings.write_text(worker.plain_settings(cluster.bootstrap, group, url))
        processes.run([herald, "topics", "apply", "--yes", "--config", self.settings])
        self.runs = itertools.count(1)
        # Seconds of processor time of the ended workers.
        self.spent = 0
        self.running = [self.start(index) for index in range(2)]
        for one in self.running:
            self.await_partitions(one)

    def start(self, index):
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
        self.running[index] = self.start(index)

    def processor_seconds(self):
        return self.spent + sum(usage.processor_seconds(process) for process, _ in self.running)

    def end(self):
        for process, _ in self.running:
            process.send_signal(signal.SIGTERM)
        for process, log in self.running:
            if process.wait(timeout=60) != 0:
                sys.exit(f"bench: a worker ended with {process.returncode}:\n{self.processes.tail(log)}")


# Each returns the processor time (seconds) of the brokers that it ended.


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


# The broker comes last: after its return it has to compile everything again.
FAULTS = [
    ("nothing happens", nothing),
    (f"a worker is killed, another comes {ABSENCE_SECONDS} s later", kill_worker),
    ("one worker after the other is restarted (SIGTERM)", roll),
    (f"a broker is killed, and comes back {BROKER_ABSENCE_SECONDS} s later", kill_broker),
]


def measure(bench, paces):
    if not paces:
        return []
    directory = bench.processes.directory / "faults"
    directory.mkdir()
    # The other cases' node would only take memory and time.
    bench.broker.node.kill()
    with Processes(directory) as processes:
        usage.progress("faults: three brokers")
        cluster = Cluster(processes, bench.broker.home, quick=False)
        rows = []
        for pace in paces:
            load = Load(bench, processes, cluster, pace)
            if not rows:
                load.warm_up(FIRST_WARM_UP_SECONDS)
            rows += load.measure()
        return rows


def processor_seconds(cluster):
    return sum(usage.processor_seconds(node.process) for node in cluster.nodes.values())


class Load:
    """A constant rate of events for two workers, whatever happens."""

    def __init__(self, bench, processes, cluster, pace):
        self.processes, self.cluster, self.pace = processes, cluster, pace
        self.topic = f"faults.{pace}"
        self.backend = Slow(processes, bench.tools["backend"], 0)
        self.pair = Pair(processes, bench.herald, cluster, self.topic, self.backend.url)
        self.bare = [bench.tools["kafka-bare"], cluster.bootstrap]

    def publishing(self, seconds):
        return [*self.bare, "pace", self.topic, self.pace, seconds * self.pace, LINGER_MS]

    def warm_up(self, seconds):
        usage.progress(f"faults: {seconds} s to warm up")
        self.processes.run(self.publishing(seconds), seconds=seconds + PATIENCE_SECONDS)
        self.await_commits()

    def await_commits(self):
        end = int(self.processes.run([*self.bare, "count", self.topic]))
        self.processes.run([*self.bare, "committed", self.topic, self.topic, end, PATIENCE_SECONDS])

    def measure(self):
        rows = [self.run(*fault) for fault in FAULTS]
        self.pair.end()
        self.processes.end(self.backend.process)
        return rows

    def run(self, about, fault):
        self.warm_up(WARM_UP_SECONDS)
        usage.progress(f"faults: {about}, {SECONDS} s at {self.pace} events/s")
        # Earlier ages do not count.
        self.backend.ages()
        served = self.backend.served()
        start, before = time.monotonic(), (processor_seconds(self.cluster), self.pair.processor_seconds())

        log = f"{self.topic}-pace"
        publisher = self.processes.start(self.publishing(SECONDS), log=log)
        gone = fault(self.pair, self.cluster)
        wait_for(lambda: not is_alive(publisher), SECONDS + PATIENCE_SECONDS, "not everything was published")
        if publisher.returncode != 0:
            sys.exit(f"bench: the publisher failed:\n{self.processes.tail(log)}")
        seconds = time.monotonic() - start
        brokers = processor_seconds(self.cluster) + gone - before[0]
        workers = self.pair.processor_seconds() - before[1]

        self.await_commits()
        repeated = self.backend.repeated()
        lost = SECONDS * self.pace - (self.backend.served() - served - repeated)
        ages = self.backend.ages()
        self.cluster.wait_until_healthy(120)
        return Faulty(about, self.pace, ages[1:], repeated, lost, brokers / seconds, workers / seconds)
