"""Judges a run of Swift tests: the failures, the test that may be run again, and the quarantine.

A test is named by its id without the place in the source: `EndToEndTests.CrashTests/drainDeadline()`.
"""

import datetime
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

# The quarantine is only temporary.
MOST_ENTRIES = 5
MOST_DAYS = 14


@dataclass
class Run:
    """The content of the event stream of one process of tests."""

    functions: dict[str, str] = field(default_factory=dict)  # id → title
    failures: dict[str, list[str]] = field(default_factory=dict)  # id of a test or suite → what was said
    ended: bool = False


def name_of(test_id: str) -> str:
    """The id without file, line and column."""
    return re.sub(r"/[^/]+\.swift:\d+:\d+$", "", test_id)


def read_stream(lines: list[str]) -> Run:
    """Reads the records of `--event-stream-output-path` (version 0 of the testing library's ABI)."""
    run = Run()
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue  # The process died in the middle of the line.
        payload = record.get("payload", {})
        if record.get("kind") == "test" and payload.get("kind") == "function":
            run.functions[name_of(payload["id"])] = payload.get("displayName") or payload["name"]
        elif payload.get("kind") == "issueRecorded" and not payload.get("issue", {}).get("isKnown", False):
            if payload.get("issue", {}).get("_severity", "error") == "error":
                said = [message["text"] for message in payload.get("messages", [])]
                run.failures.setdefault(name_of(payload.get("testID", "no test")), []).extend(said)
        elif payload.get("kind") == "runEnded":
            run.ended = True
    return run


def may_run_again(run: Run, status: int, real_time: set[str]) -> tuple[str | None, str]:
    """The one test that may be run again alone, and otherwise the reason for which none may."""
    if not run.ended:
        return None, f"the tests did not end (status {status})"
    if not run.failures:
        return None, f"no test failed, and yet the status is {status}"
    if len(run.failures) > 1:
        return None, f"{len(run.failures)} tests failed; one at most may be flaky"
    (name,) = run.failures
    if name not in real_time:
        return None, "it needs no real time, so what it says is so"
    return name, ""


@dataclass
class Entry:
    """A line of Tests/quarantine.txt: a test that is known to be flaky, the reason, and the last day."""

    test: str
    reason: str
    until: datetime.date


def read_quarantine(text: str, today: datetime.date) -> tuple[list[Entry], list[str]]:
    """The entries, and the file's faults."""
    entries: list[Entry] = []
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        try:
            test, reason, until = parts
            entry = Entry(test, reason, datetime.date.fromisoformat(until))
        except ValueError:
            problems.append(f"line {number} is not `test | reason | YYYY-MM-DD`")
            continue
        if not entry.test or not entry.reason:
            problems.append(f"line {number} has no test or no reason")
        if entry.until < today:
            problems.append(f"line {number}: {entry.test} is in quarantine since before {entry.until}: mend it")
        if (entry.until - today).days > MOST_DAYS:
            problems.append(f"line {number}: {entry.until} is more than {MOST_DAYS} days away")
        entries.append(entry)
    if len(entries) > MOST_ENTRIES:
        problems.append(f"{len(entries)} tests are in quarantine, {MOST_ENTRIES} may be")
    return entries, problems


def unknown(entries: list[Entry], run: Run) -> list[str]:
    """Faults because a test in quarantine is missing, by the tests of a whole run."""
    return [f"{entry.test} is in quarantine and is no test" for entry in entries if entry.test not in run.functions]


def load_quarantine(path: Path, today: datetime.date) -> tuple[list[Entry], list[str]]:
    return read_quarantine(path.read_text() if path.exists() else "", today)
