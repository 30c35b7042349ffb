#!/usr/bin/env python3
"""Renders the kustomize overlays and checks the result; needs no cluster.

    Tests/Deploy/manifests.py [HERALD]

Kubernetes' own kinds are checked by Kubernetes' schemas, those of KEDA and of the Prometheus operator by models made
from their CRDs. No package ships Strimzi's: SHAPES has the parts that this repository uses. With a herald binary the
settings are checked too.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import kubernetes_validate
import pydantic
import ruamel.yaml
from cloudcoil.models.keda import v1alpha1 as keda
from cloudcoil.models.prometheus_operator import v1 as operator

import check

OVERLAYS = check.ROOT / "deploy/kubernetes/overlays"
# The oldest version with all used fields, and the newest known one.
KUBERNETES = ["1.31", kubernetes_validate.latest_version()]
MODELS = {
    "ScaledObject": keda.ScaledObject, "TriggerAuthentication": keda.TriggerAuthentication,
    "ServiceMonitor": operator.ServiceMonitor, "PrometheusRule": operator.PrometheusRule,
}
RESOURCES = {"topic", "group", "transactionalId"}
OPERATIONS = {
    "Read", "Write", "Create", "Delete", "Alter", "Describe", "AlterConfigs", "DescribeConfigs", "IdempotentWrite"}
# Contents of a secret's file for `herald config check`, where any text does not suffice.
SECRET_TEXTS = {
    "connection-string": "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=c2VjcmV0"}
# Secrets made by people (herald-backend) or by Strimzi (its cluster's authority, and one for each KafkaUser).
SECRETS = {"herald-backend", "kafka-cluster-ca-cert"}


def render(overlay):
    done = subprocess.run(["kubectl", "kustomize", overlay], capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        raise SystemExit(f"check-deploy: kubectl kustomize {overlay.name}: {done.stderr}")
    return [document for document in ruamel.yaml.YAML(typ="safe").load_all(done.stdout) if document]


def overlays():
    found = sorted(path for path in OVERLAYS.iterdir() if (path / "kustomization.yaml").exists())
    if not found:
        raise SystemExit("check-deploy: there are no overlays")
    return found


def of_kind(documents, kind):
    return [document for document in documents if document["kind"] == kind]


def settings(documents):
    [config] = of_kind(documents, "ConfigMap")[:1]
    return config["data"]["herald.yaml"]


def faults_of_schema(document):
    kind = document["kind"]
    if kind in MODELS:
        try:
            model = MODELS[kind].model_validate(document)
        except pydantic.ValidationError as error:
            yield f"{kind}: {error}"
            return
        # A field that the model does not know is dropped silently.
        yield from dropped(document, model.model_dump(by_alias=True, exclude_unset=True, mode="json"), kind)
    elif document["apiVersion"].startswith("kafka.strimzi.io/"):
        yield from faults_of_strimzi(document)
    else:
        for version in KUBERNETES:
            try:
                kubernetes_validate.validate(document, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                yield f"{kind}, Kubernetes {version}: {error.message} at {'.'.join(map(str, error.path))}"


def dropped(given, kept, place):
    if isinstance(given, dict) and isinstance(kept, dict):
        for key, value in given.items():
            if key not in kept:
                yield f"{place} has an unknown field {key}"
            else:
                yield from dropped(value, kept[key], f"{place}.{key}")
    elif isinstance(given, list) and isinstance(kept, list):
        for number, (one, other) in enumerate(zip(given, kept)):
            yield from dropped(one, other, f"{place}[{number}]")


def faults_of_strimzi(document):
    kind, spec, name = document["kind"], document["spec"], document["metadata"]["name"]
    if document["apiVersion"] != "kafka.strimzi.io/v1" or "strimzi.io/cluster" not in document["metadata"]["labels"]:
        yield f"{kind} {name} is not one of version v1, or of no cluster"
    if kind == "KafkaTopic":
        if set(spec) != {"partitions", "replicas", "config"} or not all(
                isinstance(spec[key], int) for key in ("partitions", "replicas")):
            yield f"{kind} {name} has other fields than partitions, replicas and config"
    elif kind == "KafkaUser":
        if set(spec) != {"authentication", "authorization"} or spec["authentication"] != {"type": "tls"} or set(
                spec["authorization"]) != {"type", "acls"} or spec["authorization"]["type"] != "simple":
            yield f"{kind} {name} has other fields than a simple authorization and tls"
        for acl in spec["authorization"]["acls"]:
            resource = acl["resource"]
            if set(acl) != {"resource", "operations"} or set(resource) != {"type", "name", "patternType"}:
                yield f"{kind} {name} has an ACL with other fields: {acl}"
            elif resource["type"] not in RESOURCES or not set(acl["operations"]) <= OPERATIONS:
                yield f"{kind} {name} has an ACL with unknown words: {acl}"
    else:
        yield f"there is no shape of a {kind}"


def selects(selector, labels):
    """Whether a selector that is not empty matches."""
    wanted = (selector or {}).get("matchLabels", selector) or {}
    return bool(wanted) and all(labels.get(key) == value for key, value in wanted.items())


def faults_of_references(documents):
    deployments = {one["metadata"]["name"]: one for one in of_kind(documents, "Deployment")}
    deployment = deployments.pop("herald")
    template = deployment["spec"]["template"]
    pod, labels = template["spec"], template["metadata"]["labels"]
    [container] = pod["containers"]
    text = settings(documents)
    values = ruamel.yaml.YAML(typ="safe").load(text)

    selectors = {"Deployment": deployment["spec"]["selector"]}
    for kind, key in (("Service", "selector"), ("PodDisruptionBudget", "selector"), ("NetworkPolicy", "podSelector")):
        for document in of_kind(documents, kind):
            if document["metadata"]["name"] not in deployments:
                selectors[kind] = document["spec"].get(key)
    for follower in deployments.values():
        yield from faults_of_follower(documents, follower, selectors)
    if len(selectors) != 4:
        yield "Service, PodDisruptionBudget or NetworkPolicy is missing"
    for kind, selector in selectors.items():
        if not selects(selector, labels):
            yield f"the {kind} does not select the workers' pods"

    drain = values.get("delivery", {}).get("drainTimeout", "30s")
    if pod["terminationGracePeriodSeconds"] <= int(drain.removesuffix("s")):
        yield f"terminationGracePeriodSeconds is not longer than delivery.drainTimeout, {drain}"
    host, _, port = values["admin"]["listen"].rpartition(":")
    if host.startswith("127."):
        yield "admin.listen is on loopback, where no probe reaches it"
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for probe, path in (("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
        asked = container[probe]["httpGet"]
        if asked["path"] != path or str(ports.get(asked["port"])) != port:
            yield f"the {probe} does not ask {path} at admin.listen"
    yield from faults_of_container(documents, pod, container)
    if of_kind(documents, "Secret"):
        yield "a secret is in the repository"

    for monitor in of_kind(documents, "ServiceMonitor"):
        [service] = of_kind(documents, "Service")
        if not selects(monitor["spec"]["selector"], service["metadata"]["labels"]):
            yield "the ServiceMonitor does not select the Service"
        if monitor["spec"]["endpoints"][0]["port"] not in [port["name"] for port in service["spec"]["ports"]]:
            yield "the ServiceMonitor asks a port that the Service does not have"
        if service["metadata"]["labels"].get(monitor["spec"]["jobLabel"]) != "herald":
            yield "the job is not called herald, as the rules expect"
        if not service["spec"].get("publishNotReadyAddresses"):
            yield "Prometheus would lose a worker that is not ready"
    yield from faults_of_scaling(documents, values, deployment)


def faults_of_follower(documents, deployment, workers):
    """The follower of a hub's telemetry is a single one, and no service, budget or policy takes it for a worker."""
    name, spec = deployment["metadata"]["name"], deployment["spec"]
    pod, labels = spec["template"]["spec"], spec["template"]["metadata"]["labels"]
    [container] = pod["containers"]
    if name != "herald-feedback" or container["args"][0] != "feedback":
        yield f"nobody knows what {name} is"
    if spec.get("replicas") != 1 or spec.get("strategy") != {"type": "Recreate"}:
        yield f"there may be two of {name} at a time, which replace each other"
    if not selects(spec["selector"], labels):
        yield f"{name} does not select its pod"
    for kind, selector in workers.items():
        if selects(selector, labels):
            yield f"the {kind} of the workers selects {name}"
    policies = [one["spec"]["podSelector"] for one in of_kind(documents, "NetworkPolicy")]
    if not any(selects(selector, labels) for selector in policies):
        yield f"no NetworkPolicy selects {name}"
    backend = ruamel.yaml.YAML(typ="safe").load(settings(documents))["backend"]
    if backend.get("kind") != "azure-hub" or not backend["hub"].get("telemetry"):
        yield f"{name} has no hub with telemetry to ask"
    yield from faults_of_container(documents, pod, container)


def faults_of_container(documents, pod, container):
    text = settings(documents)
    for secured in (pod["securityContext"].get("runAsNonRoot"), container["securityContext"]["readOnlyRootFilesystem"],
                    not container["securityContext"]["allowPrivilegeEscalation"]):
        if not secured:
            yield "the container has more rights than it needs"
    if not re.search(r":(?!latest$)[\w.-]+$", container["image"]):
        yield f"the image {container['image']} has no version"

    # Every file that the settings name is in a volume, and each volume's secret is a known one.
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    if set(mounts.values()) != {volume["name"] for volume in pod["volumes"]}:
        yield "volumes and their mounts differ"
    for file in re.findall(r"/run/secrets/\S+?(?=[},\s]|$)", text):
        if str(pathlib.PurePosixPath(file).parent) not in mounts:
            yield f"the settings name {file}, and no volume is mounted there"
    users = {document["metadata"]["name"] for document in of_kind(documents, "KafkaUser")}
    wanted = {volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume}
    for authentication in of_kind(documents, "TriggerAuthentication"):
        wanted |= {one["name"] for one in authentication["spec"]["secretTargetRef"]}
    for secret in sorted(wanted - SECRETS - users):
        yield f"nobody makes the secret {secret}"


def faults_of_scaling(documents, values, deployment):
    requests = values["topics"].get("requests", ["notifications", "notifications.bulk"])
    requests = [topic if isinstance(topic, str) else topic["name"] for topic in requests]
    for scaled in of_kind(documents, "ScaledObject"):
        spec = scaled["spec"]
        if "replicas" in deployment["spec"]:
            yield "the Deployment has replicas, and KEDA decides them"
        if spec["scaleTargetRef"]["name"] != deployment["metadata"]["name"]:
            yield "the ScaledObject scales something else"
        asked = [trigger["metadata"] for trigger in spec["triggers"]]
        if sorted(one["topic"] for one in asked) != sorted(requests):
            yield "the ScaledObject does not look at the request topics alone"
        for one in asked:
            if one["consumerGroup"] != values["kafka"].get("group", "herald"):
                yield f"the ScaledObject looks at the group {one['consumerGroup']}"
            if one["bootstrapServers"] != values["kafka"]["bootstrapServers"]:
                yield f"the ScaledObject asks {one['bootstrapServers']}"
        if spec["maxReplicaCount"] > values["topics"]["partitions"]:
            yield "more workers than partitions"
        if not 1 <= spec["minReplicaCount"] <= spec["maxReplicaCount"]:
            yield "minReplicaCount is no use"


def faults_of_settings(herald, documents):
    """The result of `herald config check` on the settings; the files that they name are made for it."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text = settings(documents)
        for file in re.findall(r"/run/secrets/\S+?(?=[},\s]|$)", text):
            path = folder / file.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(SECRET_TEXTS.get(path.name, "secret"))
        keys = [folder / "run/secrets/kafka" / name for name in ("user.crt", "user.key")]
        if keys[0].exists():
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=herald", "-days", "1",
                 "-out", keys[0], "-keyout", keys[1]], check=True, capture_output=True)
            (folder / "run/secrets/kafka-ca/ca.crt").write_bytes(keys[0].read_bytes())
        file = folder / "herald.yaml"
        file.write_text(text.replace("/run/secrets/", f"{folder}/run/secrets/"))
        done = subprocess.run([herald, "config", "check", "--config", file], capture_output=True, text=True)
        if done.returncode != 0:
            yield f"herald config check: {done.stderr.strip()}"


def main():
    found = []
    for overlay in overlays():
        documents = render(overlay)
        faults = [fault for document in documents for fault in faults_of_schema(document)]
        # A malformed document may lack members that the other checks need.
        if not faults:
            faults += faults_of_references(documents)
            if len(sys.argv) > 1:
                faults += faults_of_settings(sys.argv[1], documents)
        found += [f"{overlay.name}: {fault}" for fault in faults]
        print(f"check-deploy: {overlay.name}: {len(documents)} resources")
    for fault in found:
        print(f"check-deploy: {fault}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
