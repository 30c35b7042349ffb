"""The history of a campaign, read from three witnesses: the topics, the backend's log, the campaign's journal.

Neither this module nor the checker uses Herald's code: only the contract's names.
"""

import collections
import datetime
import json
import re
from typing import NamedTuple

import logfiles
from processes import now_ms

# A member's name begins with the worker's: its client.id, or its static name.
LOST_SESSION = re.compile(r"(\S+ \S+) .* Member ([a-z]+)[.-]\S+ in group \S+ has failed, removing it from the group")
SESSION_MS = 10_000
REQUESTS = ("notifications", "notifications.bulk")
RESULTS = "notifications.results"
DEAD_LETTERS = "notifications.dead-letter"
RETRY = "notifications.retry."


class Journal:
    """The campaign's own notes: the starts, kills and stops of processes, with their moments."""

    def __init__(self, path):
        self.file = open(path, "a", buffering=1)

    def write(self, kind, **facts):
        self.file.write(json.dumps({"at": now_ms(), "kind": kind, **facts}) + "\n")


class Request(NamedTuple):
    """An event as it was published."""
    place: tuple        # topic, partition, offset
    time: int
    key: str
    kind: str           # see events.KINDS
    id: str
    user: str
    services: tuple
    not_before: str


class Record(NamedTuple):
    """A result, a retry or a dead letter."""
    place: tuple
    time: int
    origin: tuple
    services: tuple     # for a result one or none
    facts: dict         # a result's members, the others' herald- headers
    visible: int = 0    # of a result: when its transaction was committed


class Call(NamedTuple):
    """A request that the backend has read."""
    number: int
    begin: float
    worker: str         # a worker's run
    id: str
    service: str
    user: str
    end: float          # infinity: never answered
    how: str            # a status, closed, reset, cut; empty: never answered

    @property
    def is_accepted(self):
        return self.how.startswith("2")


class Incident(NamedTuple):
    """An action on a worker's run (or on all, through a broker) for a while."""
    kind: str
    worker: str         # empty: a broker, so all
    begin: float
    end: float


def request(record):
    """An event from a request topic, as its publisher meant it."""
    place = (record["topic"], record["partition"], record["offset"])
    value = record["payload"]
    if value is None:
        return Request(place, record["ts"], record["key"], "nothing", "", "", (), "")
    try:
        event = json.loads(value)
    except json.JSONDecodeError:
        return Request(place, record["ts"], record["key"], "broken", "", "", (), "")
    return Request(
        place, record["ts"], record["key"], event["id"].split("-")[0], event["id"], event["user"],
        tuple(event["pns"]), event.get("notBefore", ""))


def result(record, visibilities):
    members = json.loads(record["payload"])
    origin = members["origin"]
    services = (members["pns"],) if "pns" in members else ()
    return Record(
        (record["topic"], record["partition"], record["offset"]), record["ts"],
        (origin["topic"], origin["partition"], origin["offset"]), services, members,
        visibilities[record["partition"]].time(record["offset"]))


def onward(record):
    """A retry or a dead letter."""
    headers = record.get("headers", [])
    facts = {name: value for name, value in zip(headers[::2], headers[1::2]) if name.startswith("herald-")}
    topic, partition, offset = facts["herald-origin"].rsplit("/", 2)
    services = tuple(name for name in facts.get("herald-pns", "").split(",") if name)
    facts.pop("herald-history", None)
    return Record(
        (record["topic"], record["partition"], record["offset"]), record["ts"],
        (topic, int(partition), int(offset)), services, facts)


def calls(path):
    """The calls in their order of arrival, and the backend's faults as (begin, end, name)."""
    begun, ends, marks, open_marks = [], {}, [], {}
    with open(path) as file:
        for line in file:
            words = line.split()
            if not line.endswith("\n"):
                break
            if words[0] == "call":
                begun.append((int(words[1]), float(words[2]), words[3], words[4].split(":"), words[5], words[6]))
            elif words[0] == "end":
                ends[int(words[1])] = (float(words[2]), words[3])
            elif words[2] == "begin":
                open_marks[words[3]] = float(words[1])
            elif words[2] == "end":
                marks.append((open_marks.pop(words[3]), float(words[1]), words[3]))
    found = []
    for number, begin, worker, key, pns, user in begun:
        end, how = ends.get(number, (float("inf"), ""))
        # The address and the key have to agree; the checker sees when they do not.
        service = pns if key[1:] == [user, pns] else f"{pns} ({':'.join(key)})"
        found.append(Call(number, begin, worker, key[0], service, user, end, how))
    return found, marks


def incidents(entries):
    """The journal's entries as intervals. A kill is a moment, and so is a worker's own end."""
    found, stopped, brokers = [], {}, {}
    for entry in entries:
        kind, at = entry["kind"], entry["at"]
        if kind in ("kill", "leave", "died"):
            if kind != "leave" and entry["worker"] in stopped:
                found.append(Incident("stop", entry["worker"], stopped.pop(entry["worker"]), at))
            found.append(Incident(kind, entry["worker"], at, at))
        elif kind == "stop":
            stopped[entry["worker"]] = at
        elif kind == "continue":
            found.append(Incident("stop", entry["worker"], stopped.pop(entry["worker"]), at))
        elif kind in ("broker-kill", "broker-pause"):
            brokers[entry["node"]] = (kind, at)
        elif kind == "broker-whole":
            name, begin = brokers.pop(entry["node"])
            found.append(Incident(name, "", begin, at))
    return found


def lost_sessions(logs, entries):
    """Sessions that the brokers ended because of a member's silence, as incidents of the runs.

    A machine that is too busy stops a worker like a SIGSTOP.
    """
    starts = collections.defaultdict(list)
    for entry in entries:
        if entry["kind"] == "start":
            starts[entry["worker"].split(".")[0]].append((entry["at"], entry["worker"]))
    found = []
    for path in logs:
        for line in open(path, errors="replace"):
            if match := LOST_SESSION.match(line):
                moment = datetime.datetime.fromisoformat(match[1].replace(",", ".")).timestamp() * 1000
                begun = [run for at, run in starts[match[2]] if at < moment]
                if begun:
                    found.append(Incident("session lost", begun[-1], moment - SESSION_MS, moment))
    return found


def first_times(records):
    """The earliest time of a record of each event."""
    times = {}
    for record in records:
        times[record.origin] = min(record.time, times.get(record.origin, record.time))
    return times


class History:
    """All observations, with their relations."""

    def __init__(self, requests, results, retries, dead_letters, calls, commits, incidents, faults=(),
                 attempted=None, ends=()):
        self.requests = requests
        self.results = results
        self.retries = retries
        self.dead_letters = dead_letters
        self.calls = calls
        self.commits = commits
        self.incidents = sorted(incidents, key=lambda incident: incident.begin)
        self.faults = list(faults)
        self.ends = ends                # the journal's entries of workers that ended by themselves
        # When each event was first written into a retry topic, those of aborted transactions included.
        self.attempted = attempted or first_times(retries)
        self.by_origin = {request.place: request for request in requests}
        self.results_of = by_service(results)
        self.retries_of = by_service(retries)
        self.dead_letters_of = by_service(dead_letters)
        self.calls_of = {}
        for call in calls:
            self.calls_of.setdefault((call.id, call.service), []).append(call)


def by_service(records):
    """The records of each origin and push service; "" stands for an event that names none."""
    found = {}
    for record in records:
        for service in record.services or ("",):
            found.setdefault((record.origin, service), []).append(record)
    return found


def read(topic, processes, bootstrap, isolation="read_committed"):
    """Every record of a topic for a reader with this isolation."""
    path = processes.directory / f"{topic}.{isolation}.jsonl"
    with open(path, "wb") as file:
        processes.run(
            ["kcat", "-C", "-q", "-E", "-e", "-J", "-b", bootstrap, "-t", topic, "-o", "beginning",
             "-X", f"isolation.level={isolation}"], seconds=1_800, output=file)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            yield json.loads(line)


def collect(processes, cluster, plan, backend_log, journal_path):
    """The whole history, once all is quiet."""
    def all_of(topics, isolation="read_committed"):
        return (record for topic in topics for record in read(topic, processes, cluster.bootstrap, isolation))

    visibilities = {
        number: logfiles.Visibility(folder) for number, folder in cluster.partitions(RESULTS).items()}
    retry_topics = [RETRY + delay for delay in plan.delays]
    seen_calls, faults = calls(backend_log)
    with open(journal_path) as file:
        entries = [json.loads(line) for line in file]
    return History(
        requests=[request(record) for record in all_of(REQUESTS)],
        results=[result(record, visibilities) for record in all_of([RESULTS])],
        retries=[onward(record) for record in all_of(retry_topics)],
        dead_letters=[onward(record) for record in all_of([DEAD_LETTERS])],
        calls=seen_calls,
        commits=logfiles.commits(cluster.partitions("__consumer_offsets").values(), plan.group),
        incidents=incidents(entries) + lost_sessions(cluster.logs(), entries),
        faults=faults,
        attempted=first_times(map(onward, all_of(retry_topics, "read_uncommitted"))),
        ends=[entry for entry in entries if entry["kind"] == "died"]), entries
