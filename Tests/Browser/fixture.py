"""The common environment of the console's tests: backend, worker, console and topics on a broker, all on loopback."""

import base64
import json
import os
import pathlib
import shutil
import tempfile
import urllib.error
import urllib.request

from cluster import ROOT, Broker
from confluent_kafka import Producer
from processes import Failure, Processes, free_ports, is_alive, wait_for

# The tests and the screenshots name the program in HERALD when it is not the debug build's.
HERALD = os.environ.get("HERALD", ROOT / ".build/debug/herald")
# Much longer than any step takes, even on a machine that is ten times slower.
PATIENCE = 240

SETTINGS = """\
kafka:
  bootstrapServers: {bootstrap}
  group: {name}herald
topics:
  requests: [{{name: {name}notifications, weight: 10}}, {name}notifications.bulk]
  results: {name}notifications.results
  feedback: {name}notifications.feedback
  retry: {name}notifications.retry
  deadLetter: {name}notifications.dead-letter
  campaigns: {name}notifications.campaigns
  audiences: {name}notifications.audiences
  state: {name}notifications.dead-letter.state
  audit: {name}notifications.audit
  preferences: {name}notifications.preferences
  recalls: {name}notifications.recalls
  classes: {{"{name}notifications.bulk": promotional}}
  partitions: 2
  replicationFactor: 1
backend:
  url: http://127.0.0.1:{backend}
  timeout: 5m
  body: object
  auth: {{username: herald, password: herald}}
retry:
  immediate: 0
  delays: [1s, 30s]
admin:
  listen: {admin}
"""


class Fixture:
    """Starts everything requested, and ends it all when the `with` statement does.

    On a broker that others share, its topics and its group have names of their own, which begin with `name`.
    """

    def __init__(self, name="", broker=None, worker=True, changes=True, settings="", tokens=None, operator=None, admin=True):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="herald-browser-"))
        self.processes = Processes(self.directory)
        if operator:
            # Under sudo the audit names the real user.
            self.processes.environment["SUDO_USER"] = operator
        self.name = name
        self.worker = None
        self.used_links = []
        self.broker = broker
        self.owns_broker = broker is None
        try:
            if self.owns_broker:
                self.broker = Broker()
            self._start(worker, changes, settings, tokens, admin)
        except BaseException:
            self.stop()
            raise

    def _start(self, worker, changes, settings, tokens, admin):
        self.backend_port, self.admin_port, self.console_port = free_ports(3)
        self.bootstrap = self.broker.address
        self.backend = self.processes.start(
            [HERALD, "backend", "--port", self.backend_port], log="backend")
        self.settings = self.directory / "herald.yaml"
        self.settings.write_text(SETTINGS.format(
            name=self.name, bootstrap=self.bootstrap, backend=self.backend_port,
            admin=f"127.0.0.1:{self.admin_port}" if admin else "off") + settings)
        if tokens:
            file = self.directory / "tokens"
            file.touch(mode=0o600)
            file.write_text(tokens)
            with self.settings.open("a") as output:
                output.write(f"console:\n  tokenFile: {file}\n")
        self.broker.wait_until_started()
        self.herald("topics", "apply", "--yes")
        if worker:
            self.start_worker()
        self.allows_changes = changes
        self.console = None
        self.start_console()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.processes.__exit__()
        if self.owns_broker and self.broker:
            self.broker.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def topic(self, name):
        """The fixture's name for the topic with this usual name."""
        return self.name + name

    # Programs

    def herald(self, *words, may_fail=False):
        """Runs a command to its end; returns its standard output."""
        return self.processes.run(
            [HERALD, *words, "--config", self.settings], seconds=2 * PATIENCE, may_fail=may_fail)

    def start_worker(self):
        """Starts the worker, and waits until it delivers."""
        self.start_worker_only()
        self.wait(lambda: self.is_ready(), "the worker was not ready")

    def start_worker_only(self):
        """Starts the worker without waiting."""
        self.worker = self.processes.start([HERALD, "worker", "--config", self.settings], log="worker")

    def reasons(self):
        """The worker's `/readyz` for any status; None without an answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/readyz", timeout=5) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.read().decode()
        except OSError:
            return None

    def ended(self):
        """The number of notifications with an outcome, as the worker counts them."""
        lines = (self.ask(f"http://127.0.0.1:{self.admin_port}/metrics") or "").splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("herald_notifications_total{"))

    def is_ready(self):
        if not is_alive(self.worker):
            raise Failure(f"the worker ended:\n{self.processes.tail('worker')}")
        return self.ask(f"http://127.0.0.1:{self.admin_port}/readyz") is not None

    def stop_worker(self):
        self.processes.end(self.worker)

    def start_console(self):
        """Starts the console; `link()` returns the link it prints for a browser."""
        words = ["console", "--config", self.settings.name, "--listen", f"127.0.0.1:{self.console_port}", "--link"]
        self.processes.log("console").unlink(missing_ok=True)
        self.console = self.processes.start(
            # The commands that it shows name the file as given.
            ["env", f"--chdir={self.directory}", HERALD, *words, *(["--allow-changes"] if self.allows_changes else [])], log="console")
        self.wait(lambda: self._links() or self.is_console_up(), "the console was not up")

    def is_console_up(self):
        if not is_alive(self.console):
            raise Failure(f"the console ended:\n{self.processes.tail('console')}")
        return self.ask(self.address) is not None

    def kill_console(self):
        self.console.kill()
        self.console.wait()

    def _links(self):
        words = self.processes.log("console").read_text(errors="replace").split()
        return [word for word in words if word.startswith("http://") and "#key=" in word]

    def link(self):
        """An unused link: each use prints the next."""
        self.wait(lambda: any(link not in self.used_links for link in self._links()), "there was no new link")
        self.used_links.append(self._links()[-1])
        return self.used_links[-1]

    @property
    def address(self):
        return f"http://127.0.0.1:{self.console_port}"

    # Events

    def _sandbox(self, method, path, body=None):
        """The backend's answer to its sandbox controls."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.backend_port}/sandbox/{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Basic " + base64.b64encode(b"herald:herald").decode()})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def misbehave(self, *rules):
        """Gives the backend new rules."""
        self._sandbox("PUT", "misbehaviour", list(rules))

    def calls(self):
        """The calls that the backend has received."""
        return [json.loads(line) for line in self._sandbox("GET", "calls").splitlines()]

    def forget_calls(self):
        self._sandbox("DELETE", "calls")

    def run_campaign(self, name, users, message="Hello"):
        """Runs a campaign from start to end by command."""
        file = self.directory / f"{name}.csv"
        file.write_text("user\n" + "".join(f"{user}\n" for user in users))
        self.herald("campaign", "start", "--name", name, "--audience", file, "--message", message, "--pns", "apns",
                    "--yes", "--quiet", may_fail=True)

    def publish(self, events):
        """Publishes events as a service does, and waits until each has an outcome of any kind."""
        self._publish(events, "--wait", f"{PATIENCE}s", may_fail=True)

    def publish_only(self, events):
        """Publishes events, and waits only for the broker."""
        self._publish(events)

    def _publish(self, events, *words, may_fail=False):
        file = self.directory / "events.jsonl"
        file.write_text("".join(json.dumps(event) + "\n" for event in events))
        self.herald("publish", "--file", file, "--check", "--quiet")
        self.herald("publish", "--file", file, "--quiet", *words, may_fail=may_fail)

    def produce(self, topic, records):
        """Writes raw records `(key, value, headers)`, optionally with a time in milliseconds."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 5, "partitioner": "murmur2_random",
                             "queue.buffering.max.messages": 1_000_000})
        failures = []

        def note(error, _):
            if error:
                failures.append(error)

        for key, value, headers, *moment in records:
            while True:
                try:
                    producer.produce(
                        topic, key=key, value=value, headers=headers, timestamp=moment[0] if moment else 0,
                        on_delivery=note)
                    break
                except BufferError:
                    producer.poll(1)
        producer.flush()
        if failures:
            raise Failure(f"{topic} takes no records: {failures[0]}")

    @staticmethod
    def ask(url):
        """The body of a page that answers 200; None otherwise."""
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return None

    @staticmethod
    def wait(condition, what):
        wait_for(condition, PATIENCE, what)
