#!/usr/bin/env python3
"""A campaign while its users opt out, sleep, are capped and are recalled, and workers are killed; `make soak-words`.

    Soak/words.py [--recipients N] [--kills N] [--seed N] [--build DIR]

Three brokers (of KAFKA_HOME), three workers, a backend that keeps its own log. Before the campaign some users have opted
out, sleep, or have had what a cap allows; while it runs others say so, and some take it back. A second campaign is
recalled half way. A judge that knows nothing of Herald's code compares each call and each result with the words as the
brokers have stored them, and with their moments. It exits with 1 when a promise was broken, and keeps all files then.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts/shared"))

from cluster import Cluster
from events import rfc3339
from history import RESULTS, calls, read
from processes import Failure, Processes, free_ports, is_alive, now_ms, wait_for
from soak import missing

PREFERENCES = "notifications.preferences"
# What a worker may not know yet: preferences.maxLag, and the call that begins then.
LAG_MS = 5_000 + 500
SPREAD_S = 20
CAP = 2
PATIENCE = 240

SETTINGS = """\
kafka: {{bootstrapServers: [{bootstrap}], group: words, properties: {{client.id: herald-{name}}}}}
backend:
  url: http://127.0.0.1:{port}
  auth: {{kind: basic, username: {name}, password: soak}}
topics:
  partitions: 6
  replicationFactor: 3
  classes: {{notifications.bulk: promotional}}
preferences: {{enabled: true, spread: {spread}s, caps: [{{class: promotional, source: "*", limit: {cap}, per: 24h}}]}}
retry: {{delays: [1s, 5s, 30s]}}
delivery: {{maxInFlight: 64}}
log: {{level: info, format: json}}
admin: {{listen: "127.0.0.1:0"}}
"""

# What a user is, by the share of all; the judge goes by the words alone.
KINDS = {
    "free": 0.60,
    "out": 0.06,           # opted out of promotional before
    "all": 0.02,           # opted out of all before
    "apns": 0.04,          # opted out of one push service before
    "leaves": 0.08,        # opts out while the campaign runs
    "returns": 0.04,       # opted out before, and takes it back meanwhile
    "sleeps": 0.06,        # is in quiet hours when it begins
    "tires": 0.04,         # says so while it runs
    "full": 0.06,          # has had as many as a cap allows
}


def say(text):
    print(f"words: {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


class Word(NamedTuple):
    """What a user has said, from the moment on at which the broker stored it."""
    time: int
    opt_out: frozenset
    quiet: tuple            # beginning and end in milliseconds; empty: none

    def forbids(self, service, moment):
        if self.opt_out & {"all", "promotional", f"pns:{service}"}:
            return True
        return bool(self.quiet) and self.quiet[0] <= moment < self.quiet[1]


SILENT = Word(0, frozenset(), ())


class Run:
    def __init__(self, processes, options, herald):
        self.processes = processes
        self.options = options
        self.herald = herald
        self.directory = processes.directory
        self.random = random.Random(options.seed)
        kinds = self.random.choices(list(KINDS), KINDS.values(), k=options.recipients)
        self.kinds = {f"{kind}-{number:06}": kind for number, kind in enumerate(kinds)}
        minute = int(time.time() // 60)
        # Some two minutes of the campaign are night.
        self.night = ((minute - 5) * 60_000, (minute + 4) * 60_000)

    def users(self, *kinds):
        return [user for user, kind in self.kinds.items() if kind in kinds]

    def run(self):
        say("starting three brokers")
        self.cluster = Cluster(self.processes, os.environ["KAFKA_HOME"])
        self.port = free_ports(1)[0]
        self.log = self.directory / "calls.txt"
        self.backend = self.processes.start(
            [sys.executable, HERE / "backend.py", self.port, self.log, self.options.seed], log="backend",
            stdin=subprocess.PIPE)
        self.command("topics", "apply", "--yes")
        self.cluster.wait_until_healthy(60)
        self.words = self.processes.start(
            ["kcat", "-P", "-b", self.cluster.bootstrap, "-t", PREFERENCES, "-K", "|", "-X", "linger.ms=5",
             "-X", "acks=all"], log="words", stdin=subprocess.PIPE)
        for user in self.users("out", "returns"):
            self.tell(user, ["promotional"])
        for user in self.users("all"):
            self.tell(user, ["all"])
        for user in self.users("apns"):
            self.tell(user, ["pns:apns"])
        for user in self.users("sleeps"):
            self.tell(user, [], sleeps=True)
        self.words.stdin.flush()
        self.workers = {name: None for name in ("ann", "bea", "cyd")}
        for name in self.workers:
            self.start(name)
        self.fill_caps()
        self.campaigns()
        say("all is published: waiting until nothing is open")
        self.settle()
        self.end()

    def settings(self, name):
        path = self.directory / f"{name}.yaml"
        path.write_text(SETTINGS.format(
            bootstrap=", ".join(f'"{address}"' for address in self.cluster.bootstrap.split(",")), name=name,
            port=self.port, spread=SPREAD_S, cap=CAP))
        return path

    def command(self, *words, **options):
        return self.processes.run(
            [self.herald, *words, "--config", self.settings("command")], **options)

    def start(self, name):
        self.workers[name] = self.processes.start(
            [self.herald, "worker", "--config", self.settings(name)], log=f"worker-{name}")

    def tell(self, user, opt_out, sleeps=False):
        word = {"optOut": opt_out, "updatedAt": rfc3339(now_ms()), "by": "soak"}
        if sleeps:
            start, end = (datetime.datetime.fromtimestamp(at / 1000, datetime.timezone.utc) for at in self.night)
            word["quiet"] = {"zone": "UTC", "start": f"{start:%H:%M}", "end": f"{end:%H:%M}"}
        self.words.stdin.write(f"{user}|{json.dumps(word)}\n".encode())

    def fill_caps(self):
        say("delivering to some what the cap allows")
        events = subprocess.PIPE
        kcat = self.processes.start(
            ["kcat", "-P", "-b", self.cluster.bootstrap, "-t", "notifications.bulk", "-K", "|",
             "-X", "partitioner=murmur2_random"],
            log="fill", stdin=events)
        users = self.users("full")
        for number in range(CAP):
            for user in users:
                event = {"id": f"before-{number}-{user}", "user": user, "pns": ["gcm"], "message": "Before"}
                kcat.stdin.write(f"{user}|{json.dumps(event)}\n".encode())
        kcat.stdin.close()
        kcat.wait(timeout=60)
        wait_for(lambda: self.ended(r"^before-") >= CAP * len(users), 180, "not all of them had their two")

    def ended(self, pattern):
        """How many calls for events of this name the backend has accepted."""
        found, _ = calls(self.log)
        return len({(call.id, call.service) for call in found if call.is_accepted and re.search(pattern, call.id)})

    def delivered(self, campaign):
        """How many of a campaign's notifications are delivered, by what its publisher says."""
        said = re.findall(r"([0-9\s]+) delivered", self.processes.tail(f"campaign-{campaign}", 3))
        return int("".join(said[-1].split())) if said else 0

    def campaign(self, name, users):
        audience = self.directory / f"{name}.csv"
        audience.write_text("user\n" + "".join(f"{user}\n" for user in users))
        return self.processes.start(
            [self.herald, "campaign", "start", "--name", name, "--audience", audience, "--message", "Now half price",
             "--pns", "apns,gcm", "--topic", "notifications.bulk", "--yes", "--config", self.settings("publisher")],
            log=f"campaign-{name}")

    def campaigns(self):
        users = list(self.kinds)
        self.random.shuffle(users)
        wrong = users[: len(users) // 10]
        say(f"a campaign for {len(users):,}, and one for {len(wrong):,} that is recalled")
        publishers = [self.campaign("sale", users), self.campaign("wrong", wrong)]
        changes = self.users("leaves", "returns", "tires")
        self.random.shuffle(changes)
        total, kills, recalled = 2 * len(users), 0, False
        before = self.count_lines()
        started = time.monotonic()
        while any(is_alive(publisher) for publisher in publishers):
            time.sleep(0.25)
            share = min(1, (self.count_lines() - before) / total)
            # The words come in step with the calls, so that they meet them.
            while changes and len(changes) > (1 - share * 1.4) * len(self.kinds) * 0.16:
                user = changes.pop()
                kind = self.kinds[user]
                self.tell(user, ["promotional"] if kind == "leaves" else [], sleeps=kind == "tires")
            self.words.stdin.flush()
            if not recalled and share > 0.02 and self.delivered("wrong") > len(wrong) / 2:
                recalled = True
                say("recalling the second campaign")
                self.command("recall", "--campaign", "wrong", "--reason", "wrong price", "--yes")
            if kills < self.options.kills and share > (kills + 1) / (self.options.kills + 2):
                name = list(self.workers)[kills % len(self.workers)]
                kills += 1
                say(f"killing {name}")
                self.workers[name].kill()
                self.workers[name].wait()
                self.start(name)
            if time.monotonic() - started > 3_600:
                raise Failure("the campaigns have not ended within an hour")
            self.look()
        self.kills = kills

    def count_lines(self):
        """How many notifications have a call, roughly: a line for its begin and one for its end, some 75 bytes both."""
        return self.log.stat().st_size / 130

    def look(self):
        for name, worker in self.workers.items():
            if not is_alive(worker):
                raise Failure(f"worker {name} ended:\n{self.processes.tail(f'worker-{name}')}")

    def settle(self):
        """Waits until `herald account` has no open notification, and the night is over."""
        begin = time.monotonic()
        while True:
            account = json.loads(self.command("account", "-o", "json", seconds=600))
            if account["total"]["open"] == 0 and now_ms() > self.night[1]:
                return
            if time.monotonic() - begin > PATIENCE + (self.night[1] - now_ms()) / 1000:
                raise Failure(f"{account['total']['open']} notifications are still open: {account['total']}")
            time.sleep(5)
            self.look()

    def end(self):
        self.words.stdin.close()
        self.words.wait(timeout=30)
        for worker in self.workers.values():
            worker.send_signal(signal.SIGTERM)
        for worker in self.workers.values():
            worker.wait(timeout=60)
        self.backend.stdin.close()
        self.backend.wait(timeout=30)

    def judge(self):
        """Reads what came out, and compares it with what was said."""
        def all_of(topic):
            return read(topic, self.processes, self.cluster.bootstrap)

        words = collections.defaultdict(list)
        for record in all_of(PREFERENCES):
            value = json.loads(record["payload"])
            words[record["key"]].append(
                Word(record["ts"], frozenset(value["optOut"]), self.night if value.get("quiet") else ()))
        published = {}
        for record in all_of("notifications.bulk"):
            event = json.loads(record["payload"])
            for service in event["pns"]:
                published[event["id"], event["user"], service] = (record["ts"], event.get("campaign"))
        results = collections.defaultdict(list)
        for record in all_of(RESULTS):
            value = json.loads(record["payload"])
            results[value["id"], value["user"], value["pns"]].append((record["ts"], value))
        # A campaign's key has its source, too.
        made = [call._replace(service=call.service.split(" ")[0]) for call in calls(self.log)[0]]
        recalled_at = min((record["ts"] for record in all_of("notifications.recalls")), default=None)
        judge = Judge(words, recalled_at, published, results, made)
        judge.check()
        return judge.report({"recipients": f"{len(self.kinds):,}", "workers killed": self.kills})


class Judge:
    """Holds calls and results against words.

    All moments are in milliseconds. A notification is an event's id, its user and its push service.

    - words: each user's, in their order.
    - recalled_at: when the campaign "wrong" was recalled.
    - published: by notification, when, and the campaign.
    - results: by notification, (when, the result).
    """

    def __init__(self, words, recalled_at, published, results, calls):
        self.words, self.recalled_at = words, recalled_at
        self.published, self.results, self.calls = published, results, calls
        self.broken = collections.defaultdict(list)
        self.counts = collections.Counter()
        self.ages = []

    def said(self, user, moment):
        """What was said last at a moment."""
        return next((word for word in reversed(self.words.get(user, ())) if word.time <= moment), SILENT)

    def possible(self, user, begin, end):
        """All that a worker may have known between two moments."""
        return [self.said(user, begin), *(word for word in self.words.get(user, ()) if begin < word.time <= end)]

    def check(self):
        for call in self.calls:
            self.check_call(call)
        for name, (moment, campaign) in self.published.items():
            self.check_end(name, moment, campaign)
        for name in self.results.keys() - self.published.keys():
            self.broken["a result of nothing"].append(str(name))
        self.check_caps()

    def check_call(self, call):
        self.counts["calls"] += 1
        known = self.possible(call.user, call.begin - LAG_MS, call.begin)
        if all(word.forbids(call.service, call.begin) for word in known):
            self.broken["called against a word"].append(f"{call}, {known}")
        last = self.said(call.user, call.begin)
        if last.forbids(call.service, call.begin) and last.time > call.begin - LAG_MS:
            self.ages.append(call.begin - last.time)
        _, campaign = self.published.get((call.id, call.user, call.service), (0, None))
        if campaign == "wrong" and self.recalled_at is not None:
            if call.begin > self.recalled_at + LAG_MS:
                self.broken["called against a recall"].append(str(call))
            elif call.begin > self.recalled_at:
                self.ages.append(call.begin - self.recalled_at)

    def check_end(self, name, published, campaign):
        _, user, service = name
        ends = self.results.get(name, [])
        if len(ends) != 1:
            self.broken["no result" if not ends else "more than one result"].append(f"{name}: {ends}")
            return
        moment, result = ends[0]
        outcome, reason = result["outcome"], result.get("reason")
        self.counts[f"{outcome} {reason or ''}".strip()] += 1
        known = self.possible(user, published - LAG_MS, moment)
        if outcome == "suppressed" and reason == "opted-out":
            if not any(word.opt_out & {"all", "promotional", f"pns:{service}"} for word in known):
                self.broken["left out without a word"].append(f"{name}: {result}, {known}")
        elif outcome == "suppressed" and reason == "recalled":
            if campaign != "wrong" or moment < self.recalled_at:
                self.broken["recalled without a recall"].append(f"{name}: {result}")
        elif outcome == "delivered":
            if all(word.opt_out & {"all", "promotional", f"pns:{service}"} for word in known):
                self.broken["delivered against a word"].append(f"{name}: {result}, {known}")
        elif not (outcome == "suppressed" and reason == "capped"):
            self.broken["ended otherwise"].append(f"{name}: {result}")

    def check_caps(self):
        delivered = collections.defaultdict(list)
        for (event, user, _), ends in self.results.items():
            for moment, result in ends:
                if result["outcome"] == "delivered":
                    delivered[user].append((moment, event))
        for user, found in delivered.items():
            if len({event for _, event in found}) > CAP:
                self.broken["more than a cap allows"].append(f"{user}: {sorted(found)}")
        for (event, user, _), ends in self.results.items():
            for moment, result in ends:
                others = {other for at, other in delivered[user] if other != event}
                if result.get("reason") == "capped" and len(others) < CAP:
                    self.broken["capped below the cap"].append(f"{user}, {event}: {sorted(delivered[user])}")

    def report(self, facts):
        """Prints the table and what is broken; returns whether nothing is."""
        ages = sorted(self.ages)
        rows = [*facts.items(), ("notifications", f"{len(self.published):,}"),
                *((name, f"{count:,}") for name, count in sorted(self.counts.items())),
                ("calls that began after a word was stored", f"{len(ages):,}")]
        if ages:
            rows.append(("  how long after it, in ms: median, 99 %, most",
                         ", ".join(f"{ages[min(len(ages) - 1, int(len(ages) * share))]:.0f}" for share in (0.5, 0.99, 1))))
        for name, value in rows:
            print(f"{name:47}{value}")
        for kind, sentences in sorted(self.broken.items()):
            print(f"\nBROKEN: {kind} ({len(sentences)})")
            for sentence in sentences[:5]:
                print(f"    {sentence[:1_000]}")
        return not self.broken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recipients", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=11, help="decides who says what (11)")
    parser.add_argument("--build", default=HERE.parent / ".build/release", help="where the herald binary is")
    options = parser.parse_args()
    lacks = list(missing())
    if lacks:
        sys.exit("\n".join("words: " + line for line in lacks))
    if not any(name.startswith("CONTAINED_BY_") for name in os.environ):
        contained = str(HERE.parent / "scripts/contained")
        os.execv(contained, [contained, sys.executable, str(HERE / "words.py"), *sys.argv[1:]])
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda *_: sys.exit(1))
    directory = HERE.parent / ".build/soak-words"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    is_well = False
    try:
        with Processes(directory) as processes:
            run = Run(processes, options, f"{options.build}/herald")
            run.run()
            is_well = run.judge()
    except Failure as failure:
        print(f"words: {failure}", file=sys.stderr)
    if not is_well:
        sys.exit(f"words: FAILED; everything that was written is in {directory}")
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
