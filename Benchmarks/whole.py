"""Counts what an event costs the whole worker: the release build on a real broker, under valgrind; micro.py calls it.

micro counts the pure part of an event's way. Here everything in user space counts: the lane's thread and those of
librdkafka, between a broker and a backend that answers as nginx does, over HTTP/2 nginx itself. The backlog is in its
topic before the worker begins, in one size and in twice that size: the difference counts.
"""

import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts/shared"))

import cases
import events
from broker import Broker
from processes import Failure, Processes
from stub import Nginx, Slow
from worker import Workers

# Tables and queues have their final size before that.
WARM, LONG = 15_000, 30_000


# The counted cases, by the names of their two rows: of all threads, and of the lane's alone.
CASES = {"worker": cases.FIRST, "worker-http2": cases.by_name("http2")}


def can_count(name):
    """Whether this machine has the tools for the case."""
    return not CASES[name].http2 or all(map(shutil.which, ("nginx", "openssl")))


def measure(name, home, build, tools, read):
    """Instructions and allocations for each event, of all threads and of the lane's; `read` reads a profile."""
    directory = HERE.parent / ".build/whole"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    case = CASES[name]
    try:
        with Processes(directory) as processes:
            broker = Broker(processes, home, f"{tools}/kafka-bare")
            url = Nginx(processes).urls[False, True] if case.http2 else Slow(
                processes, f"{tools}/backend", 0, ["-n"]).url
            warm, long = [
                run(processes, broker, case, url, f"{build}/herald", count, read) for count in (WARM, LONG)]
    except Failure as failure:
        sys.exit(f"micro: {failure}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return [[(more - less) / (LONG - WARM) for more, less in zip(*rows)] for rows in zip(long, warm)]


def run(processes, broker, case, url, herald, count, read):
    """One run's instructions and allocations: of all threads, and of the lane's."""
    topic = f"backlog.{count}"
    broker.create(topic, case.partitions)
    events.produce(processes, broker.bootstrap, topic, count)
    output = processes.directory / f"callgrind.{count}"
    valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={output}"]
    workers = Workers(processes, broker, [*valgrind, herald], case, topic, url)
    workers.await_commits(topic, count)
    workers.stop()
    broker.delete(topic)
    threads = [read(path) for path in processes.directory.glob(f"{output.name}-*")]
    costs = [(thread.instructions, sum(thread.allocations().values())) for thread in threads]
    # The lane's thread does most of the work.
    return [tuple(map(sum, zip(*costs))), max(costs)]
