#!/usr/bin/env python3
"""Writes herald.json, the Grafana dashboard, from the rows below:

    deploy/grafana/generate.py > deploy/grafana/herald.json

The same rows always give the same bytes; scripts/check-deploy compares. In a query, WORKERS stands for the workers that
the variables choose, and RATE for the interval of a rate.
"""

import json
import sys

CHOSEN = 'job=~"$job", instance=~"$instance"'
# A panel is a title, its place (width, height), its unit, and its queries with their legends. The kinds differ in what
# they show of the same: "stat" the latest value, "series" its course, "table" the latest values as rows.
UNITS = {"": "none", "1/s": "cps", "s": "s", "B": "bytes", "B/s": "Bps", "%": "percentunit", "#": "short"}
GREEN, ORANGE, RED = "green", "orange", "red"


def stat(title, unit, query, help, steps=(), words=None):
    return dict(kind="stat", title=title, size=(4, 4), unit=unit, queries=[(query, "")], help=help, steps=steps,
                words=words or {})


def series(title, unit, *queries, help, stack=False, width=8):
    return dict(kind="timeseries", title=title, size=(width, 8), unit=unit, queries=queries, help=help, stack=stack)


def table(title, unit, *queries, help):
    return dict(kind="table", title=title, size=(8, 8), unit=unit, queries=queries, help=help)


def quantiles(metric, by=""):
    """The median and the 99th percentile of a histogram."""
    labels = f"le, {by}" if by else "le"
    legend = f"{{{{{by}}}}} " if by else ""
    buckets = f"sum by ({labels}) (rate({metric}_bucket{{WORKERS}}[RATE]))"
    return [(f"histogram_quantile({q}, {buckets})", f"{legend}p{round(q * 100)}") for q in (0.5, 0.99)]


ROWS = [
    ("Verdict", [
        stat("Workers", "", "sum(up{WORKERS})", "Workers that Prometheus reaches.", [(0, RED), (1, GREEN)]),
        stat("Ready", "%", "avg(herald_ready{WORKERS})",
             "The share of workers that deliver; /readyz says why one does not.",
             [(0, RED), (0.01, ORANGE), (1, GREEN)]),
        stat("Outage", "", "sum(max by (instance) (herald_outage{WORKERS}))",
             "Workers that consume nothing until backend or settings are fixed.", [(0, GREEN), (1, RED)]),
        stat("Final per second", "1/s", "sum(rate(herald_notifications_total{WORKERS}[RATE]))",
             "Notifications that became final."),
        stat("Late", "%",
             '1 - sum(rate(herald_end_to_end_seconds_bucket{WORKERS, topic=~"notifications", le="10.0"}[RATE]))'
             ' / sum(rate(herald_end_to_end_seconds_count{WORKERS, topic=~"notifications"}[RATE]))',
             "One-time codes that became final later than 10 s after their event was published.", [(0, GREEN), (0.01, ORANGE), (0.05, RED)]),
        stat("Dead letters", "#", "sum(increase(herald_dead_letters_total{WORKERS}[$__range]))",
             "In the time shown.", [(0, GREEN), (1, ORANGE)]),
    ]),
    ("Events", [
        series("Outcomes", "1/s",
               ("sum by (outcome) (rate(herald_notifications_total{WORKERS}[RATE]))", "{{outcome}}"),
               help="Notifications that became final, by outcome.", stack=True),
        series("Lag", "#",
               ("sum by (topic) (max by (topic, partition) ("
                'herald_consumer_lag{WORKERS, topic!~".+[.]retry[.][^.]+"}))', "{{topic}}"),
               ("sum(max by (topic, partition) (herald_last_stable_offset_lag{WORKERS}))", "behind open transactions"),
               help="Events that wait in the request topics, those in progress included."),
        series("From publication to the final outcome", "s", *quantiles("herald_end_to_end_seconds", "topic"),
               help="Retries and waiting in Kafka included, by request topic."),
        series("The oldest event", "s",
               ("max by (topic) (herald_oldest_event_age_seconds{WORKERS})", "{{topic}}"),
               help="How long the oldest event that is not final has waited, as far as a worker knows."),
        series("Time until the lag is gone", "s",
               ("herald:request_lag:sum{job=~\"$job\"} / on (namespace, job) group_left ()"
                " herald:records_consumed:rate10m{job=~\"$job\"}", "{{topic}}"),
               help="At the present rate, if nothing more arrived. Needs the series of deploy/prometheus/rules.yaml."),
        series("Dead letters", "1/s",
               ("sum by (reason) (rate(herald_dead_letters_total{WORKERS}[RATE]))", "{{reason}}"),
               help="Records written to the dead-letter topic, by reason.", stack=True),
        series("Records", "1/s",
               ("sum(rate(herald_records_consumed_total{WORKERS}[RATE]))", "consumed"),
               ("sum(rate(herald_records_skipped_total{WORKERS}[RATE]))", "skipped: done before"),
               ("sum(rate(herald_tombstones_total{WORKERS}[RATE]))", "tombstones"),
               ("sum by (cause) (rate(herald_offsets_passed_over_total{WORKERS}[RATE]))", "passed over: {{cause}}"),
               ("sum by (outcome) (rate(herald_offsets_gone_total{WORKERS}[RATE]))", "gone, outcome {{outcome}}"),
               ("sum(rate(herald_unreadable_records_total{WORKERS}[RATE]))", "unreadable"),
               ("sum(rate(herald_stale_answers_total{WORKERS}[RATE]))", "stale answers"),
               ("sum by (fault) (rate(herald_publisher_faults_total{WORKERS}[RATE]))", "published wrongly: {{fault}}"),
               ("sum by (field) (rate(herald_omitted_content_total{WORKERS}[RATE]))", "delivered without {{field}}"),
               help="Request and retry topics together."),
    ]),
    ("Backend", [
        series("Calls", "1/s",
               ("sum by (result) (rate(herald_calls_total{WORKERS}[RATE]))", "{{result}}"),
               help="Calls that have ended, by the class of the answer or why there was none.", stack=True),
        series("Duration of calls", "s", *quantiles("herald_call_duration_seconds", "pns"),
               help="Answered calls, from the request's first byte to the answer's last."),
        series("Calls in flight", "#",
               ("sum(herald_inflight{WORKERS})", "in flight"),
               ("sum(herald_limit_inflight{WORKERS})", "allowed by the backend's latency"),
               ("sum(herald_backend_connections{WORKERS})", "connections"),
               help="At the limit, the backend is the bound."),
        series("Calls that do not succeed", "%",
               ("sum by (pns) (rate(herald_calls_total{WORKERS, result!=\"delivered\"}[RATE]))"
                " / sum by (pns) (rate(herald_calls_total{WORKERS}[RATE]))", "{{pns}}"),
               help="By push service, whatever the reason."),
        series("Rate that the backend accepts", "1/s",
               ("sum by (pns) (herald_limit_calls_per_second{WORKERS}) < +Inf", "{{pns}}"),
               help="Found by Herald from 429; empty while it never asked for fewer calls."),
        table("Outages", "#",
              ("sum by (reason) (herald_outage{WORKERS})", "{{reason}}"),
              ("sum by (pns) (herald_push_service_held{WORKERS})", "{{pns}} held"),
              help="Workers in an outage now, by its cause, and those that hold a push service alone. docs/RUNBOOK.md has a section for each."),
    ]),
    ("Retries", [
        series("Waiting for a retry", "#",
               ("sum by (delay) (herald_retry_backlog{WORKERS})", "{{delay}}"),
               help="The lag of the retry topics, by delay.", stack=True),
        series("Retries written", "1/s",
               ("sum by (reason) (rate(herald_retries_total{WORKERS}[RATE]))", "{{reason}}"),
               help="Records written to retry topics, by reason.", stack=True),
        series("In memory", "#",
               ("sum(herald_events_in_memory{WORKERS})", "events"),
               ("sum(herald_records_unacknowledged{WORKERS})", "records not durable yet"),
               ("sum(herald_kafka_queued_records{WORKERS})", "records in the producers' queues"),
               help="Bounded by delivery.maxInFlight."),
        series("Waiting in memory, by what for", "#",
               ("sum by (reason) (herald_waiting_events{WORKERS}) > 0", "{{reason}}"),
               help="docs/RUNBOOK.md says what each reason is, what ends it and what changes it.", stack=True),
    ]),
    ("Opt-outs and recalls", [
        series("Age of what is known", "s",
               ("max by (instance) (herald_preferences_age_seconds{WORKERS})", "{{instance}}"),
               help="Beyond preferences.maxLag promotional events wait. Empty without preferences.enabled."),
        series("What is known", "#",
               ("max(herald_preferences_users{WORKERS})", "users who have opted out"),
               ("sum(herald_caps_users{WORKERS})", "users of whom caps count something"),
               ("max(herald_recalls{WORKERS})", "recalled"),
               ("max(increase(herald_preferences_broken_total{WORKERS}[1h]))", "broken records, in an hour"),
               help="Each worker knows the same. The log names a broken record's partition and offset."),
        series("Memory of opt-outs and caps", "B",
               ("max by (instance) (herald_preferences_bytes{WORKERS})", "{{instance}}"),
               ("max by (instance) (herald_caps_bytes{WORKERS})", "{{instance}}, caps"),
               help="About 30 bytes for each user who has opted out, and 60 for one of whom caps count something."),
    ]),
    ("Kafka", [
        series("Commits", "1/s",
               ("sum by (outcome) (rate(herald_commits_total{WORKERS}[RATE]))", "{{outcome}}"),
               ("sum(rate(herald_transaction_aborts_total{WORKERS}[RATE]))", "aborted transactions"),
               help="Commits of offsets, in a transaction or not."),
        series("Duration of transactions", "s", *quantiles("herald_transaction_duration_seconds"),
               help="From opening one to the brokers' answer to its commit."),
        series("Partitions", "#",
               ("sum by (instance) (herald_partitions_assigned{WORKERS})", "{{instance}}"),
               ("max(herald_partitions_without_leader{WORKERS})", "without a leader"),
               ("max(herald_partitions_unusable{WORKERS})", "out of use"),
               ("sum(herald_partitions_offsets_missing{WORKERS})", "without their offset"),
               help="Assigned to each worker, those that nobody leads, those with too few brokers, and lost offsets."),
        series("Rebalances", "#",
               ("sum by (kind) (increase(herald_rebalances_total{WORKERS}[5m]))", "{{kind}}"),
               help="In five minutes, each lane for itself."),
        series("Brokers", "#",
               ("sum by (client, state) (herald_kafka_brokers{WORKERS})", "{{client}} {{state}}"),
               ("sum(herald_brokers_reachable{WORKERS})", "workers that reach one"),
               ("max(herald_brokers_silent{WORKERS})", "silent"),
               help="Each client counts for itself; silent ones were asked and did not answer."),
        series("Slowest broker, p99", "s",
               ("max by (client) (herald_kafka_round_trip_seconds{WORKERS})", "{{client}}"),
               help="A fetch waits up to 0.5 s for records."),
        series("Requests to brokers", "1/s",
               ("sum by (client) (rate(herald_kafka_requests_total{WORKERS}[RATE]))", "{{client}}"),
               ("sum by (client) (rate(herald_kafka_request_errors_total{WORKERS}[RATE]))", "{{client}} failed"),
               ("sum by (client) (rate(herald_kafka_request_retries_total{WORKERS}[RATE]))", "{{client}} made again"),
               ("sum by (client) (rate(herald_kafka_disconnects_total{WORKERS}[RATE]))", "{{client}} disconnected"),
               ("sum(rate(herald_kafka_throttled_seconds_total{WORKERS}[RATE]))", "throttled, seconds each second"),
               help="Those made again and lost connections beside them; idle connections end now and then."),
        series("Traffic with brokers", "B/s",
               ("sum(rate(herald_kafka_received_bytes_total{WORKERS}[RATE]))", "received"),
               ("sum(rate(herald_kafka_sent_bytes_total{WORKERS}[RATE]))", "sent"),
               help="As librdkafka counts it, every ten seconds."),
        series("Fetched ahead", "B",
               ("sum by (instance) (herald_kafka_fetched_ahead_bytes{WORKERS})", "{{instance}}"),
               help="Fetched by the consumers and not consumed yet: 56 MiB for each lane at most."),
    ]),
    ("Process", [
        series("Processor", "%",
               ("sum by (instance) (rate(process_cpu_seconds_total{WORKERS}[RATE]))", "{{instance}}"),
               help="100 % is one core. A lane is one thread; librdkafka has its own."),
        series("Memory", "B",
               ("sum by (instance) (process_resident_memory_bytes{WORKERS})", "{{instance}}"),
               help="docs/SCALING.md says what it depends on."),
        series("File descriptors and threads", "#",
               ("sum by (instance) (process_open_fds{WORKERS})", "{{instance}} descriptors"),
               ("sum by (instance) (process_threads{WORKERS})", "{{instance}} threads"),
               help="When descriptors are scarce, calls wait for connections in use."),
        series("Running for", "s",
               ("time() - max by (instance) (process_start_time_seconds{WORKERS})", "{{instance}}"),
               help="A saw shows restarts."),
        series("Log lines dropped", "1/s",
               ("sum by (instance) (rate(herald_log_lines_dropped_total{WORKERS}[RATE]))", "{{instance}}"),
               help="Nobody reads standard error fast enough."),
        series("Spans", "1/s",
               ("sum by (outcome) (rate(herald_trace_spans_total{WORKERS}[RATE]))", "{{outcome}}"),
               help="Sent to the collector of traces.url, and lost on the way."),
        table("Versions", "#",
              ("count by (version, librdkafka) (herald_build_info{WORKERS})", "{{version}}, librdkafka {{librdkafka}}"),
              help="How many workers run which."),
    ]),
]

SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def expression(query):
    return query.replace("WORKERS", CHOSEN).replace("RATE", "$__rate_interval")


def panel(number, spec, x, y):
    kind = spec["kind"]
    width, height = spec["size"]
    targets = [
        {
            "datasource": SOURCE, "editorMode": "code", "expr": expression(query), "instant": kind != "timeseries",
            "legendFormat": legend or "__auto", "range": kind == "timeseries", "refId": chr(ord("A") + place),
        } for place, (query, legend) in enumerate(spec["queries"])]
    if kind == "table":
        for target in targets:
            target["format"] = "table"
    defaults = {"unit": UNITS[spec["unit"]]}
    options = {}
    if kind == "timeseries":
        defaults["min"] = 0
        defaults["custom"] = {
            "fillOpacity": 20 if spec["stack"] else 0, "showPoints": "never",
            "stacking": {"group": "A", "mode": "normal" if spec["stack"] else "none"},
        }
        options = {"legend": {"displayMode": "list", "placement": "bottom"},
                   "tooltip": {"mode": "multi", "sort": "desc"}}
    elif kind == "stat":
        steps = spec["steps"] or [(0, "text")]
        defaults["thresholds"] = {
            "mode": "absolute",
            "steps": [{"color": color, "value": None if not place else value}
                      for place, (value, color) in enumerate(steps)],
        }
        options = {"colorMode": "background" if spec["steps"] else "value", "reduceOptions": {"calcs": ["lastNotNull"]}}
    shown = {
        "datasource": SOURCE, "description": spec["help"], "fieldConfig": {"defaults": defaults, "overrides": []},
        "gridPos": {"h": height, "w": width, "x": x, "y": y}, "id": number, "options": options, "targets": targets,
        "title": spec["title"], "type": kind,
    }
    if kind == "table":
        shown["transformations"] = [{"id": "organize", "options": {"excludeByName": {"Time": True}}}]
    return shown


def panels():
    """All panels, row by row, from left to right in 24 columns."""
    found = []
    y = 0
    for title, specs in ROWS:
        found.append({"collapsed": False, "gridPos": {"h": 1, "w": 24, "x": 0, "y": y}, "id": len(found) + 1,
                      "panels": [], "title": title, "type": "row"})
        x, y = 0, y + 1
        for spec in specs:
            width, height = spec["size"]
            if x + width > 24:
                x, y = 0, y + height
            found.append(panel(len(found) + 1, spec, x, y))
            x += width
        y += specs[-1]["size"][1]
    return found


def variable(name, label, query):
    return {
        "allValue": ".*", "current": {"text": "All", "value": "$__all"}, "datasource": SOURCE, "includeAll": True,
        "label": label, "multi": True, "name": name, "query": {"query": query, "refId": name}, "refresh": 2, "sort": 1,
        "type": "query",
    }


def dashboard():
    return {
        "annotations": {"list": [{
            "datasource": SOURCE, "enable": True, "expr": 'ALERTS{alertname=~"Herald.*", alertstate="firing"}',
            "iconColor": RED, "name": "Alerts", "titleFormat": "{{alertname}}",
            "textFormat": "{{reason}}{{topic}}{{pns}}",
        }]},
        "description": "Herald's workers. Generated by deploy/grafana/generate.py.",
        "editable": True, "graphTooltip": 1,
        "links": [{"icon": "doc", "targetBlank": True, "title": "Runbook", "type": "link",
                   "url": "${runbooks}docs/RUNBOOK.md"}],
        "panels": panels(), "refresh": "30s", "schemaVersion": 39, "tags": ["herald"],
        "templating": {"list": [
            {"current": {}, "label": "Data source", "name": "datasource", "query": "prometheus", "type": "datasource"},
            variable("job", "Job", "label_values(herald_ready, job)"),
            variable("instance", "Worker", 'label_values(herald_ready{job=~"$job"}, instance)'),
            {"current": {"text": "", "value": ""}, "hide": 2, "label": "Address of the runbooks", "name": "runbooks",
             "query": "", "type": "constant"},
        ]},
        "time": {"from": "now-3h", "to": "now"}, "timezone": "browser", "title": "Herald", "uid": "herald",
    }


if __name__ == "__main__":
    json.dump(dashboard(), sys.stdout, indent=1, ensure_ascii=False, sort_keys=True)
    print()
