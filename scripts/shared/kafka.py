"""Nodes of Apache Kafka on loopback, each broker and controller."""

import base64
import secrets

from processes import Failure, is_alive, wait_for

# The default settings of a node on loopback: a cluster of one, ready at once.
DEFAULTS = {
    "process.roles": "broker,controller",
    "inter.broker.listener.name": "PLAINTEXT",
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 4,
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": "false",
}
# Kafka logs to standard output with any configuration that says so, and nowhere without one.
LOGGING = """\
appender.c.type=Console
appender.c.name=C
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=%d %p %m (%c)%n
rootLogger.level=info
rootLogger.appenderRef.c.ref=C
"""


def cluster_id():
    """A new one; it must not begin with a hyphen."""
    return "h" + base64.urlsafe_b64encode(secrets.token_bytes(16)).decode()[1:22].replace("-", "a")


def java(processes, home, quick=True):
    """The beginning of a command that runs one of Kafka's programs; `quick` ones start soon, others get fast later."""
    log = processes.directory / "log4j2.properties"
    log.write_text(LOGGING)
    return ["java", "-Xmx512m", "-XX:+UseSerialGC", *(["-XX:TieredStopAtLevel=1"] if quick else []),
            f"-Dlog4j2.configurationFile={log}", "-cp", f"{home}/libs/*"]


class Node:
    """A node that can be killed and started again; what it held is kept.

    `listeners` are addresses by the listener's name, the controllers' among them; `settings` are laid over `DEFAULTS`.
    """

    def __init__(self, processes, java, number, listeners, settings, cluster, voters=None, users=()):
        self.processes, self.java, self.number = processes, java, number
        self.name = f"node-{number}"
        self.directory = processes.directory / self.name
        self.directory.mkdir()
        self.properties = self.directory / "server.properties"
        values = {
            **DEFAULTS,
            "node.id": number,
            "controller.quorum.voters": voters or f"{number}@{listeners['CONTROLLER']}",
            "listeners": ",".join(f"{name}://{address}" for name, address in listeners.items()),
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": self.directory / "data",
            **settings,
        }
        self.properties.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
        processes.run([*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", self.properties, *users])
        self.process = None

    def start(self):
        self.process = self.processes.start([*self.java, "kafka.Kafka", self.properties], log=self.name)

    def wait_until_started(self, seconds=90):
        """For a node that starts for the first time: its log is still that of the last time."""
        log = self.processes.log(self.name)
        wait_for(lambda: not is_alive(self.process) or b"Kafka Server started" in log.read_bytes(),
                 seconds, "the broker was not up")
        if not is_alive(self.process):
            raise Failure(f"the broker ended:\n{self.processes.tail(self.name)}")
