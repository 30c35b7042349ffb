"""One node of Apache Kafka, broker and controller, on loopback, and operations on it."""

from kafka import Node, cluster_id, java
from processes import free_ports

SETTINGS = {
    # Long enough for two workers that start together to join together.
    "group.initial.rebalance.delay.ms": 1000,
    "log.segment.delete.delay.ms": 1000,
}


class Broker:
    def __init__(self, processes, home, bare):
        self.processes = processes
        self.bare, self.home = bare, home
        self.bootstrap, controller = [f"127.0.0.1:{port}" for port in free_ports(2)]
        # A measured node has to be as fast as it can become.
        node = Node(processes, java(processes, home, quick=False), 1,
                    {"PLAINTEXT": self.bootstrap, "CONTROLLER": controller}, SETTINGS, cluster_id())
        node.start()
        node.wait_until_started()
        self.node = node.process

    def command(self, *arguments):
        return [self.bare, self.bootstrap, *map(str, arguments)]

    def ask(self, *arguments):
        """The numbers that `kafka-bare` prints."""
        return [float(word) for word in self.processes.run(self.command(*arguments), seconds=3_600).split()]

    def create(self, topic, partitions):
        self.ask("create", topic, partitions)

    def delete(self, topic):
        self.ask("delete", topic)

    def end(self, topic):
        """The length of a topic, including the markers of transactions."""
        return int(self.ask("count", topic)[0])
