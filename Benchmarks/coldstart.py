#!/usr/bin/env python3
"""How long a worker needs until it knows the words of all users, beside `kcat`, which only reads the same records.

    Benchmarks/coldstart.py [USERS] [--build DIR]

One node of Apache Kafka (KAFKA_HOME) on loopback; all words are opt-outs. The worker's time runs from its start until
promotional events may be called; processor time and memory are the process's. Nothing is asserted: only the ratio of two
rows of one run means much.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts/shared"))

from broker import Broker
from processes import Failure, Processes, free_ports, is_alive, wait_for
from usage import peak_bytes, processor_seconds, run_measured

TOPIC = "notifications.preferences"
WORD = '{"optOut":["promotional"],"updatedAt":"2026-01-01T00:00:00Z","by":"settings"}'
SETTINGS = """\
kafka: {{bootstrapServers: [{bootstrap}]}}
backend: {{url: "http://127.0.0.1:9", auth: {{kind: none}}}}
topics: {{replicationFactor: 1, classes: {{notifications: promotional}}}}
preferences: {{enabled: true}}
"""
# What is known is current once its age is below the default of preferences.maxLag.
CURRENT_SECONDS = 5
PATIENCE_SECONDS = 900


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("users", nargs="?", type=int, default=10_000_000)
    parser.add_argument("--build", default=str(HERE.parent / ".build/release"), help="where the herald binary is")
    options = parser.parse_args()
    home = os.environ.get("KAFKA_HOME") or sys.exit("coldstart: KAFKA_HOME is not set: name an unpacked Apache Kafka.")
    with tempfile.TemporaryDirectory() as directory, Processes(directory) as processes:
        try:
            measure(options, home, processes)
        except Failure as failure:
            sys.exit(f"coldstart: {failure}")


def measure(options, home, processes):
    herald = pathlib.Path(options.build) / "herald"
    broker = Broker(processes, home, bare=None)
    settings = processes.directory / "herald.yaml"
    settings.write_text(SETTINGS.format(bootstrap=broker.bootstrap))
    processes.run([herald, "topics", "apply", "--yes", "--config", settings])
    begun = time.monotonic()
    write(broker.bootstrap, options.users)
    print(f"{options.users} words written in {time.monotonic() - begun:.0f} s", flush=True)
    for _ in range(2):
        read_alone(processes, broker.bootstrap, options.users)
        read_by_worker(processes, herald, settings, options.users)


def write(bootstrap, users):
    words = f"BEGIN {{ for (i = 0; i < {users}; i++) print \"user-\" i \"\\t\" w }}"
    with subprocess.Popen(["awk", "-v", "w=" + WORD.replace('"', '\\"'), words], stdout=subprocess.PIPE) as made:
        subprocess.run(["kcat", "-P", "-q", "-b", bootstrap, "-t", TOPIC, "-K", "\t", "-X", "compression.type=lz4",
                        "-X", "linger.ms=50", "-X", "queue.buffering.max.messages=1000000"],
                       stdin=made.stdout, check=True)


def read_alone(processes, bootstrap, users):
    begun = time.monotonic()
    _, used = run_measured(
        processes, ["kcat", "-C", "-q", "-e", "-b", bootstrap, "-t", TOPIC, "-o", "beginning", "-f", ""])
    row("kcat", users, time.monotonic() - begun, used, "")


def read_by_worker(processes, herald, settings, users):
    [port] = free_ports(1)
    begun = time.monotonic()
    worker = processes.start([herald, "worker", "--config", settings, "--admin-listen", f"127.0.0.1:{port}"], log="worker")

    def knows_all():
        if not is_alive(worker):
            raise Failure("the worker ended:\n" + processes.tail("worker"))
        return knows(port, users)

    wait_for(knows_all, PATIENCE_SECONDS, "the worker did not know all words")
    row("worker", users, time.monotonic() - begun, processor_seconds(worker),
        f", {peak_bytes(worker) >> 20} MiB at most")
    processes.end(worker)


def knows(port, users):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
    except OSError:
        return False
    values = dict(line.rsplit(" ", 1) for line in lines if line.startswith("herald_preferences_"))
    return (float(values.get("herald_preferences_users", 0)) >= users
            and float(values.get("herald_preferences_age_seconds", "inf")) < CURRENT_SECONDS)


def row(who, users, seconds, used, more):
    print(f"{who:8} {seconds:6.1f} s, {used:5.1f} s of processor time, {used / users * 1e6:.2f} µs a word{more}", flush=True)


if __name__ == "__main__":
    main()
