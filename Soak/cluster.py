"""Three nodes of Apache Kafka on loopback, each broker and controller, to be killed and paused one at a time."""

import base64
import json
import pathlib
import secrets
import signal

from processes import Failure, free_ports, is_alive, wait_for

NODES = (1, 2, 3)

SETTINGS = """\
process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
listeners=PLAINTEXT://127.0.0.1:{client},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs={directory}/data
num.network.threads=2
num.io.threads=4
auto.create.topics.enable=false
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor=3
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
# A transaction whose producer died ends this soon after its time-out.
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
# The checker reads every commit that was ever made, and holds the moment when a result was durable against it.
log.cleaner.enable=false
log.message.timestamp.type=LogAppendTime
"""


class Cluster:
    def __init__(self, processes, home):
        self.processes = processes
        self.home = home
        ports = free_ports(2 * len(NODES))
        self.client_ports = dict(zip(NODES, ports))
        controller_ports = dict(zip(NODES, ports[len(NODES):]))
        voters = ",".join(f"{node}@127.0.0.1:{controller_ports[node]}" for node in NODES)
        self.bootstrap = ",".join(f"127.0.0.1:{port}" for port in self.client_ports.values())
        self.running = {}
        # Kafka logs to standard output with any configuration that says so, and to nowhere without one.
        log = processes.directory / "log4j2.properties"
        log.write_text("appender.c.type=Console\nappender.c.name=C\nappender.c.layout.type=PatternLayout\n"
                       "appender.c.layout.pattern=%d %p %m (%c)%n\n"
                       "rootLogger.level=info\nrootLogger.appenderRef.c.ref=C\n")
        self.java = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                     f"-Dlog4j2.configurationFile={log}", "-cp", f"{home}/libs/*"]
        cluster = "h" + base64.urlsafe_b64encode(secrets.token_bytes(16)).decode()[1:22].replace("-", "a")
        for node in NODES:
            self.directory(node).mkdir()
            self.properties(node).write_text(SETTINGS.format(
                node=node, voters=voters, client=self.client_ports[node], controller=controller_ports[node],
                directory=self.directory(node)))
            processes.run(self.java + ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", self.properties(node)])
        for node in NODES:
            self.start(node)
        self.wait_until_healthy(300)

    def directory(self, node):
        return self.processes.directory / f"node-{node}"

    def properties(self, node):
        return self.directory(node) / "server.properties"

    def logs(self):
        return [self.processes.log(f"node-{node}") for node in NODES]

    def data(self):
        """Where the node keeps its partitions whose copies the checker reads, when all are in step."""
        return self.directory(NODES[0]) / "data"

    def start(self, node):
        """Starts a node; what it held is kept."""
        self.running[node] = self.processes.start(
            self.java + ["kafka.Kafka", self.properties(node)], log=f"node-{node}")

    def kill(self, node):
        self.running[node].kill()
        self.running[node].wait()

    def pause(self, node):
        self.running[node].send_signal(signal.SIGSTOP)

    def resume(self, node):
        self.running[node].send_signal(signal.SIGCONT)

    def metadata(self):
        """What the cluster says of itself, or None when it says nothing now."""
        text = self.processes.run(["kcat", "-L", "-J", "-m", "5", "-b", self.bootstrap], seconds=20, may_fail=True)
        try:
            return json.loads(text) if text else None
        except json.JSONDecodeError:
            return None

    def is_healthy(self):
        """Whether all nodes serve and every partition has all its copies in step."""
        for node, process in self.running.items():
            if not is_alive(process):
                raise Failure(f"broker {node} ended by itself:\n{self.processes.tail(f'node-{node}')}")
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
        for folder in pathlib.Path(self.data()).iterdir():
            number = folder.name.removeprefix(prefix)
            if folder.name.startswith(prefix) and number.isdigit():
                found[int(number)] = folder
        return found
