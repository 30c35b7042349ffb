"""One node of Apache Kafka on loopback that asks who somebody is and what they may do.

Two listeners: one without login, whose user may do everything, for what a cluster's operator does; and one with
SASL/PLAIN for the users of deploy/kubernetes, each with the password of the same name.
"""

import base64
import concurrent.futures
import secrets

from processes import Failure, free_ports, is_alive, wait_for

SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{open},SASL_PLAINTEXT://127.0.0.1:{client},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config={plain} required {users};
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
log.dirs={directory}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=500
auto.create.topics.enable=false
"""


class Broker:
    def __init__(self, processes, home, users):
        self.processes = processes
        directory = processes.directory
        self.open, self.client, controller = [f"127.0.0.1:{port}" for port in free_ports(3)]
        path = directory / "server.properties"
        path.write_text(SETTINGS.format(
            open=self.open.split(":")[1], client=self.client.split(":")[1], controller=controller.split(":")[1], directory=directory,
            plain="org.apache.kafka.common.security.plain.PlainLoginModule",
            users=" ".join(f'user_{user}="{user}"' for user in users)))
        # Kafka logs to standard output with any configuration that says so, and to nowhere without one.
        log = directory / "log4j2.properties"
        log.write_text(
            "appender.c.type=Console\nappender.c.name=C\nrootLogger.level=info\nrootLogger.appenderRef.c.ref=C\n")
        self.java = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                     f"-Dlog4j2.configurationFile={log}", "-cp", f"{home}/libs/*"]
        cluster = "h" + base64.urlsafe_b64encode(secrets.token_bytes(16)).decode()[1:22].replace("-", "a")
        processes.run(self.java + ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(path)])
        node = processes.start(self.java + ["kafka.Kafka", str(path)], log="broker")
        wait_for(lambda: not is_alive(node) or b"Kafka Server started" in processes.log("broker").read_bytes(),
                 90, "the broker was not up")
        if not is_alive(node):
            raise Failure(f"the broker ended:\n{processes.tail('broker')}")

    def allow(self, user, acls):
        """Grants what a KafkaUser's ACLs say; one program for each, two at a time."""
        flags = {"topic": "--topic", "group": "--group", "transactionalId": "--transactional-id"}
        kinds = {"prefix": "prefixed", "literal": "literal"}
        commands = []
        for acl in acls:
            resource = acl["resource"]
            operations = [word for operation in acl["operations"] for word in ("--operation", operation)]
            commands.append(self.java + [
                "org.apache.kafka.tools.AclCommand", "--bootstrap-server", self.open, "--add", "--allow-principal",
                f"User:{user}", *operations, flags[resource["type"]], resource["name"], "--resource-pattern-type",
                kinds[resource["patternType"]]])
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.processes.run, commands))

    def login(self, user):
        """librdkafka's properties for a user."""
        return {"security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN", "sasl.username": user,
                "sasl.password": user}
