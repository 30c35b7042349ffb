"""One node of Apache Kafka on loopback, shared by all fixtures of a run."""

import os
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/shared"))

from kafka import Node, cluster_id, java
from processes import Processes, free_ports


class Broker:
    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="herald-browser-"))
        self.processes = Processes(self.directory)
        broker, controller = free_ports(2)
        self.address = f"127.0.0.1:{broker}"
        try:
            self.node = Node(
                self.processes, java(self.processes, os.environ["KAFKA_HOME"]), 1,
                {"PLAINTEXT": self.address, "CONTROLLER": f"127.0.0.1:{controller}"},
                # Even on a slow machine its own controller does not count it as dead.
                {"broker.session.timeout.ms": 60_000}, cluster_id())
            self.node.start()
        except BaseException:
            self.stop()
            raise

    def wait_until_started(self):
        self.node.wait_until_started(300)

    def stop(self):
        self.processes.__exit__()
        shutil.rmtree(self.directory, ignore_errors=True)

    def kill(self):
        self.node.process.kill()
        self.node.process.wait()

    def revive(self):
        """Starts the broker again, with its data."""
        # It may come back when the session of the killed one has run out. The last line of a property counts.
        with self.node.properties.open("a") as properties:
            properties.write("broker.session.timeout.ms=2000\nbroker.heartbeat.interval.ms=500\n")
        self.node.start()
