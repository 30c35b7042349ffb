"""Counts what an event costs the whole worker: the release build on a real broker, under valgrind; micro.py calls it.

What micro counts is the pure part of an event's way. Here everything in user space counts: the lane's thread and those
of librdkafka, between a broker and a backend that answers as nginx does. The backlog lies in its topic before the worker
begins, as large and twice as large: the difference counts.
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
from stub import Slow
from worker import Workers

# Tables and queues have their size before that.
WARM, LONG = 15_000, 30_000


def measure(home, build, tools, read):
    """Instructions and allocations for each event, of all threads and of the lane's; `read` reads a profile."""
    directory = HERE.parent / ".build/whole"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    try:
        with Processes(directory) as processes:
            broker = Broker(processes, home, f"{tools}/kafka-bare")
            backend = Slow(processes, f"{tools}/backend", 0, ["-n"])
            warm, long = [
                run(processes, broker, backend, f"{build}/herald", count, read) for count in (WARM, LONG)]
    except Failure as failure:
        sys.exit(f"micro: {failure}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return [[(more - less) / (LONG - WARM) for more, less in zip(*rows)] for rows in zip(long, warm)]


def run(processes, broker, backend, herald, count, read):
    """One run's instructions and allocations: of all threads, and of the lane's."""
    topic = f"backlog.{count}"
    broker.create(topic, cases.FIRST.partitions)
    events.produce(processes, broker.bootstrap, topic, count)
    output = processes.directory / f"callgrind.{count}"
    valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={output}"]
    workers = Workers(processes, broker, [*valgrind, herald], cases.FIRST, topic, backend.url)
    workers.await_commits(topic, count)
    workers.stop()
    broker.delete(topic)
    threads = [read(path) for path in processes.directory.glob(f"{output.name}-*")]
    costs = [(thread.instructions, sum(thread.allocations().values())) for thread in threads]
    # The lane's thread does most.
    return [tuple(map(sum, zip(*costs))), max(costs)]
