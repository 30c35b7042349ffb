#!/usr/bin/env python3
"""Compares the spans that a worker exports with OpenTelemetry's own schema and names, both from PyPI.

    Tests/Deploy/traces.py HERALD

A sandbox delivers, retries and gives up; a collector here receives its spans. Each request has to be an
ExportTraceServiceRequest of opentelemetry-proto without a field that it does not know, and each attribute a name of
opentelemetry-semantic-conventions, or Herald's own.
"""

import base64
import http.server
import importlib
import json
import pathlib
import pkgutil
import subprocess
import sys
import tempfile
import threading
import urllib.request

import opentelemetry.semconv._incubating.attributes as incubating
import opentelemetry.semconv.attributes as stable
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

import check

sys.path.insert(0, str(check.ROOT / "scripts/shared"))
from processes import Failure

TRACE, PRODUCER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
EVENTS = [
    {"specversion": "1.0", "type": "t", "source": "/shop", "id": "followed",
     "traceparent": f"00-{TRACE}-{PRODUCER}-01",
     "data": {"user": "flaky", "pns": ["apns", "gcm"], "message": "Hello"}},
    {"id": "wrong", "user": "wrong", "pns": ["apns"], "message": "Hello"},
    {"id": "late", "user": "late", "pns": ["apns"], "message": "Hello", "expiresAt": "2020-01-01T00:00:00Z"},
]
SPANS_AT_LEAST = 12


class Collector(http.server.ThreadingHTTPServer):
    """Keeps the body of each request."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Collector.Handler)
        self.bodies = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1/traces"

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            assert self.headers["Content-Type"] == "application/json", self.headers["Content-Type"]
            assert self.headers["X-Key"] == "canary", "the header of traces.headersFile is missing"
            self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass


def exported(herald):
    """The requests that a sandbox's worker sends for the events."""
    collector = Collector()
    with tempfile.TemporaryDirectory() as directory:
        headers = pathlib.Path(directory, "headers")
        headers.write_text("X-Key: canary\n")
        sandbox = subprocess.Popen(
            [herald, "sandbox", "-o", "json", "--retry-delays", "1s", "--retry-immediate", "0",
             "--outages-breaker-of", "0", "--traces-url", collector.url, "--traces-headers-file", str(headers)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            place = json.loads(sandbox.stdout.readline())
            misbehave(place["backendURL"])
            lines = "\n".join(json.dumps(event) for event in EVENTS)
            subprocess.run(
                [herald, "publish", "--kafka-bootstrap-servers", place["bootstrapServers"], "--file", "-",
                 "--wait", "60s"], input=lines, text=True, capture_output=True, check=False, timeout=120)
            sandbox.stdin.close()
            if sandbox.wait(60) != 0:
                raise Failure(f"the sandbox ended with {sandbox.returncode}")
        finally:
            sandbox.kill()
            sandbox.wait()
    return collector.bodies


def misbehave(url):
    rules = json.dumps([{"user": "wrong", "status": 400}, {"user": "flaky", "status": 503, "callsPerKey": 1}])
    request = urllib.request.Request(
        f"{url}/sandbox/misbehaviour", data=rules.encode(), method="PUT",
        headers={"Authorization": "Basic " + base64.b64encode(b"herald:herald").decode()})
    urllib.request.urlopen(request, timeout=10).close()


def parsed(body):
    """The request in a body.

    OTLP writes ids in hexadecimal where protobuf's JSON has Base64; otherwise they are the same.
    """
    tree = json.loads(body)

    def convert(node):
        if isinstance(node, list):
            for element in node:
                convert(element)
        elif isinstance(node, dict):
            for key, value in node.items():
                if key in ("traceId", "spanId", "parentSpanId"):
                    if value != value.lower():
                        raise Failure(f"{key} {value} is not in lower case")
                    node[key] = base64.b64encode(bytes.fromhex(value)).decode()
                else:
                    convert(value)

    convert(tree)
    return json_format.Parse(json.dumps(tree), ExportTraceServiceRequest(), ignore_unknown_fields=False)


def known_names():
    """Every attribute's name in OpenTelemetry's semantic conventions."""
    names = set()
    for package in (stable, incubating):
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            content = vars(importlib.import_module(module.name))
            names |= {value for value in content.values() if isinstance(value, str) and "." in value}
    return names


def faults(spans, resources):
    names = known_names()
    ids = {(span.trace_id, span.span_id) for span in spans}
    if len(ids) != len(spans):
        yield "two spans have one id"
    for resource in resources:
        found = {attribute.key for attribute in resource.attributes}
        if not {"service.name", "service.version", "service.instance.id"} <= found:
            yield f"the resource has only {sorted(found)}"
        yield from (f"{key} is no name of OpenTelemetry's" for key in found - names)
    for span in spans:
        if len(span.trace_id) != 16 or len(span.span_id) != 8 or len(span.parent_span_id) not in (0, 8):
            yield f"an id of {span.name} has the wrong length"
        if not 0 < span.start_time_unix_nano <= span.end_time_unix_nano:
            yield f"{span.name} ends before it begins"
        keys = [attribute.key for attribute in span.attributes]
        if len(keys) != len(set(keys)):
            yield f"{span.name} has an attribute twice"
        for key in keys:
            if key not in names and not key.startswith("herald."):
                yield f"{key} of {span.name} is neither a name of OpenTelemetry's nor Herald's own"
        is_local = span.parent_span_id and span.parent_span_id != bytes.fromhex(PRODUCER)
        if is_local and span.kind != Span.SPAN_KIND_CONSUMER and (span.trace_id, span.parent_span_id) not in ids:
            yield f"the parent of {span.name} was never exported"
        for link in span.links:
            if (link.trace_id, link.span_id) not in ids:
                yield f"{span.name} links to a span that was never exported"
    followed = [span for span in spans if span.trace_id == bytes.fromhex(TRACE)]
    stays = [span for span in followed if span.kind == Span.SPAN_KIND_CONSUMER]
    if [span.parent_span_id for span in stays] != [bytes.fromhex(PRODUCER)] * 2 or not stays[1].links:
        yield "the event that was retried has not two linked stays below its producer's span"
    if not any(span.status.code == Status.STATUS_CODE_ERROR for span in spans):
        yield "nothing failed"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: Tests/Deploy/traces.py HERALD")
    requests = [parsed(body) for body in exported(sys.argv[1])]
    resources = [part.resource for request in requests for part in request.resource_spans]
    spans = [
        span for request in requests for part in request.resource_spans for scope in part.scope_spans
        for span in scope.spans]
    found = list(faults(spans, resources))
    if len(spans) < SPANS_AT_LEAST:
        found.append(f"only {len(spans)} spans came")
    for fault in found:
        print(f"check-deploy: traces: {fault}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
