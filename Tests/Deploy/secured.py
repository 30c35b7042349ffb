"""One node of Apache Kafka on loopback with authentication and authorisation.

Two listeners: one without login, whose user may do everything, for the cluster's operator; and one with SASL/PLAIN for
the users of deploy/kubernetes, each with its name as password.
"""

import concurrent.futures

from kafka import Node, cluster_id, java
from processes import free_ports

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


class Broker:
    def __init__(self, processes, home, users):
        self.processes = processes
        self.java = java(processes, home)
        self.open, self.client, controller = [f"127.0.0.1:{port}" for port in free_ports(3)]
        passwords = " ".join(f'user_{user}="{user}"' for user in users)
        node = Node(
            processes, self.java, 1,
            {"PLAINTEXT": self.open, "SASL_PLAINTEXT": self.client, "CONTROLLER": controller}, {
                "listener.security.protocol.map":
                    "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
                "sasl.enabled.mechanisms": "PLAIN",
                "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"{PLAIN} required {passwords};",
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:ANONYMOUS",
                "group.initial.rebalance.delay.ms": 500,
            }, cluster_id())
        node.start()
        node.wait_until_started()

    def allow(self, user, acls):
        """Grants the permissions of a KafkaUser's ACLs; one program for each, two at a time."""
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
