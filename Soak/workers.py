"""The workers of the campaign: running, stopped, or absent for a time."""

import json
import signal
import time
from typing import NamedTuple

from processes import Failure, how_it_ended, is_alive


class Form(NamedTuple):
    """The settings of a worker."""
    name: str
    in_flight: int
    lanes: int = 1
    is_named: bool = False
    is_static: bool = False

    @property
    def under_way(self):
        """The limit of events in memory: docs/DESIGN.md, "Bounds"."""
        return 11 * (2 * self.in_flight + 256 * self.lanes)


# Each kind of membership, one lane and two, few and many calls at the same time.
FORMS = (
    Form("ada", 64, is_named=True, is_static=True),
    Form("bob", 32, is_named=True, is_static=True),
    Form("cyd", 48, lanes=2, is_named=True, is_static=True),
    Form("dan", 32, is_named=True),
    Form("eva", 64, lanes=2),
    Form("fay", 24),
)

CALL_TIMEOUT_MS = 3_000
IMMEDIATE_RETRIES = 1

# The brokers' logs and the backend's know a run by this name.
SETTINGS = """\
kafka: {{bootstrapServers: [{bootstrap}], group: {group}, properties: {{client.id: {run}}}{membership}}}
backend:
  url: http://127.0.0.1:{port}
  timeout: {timeout}ms
  auth: {{kind: basic, username: {run}, password: soak}}
delivery: {{guarantee: {guarantee}, maxInFlight: {in_flight}, lanes: {lanes}, drainTimeout: 30s}}
retry: {{immediate: {immediate}, delays: [{delays}]}}
topics: {{partitions: {partitions}, replicationFactor: 3}}
log: {{level: info, format: json}}
admin: {{listen: "127.0.0.1:0"}}
"""


class Worker:
    """One worker through all its runs; each run has a name of its own, by which the backend knows it."""

    def __init__(self, pool, form):
        self.pool = pool
        self.form = form
        self.runs = 0
        self.process = None
        self.is_stopped = False
        self.is_leaving = False
        self.begins_at = None
        self.goes_on_at = None

    @property
    def run(self):
        return f"{self.form.name}.{self.runs}"

    @property
    def is_running(self):
        return is_alive(self.process)

    def start(self):
        self.runs += 1
        self.begins_at = self.goes_on_at = None
        self.is_stopped = self.is_leaving = False
        self.pool.note("start", self)
        self.process = self.pool.processes.start(
            [self.pool.herald, "worker", "--config", self.pool.write_settings(self.form, self.run)],
            log=f"worker-{self.form.name}")

    def kill(self, pause):
        self.pool.note("kill", self)
        self.process.kill()
        self.process.wait()
        self.process = None
        self.begins_at = time.monotonic() + pause

    def leave(self, pause):
        self.pool.note("leave", self)
        self.is_leaving = True
        self.process.send_signal(signal.SIGTERM)
        self.absence = pause

    def stop(self, seconds):
        self.pool.note("stop", self)
        self.is_stopped = True
        self.process.send_signal(signal.SIGSTOP)
        self.goes_on_at = time.monotonic() + seconds

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)
        self.is_stopped = False
        self.goes_on_at = None
        self.pool.note("continue", self)

    def look(self):
        """Takes the due actions, and notices an end."""
        now = time.monotonic()
        if self.process is not None and self.process.poll() is not None:
            self.ended()
        if self.goes_on_at is not None and now >= self.goes_on_at and self.is_running:
            self.go_on()
        if self.process is None and self.begins_at is not None and now >= self.begins_at:
            self.start()

    def ended(self):
        how = how_it_ended(self.process)
        if not (self.is_leaving and self.process.returncode == 0):
            # A supervisor would start it again; the checker judges its end.
            log = f"worker-{self.form.name}"
            self.pool.note("died", self, how=how, was_leaving=self.is_leaving, log=self.pool.processes.tail(log, 5))
        self.process = None
        self.begins_at = time.monotonic() + (self.absence if self.is_leaving else 1)
        self.pool.note("gone", self)


class Pool:
    def __init__(self, processes, herald, journal, bootstrap, port, plan):
        self.processes = processes
        self.herald = herald
        self.journal = journal
        self.bootstrap = bootstrap
        self.port = port
        self.plan = plan
        self.members = [Worker(self, form) for form in FORMS]

    def note(self, kind, worker, **facts):
        self.journal.write(kind, worker=worker.run, **facts)

    def write_settings(self, form, run):
        membership = ""
        if form.is_named:
            membership = f", instance: {form.name}, staticMembership: {str(form.is_static).lower()}"
        path = self.processes.directory / f"{form.name}.yaml"
        path.write_text(SETTINGS.format(
            bootstrap=", ".join(f'"{address}"' for address in self.bootstrap.split(",")), group=self.plan.group,
            membership=membership, port=self.port, run=run, guarantee=self.plan.guarantee, in_flight=form.in_flight,
            lanes=form.lanes, timeout=CALL_TIMEOUT_MS, immediate=IMMEDIATE_RETRIES,
            delays=", ".join(self.plan.delays), partitions=self.plan.partitions))
        return path

    def make_topics(self):
        settings = self.write_settings(FORMS[0], "topics")
        self.processes.run([self.herald, "topics", "apply", "--yes", "--config", settings])

    def account(self):
        """What `herald account` says of everything that was published."""
        settings = self.write_settings(FORMS[0], "account")
        told = self.processes.run([self.herald, "account", "-o", "json", "--config", settings], seconds=600)
        return json.loads(told)

    def look(self):
        for worker in self.members:
            worker.look()

    def running(self, condition=lambda _: True):
        return [worker for worker in self.members if worker.is_running and condition(worker)]

    def let_all_run(self):
        """Ends all faults: stopped workers continue, and absent ones start."""
        for worker in self.members:
            if worker.is_stopped and worker.is_running:
                worker.go_on()
            if worker.process is None:
                worker.begins_at = worker.begins_at or time.monotonic()

    def end(self, seconds):
        """Ends all with SIGTERM and waits until they have drained."""
        for worker in self.running(lambda worker: not worker.is_leaving):
            worker.leave(0)
        end = time.monotonic() + seconds
        while self.running():
            if time.monotonic() > end:
                names = ", ".join(worker.run for worker in self.running())
                raise Failure(f"{names} had not ended {seconds} s after SIGTERM")
            time.sleep(0.1)
        for worker in self.members:
            if worker.process is not None:
                worker.ended()
