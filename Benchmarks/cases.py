"""What `make bench` measures: one case is one set of circumstances, and each differs from the first in one of them."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    about: str
    guarantee: str = "atomic"
    partitions: int = 6
    # How long the backend takes (milliseconds). At 0 it is nginx, which `wrk` posts to as well.
    delay: int = 0
    tls: bool = False
    workers: int = 1
    lanes: int = 1
    connections: int = 256
    in_flight: int = 1_000

    @property
    def limit(self):
        """The events per second that the calls in flight allow; none without a delay."""
        return self.connections * 1_000 / self.delay if self.delay else None


FIRST = Case("atomic", "as it is by default, 6 partitions, one worker, one lane")

THROUGHPUT = [
    FIRST,
    Case("at-least-once", "without transactions", guarantee="at-least-once"),
    Case("partitions-1", "1 partition", partitions=1),
    Case("partitions-3", "3 partitions", partitions=3),
    Case("partitions-12", "12 partitions", partitions=12),
    Case("delay-1ms", "the backend takes 1 ms", delay=1),
    Case("delay-20ms", "the backend takes 20 ms, 1 000 calls in flight", delay=20, connections=1_000),
    Case("delay-100ms", "the backend takes 100 ms, 4 000 calls in flight", delay=100, connections=4_000,
         in_flight=4_000),
    Case("tls", "over TLS", tls=True),
    Case("workers-2", "two workers", workers=2),
    Case("lanes-2", "two lanes", lanes=2),
]

# Cases of their own kind, by name.
FLOOR = "floor"
HANG = "hang"
# A backend that takes so many calls a second and answers 429 beyond (nginx, `limit_req`), and so many events for it.
LIMITED = "limited"
CAPACITY = 500
LIMITED_EVENTS = 100_000
# Events of the first topic beside a full second one, with as many calls a second.
PRIORITY = "priority"
URGENT_PACE = 20
URGENT_SECONDS = 120
# How old an event is when the backend gets it is measured for these cases, in a run of its own at this pace.
PACED = ["atomic", "at-least-once", "partitions-1", "partitions-12", "workers-2", "lanes-2"]
PACE = 1_000
PACED_SECONDS = 20

NAMES = [FLOOR, *(case.name for case in THROUGHPUT), *(f"age-{name}" for name in PACED), HANG, PRIORITY, LIMITED]


def chosen(text):
    """The names that a list of names and beginnings of names (`age*`) means; all of them for none."""
    wanted = text.replace(",", " ").split()
    if not wanted:
        return NAMES
    names = [name for name in NAMES if any(
        name == one or (one.endswith("*") and name.startswith(one[:-1])) for one in wanted)]
    unknown = [one for one in wanted if one not in NAMES and not one.endswith("*")]
    if unknown or not names:
        raise ValueError(f"there is no case {', '.join(unknown or wanted)}; there are: {', '.join(NAMES)}")
    return names


def by_name(name):
    return next(case for case in THROUGHPUT if case.name == name)
