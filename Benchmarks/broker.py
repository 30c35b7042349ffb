"""One node of Apache Kafka, broker and controller, on loopback, and what is done on it."""

import base64
import secrets
import sys

from processes import free_port, wait_for

SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{client},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs={directory}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
# Long enough for two workers that start together to join together.
group.initial.rebalance.delay.ms=1000
auto.create.topics.enable=false
log.segment.delete.delay.ms=1000
"""


class Broker:
    def __init__(self, processes, home, bare):
        self.processes = processes
        self.bare = bare
        client, controller = free_port(), free_port()
        self.bootstrap = f"127.0.0.1:{client}"
        directory = processes.directory
        path = directory / "server.properties"
        path.write_text(SETTINGS.format(client=client, controller=controller, directory=directory))
        cluster = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=").replace("-", "a")
        # Kafka logs to standard output with any configuration that says so, and to nowhere without one.
        log = directory / "log4j2.properties"
        log.write_text("appender.c.type=Console\nappender.c.name=C\nrootLogger.level=info\nrootLogger.appenderRef.c.ref=C\n")
        java = ["java", "-Xmx512m", "-XX:+UseSerialGC", f"-Dlog4j2.configurationFile={log}", "-cp", f"{home}/libs/*"]
        processes.run(java + ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(path)])
        self.node = processes.start(java + ["kafka.Kafka", str(path)], log="broker")
        wait_for(self.is_up, 60, "the broker was not up")

    def is_up(self):
        if self.node.poll() is not None:
            sys.exit(f"bench: the broker ended:\n{self.processes.tail('broker')}")
        return b"Kafka Server started" in (self.processes.directory / "broker.log").read_bytes()

    def command(self, *arguments):
        return [self.bare, self.bootstrap, *map(str, arguments)]

    def ask(self, *arguments):
        """The numbers that `kafka-bare` prints."""
        return [float(word) for word in self.processes.run(self.command(*arguments)).split()]

    def create(self, topic, partitions):
        self.ask("create", topic, partitions)

    def delete(self, topic):
        self.ask("delete", topic)

    def end(self, topic):
        """How far a topic reaches, the marks of transactions included."""
        return int(self.ask("count", topic)[0])
