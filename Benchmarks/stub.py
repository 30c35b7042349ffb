"""The backends of the benchmark: nginx with `return 200`, and one of our own with a latency that reports ages."""

import re
import socket
import time
import urllib.request

import cases
from processes import free_ports, wait_for
from usage import run_measured

CONFIGURATION = """\
daemon off;
master_process off;
pid {directory}/nginx.pid;
error_log {directory}/nginx-errors.log;
events {{ worker_connections 8192; }}
http {{
    access_log off;
    client_body_temp_path {directory}/nginx-body;
    proxy_temp_path {directory}/nginx-proxy;
    fastcgi_temp_path {directory}/nginx-fastcgi;
    uwsgi_temp_path {directory}/nginx-uwsgi;
    scgi_temp_path {directory}/nginx-scgi;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    ssl_certificate {directory}/certificate.pem;
    ssl_certificate_key {directory}/key.pem;
    limit_req_zone $binary_remote_addr zone=all:1m rate={capacity}r/s;
    limit_req_status 429;
    server {{
        listen 127.0.0.1:{limited_port} backlog=4096;
        location / {{
            limit_req zone=all burst=20 nodelay;
            try_files /none @answer;
        }}
        location @answer {{ return 200; }}
    }}
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        listen 127.0.0.1:{tls_port} ssl backlog=4096;
        listen 127.0.0.1:{http2_port} http2 backlog=4096;
        listen 127.0.0.1:{http2_tls_port} ssl http2 backlog=4096;
        location = /status {{ stub_status; }}
        location / {{ return 200; }}
    }}
}}
"""


class Backend:
    """The common parts of both."""

    def __init__(self, processes, port, command, log):
        self.processes = processes
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.process = processes.start(command, log=log)
        wait_for(self.is_up, 10, f"{log} was not up")

    def is_up(self):
        try:
            return self.served() >= 0
        except OSError:
            return False

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
            return answer.read().decode()

    def watch(self, goal, alive, patience):
        """Waits for this number of requests; returns the moment of the first one, or None when they stop."""
        begin, previous, count = None, time.monotonic(), self.served()
        moved = previous
        while alive():
            time.sleep(0.03)
            now, served = time.monotonic(), self.served()
            if served > count:
                begin = begin or previous
                count, moved = served, now
            elif now - moved > patience:
                return None
            if served >= goal:
                return begin
            previous = now
        return None


class Nginx(Backend):
    """One process of nginx, plain and over TLS."""

    def __init__(self, processes):
        self.asked = 0
        port, tls_port, http2_port, http2_tls_port, limited_port = free_ports(5)
        directory = processes.directory
        self.authority = f"{directory}/certificate.pem"
        processes.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-keyout", f"{directory}/key.pem", "-out", self.authority, "-subj", "/CN=localhost", "-addext",
             "subjectAltName=IP:127.0.0.1,DNS:localhost"])
        # By whether it is over TLS, and over HTTP/2.
        self.urls = {
            (False, False): f"http://127.0.0.1:{port}", (True, False): f"https://127.0.0.1:{tls_port}",
            (False, True): f"http://127.0.0.1:{http2_port}", (True, True): f"https://127.0.0.1:{http2_tls_port}"}
        self.limited_url = f"http://127.0.0.1:{limited_port}"
        path = directory / "nginx.conf"
        path.write_text(CONFIGURATION.format(
            directory=directory, port=port, tls_port=tls_port, http2_port=http2_port, http2_tls_port=http2_tls_port,
            limited_port=limited_port, capacity=cases.CAPACITY))
        super().__init__(processes, port, ["nginx", "-c", str(path)], "nginx")

    def served(self):
        """The number of served requests, except for those for this number."""
        text = self.get("/status")
        self.asked += 1
        return int(re.search(r"requests\s+\d+ \d+ (\d+)", text).group(1)) - self.asked

    def wrk(self, script, connections, seconds, tls=False):
        """Requests, seconds and processor time of `wrk`."""
        output, processor = run_measured(
            self.processes, ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, self.urls[tls, False]])
        requests, duration = re.search(r"(\d+) requests in ([\d.]+)s", output).groups()
        return int(requests), float(duration), processor

    def h2load(self, arguments, connections, calls, seconds, tls=False):
        """Requests, seconds and processor time of `h2load`, with the given connections and calls on each at a time."""
        path, *options = arguments
        output, processor = run_measured(
            self.processes, ["h2load", "-t1", f"-c{connections}", f"-m{calls}", f"-D{seconds}", *options,
                             self.urls[tls, True] + path])
        [requests] = re.search(r"(\d+) succeeded", output).groups()
        return int(requests), seconds, processor


class Front:
    """nghttpx in front of a backend, which speaks HTTP/2 for it."""

    def __init__(self, processes, port):
        [own] = free_ports(1)
        self.url = f"http://127.0.0.1:{own}"
        self.process = processes.start(
            ["nghttpx", "--conf=/dev/null", "--single-process", f"--frontend=127.0.0.1,{own};no-tls",
             f"--backend=127.0.0.1,{port}", "--frontend-http2-max-concurrent-streams=1000"], log="nghttpx")
        wait_for(lambda: is_open(own), 10, "nghttpx was not up")


def is_open(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


class Slow(Backend):
    """Our own backend: answers after a latency in milliseconds, or never (None); refuses calls by its `options`."""

    def __init__(self, processes, binary, milliseconds, options=()):
        [port] = free_ports(1)
        microseconds = -1 if milliseconds is None else milliseconds * 1_000
        super().__init__(processes, port, [binary, str(port), str(microseconds), *map(str, options)],
                         f"backend-{port}")

    def calls(self):
        """The number of requests, and of refused ones."""
        return tuple(map(int, self.get("/status").split()))[:2]

    def repeated(self):
        """The number of calls with an age since the last look whose event had been called before."""
        return int(self.get("/status").split()[2])

    def served(self):
        return self.calls()[0]

    def accepted(self):
        served, refused = self.calls()
        return served - refused

    def ages(self):
        """The number of notifications since the last look, and p50, p99, p99.9 and maximum of their ages (ms)."""
        count, *ages = map(int, self.get("/ages").split())
        return count, *(age / 1_000 for age in ages)
