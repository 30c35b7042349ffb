"""Herald's worker under measurement: its settings, its processes, its processor time and memory."""

import itertools
import pathlib
import signal
import sys

import usage
from processes import Failure, wait_for

# Each group and topic of a run has a name of its own.
numbers = itertools.count(1)

SETTINGS = """\
kafka: {{bootstrapServers: "{bootstrap}", group: {group}}}
topics: {{requests: [{topics}], results: {group}.results, retry: {group}.retry, deadLetter: {group}.dead-letter}}
backend:
{backend}  http: {http}
  connections: {connections}
{tls}delivery: {{guarantee: {guarantee}, maxInFlight: {in_flight}, lanes: {lanes}}}
retry: {{delays: [{delays}]}}
admin: {{listen: "127.0.0.1:0"}}
limits: {{{limits}}}
{traces}"""

# A user's settings: names of its own, and defaults.
PLAIN = """\
kafka: {{bootstrapServers: "{bootstrap}", group: {group}}}
topics:
  requests: [{group}, {group}.bulk]
  results: {group}.results
  retry: {group}.retry
  deadLetter: {group}.dead-letter
  campaigns: {group}.campaigns
  feedback: {group}.feedback
  state: {group}.state
  audit: {group}.audit
backend: {{url: "{url}", auth: {{kind: basic, username: bench, password: bench}}}}
admin: {{listen: "127.0.0.1:0"}}
"""

HTTP = """\
  url: {url}
  auth: {{kind: basic, username: bench, password: bench}}
"""

HUB = """\
  kind: azure-hub
  hub: {{connectionStringFile: {file}, name: bench}}
"""


def plain_settings(bootstrap, group, url):
    return PLAIN.format(bootstrap=bootstrap, group=group, url=url)


# The defaults.
DELAYS = ["5s", "30s", "5m", "30m", "2h"]


class Workers:
    """One or more workers of one group, started together; `herald` is the command, a list."""

    def __init__(self, processes, broker, herald, case, topics, url, authority=None, limits=""):
        self.processes, self.broker, self.case = processes, broker, case
        self.group = f"bench.{next(numbers)}"
        self.delays = DELAYS if case.all_topics else DELAYS[:1]
        if case.all_topics:
            topics = f"{topics}, {self.group}.bulk"
        for name in self.topics():
            broker.create(name, case.partitions)
        path = processes.directory / f"{self.group}.yaml"
        path.write_text(SETTINGS.format(
            bootstrap=broker.bootstrap, group=self.group, topics=topics, limits=limits, delays=", ".join(self.delays), connections=case.connections,
            in_flight=case.in_flight, lanes=case.lanes, guarantee=case.guarantee,
            backend=self.backend(url), http="2" if case.http2 else "auto",
            tls=f"  tls: {{caFile: {authority}}}\n" if authority else "",
            traces=f"traces: {{url: {url}/v1/traces, sampleRatio: {case.traces}}}\n" if case.traces else ""))
        self.running = [
            processes.start([*herald, "worker", "--config", path], log=f"{self.group}-{number}")
            for number in range(case.workers)]

    def backend(self, url):
        """The settings of the backend."""
        if not self.case.hub:
            return HTTP.format(url=url)
        file = self.processes.directory / f"{self.group}.hub"
        file.write_text(f"Endpoint={url}/;SharedAccessKeyName=bench;SharedAccessKey=bench")
        return HUB.format(file=file)

    def topics(self):
        bulk = ["bulk"] if self.case.all_topics else []
        retries = [f"retry.{delay}" for delay in self.delays]
        return [f"{self.group}.{name}" for name in ("results", "dead-letter", *retries, *bulk)]

    def are_alive(self):
        return all(worker.poll() is None for worker in self.running)

    def log(self):
        return "\n".join(self.processes.tail(f"{self.group}-{number}") for number in range(self.case.workers))

    def are_assigned(self):
        """Whether every lane has reported its partitions."""
        if not self.are_alive():
            sys.exit(f"bench: a worker ended:\n{self.log()}")
        said = sum(
            self.processes.log(f"{self.group}-{number}").read_text().count("partitions assigned")
            for number in range(self.case.workers))
        return said >= self.case.workers * self.case.lanes

    def await_commits(self, topic, count):
        try:
            self.broker.ask("committed", self.group, topic, count, 60)
        except Failure as failure:
            raise Failure(f"{failure}\n{self.log()}") from None

    def await_results(self, count, seconds):
        """Waits for this number of results; the markers of transactions would count too."""

        def are_there():
            if not self.are_alive():
                sys.exit(f"bench: a worker ended before its events did:\n{self.log()}")
            return self.broker.end(f"{self.group}.results") >= count

        wait_for(are_there, seconds, f"{self.group}: not all events came to an end")

    def processor_seconds(self):
        return sum(usage.processor_seconds(worker) for worker in self.running)

    def peak_bytes(self):
        """The peak memory of the largest one."""
        return max(usage.peak_bytes(worker) for worker in self.running)

    def stop(self, patience=60):
        """Lets them end by themselves, and deletes their topics."""
        for worker in self.running:
            worker.send_signal(signal.SIGTERM)
        for worker in self.running:
            if worker.wait(timeout=patience) != 0:
                sys.exit(f"bench: a worker ended with {worker.returncode}:\n{self.log()}")
        self.remove()

    def kill(self):
        for worker in self.running:
            worker.kill()
            worker.wait()
        self.remove()

    def remove(self):
        for name in self.topics():
            self.broker.delete(name)
        for kind in ("yaml", "hub"):
            pathlib.Path(self.processes.directory / f"{self.group}.{kind}").unlink(missing_ok=True)
