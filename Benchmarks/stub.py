"""The backend of the benchmark: nginx, one process, `return 200`."""

import re
import time
import urllib.request

from processes import wait_for

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
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location = /status {{ stub_status; }}
        location / {{ return 200; }}
    }}
}}
"""


class Stub:
    def __init__(self, processes, port):
        self.processes = processes
        self.port = port
        self.asked = 0
        path = processes.directory / "nginx.conf"
        path.write_text(CONFIGURATION.format(directory=processes.directory, port=port))
        processes.start(["nginx", "-c", str(path)], log="nginx")
        wait_for(self.is_up, 10, "nginx was not up")

    def is_up(self):
        try:
            return self.served() >= 0
        except OSError:
            return False

    def served(self):
        """How many requests were served, those for this number not counted."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/status", timeout=5) as answer:
            text = answer.read().decode()
        self.asked += 1
        return int(re.search(r"requests\s+\d+ \d+ (\d+)", text).group(1)) - self.asked

    def watch(self, goal, alive, patience):
        """Waits until so many requests were served; the seconds since the first of them, or None when they stop."""
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
                return now - begin
            previous = now
        return None

    def wrk(self, script, connections, seconds):
        """Requests, seconds and processor time of `wrk`."""
        output, processor = self.processes.run_measured(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{self.port}"])
        requests, duration = re.search(r"(\d+) requests in ([\d.]+)s", output).groups()
        return int(requests), float(duration), processor
