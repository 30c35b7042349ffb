#!/usr/bin/env python3
"""Checks rules, runbook and dashboard against each other and against a worker's metrics; runs nothing.

    Tests/Deploy/check.py [HERALD]

With a herald binary, the runbook's commands are compared with its help texts.
"""

import json
import re
import subprocess
import sys

import ruamel.yaml

import exported
import queries
import texts

ROOT = exported.ROOT
RULES = ROOT / "deploy/prometheus/rules.yaml"
RULE_TESTS = ROOT / "deploy/prometheus/rules-test.yaml"
OPERATOR_RULES = ROOT / "deploy/prometheus/herald-rules.yaml"
DASHBOARD = ROOT / "deploy/grafana/herald.json"
RUNBOOK = ROOT / "docs/RUNBOOK.md"
# Values for the variables of Grafana's queries.
GRAFANA = {"$__rate_interval": "5m", "$__range": "1h", "$job": "herald", "$instance": ".*"}


def load(path):
    return ruamel.yaml.YAML(typ="safe").load(path)


def rules():
    return [rule for group in load(RULES)["groups"] for rule in group["rules"]]


def alerts():
    return [rule for rule in rules() if "alert" in rule]


def known():
    """The labels of everything that a query may name: a worker's samples, and the series that the rules record."""
    found = exported.samples()
    for rule in rules():
        if "record" in rule:
            found[rule["record"]] = queries.labels(queries.parse(rule["expr"]), found)
    return found


def substituted(query):
    for variable, value in GRAFANA.items():
        query = query.replace(variable, value)
    return query


def dashboard_queries():
    """Panel, query and legend of each query of the dashboard."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            yield panel, target["expr"], target["legendFormat"]


def faults_of_rules():
    series = known()
    shown = {}
    for test in load(RULE_TESTS)["tests"]:
        for case in test.get("promql_expr_test", []):
            for sample in case.get("exp_samples") or []:
                for name in re.findall(r'alertname="(\w+)"', sample["labels"]):
                    shown[name] = True
        for case in test.get("alert_rule_test", []):
            if case.get("exp_alerts"):
                shown[case["alertname"]] = True
    for rule in rules():
        name = rule.get("alert") or rule["record"]
        try:
            there = queries.labels(queries.parse(rule["expr"]), series)
        except queries.Unknown as fault:
            yield f"{name} {fault}"
            continue
        if "record" in rule:
            continue
        if name not in shown:
            yield f"{name} is shown firing by no test of {RULE_TESTS.name}"
        if rule["labels"].get("severity") not in ("critical", "warning", "info"):
            yield f"{name} has no severity that docs/RUNBOOK.md knows"
        for key in ("summary", "description", "runbook_url"):
            if not rule["annotations"].get(key):
                yield f"{name} has no {key}"
        # absent() has the labels of its matchers.
        for label in set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"]))) - there:
            yield f"{name}'s text has the label {label}, which its expression does not leave"


def faults_of_operator_rules():
    # The file is the generator's output, so that the two cannot be edited apart.
    if OPERATOR_RULES.read_text() != run([sys.executable, RULES.with_name("generate.py")]):
        yield f"{OPERATOR_RULES.name} is stale: deploy/prometheus/generate.py > deploy/prometheus/herald-rules.yaml"


def faults_of_runbook():
    headings = texts.anchors(RUNBOOK.read_text())
    for anchor in {anchor for anchor in headings if headings.count(anchor) > 1}:
        yield f"RUNBOOK.md has two sections {anchor}"
    for alert in alerts():
        base, _, anchor = alert["annotations"]["runbook_url"].partition("#")
        if base != "{{ $externalLabels.runbooks }}docs/RUNBOOK.md":
            yield f"{alert['alert']} links to {base}"
        if alert["alert"].lower() not in headings:
            yield f"RUNBOOK.md has no section for {alert['alert']}"
        if anchor != alert["alert"].lower() and anchor != "outage-{{ $labels.reason }}":
            yield f"{alert['alert']} links to another section, {anchor}"
    named = {alert["alert"].lower() for alert in alerts()}
    for anchor in headings:
        if anchor.startswith("herald") and anchor not in named:
            yield f"RUNBOOK.md has a section for {anchor}, which is no alert"


def faults_of_links():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("deploy/**/*.md")]
    for page in pages:
        for file, anchor in texts.links(page.read_text()):
            target = (page.parent / file).resolve() if file else page
            if not target.exists():
                yield f"{page.name} links to {file}, which is not there"
            elif anchor and target.suffix == ".md" and anchor not in texts.anchors(target.read_text()):
                yield f"{page.name} links to {file}#{anchor}, a heading that is not there"


def faults_of_dashboard():
    if DASHBOARD.read_text() != run([sys.executable, DASHBOARD.with_name("generate.py")]):
        yield "herald.json is stale: deploy/grafana/generate.py > deploy/grafana/herald.json"
    series = known()
    named = set()
    for panel, query, legend in dashboard_queries():
        query = substituted(query)
        try:
            there = queries.labels(queries.parse(query), series)
        except queries.Unknown as fault:
            yield f"the panel {panel['title']} {fault}: {query}"
            continue
        named |= {name for name, _ in queries.selectors(queries.parse(query))}
        for label in set(re.findall(r"\{\{(\w+)\}\}", legend)) - there:
            yield f"a legend of the panel {panel['title']} has the label {label}, which its query does not leave"
    for rule in rules():
        named |= {name for name, _ in queries.selectors(queries.parse(rule["expr"]))}
    for name in sorted(set(exported.samples()) - named):
        # A bucket and its count go together, and address space adds nothing to memory.
        if not name.endswith(("_sum", "_count")) and name != "process_virtual_memory_bytes":
            yield f"{name} is on no panel and in no rule"
    panels = json.loads(DASHBOARD.read_text())["panels"]
    if len({panel["id"] for panel in panels}) != len(panels):
        yield "two panels have one id"
    taken = {}
    for panel in panels:
        place = panel["gridPos"]
        if place["x"] + place["w"] > 24:
            yield f"the panel {panel['title']} is beyond the edge"
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if taken.setdefault((x, y), panel["title"]) != panel["title"]:
                    yield f"the panels {panel['title']} and {taken[x, y]} overlap"
                    break


def faults_of_commands(herald):
    """Commands and options in the runbook that this herald does not have."""
    helps = {}
    for page in (RUNBOOK, ROOT / "docs/SCALING.md"):
        for line in re.findall(r"^ +(?:.*-- )?(herald .*)$|`(herald [a-z][^`]*)`", page.read_text(), re.M):
            words = re.sub(r"'[^']*'", "TEXT", (line[0] or line[1]).split("  #")[0]).split()
            words = words[1:words.index("|")] if "|" in words else words[1:]
            path = []
            for word in words[:2]:
                if re.fullmatch(r"[a-z][a-z-]*", word):
                    path.append(word)
            key = " ".join(path)
            if key not in helps:
                # A command without settings has no --settings either.
                tries = [subprocess.run([herald, *path, "--help", *more], capture_output=True, text=True)
                         for more in (["--settings"], [])]
                helps[key] = next((done.stdout for done in tries if done.returncode == 0), None)
            if helps[key] is None:
                yield f"{page.name}: there is no command `herald {key}`"
                continue
            for option in [word.split("=")[0] for word in words if word.startswith("--")]:
                if not re.search(rf"(^|[\s,\[]){re.escape(option)}\b", helps[key]):
                    yield f"{page.name}: `herald {key}` has no option {option}"


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    checks = [faults_of_rules, faults_of_operator_rules, faults_of_runbook, faults_of_links, faults_of_dashboard]
    if len(sys.argv) > 1:
        checks.append(lambda: faults_of_commands(sys.argv[1]))
    faults = [fault for check in checks for fault in check()]
    for fault in faults:
        print(f"check-deploy: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
