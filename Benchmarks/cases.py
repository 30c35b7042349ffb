"""The cases of `make bench`: each is a set of circumstances, and differs from the first in one of them."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    about: str
    guarantee: str = "atomic"
    partitions: int = 6
    # The backend's latency (milliseconds). At 0 it is nginx, which `wrk` posts to as well.
    delay: int = 0
    tls: bool = False
    # Many calls on a connection.
    http2: bool = False
    # Over TLS to a server that answers like a notification hub.
    hub: bool = False
    # The default topics: two for requests and five for delays; otherwise one of each.
    all_topics: bool = False
    workers: int = 1
    lanes: int = 1
    connections: int = 256
    in_flight: int = 1_000
    # The share of events whose spans go to nginx; none without.
    traces: float | None = None

    @property
    def has_front(self):
        """Whether nghttpx is in front of the backend, because our own does not speak HTTP/2."""
        return self.http2 and self.delay > 0

    @property
    def limit(self):
        """The events per second that the calls in flight allow; none without a delay."""
        calls = self.in_flight if self.http2 else min(self.connections, self.in_flight)
        return calls * 1_000 / self.delay if self.delay else None


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
    Case("http2", "over HTTP/2", http2=True),
    Case("http2-tls", "over HTTP/2 and TLS", http2=True, tls=True),
    Case("http1-100ms", "the backend takes 100 ms, 1 000 calls in flight on as many connections", delay=100,
         connections=1_000),
    Case("http2-100ms", "the same over HTTP/2 on 16 connections", http2=True, delay=100, connections=16),
    Case("hub", "over TLS to a notification hub, against tls", tls=True, hub=True),
    Case("workers-2", "two workers", workers=2),
    Case("lanes-2", "two lanes", lanes=2),
    Case("assigned-42", "42 partitions: two request topics and five delays", all_topics=True),
    Case("assigned-700", "700 partitions: the same with 100 a topic", all_topics=True, partitions=100),
    Case("traces-1%", "spans of 1 % of the events", traces=0.01),
    Case("traces", "spans of all events", traces=1),
]


@dataclasses.dataclass(frozen=True)
class Refusing:
    """A backend that answers 429 at times."""

    name: str
    about: str
    # The events, in thousandths, that are refused once, whatever the rate.
    once: int = 0
    # The calls a second that are taken: evenly except for a few, or counted anew in each second.
    capacity: int | None = None
    windowed: bool = False
    # The Retry-After of a refusal (seconds).
    after: int | None = None
    # The goals: at least this share of the capacity, or of the rate without refusals; at most this share of refused
    # calls,
    # and this number of retry records for each.
    rate: float = 0
    refused: float = 1
    retries: float = 1.5

    @property
    def options(self):
        """The backend's own options."""
        capacity = ["-c", self.capacity] if self.capacity else []
        return [*(["-o", self.once] if self.once else []), *capacity, *(["-w"] if self.windowed else []),
                *(["-a", self.after] if self.after else [])]


# Two forms of each: with a Retry-After, and without one.
REFUSING = [dataclasses.replace(case, name=case.name + name, about=case.about + about, after=after) for case in [
    Refusing("refused-1", "1 % of the events once", once=10, rate=0.95),
    Refusing("refused-5", "5 % of the events once", once=50, rate=0.9),
    Refusing("beyond", "what is beyond 500/s", capacity=500, rate=0.95, refused=0.02),
    Refusing("beyond-window", "what is beyond 500 in a second", capacity=500, windowed=True, rate=0.95, refused=0.02),
    Refusing("beyond-refused-1", "what is beyond 500/s, and 1 % of the events once", once=10, capacity=500, rate=0.9),
] for name, about, after in [("-after", ", with Retry-After: 1", 1), ("", "", None)]]
# The comparison for those without a capacity.
TAKING = Refusing("taking", "nothing")
# The backlog for those without a capacity, and with one.
REFUSED_EVENTS = 200_000
BEYOND_EVENTS = 75_000
# The rate counts until this share was taken: the events that were refused last only wait for their delay.
COUNTED = 0.9

def by_name(name):
    return next(case for case in THROUGHPUT if case.name == name)


@dataclasses.dataclass(frozen=True)
class Idle:
    """A worker with nothing to do."""

    name: str
    about: str
    circumstances: Case
    # The goals: at most this share of a core, and this memory.
    share: float
    memory: float


IDLE = [
    Idle("idle", "nothing to do with 42 partitions", by_name("assigned-42"), 0.003, 32e6),
    Idle("idle-700", "nothing to do with 700 partitions", by_name("assigned-700"), 0.006, 40e6),
]
IDLE_SECONDS = 30
# Rates (events a second) that leave the machine nearly idle: an event's cost then, beside librdkafka alone.
LOW_LOADS = {f"low-{rate}": rate for rate in (10, 100, 1_000)}
LOW_SECONDS = 20

# Cases of their own kind, by name.
FLOOR = "floor"
HANG = "hang"
# A backend with a limit of calls a second that answers 429 beyond it (nginx, `limit_req`), and the events for it.
LIMITED = "limited"
CAPACITY = 500
LIMITED_EVENTS = 100_000


@dataclasses.dataclass(frozen=True)
class Bystanding:
    """A load beside one-time codes for other users, in the same topic."""

    name: str
    about: str
    partitions: int = 6
    # Events a second for `users` users, and the shares of users with names of their own kind.
    rate: int = 500
    users: int = 3_000
    kinds: dict[str, float] = dataclasses.field(default_factory=dict)
    # The backend's rules for them from one moment on, in the form of `herald backend`.
    rules: tuple[dict, ...] = ()
    # The number of events of one user at that moment.
    flood: int = 0
    # Codes count from this many seconds after it.
    settle: int = 0
    # Whether the rules apply from the worker's first event on, before any call was answered.
    is_from_start: bool = False
    # The goals: the median and the latest (seconds).
    median: float = 0.5
    latest: float = 1


FLOOD = 60_000
# The goal for a loud user, as a share of the rate that its own calls allow.
LOUD_SHARE = 0.9
# The latency of all calls until the moment, and of the loud user's calls after it (milliseconds).
CALL, LOUD_CALL = 5, 20

MOMENT = [Bystanding(f"bystanders-{name}", about, **more) for name, about, more in [
    ("alone", "500 events/s", {"latest": 0.5}),
    ("loud-1", f"one user with {FLOOD:,} events, 1 partition", {"partitions": 1, "rate": 10, "flood": FLOOD}),
    ("loud-6", f"one user with {FLOOD:,} events, 6 partitions", {"rate": 10, "flood": FLOOD}),
    ("mixed", "one user with 15,000, a few slow, hanging, busy, rejected ones", {
        "rate": 100, "users": 100, "flood": 15_000,
        "kinds": {"slow": 0.05, "hanging": 0.05, "busy": 0.05, "rejected": 0.05},
        "rules": ({"user": "slow-*", "latency": 1_000}, {"user": "hanging-*", "hang": True},
                  {"user": "busy-*", "status": 429}, {"user": "rejected-*", "status": 400})}),
    ("shard-after", "a third of 500 events/s: 503 with Retry-After: 5", {
        "kinds": {"failing": 1 / 3}, "rules": ({"user": "failing-*", "status": 503, "retryAfter": 5},), "latest": 2}),
    ("shard", "a third of 500 events/s: 503", {
        "kinds": {"failing": 1 / 3}, "rules": ({"user": "failing-*", "status": 503},), "latest": 2}),
    ("hanging", "a third of 500 events/s: calls hang", {
        "kinds": {"hanging": 1 / 3}, "rules": ({"user": "hanging-*", "hang": True},), "latest": 3}),
    ("slow", "97 % of 200 events/s: 1.5 s a call, counted from 10 s on", {
        "rate": 200, "rules": ({"user": "quiet-*", "share": 0.97, "latency": 1_500},), "settle": 10, "latest": 2,
        "median": 2}),
    ("refused", "a tenth of 500 events/s: 401", {
        "kinds": {"refused": 0.1}, "rules": ({"user": "refused-*", "status": 401},), "median": 1}),
]]
BYSTANDING = MOMENT + [
    dataclasses.replace(
        case, name=case.name.replace("-", "-start-", 1), about=f"{case.about}, since the start", is_from_start=True)
    for case in MOMENT if case.rules and not case.flood]
# Codes a second, and their number.
CODE_RATE = 5
CODES = 200

# Events of the first topic beside a full second one, with as many calls a second.
PRIORITY = "priority"
URGENT_PACE = 20
URGENT_SECONDS = 120
# A campaign with as many recipients as the backlog has events.
CAMPAIGN = "campaign"
# Ages at these rates (events a second) while workers and brokers come and go. Two cores are hardly enough for three
# brokers at a thousand: there the second rate shows the cost of a fault.
FAULT_LOADS = {"faults": 1_000, "faults-250": 250}
# The ages of events on arrival at the backend are measured for these cases, in a run of its own at this pace.
PACED = ["atomic", "at-least-once", "partitions-1", "partitions-12", "workers-2", "lanes-2"]
PACE = 1_000
PACED_SECONDS = 20


@dataclasses.dataclass(frozen=True)
class Keyed:
    """A backlog of few users, with one call at a time for each, and a limited number of calls at once."""

    name: str
    circumstances: Case
    users: int
    # Events before the measured ones: a virtual machine compiles its code meanwhile.
    warm_up: int
    count: int

    @property
    def limit(self):
        """The events per second that the order of each user's events allows."""
        return self.users * 1_000 / self.circumstances.delay


KEYED = [Keyed(f"keyed-{delay}ms", Case(
    "keyed", f"8 partitions, 1 000 users, the backend takes {delay} ms", partitions=8, delay=delay, connections=1_000,
    in_flight=1_000), 1_000, warm_up, count)
    for delay, warm_up, count in [(100, 150_000, 100_000), (10, 100_000, 200_000)]]
# The default of Kafka's own producer. Batches larger than a fetch of a partition come one partition after the other,
# and a
# consumer with those of one partition has none of the other partitions' users.
KEYED_BATCH = 16_384
# Ages with two workers, of which one is killed.
KEYED_KILL = "keyed-kill"
KEYED_NAMES = {*(case.name for case in KEYED), KEYED_KILL}

NAMES = [FLOOR, *(case.name for case in THROUGHPUT), *(f"age-{name}" for name in PACED), *LOW_LOADS,
         *(case.name for case in IDLE), HANG, PRIORITY, LIMITED, CAMPAIGN, *FAULT_LOADS,
         *(case.name for case in REFUSING), *(case.name for case in BYSTANDING), *(case.name for case in KEYED), KEYED_KILL]
# All cases except for these need nginx and wrk.
WITHOUT_NGINX = {*FAULT_LOADS, *(case.name for case in BYSTANDING), *KEYED_NAMES}


def chosen(text):
    """The names that a list of names and prefixes (`age*`) means; all names for an empty list."""
    wanted = text.replace(",", " ").split()
    if not wanted:
        return NAMES
    names = [name for name in NAMES if any(
        name == one or (one.endswith("*") and name.startswith(one[:-1])) for one in wanted)]
    unknown = [one for one in wanted if one not in NAMES and not one.endswith("*")]
    if unknown or not names:
        raise ValueError(f"there is no case {', '.join(unknown or wanted)}; there are: {', '.join(NAMES)}")
    return names
