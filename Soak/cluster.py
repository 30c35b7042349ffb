"""Three nodes of Apache Kafka on loopback, each broker and controller, to be killed and paused one at a time."""

import json
import signal

from kafka import Node, cluster_id, java
from processes import Failure, free_ports, is_alive, wait_for

NODES = (1, 2, 3)

SETTINGS = {
    "num.network.threads": 2,
    "num.io.threads": 4,
    "default.replication.factor": 3,
    "min.insync.replicas": 2,
    "offsets.topic.replication.factor": 3,
    "transaction.state.log.replication.factor": 3,
    "transaction.state.log.min.isr": 2,
    # A transaction whose producer died ends this soon after its time-out.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 1000,
    # The checker reads all commits, and compares them with the moments at which results became durable.
    "log.cleaner.enable": "false",
    "log.message.timestamp.type": "LogAppendTime",
}


class Cluster:
    def __init__(self, processes, home, quick=True):
        self.processes = processes
        self.home = home
        self.java = java(processes, home, quick)
        addresses = [f"127.0.0.1:{port}" for port in free_ports(2 * len(NODES))]
        clients = dict(zip(NODES, addresses))
        controllers = dict(zip(NODES, addresses[len(NODES):]))
        voters = ",".join(f"{node}@{controllers[node]}" for node in NODES)
        self.bootstrap = ",".join(clients.values())
        cluster = cluster_id()
        self.nodes = {
            node: Node(processes, self.java, node, {"PLAINTEXT": clients[node], "CONTROLLER": controllers[node]},
                       SETTINGS, cluster, voters)
            for node in NODES}
        for node in NODES:
            self.start(node)
        self.wait_until_healthy(300)

    def logs(self):
        return [self.processes.log(node.name) for node in self.nodes.values()]

    def data(self):
        """The folder of the node whose copies the checker reads, when all are in step."""
        return self.nodes[NODES[0]].directory / "data"

    def start(self, node):
        """Starts a node, with its former data."""
        self.nodes[node].start()

    def kill(self, node):
        self.nodes[node].process.kill()
        self.nodes[node].process.wait()

    def pause(self, node):
        self.nodes[node].process.send_signal(signal.SIGSTOP)

    def resume(self, node):
        self.nodes[node].process.send_signal(signal.SIGCONT)

    def metadata(self):
        """The cluster's description of itself, or None when it does not answer now."""
        text = self.processes.run(["kcat", "-L", "-J", "-m", "5", "-b", self.bootstrap], seconds=20, may_fail=True)
        try:
            return json.loads(text) if text else None
        except json.JSONDecodeError:
            return None

    def is_healthy(self):
        """Whether all nodes serve and all copies of every partition are in step."""
        for number, node in self.nodes.items():
            if not is_alive(node.process):
                raise Failure(f"broker {number} ended by itself:\n{self.processes.tail(node.name)}")
        metadata = self.metadata()
        if metadata is None or len(metadata["brokers"]) != len(NODES):
            return False
        return all(
            partition["leader"] > 0 and len(partition["isrs"]) == len(partition["replicas"])
            for topic in metadata["topics"] for partition in topic["partitions"])

    def wait_until_healthy(self, seconds):
        wait_for(self.is_healthy, seconds, "the cluster was not whole")

    def partitions(self, topic):
        """The folders of a topic's partitions on the node that the checker reads, by number."""
        prefix = f"{topic}-"
        found = {}
        for folder in self.data().iterdir():
            number = folder.name.removeprefix(prefix)
            if folder.name.startswith(prefix) and number.isdigit():
                found[int(number)] = folder
        return found
