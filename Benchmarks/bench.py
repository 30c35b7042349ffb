#!/usr/bin/env python3
"""Measures what Herald costs, on a real broker and beside `wrk` on the same backend; `make bench` calls it.

    Benchmarks/bench.py [EVENTS] [--cases LIST] [--profile FILE] [--build DIR] [--tools DIR] [--check]

Everything runs in one go on the same cores: the broker (one node, from KAFKA_HOME), nginx (`return 200`, one process),
`wrk` with the worker's own request before and after each case, and the worker with the whole backlog. docs/PERFORMANCE.md
says what each figure means. Nothing is asserted about time: the tables are for people, and only ratios within one run
mean much.
"""

import argparse
import os
import pathlib
import shutil
import signal
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts/shared"))

import bystanders
import campaigns
import cases
import faults
import keyed
import lowload
import refusals
import report
from broker import Broker
from measure import Bench
from processes import Failure, Processes



def missing(names):
    """The missing tools on this machine for these cases, one sentence each."""
    home = os.environ.get("KAFKA_HOME", "")
    if not home:
        yield "KAFKA_HOME is not set: name an unpacked Apache Kafka 3.7 or newer."
    elif not list(pathlib.Path(home).glob("libs/kafka_*.jar")):
        yield f"KAFKA_HOME is {home}, but there is no Apache Kafka in it (no libs/kafka_*.jar)."
    tools = [("java", "default-jre-headless"), ("kcat", "kcat")]
    if set(names) - cases.WITHOUT_NGINX:
        tools += [("nginx", "nginx-light"), ("wrk", "wrk"), ("openssl", "openssl")]
    if cases.FLOOR in names:
        tools += [("h2load", "nghttp2-client")]
    if any(case.has_front for case in cases.THROUGHPUT if case.name in names):
        tools += [("nghttpx", "nghttp2-proxy")]
    if set(names) & cases.KEYED_NAMES:
        # The peer is started from its source.
        tools += [("javac", "default-jdk-headless")]
    for tool, package in tools:
        if not shutil.which(tool):
            yield f"{tool} is not installed: apt-get install {package}."


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("events", nargs="?", type=int, default=1_000_000, help="the backlog (default 1000000)")
    parser.add_argument("--cases", default="", metavar="LIST",
                        help=f"names or beginnings (`age*`), by default all: {', '.join(cases.NAMES).replace('%', '%%')}")
    parser.add_argument("--profile", metavar="FILE", help="write what `perf record` sees of the last case's worker to FILE")
    parser.add_argument("--check", action="store_true", help="only say what is missing on this machine")
    parser.add_argument("--build", default=str(HERE.parent / ".build/release"), help="where the herald binary is")
    parser.add_argument("--tools", default=str(HERE.parent / ".build/benchmarks/release"),
                        help="where what Benchmarks/Package.swift makes is")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        names = cases.chosen(options.cases)
    except ValueError as wrong:
        sys.exit(f"bench: {wrong}")
    lacks = list(missing(names))
    if lacks:
        sys.exit("\n".join("bench: " + line for line in lacks))
    if options.check:
        return
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda *_: sys.exit(1))

    # In one place, so that the next run removes the files of a killed one.
    directory = HERE.parent / ".build/bench"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    tools = {name: f"{options.tools}/{name}" for name in ("backend", "kafka-bare")}
    try:
        with Processes(directory) as processes:
            broker = Broker(processes, os.environ["KAFKA_HOME"], tools["kafka-bare"])
            run(Bench(processes, broker, f"{options.build}/herald", tools, options.events, options.profile), names)
    except Failure as failure:
        sys.exit(f"bench: {failure}")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def run(bench, names):
    floor = bench.floor() if cases.FLOOR in names else None
    rows = [bench.throughput(case) for case in cases.THROUGHPUT if case.name in names]
    ages = [bench.paced(cases.by_name(name)) for name in cases.PACED if f"age-{name}" in names]
    low = lowload.measure(bench, [rate for name, rate in cases.LOW_LOADS.items() if name in names])
    idle = [lowload.idle(bench, case) for case in cases.IDLE if case.name in names]
    hang = bench.hang() if cases.HANG in names else None
    priority = bench.priority() if cases.PRIORITY in names else None
    limited = bench.limited() if cases.LIMITED in names else None
    both = campaigns.measure(bench) if cases.CAMPAIGN in names else []
    refused = refusals.measure(bench, [case for case in cases.REFUSING if case.name in names])
    beside = bystanders.measure(bench, [case for case in cases.BYSTANDING if case.name in names])
    keyed_rows = keyed.measure(bench, [case for case in cases.KEYED if case.name in names], cases.KEYED_KILL in names)
    # Last, because it ends the other cases' broker.
    faulty = faults.measure(bench, [pace for name, pace in cases.FAULT_LOADS.items() if name in names])

    if floor:
        report.print_floor(floor)
    if rows:
        report.print_throughput(rows, bench.count)
    if ages or floor:
        report.print_ages(ages, floor)
    if low:
        report.print_low(low)
    if idle:
        report.print_idle(idle)
    if hang:
        print(f"\npeak memory with a backend that never answers: {hang / 1e6:.0f} MB")
    if priority:
        print("\nage of the first topic's events beside a full one, ms: p50 {:.1f}, p99 {:.1f}, p99.9 {:.1f}, max {:.1f}".format(
            *priority))
    if limited:
        print("\na backend that takes {} calls a second: {:.0f} events/s, {:.2%} of calls refused, {} dead letters".format(
            cases.CAPACITY, *limited))
    if refused:
        report.print_refused(refused)
    if beside:
        report.print_bystanders(beside)
    report.print_keyed(*keyed_rows)
    if faulty:
        report.print_faults(faulty)
    if both:
        report.print_campaigns(both)
    report.print_goals([
        *report.goals(rows, ages, hang), *report.low_goals(low, idle), *report.load_goals(priority, limited),
        *report.refused_goals(refused), *report.bystander_goals(beside), *report.campaign_goals(both),
        *report.fault_goals(faulty)])


if __name__ == "__main__":
    main()
