"""The campaign's events, and the producer that publishes them during all faults."""

import datetime
import json
import pathlib
import random
import subprocess
import threading
import time
import zipfile

from processes import Failure, now_ms

# Each event's kind is the prefix of its id, so that the checker knows its required outcome.
KINDS = {
    "plain": 0.955,
    "rejected": 0.01,   # for a user that the backend rejects
    "expired": 0.005,   # never to be sent
    "later": 0.02,      # not to be sent before its moment
    "broken": 0.005,    # no JSON
    "nothing": 0.005,   # a tombstone
}
USERS = 3_000
SERVICES = ("apns", "gcm", "wns")


def rfc3339(milliseconds):
    moment = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Events:
    """Generates events from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0

    def next(self):
        """Key and value of the next event."""
        draw = self.random
        kind = draw.choices(list(KINDS), KINDS.values())[0]
        self.count += 1
        identifier = f"{kind}-{self.count:07}"
        # A few users have most of the events, so that some always wait for their turn.
        user = f"user-{int(USERS * draw.random() ** 3):04}"
        if kind == "rejected":
            user = f"rejected-{draw.randrange(200):03}"
        if kind == "nothing":
            return user, TOMBSTONE
        if kind == "broken":
            return user, f'{{"id": "{identifier}", '
        services = draw.sample(SERVICES, 2) if draw.random() < 0.1 else [draw.choice(SERVICES)]
        event = {"id": identifier, "user": user, "pns": services, "message": f"Event {self.count} of many. " * 3}
        if kind == "expired":
            event["expiresAt"] = rfc3339(now_ms() - 60_000)
        if kind == "later":
            event["notBefore"] = rfc3339(now_ms() + draw.uniform(500, 12_000))
        return user, json.dumps(event, separators=(",", ":"))


# Apache Kafka's own producer, which most services would use: librdkafka's idempotent one before 2.4 may end with a
# fatal error when a leader dies (confluentinc/librdkafka#4438).
PRODUCER = """\
enable.idempotence=true
acks=all
retries=2147483647
delivery.timeout.ms=3600000
request.timeout.ms=10000
max.block.ms=3600000
buffer.memory=134217728
linger.ms=10
reconnect.backoff.max.ms=1000
"""
TOMBSTONE = "<nothing>"


def console_producer(home):
    """The class of the console producer, which has moved."""
    moved = "org/apache/kafka/tools/ConsoleProducer.class"
    jars = pathlib.Path(home).glob("libs/kafka-tools-[0-9]*.jar")
    has_moved = any(moved in zipfile.ZipFile(jar).namelist() for jar in jars)
    return "org.apache.kafka.tools.ConsoleProducer" if has_moved else "kafka.tools.ConsoleProducer"


class Publisher:
    """Publishes the events within about the given time, in bursts, with an idempotent producer per topic."""

    TICK = 0.1

    def __init__(self, processes, cluster, topics, count, seconds, seed):
        self.count = count
        self.seconds = seconds
        self.events = Events(f"{seed} events")
        self.random = random.Random(f"{seed} bursts")
        self.error = None
        settings = processes.directory / "publisher.properties"
        settings.write_text(PRODUCER)
        command = [*cluster.java, console_producer(cluster.home), "--bootstrap-server", cluster.bootstrap,
                   "--producer.config", settings, "--property", "parse.key=true",
                   "--property", f"null.marker={TOMBSTONE}"]
        self.producers = [
            (share, processes.start([*command, "--topic", topic], log=f"publisher-{topic}", stdin=subprocess.PIPE))
            for topic, share in topics]
        self.thread = threading.Thread(target=self.run, daemon=True)

    def start(self):
        self.thread.start()

    @property
    def published(self):
        return self.events.count

    @property
    def is_done(self):
        """Whether the brokers have all events."""
        if self.error:
            raise Failure(f"publishing failed: {self.error}")
        return not self.thread.is_alive()

    def run(self):
        try:
            self.publish()
            for _, producer in self.producers:
                producer.stdin.close()
            for _, producer in self.producers:
                # It ends when the last record is acknowledged, however long the brokers need.
                if producer.wait() != 0:
                    raise Failure(f"the console producer ended with {producer.returncode}")
        except (OSError, Failure) as error:
            self.error = error

    def publish(self):
        rate = self.count / self.seconds
        begin = time.monotonic()
        ahead = 0
        while self.published < self.count:
            time.sleep(self.TICK)
            if ahead <= 0 and self.random.random() < 0.05:
                # A burst: the next seconds' events at once.
                ahead = int(rate * self.random.uniform(0.5, 6))
            wanted = int((time.monotonic() - begin) * rate) + ahead
            ahead = max(0, ahead - int(rate * self.TICK / 2))
            for _ in range(min(wanted, self.count) - self.published):
                self.publish_one()
            for _, producer in self.producers:
                producer.stdin.flush()

    def publish_one(self):
        key, value = self.events.next()
        draw = self.random.random()
        for share, producer in self.producers:
            if draw < share or producer is self.producers[-1][1]:
                producer.stdin.write(f"{key}\t{value}\n".encode())
                return
            draw -= share
