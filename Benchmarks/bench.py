#!/usr/bin/env python3
"""Measures a worker against a backlog on a real broker, beside `wrk` on the same stub; `make bench` calls it.

    Benchmarks/bench.py [EVENTS] [--connections N] [--in-flight N] [--profile FILE] [--build DIR] [--check]

Everything runs in one go on the same cores: the broker (one node, from KAFKA_HOME), the stub (nginx, one process,
`return 200`), `wrk` with the worker's own request for a few seconds, the worker with the whole backlog, `wrk` again.
Nothing is asserted about time: the table is for people.

Processor time is user and system time of the worker's process alone, from its start to its last call; the rate is
counted from its first call to its last. Peak memory is VmHWM.
"""

import argparse
import os
import pathlib
import shutil
import signal
import sys

import events
from broker import Broker
from processes import Processes, free_port, wait_for
from stub import Stub

HERE = pathlib.Path(__file__).resolve().parent
PARTITIONS = 6
WRK_SECONDS = 4

SETTINGS = """\
kafka: {{bootstrapServers: "{bootstrap}"}}
backend:
  url: http://127.0.0.1:{port}
  connections: {connections}
  auth: {{kind: basic, username: bench, password: bench}}
delivery: {{guarantee: at-least-once, maxInFlight: {in_flight}}}
retry: {{delays: [5s]}}
"""
TOPICS = ["notifications", "notifications.bulk", "notifications.results", "notifications.retry.5s",
          "notifications.dead-letter"]


def missing():
    """What this machine lacks, one sentence each."""
    home = os.environ.get("KAFKA_HOME", "")
    if not home:
        yield "KAFKA_HOME is not set: name an unpacked Apache Kafka 3.7 or newer."
    elif not list(pathlib.Path(home).glob("libs/kafka_*.jar")):
        yield f"KAFKA_HOME is {home}, but there is no Apache Kafka in it (no libs/kafka_*.jar)."
    for tool, package in (("java", "default-jre-headless"), ("nginx", "nginx-light"), ("wrk", "wrk"), ("kcat", "kcat")):
        if not shutil.which(tool):
            yield f"{tool} is not installed: apt-get install {package}."


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("events", nargs="?", type=int, default=200_000, help="the backlog (default 200000)")
    parser.add_argument("--connections", type=int, default=256, help="connections of the worker and of wrk")
    parser.add_argument("--in-flight", type=int, default=1_000, help="delivery.maxInFlight")
    parser.add_argument("--profile", metavar="FILE", help="write what `perf record -g` sees of the worker to FILE")
    parser.add_argument("--check", action="store_true", help="only say what is missing on this machine")
    parser.add_argument("--build", default=str(HERE.parent / ".build/release"), help="where the herald binary is")
    return parser.parse_args()


def run_worker(processes, options, herald, settings, stub):
    """Lets a worker take the whole backlog; its events per second, seconds of processor time and peak bytes."""
    # Its environment would be settings too.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HERALD_")}
    worker = processes.start([herald, "worker", "--config", settings], log="worker", env=environment)
    before = stub.served()
    if options.profile:
        wait_for(lambda: stub.served() > before, 30, "the worker made no call")
        processes.start(
            ["perf", "record", "-q", "-g", "-F", "1999", "-e", "cpu-clock", "-p", str(worker.pid), "-o",
             options.profile], log="perf")
    span = stub.watch(before + options.events, alive=lambda: worker.poll() is None, patience=30)
    if not span:
        sys.exit(f"bench: the worker stopped calling before the backlog was gone:\n{processes.tail('worker')}")
    processor = processes.processor_seconds(worker)
    peak = processes.peak_bytes(worker)
    worker.send_signal(signal.SIGTERM)
    if worker.wait(timeout=60) != 0:
        sys.exit(f"bench: the worker ended with {worker.returncode}:\n{processes.tail('worker')}")
    return options.events / span, processor, peak


def main():
    options = arguments()
    lacks = list(missing())
    if lacks:
        sys.exit("\n".join("bench: " + line for line in lacks))
    if options.check:
        return
    herald = f"{options.build}/herald"
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda *_: sys.exit(1))

    # In one place, so that what a killed run left is gone with the next one.
    directory = HERE.parent / ".build/bench"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    try:
        with Processes(directory) as processes:
            measure(options, herald, directory, processes)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def measure(options, herald, directory, processes):
    broker = Broker(processes, os.environ["KAFKA_HOME"], PARTITIONS)
    stub = Stub(processes, free_port())
    settings = f"{directory}/herald.yaml"
    pathlib.Path(settings).write_text(SETTINGS.format(
        bootstrap=broker.bootstrap, port=stub.port, connections=options.connections,
        in_flight=options.in_flight))
    for topic in TOPICS:
        broker.create(topic)
    progress(f"producing {options.events:,} events of {events.SIZE} bytes")
    events.produce(processes, broker.bootstrap, "notifications", options.events)
    script = events.wrk_script(directory)

    progress("wrk, worker, wrk on one stub")
    wrk = [stub.wrk(script, options.connections, WRK_SECONDS)]
    rate, processor, peak = run_worker(processes, options, herald, settings, stub)
    wrk.append(stub.wrk(script, options.connections, WRK_SECONDS))
    results = broker.records("notifications.results")
    if results != options.events:
        sys.exit(f"bench: {options.events} events have {results} results, so the figures mean nothing.")

    print_table(options, rate, processor / options.events, peak, wrk)


def print_table(options, rate, cost, peak, wrk):
    wrk_rate = sum(requests for requests, _, _ in wrk) / sum(seconds for _, seconds, _ in wrk)
    wrk_cost = sum(processor for _, _, processor in wrk) / sum(requests for requests, _, _ in wrk)
    print(f"\n{options.events:,} events, {events.USERS:,} users, {PARTITIONS} partitions, one lane, "
          f"{options.connections} connections, {os.cpu_count()} cores\n")
    print(f"{'':8}{'per second':>12}{'processor time each':>22}{'peak memory':>14}")
    print(f"{'wrk':8}{wrk_rate:>12,.0f}{wrk_cost * 1e6:>19.2f} µs")
    print(f"{'herald':8}{rate:>12,.0f}{cost * 1e6:>19.2f} µs{peak / 1e6:>11.0f} MB")
    print(f"{'ratio':8}{rate / wrk_rate:>12.2f}{cost / wrk_cost:>19.2f}")


def progress(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
