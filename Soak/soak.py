#!/usr/bin/env python3
"""Kills workers and brokers under a stream of events, and checks that nothing is lost; `make soak` calls it.

    Soak/soak.py [--kills N] [--events N] [--minutes N] [--seed N | --random] [--guarantee G] [--short] [--build DIR]

A cluster of three nodes (from KAFKA_HOME), six workers of one group, a backend that fails, hangs and refuses. While
events are published, workers are killed, stopped longer than their session, sent away and brought back, and brokers
are killed and paused, at moments that the seed decides. Then everything is made well again; when all is delivered and
committed, a checker that knows nothing of Herald's code holds the topics and the backend's own log against what is
promised. It exits with 1 when anything was broken, and keeps all logs then.
"""

import argparse
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts/shared"))

import logfiles
from chaos import BrokerChaos, WorkerChaos
from cluster import Cluster
from events import Publisher
from history import REQUESTS, RETRY, Journal, collect
from oracle import Oracle
from processes import Failure, Processes, free_ports, wait_for
from workers import CALL_TIMEOUT_MS, FORMS, IMMEDIATE_RETRIES, Pool

# Without a call for this time, something hangs; and with calls for this time, something goes round in circles.
PATIENCE = 180
LONGEST = 3_600
# The code decides a run's result, not a draw; `--random` is for searching.
SEED = 11


def say(text):
    print(f"soak: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


class Plan(NamedTuple):
    """The parameters of a campaign."""
    kills: int
    events: int
    seconds: float
    seed: int
    guarantee: str
    group: str = "herald"
    partitions: int = 6
    delays: tuple = ("1s", "3s", "8s")

    @property
    def max_calls(self):
        return 1 + IMMEDIATE_RETRIES + len(self.delays)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="the short form: some minutes, the debug build")
    parser.add_argument("--kills", type=int, help="how many workers are killed (200; short: 25)")
    parser.add_argument("--events", type=int, help="how many events are published (500000; short: 60000)")
    parser.add_argument("--minutes", type=float, help="how long they are published (kills / 7.5)")
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=int, default=SEED, help=f"decides what happens when ({SEED})")
    seeds.add_argument("--random", action="store_true", help="draws a seed, and says which")
    parser.add_argument("--guarantee", default="atomic", choices=["atomic", "at-least-once"])
    parser.add_argument("--build", help="where the herald binary is (.build/release; short: .build/debug)")
    parser.add_argument("--check", action="store_true", help="only say what is missing on this machine")
    return parser.parse_args()


def missing():
    """The missing tools on this machine, one sentence each."""
    home = os.environ.get("KAFKA_HOME", "")
    if not home:
        yield "KAFKA_HOME is not set: name an unpacked Apache Kafka 3.7 or newer."
    elif not list(pathlib.Path(home).glob("libs/kafka_*.jar")):
        yield f"KAFKA_HOME is {home}, but there is no Apache Kafka in it (no libs/kafka_*.jar)."
    for tool, package in (("java", "default-jre-headless"), ("kcat", "kcat")):
        if not shutil.which(tool):
            yield f"{tool} is not installed: apt-get install {package}."


class Campaign:
    """One run, from starting the brokers to the verdict."""

    def __init__(self, processes, plan, herald):
        self.processes = processes
        self.plan = plan
        self.herald = herald
        self.directory = processes.directory

    def run(self):
        say("starting three brokers")
        self.cluster = Cluster(self.processes, os.environ["KAFKA_HOME"])
        self.journal_path = self.directory / "journal.jsonl"
        self.journal = Journal(self.journal_path)
        self.start_backend()
        self.pool = Pool(
            self.processes, self.herald, self.journal, self.cluster.bootstrap, self.backend_port, self.plan)
        self.pool.make_topics()
        self.cluster.wait_until_healthy(60)
        for worker in self.pool.members:
            worker.start()
        self.hurt()
        self.fix()
        say("all is well and delivered: stopping the workers")
        self.pool.end(90)
        self.backend.stdin.close()
        self.backend.wait(timeout=30)
        say("reading what came out")
        self.account = self.pool.account()
        return collect(self.processes, self.cluster, self.plan, self.backend_log, self.journal_path)

    def start_backend(self):
        self.backend_port = free_ports(1)[0]
        self.backend_log = self.directory / "calls.txt"
        self.backend = self.processes.start(
            [sys.executable, HERE / "backend.py", self.backend_port, self.backend_log, self.plan.seed],
            log="backend", stdin=subprocess.PIPE)
        wait_for(lambda: self.backend_log.exists() and self.backend_log.stat().st_size > 0, 30,
                 "the backend did not listen")

    def look(self):
        """One turn of the campaign's loop."""
        time.sleep(0.02)
        self.pool.look()
        if self.backend.poll() is not None:
            raise Failure(f"the backend ended:\n{self.processes.tail('backend')}")

    def hurt(self):
        plan = self.plan
        publisher = Publisher(
            self.processes, self.cluster, list(zip(REQUESTS, (0.75, 0.25))), plan.events, plan.seconds, plan.seed)
        brokers = BrokerChaos(self.cluster, self.journal, plan.seed)
        chaos = WorkerChaos(self.pool, self.journal, self.backend, plan.kills, plan.seconds, plan.seed)
        publisher.start()
        brokers.start()
        told = time.monotonic()
        while not (chaos.is_done and (publisher.is_done or publisher.published >= plan.events)):
            self.look()
            chaos.look()
            if brokers.error:
                raise brokers.error
            if time.monotonic() - told > 30:
                told = time.monotonic()
                say(f"{publisher.published:,} events published, {plan.kills - chaos.kills} workers killed")
        self.journal.write("no more trouble")
        say("no more trouble: waiting until the cluster is whole and everything published")
        self.pool.let_all_run()
        brokers.is_ending.set()
        while brokers.is_alive or not publisher.is_done:
            self.look()
        if brokers.error:
            raise brokers.error

    def fix(self):
        """Waits until everything is delivered and committed."""
        say("waiting until all is delivered and committed")
        seen, begun = None, time.monotonic()
        moved = begun
        while True:
            end = time.monotonic() + 4
            while time.monotonic() < end:
                self.look()
            size = self.backend_log.stat().st_size
            if time.monotonic() - begun > LONGEST:
                raise Failure(f"after {LONGEST} s calls are still made: {'; '.join(self.open_partitions())}")
            if size != seen:
                seen, moved = size, time.monotonic()
                continue
            open_partitions = self.open_partitions()
            if not open_partitions:
                return
            if time.monotonic() - moved > PATIENCE:
                raise Failure(f"no call for {PATIENCE} s, and this is not committed: {'; '.join(open_partitions)}")

    def open_partitions(self):
        """The consumed partitions with events that the group has not committed."""
        offsets = self.cluster.partitions("__consumer_offsets").values()
        committed = {}
        for commit in logfiles.commits(offsets, self.plan.group):
            committed[commit.topic, commit.partition] = commit.offset
        found = []
        for topic in (*REQUESTS, *(RETRY + delay for delay in self.plan.delays)):
            for number, folder in sorted(self.cluster.partitions(topic).items()):
                end, reached = logfiles.end_of(folder), committed.get((topic, number), 0)
                if end.is_open or reached <= end.last:
                    found.append(f"{topic}/{number} at {reached}, its last record is {end.last}"
                                 + (", a transaction is open" if end.is_open else ""))
        return found


def judge(plan, account, history, entries):
    """Prints the table and the violations; returns whether there are none."""
    under_way = {form.name: form.under_way for form in FORMS}
    oracle = Oracle(history, plan.guarantee, under_way, plan.max_calls, CALL_TIMEOUT_MS).check()
    oracle.check_account(account)
    if len(history.requests) != plan.events:
        oracle.breach("not all was published", f"{len(history.requests)} of {plan.events} events are in the topics")
    print_table(plan, account, history, entries, oracle)
    for kind, sentences in sorted(oracle.violations.items()):
        print(f"\nBROKEN: {kind} ({len(sentences)})")
        for sentence in sentences[:5]:
            print(f"    {sentence[:1_000]}")
    return not oracle.violations


def print_table(plan, account, history, entries, oracle):
    end = next(entry["at"] for entry in entries if entry["kind"] == "no more trouble")
    done = collections.Counter(entry["kind"] for entry in entries if entry["at"] < end)
    repeats = collections.defaultdict(list)
    for (incident, _), identifiers in oracle.repeats.items():
        repeats[incident.kind].append(len(identifiers))

    def most(kind):
        found = repeats[kind]
        return f"{sum(found):,} events called again, {max(found)} at most for one" if found else "nothing called again"

    lost_sessions = sum(incident.kind == "session lost" for incident in history.incidents)
    faults = collections.Counter(name for _, _, name in history.faults)
    rows = [
        ("events", f"{len(history.requests):,}"),
        ("workers killed", f"{done['kill']}: {most('kill')}"),
        ("workers stopped for longer than their session", f"{done['stop']}: {most('stop')}"),
        ("sessions that ran out (of the killed ones too)", f"{lost_sessions}: {most('session lost')}"),
        ("workers sent away", f"{done['leave']}: {most('leave')}"),
        ("workers that ended by themselves", done["died"]),
        ("brokers killed", f"{done['broker-kill']}: {most('broker-kill')}"),
        ("brokers paused", f"{done['broker-pause']}: {most('broker-pause')}"),
        ("backend's faults", ", ".join(f"{count} {name}" for name, count in sorted(faults.items()))),
        ("calls", f"{len(history.calls):,}"),
        ("calls that failed", f"{sum(not call.is_accepted for call in history.calls):,}"),
        ("repeated calls", f"{oracle.counts['repeated calls']:,}"),
        ("retry records", f"{len(history.retries):,}"),
        *((name, f"{count:,}") for name, count in sorted(oracle.counts.items()) if name.startswith("results ")),
        ("commits", f"{oracle.counts['commits']:,}"),
        ("lost", len(oracle.violations.get("lost", []))),
        ("doubled results", oracle.counts["doubled results"]),
        ("doubled dead letters", oracle.counts["doubled dead letters"]),
        ("notifications that herald account counts", f"{account['total']['notifications']:,}"),
        ("order breaks", len(oracle.violations.get("order", []))),
        ("guarantee", plan.guarantee),
        ("seed", plan.seed),
    ]
    print()
    for name, value in rows:
        print(f"{name:47}{value}")


def main():
    options = arguments()
    lacks = list(missing())
    if lacks:
        sys.exit("\n".join("soak: " + line for line in lacks))
    if options.check:
        return
    # No process may outlive a campaign, SIGKILL included.
    if not any(name.startswith("CONTAINED_BY_") for name in os.environ):
        contained = str(HERE.parent / "scripts/contained")
        os.execv(contained, [contained, sys.executable, str(HERE / "soak.py"), *sys.argv[1:]])
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda *_: sys.exit(1))

    kills = options.kills if options.kills is not None else 25 if options.short else 200
    plan = Plan(
        kills=kills, events=options.events or (60_000 if options.short else 500_000),
        seconds=60 * (options.minutes or max(kills / 7.5, 1)),
        seed=random.SystemRandom().randrange(10**9) if options.random else options.seed,
        guarantee=options.guarantee)
    build = options.build or HERE.parent / (".build/debug" if options.short else ".build/release")
    # In one place, so that the next run removes the files of a killed one.
    directory = HERE.parent / (".build/soak-short" if options.short else ".build/soak")
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    say(f"seed {plan.seed}: {plan.events:,} events in {plan.seconds:.0f} s, {plan.kills} kills, {plan.guarantee}")
    is_well = False
    begin = time.monotonic()
    try:
        with Processes(directory) as processes:
            campaign = Campaign(processes, plan, f"{build}/herald")
            found = campaign.run()
            is_well = judge(plan, campaign.account, *found)
        print(f"{'duration':47}{(time.monotonic() - begin) / 60:.1f} minutes")
    except Failure as failure:
        print(f"soak: {failure}", file=sys.stderr)
    if not is_well:
        sys.exit(f"soak: FAILED with seed {plan.seed}; everything that was written is in {directory}")
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
