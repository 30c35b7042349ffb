#!/usr/bin/env python3
"""Runs every query of rules and dashboard on a real Prometheus that scrapes real workers.

    Tests/Deploy/live.py HERALD

A broker (of KAFKA_HOME), a reference backend that fails in several ways, two workers with the permissions of
deploy/kubernetes and no others, and events of every outcome; then an outage. Everything runs on loopback, on free
ports, in a temporary folder, and is removed at the end.
"""

import base64
import contextlib
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

import check
import exported
import manifests
import queries

sys.path.insert(0, str(check.ROOT / "scripts/shared"))
from processes import Failure, Processes, free_ports, wait_for
from secured import Broker

USERS = ["herald", "herald-operator"]
MISBEHAVIOUR = [
    "user=wrong-*,status=400", "user=flaky-*,status=503,callsPerKey=1", "user=ill-*,status=503", "latency=1-20"]
# Panels that are rightly empty: no backend here asks for fewer calls.
EMPTY = {"Rate that the backend accepts"}
# Grafana's interval, for a scrape each second.
INTERVALS = {"$__rate_interval": "20s", "$__range": "5m", "$job": "herald", "$instance": ".*"}
# Seconds, much longer than any step takes on a machine ten times slower.
PATIENCE = 300


class Prometheus:
    def __init__(self, processes, targets):
        directory = processes.directory
        self.address = f"127.0.0.1:{free_ports(1)[0]}"
        # Alerts fire without their minimum duration.
        rules = re.sub(r"^( +)for: .*$", r"\1for: 0s", check.RULES.read_text(), flags=re.M)
        (directory / "rules.yaml").write_text(rules)
        (directory / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s",
                       "external_labels": {"runbooks": "https://git.example.org/"}},
            "rule_files": ["rules.yaml"],
            "scrape_configs": [{"job_name": "herald", "static_configs": [{"targets": targets}]}],
        }))
        self.process = processes.start(
            ["prometheus", f"--config.file={directory}/prometheus.yml", f"--web.listen-address={self.address}",
             f"--storage.tsdb.path={directory}/prometheus"], log="prometheus")
        wait_for(lambda: self.reaches("/-/ready"), PATIENCE, "Prometheus was not ready")

    def reaches(self, path):
        try:
            return self.get(path).status == 200
        except OSError:
            return False

    def get(self, path):
        return urllib.request.urlopen(f"http://{self.address}{path}", timeout=PATIENCE)

    def ask(self, path, **parameters):
        """The data of an answer of the API, or its error in Prometheus's own words."""
        try:
            with self.get(f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}") as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise queries.Unknown(json.load(error)["error"]) from None

    def values(self, query):
        """The samples of a query that are numbers."""
        result = self.ask("query", query=query)["result"]
        return [sample for sample in result if not math.isnan(float(sample["value"][1]))]


def metrics(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as page:
            return page.read().decode()
    except OSError:
        return ""


def misbehave(port, rules):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/sandbox/misbehaviour", data=json.dumps(rules).encode(), method="PUT",
        headers={"Authorization": "Basic " + base64.b64encode(b"herald:herald").decode()})
    urllib.request.urlopen(request, timeout=PATIENCE).close()


def events(batch):
    """One line of JSON for each event, with some of every outcome."""
    users = [f"user-{n}" for n in range(40)] + [f"wrong-{batch}", f"flaky-{batch}", f"ill-{batch}"]
    for user in users:
        yield json.dumps({"id": f"{batch}-{user}", "user": user, "pns": ["apns", "gcm", "wns"], "message": "Hello"})
    yield json.dumps({"id": f"{batch}-late", "user": "late", "pns": ["apns"], "message": "Hello",
                      "expiresAt": "2020-01-01T00:00:00Z"})


class Scene:
    def __init__(self, processes, herald):
        self.processes = processes
        self.herald = herald
        self.batches = itertools.count(1)
        self.manifests = manifests.render(manifests.OVERLAYS / "strimzi")
        self.broker = Broker(processes, os.environ["KAFKA_HOME"], USERS)
        self.backend, *self.ports = free_ports(3)
        self.processes.start(
            [herald, "backend", "--port", self.backend, *[f"--misbehave={rule}" for rule in MISBEHAVIOUR]],
            log="backend")
        self.settle("admin", self.broker.open, {})
        for user in manifests.of_kind(self.manifests, "KafkaUser"):
            if user["metadata"]["name"] in USERS:
                self.broker.allow(user["metadata"]["name"], user["spec"]["authorization"]["acls"])
                self.settle(user["metadata"]["name"], self.broker.client, self.broker.login(user["metadata"]["name"]))
        self.plan = json.loads(self.run("admin", [
            "topics", "plan", "-o", "json", "--topics-partitions", self.partitions(),
            "--topics-replication-factor", "3", "--retry-delays", "5s,30s,5m,30m,2h"]))
        self.run("admin", ["topics", "apply", "--yes"])
        for port in self.ports:
            self.processes.start(
                self.command("herald", ["worker", "--admin-listen", f"127.0.0.1:{port}"]), log=f"worker-{port}")
        wait_for(lambda: all("\nherald_ready 1" in metrics(port) for port in self.ports), PATIENCE,
                 "the workers were not ready")
        self.prometheus = Prometheus(processes, [f"127.0.0.1:{port}" for port in self.ports])

    def partitions(self):
        return str(check.ruamel.yaml.YAML(typ="safe").load(manifests.settings(self.manifests))["topics"]["partitions"])

    def settle(self, user, bootstrap, login):
        """Writes a user's settings."""
        (self.processes.directory / f"{user}.yaml").write_text(json.dumps({
            "kafka": {"bootstrapServers": bootstrap, "properties": {"statistics.interval.ms": "1000"} | login},
            "topics": {"partitions": 4, "replicationFactor": 1},
            "backend": {"url": f"http://127.0.0.1:{self.backend}",
                        "auth": {"kind": "basic", "username": "herald", "password": "herald"}},
            "retry": {"immediate": 0, "delays": ["1s", "1h"]}, "log": {"format": "text"},
        }))

    def command(self, user, arguments):
        return [self.herald, *arguments, "--config", str(self.processes.directory / f"{user}.yaml")]

    def run(self, user, arguments):
        return self.processes.run(self.command(user, arguments))

    @contextlib.contextmanager
    def publishing(self):
        """Publishes batches while the `with` statement's body runs, so that no rate becomes zero."""
        file = self.processes.directory / "events.jsonl"
        is_over = threading.Event()
        failures = []

        def publish():
            try:
                while not is_over.is_set():
                    file.write_text("\n".join(events(next(self.batches))))
                    self.run("herald-operator", ["publish", "--quiet", "--file", str(file)])
            except Failure as failure:
                failures.append(failure)

        thread = threading.Thread(target=publish, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
        if failures:
            raise failures[0]


def faults(scene):
    prometheus = scene.prometheus
    done = ('sum(herald_notifications_total{outcome="delivered"}) > 0 and sum(herald_dead_letters_total) > 0'
            " and sum(herald_retry_backlog) > 0 and sum(herald:slow:ratio_rate5m) >= 0")
    with scene.publishing():
        try:
            wait_for(lambda: prometheus.values(done), PATIENCE,
                     "Prometheus saw no delivered, failed and waiting events")
        except Failure as error:
            yield str(error)
            yield from faults_of_permissions(scene)
            return
        yield from faults_of_topics(scene)
        yield from faults_of_panels(prometheus)
        yield from faults_of_labels(scene)
        yield from faults_of_pages(scene)
        yield from faults_of_permissions(scene)
        yield from faults_of_alerts(scene, "HeraldDeadLetters", {"rejected", "expired"})
        misbehave(scene.backend, [{"status": 401}])
        yield from faults_of_alerts(scene, "HeraldOutage", {"credentials"})
    for group in prometheus.ask("rules")["groups"]:
        for rule in group["rules"]:
            if rule["health"] != "ok":
                yield f"the rule {rule['name']} is {rule['health']}: {rule.get('lastError')}"


def faults_of_panels(prometheus):
    """Each panel shows something within one time limit for all."""
    end = time.monotonic() + PATIENCE
    for panel, query, _ in check.dashboard_queries():
        for variable, value in INTERVALS.items():
            query = query.replace(variable, value)
        try:
            if panel["title"] in EMPTY:
                prometheus.values(query)
            else:
                wait_for(lambda: prometheus.values(query), max(0, end - time.monotonic()), "")
        except Failure:
            yield f"the panel {panel['title']} shows nothing: {query}"
        except queries.Unknown as error:
            yield f"the panel {panel['title']}: Prometheus says {error}: {query}"


def faults_of_labels(scene):
    """The labels' values, too, are those that a worker exports."""
    missing = []

    def is_complete():
        page = "".join(metrics(port) for port in scene.ports)
        missing[:] = labels_without_series(page)
        return not missing

    try:
        wait_for(is_complete, PATIENCE, "")
    except Failure:
        yield from missing


def faults_of_pages(scene):
    """Prometheus's own client reads the pages: each sample belongs to a family with type and help, and appears once."""
    for port in scene.ports:
        seen = set()
        for family in text_string_to_metric_families(metrics(port)):
            if family.type in ("unknown", "untyped") or not family.documentation:
                yield f"{family.name} has the type {family.type} and the help {family.documentation!r}"
            for sample in family.samples:
                series = (sample.name, tuple(sorted(sample.labels.items())))
                if series in seen:
                    yield f"{series} is there twice"
                seen.add(series)
        if not seen:
            yield f"Prometheus's client finds no sample on the page of port {port}"


def labels_without_series(page):
    if set(re.findall(r'^herald_outage\{reason="([^"]+)"', page, re.M)) != set(exported.outages()):
        yield "the outages of a worker are not those that the runbook is held against"
    expressions = [check.substituted(query) for _, query, _ in check.dashboard_queries()]
    expressions += [rule["expr"] for rule in check.rules()]
    for expression in expressions:
        for name, matchers in queries.selectors(queries.parse(expression)):
            for label, op, value in matchers:
                names_one = op == queries.promql.MatchOp.Equal and label not in ("job", "instance", "topic")
                if name.startswith("herald_") and names_one:
                    if not re.search(rf'^{name}\{{[^}}]*\b{label}="{re.escape(value)}"', page, re.M):
                        yield f"no worker exports {name} with {label}=\"{value}\": {expression}"


def faults_of_topics(scene):
    """The plan of `herald topics plan` equals the manifests."""
    planned = {}
    for step in scene.plan:
        wanted = dict(word.split("=") for word in step["wanted"].split())
        planned[step["topic"]] = (wanted.pop("partitions"), wanted.pop("replication.factor"), wanted)
    written = {
        topic["metadata"]["name"]: (str(topic["spec"]["partitions"]), str(topic["spec"]["replicas"]),
                                    {key: str(value) for key, value in topic["spec"]["config"].items()})
        for topic in manifests.of_kind(scene.manifests, "KafkaTopic")}
    for name in sorted(planned.keys() | written.keys()):
        if planned.get(name) != written.get(name):
            yield f"the topic {name} is to be {planned.get(name)}, and the manifest has {written.get(name)}"


def faults_of_permissions(scene):
    """Messages of a worker or the broker about missing permissions."""
    for port in scene.ports:
        log = (scene.processes.directory / f"worker-{port}.log").read_text(errors="replace")
        for line in log.splitlines():
            if re.search(r"authoriz|permission|ACL|grant|allow", line, re.I):
                yield f"a worker lacks a permission: {line}"
    doctor = subprocess.run(scene.command("herald-operator", ["doctor", "--only", "kafka", "-o", "jsonl"]),
                            capture_output=True, text=True, env=scene.processes.environment)
    for line in map(json.loads, doctor.stdout.splitlines()):
        if line["verdict"] == "failed":
            yield f"doctor, as the operator: {line}"


def faults_of_alerts(scene, name, reasons):
    """Waits for an alert, and reads its message."""
    wanted = f'ALERTS{{alertname="{name}",alertstate="firing"}}'
    try:
        wait_for(lambda: reasons <= {s["metric"]["reason"] for s in scene.prometheus.values(wanted)}, PATIENCE,
                 "")
    except Failure:
        yield f"{name} does not fire for {', '.join(sorted(reasons))}"
    for alert in scene.prometheus.ask("alerts")["alerts"]:
        texts = alert["annotations"]
        if any("<error" in text or "<no value>" in text for text in texts.values()):
            yield f"{alert['labels']['alertname']} has a text that can't be made: {texts}"
        if not texts["runbook_url"].startswith("https://git.example.org/docs/RUNBOOK.md#"):
            yield f"{alert['labels']['alertname']} links to {texts['runbook_url']}"


def main():
    with tempfile.TemporaryDirectory(prefix="herald-") as name, Processes(pathlib.Path(name)) as processes:
        try:
            scene = Scene(processes, sys.argv[1])
            found = list(faults(scene))
        except Failure as error:
            logs = [log.stem for log in sorted(pathlib.Path(name).glob("*.log"))]
            found = [str(error)] + [f"{log}: {processes.tail(log)}" for log in logs if log != "broker"]
    panels = sum(1 for _ in check.dashboard_queries())
    for fault in found:
        print(f"check-deploy: {fault}", file=sys.stderr)
    if found:
        sys.exit(1)
    print(f"check-deploy: {panels} queries of the dashboard and {len(check.rules())} rules ran on Prometheus")


if __name__ == "__main__":
    main()
