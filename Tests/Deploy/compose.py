#!/usr/bin/env python3
"""Checks that the parts of deploy/compose.yaml fit together; `make lint` checks its form. Nothing is started."""

import re
import sys

import check

DEPLOY = check.ROOT / "deploy"


def faults(compose, prometheus, datasource, dashboards):
    services = compose["services"]
    published = {}
    for name, service in services.items():
        wanted = service.get("depends_on", {})
        conditions = wanted if isinstance(wanted, dict) else {other: {} for other in wanted}
        for other, how in conditions.items():
            if other not in services:
                yield f"{name} depends on {other}, which is not there"
            elif how.get("condition") == "service_healthy" and "healthcheck" not in services[other]:
                yield f"{name} waits for the health of {other}, which has no check"
        for secret in service.get("secrets", []):
            if secret not in compose["secrets"]:
                yield f"{name} has the secret {secret}, which is not there"
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("."):
                if not (DEPLOY / source).exists():
                    yield f"{name} mounts {source}, which is not there"
                if not volume.endswith(":ro"):
                    yield f"{name} may write to {source}"
            elif source not in compose["volumes"]:
                yield f"{name} mounts the volume {source}, which is not there"
        for port in service.get("ports", []):
            if not port.startswith("127.0.0.1:"):
                yield f"{name} is published to everybody: {port}"
            if published.setdefault(port.split(":")[1], name) != name:
                yield f"{name} and {published[port.split(':')[1]]} publish one port"
        if not re.search(r":v?\d[\w.]*$", service["image"]) and "build" not in service:
            yield f"{name}'s image has no version: {service['image']}"
    for secret in compose["secrets"].values():
        if not (DEPLOY / secret["file"]).exists():
            yield f"the file of a secret is not there: {secret['file']}"

    worker = services["worker"]
    if worker.get("deploy", {}).get("replicas") != 2:
        yield "there are not two workers"
    [job] = [job for job in prometheus["scrape_configs"] if job["job_name"] == "herald"]
    [target] = job["dns_sd_configs"]
    if target["names"] != ["worker"] or worker["environment"]["HERALD_ADMIN_LISTEN"] != f"0.0.0.0:{target['port']}":
        yield "Prometheus does not scrape the workers where they listen"
    if datasource["datasources"][0]["url"] != "http://prometheus:9090":
        yield "Grafana asks another Prometheus"
    folder = dashboards["providers"][0]["options"]["path"]
    if not any(volume.split(":")[1].startswith(folder) for volume in services["grafana"]["volumes"]):
        yield f"nothing is mounted at {folder}, where Grafana looks for dashboards"
    grace = int(worker["stop_grace_period"].removesuffix("s"))
    if grace <= int(check.load(DEPLOY / "herald.yaml")["delivery"]["drainTimeout"].removesuffix("s")):
        yield "stop_grace_period is not longer than delivery.drainTimeout"


def main():
    found = list(faults(
        check.load(DEPLOY / "compose.yaml"), check.load(DEPLOY / "prometheus/prometheus.yml"),
        check.load(DEPLOY / "grafana/provisioning/datasources/prometheus.yaml"),
        check.load(DEPLOY / "grafana/provisioning/dashboards/herald.yaml")))
    for fault in found:
        print(f"check-deploy: compose.yaml: {fault}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
