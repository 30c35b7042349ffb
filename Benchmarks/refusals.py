"""Workers whose backends answer 429 at times: their share of the possible rate."""

import dataclasses
import sys
import time

import cases
from stub import Slow
from usage import progress

DELAY_MILLISECONDS = 20
PATIENCE_SECONDS = 60


@dataclasses.dataclass
class Refused:
    """The load of a backend that refuses calls."""

    case: cases.Refusing
    # Events a second until most were taken.
    rate: float
    # Of all calls.
    refused: float
    # Retry records for each refused call.
    retries: float
    dead: int
    # The rate as a share of the possible one.
    share: float = 0


def measure(bench, chosen):
    """The chosen cases, as shares of their capacity or of the rate with a backend that refuses nothing."""
    limited = [case for case in chosen if case.capacity]
    others = [case for case in chosen if not case.capacity]
    # Before and after, because the machine may have become slower or faster.
    rows = [run([case], bench)[0] for case in ([cases.TAKING, *others, cases.TAKING] if others else [])]
    possible = (rows[0].rate + rows[-1].rate) / 2 if rows else None
    rows = rows[1:-1]
    # All at once: they wait for their backends most of the time.
    rows += run(limited, bench)
    for row in rows:
        row.share = row.rate / (row.case.capacity or possible)
    return rows


def run(chosen, bench):
    """Cases at the same time, each with a worker and a backend of its own."""
    runs = [Run(case, bench) for case in chosen]
    while [one for one in runs if not one.has_most()]:
        time.sleep(0.05)
    return [one.end() for one in runs]


class Run:
    def __init__(self, case, bench):
        progress(f"{case.name}: a backend that refuses {case.about}")
        self.case, self.bench = case, bench
        self.count = cases.BEYOND_EVENTS if case.capacity else cases.REFUSED_EVENTS
        topic = bench.backlog(cases.FIRST.partitions, self.count)
        self.backend = Slow(bench.processes, bench.tools["backend"], DELAY_MILLISECONDS, case.options)
        # Without transactions, whose marks would count as records.
        self.workers = bench.workers(dataclasses.replace(cases.FIRST, guarantee="at-least-once"), topic, self.backend.url)
        self.accepted, self.begin, self.rate = 0, None, None
        self.moved = time.monotonic()

    def has_most(self):
        """Whether the events that count for the rate were accepted."""
        if self.rate:
            return True
        now, accepted = time.monotonic(), self.backend.accepted()
        if accepted > self.accepted:
            self.begin = self.begin or now
            self.accepted, self.moved = accepted, now
        elif now - self.moved > PATIENCE_SECONDS or not self.workers.are_alive():
            sys.exit(f"bench: {self.case.name} stopped calling before the backlog was gone:\n{self.workers.log()}")
        if accepted >= cases.COUNTED * self.count:
            self.rate = accepted / (now - self.begin)
        return self.rate is not None

    def end(self):
        self.workers.await_results(self.count, PATIENCE_SECONDS)
        retries, dead = (self.bench.broker.end(f"{self.workers.group}.{name}") for name in ("retry.5s", "dead-letter"))
        calls, refused = self.backend.calls()
        measured = Refused(self.case, self.rate, refused / calls, retries / max(refused, 1), dead)
        self.workers.stop()
        self.bench.processes.end(self.backend.process)
        progress(f"{self.case.name}: {measured.rate:,.0f} events/s, {measured.refused:.2%} refused")
        return measured
