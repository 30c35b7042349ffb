"""Child processes with a log file each, free ports, and waiting that names its condition."""

import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import time


class Failure(Exception):
    """The work cannot continue; the text is for people."""


def now_ms():
    """The wall clock in milliseconds: the one clock that brokers, backend and campaign share."""
    return time.time() * 1000


def free_ports(count):
    """Free ports on loopback, outside of the kernel's ephemeral range.

    A process that is killed and restarted, a broker or the backend's listener, finds its port still free that way.
    """
    lowest = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    below = range(max(1024, lowest - 12_000), lowest)
    candidates = list(below if len(below) > 1_000 else range(10_000, 60_000))
    random.shuffle(candidates)
    probes = []
    try:
        for port in candidates:
            probe = socket.socket()
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                probe.close()
                continue
            probes.append(probe)
            if len(probes) == count:
                return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()
    raise Failure("there are no free ports on loopback")


def wait_for(condition, seconds, what):
    """Polls until the condition holds, for a limited number of seconds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"{what} within {seconds} s")
        time.sleep(0.1)


class Processes:
    """Starts processes and ends them all when the `with` statement does."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.running = []
        self.lock = threading.Lock()
        # Herald's variables of the person who runs the campaign are not for the workers.
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("HERALD_")}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.running:
            if process.poll() is None:
                process.kill()
        for process in self.running:
            process.wait()

    def log(self, name):
        return self.directory / f"{name}.log"

    def start(self, command, log, stdin=subprocess.DEVNULL):
        """Starts a program; its output is appended to the log."""
        with open(self.log(log), "ab") as output:
            process = subprocess.Popen(
                [str(part) for part in command], stdin=stdin, stdout=output, stderr=subprocess.STDOUT,
                env=self.environment)
        with self.lock:
            self.running = [other for other in self.running if other.poll() is None] + [process]
        return process

    def end(self, process):
        """Asks a program to end, and waits until it has."""
        process.terminate()
        process.wait(timeout=120)

    def run(self, command, seconds=120, may_fail=False, output=subprocess.PIPE):
        """Runs a program to its end; returns its standard output, or None for an allowed failure."""
        command = [str(part) for part in command]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, text=True,
                timeout=seconds, env=self.environment)
        except subprocess.TimeoutExpired:
            if may_fail:
                return None
            raise Failure(f"{' '.join(command)} has not ended within {seconds} s") from None
        if done.returncode == 0:
            return done.stdout
        if may_fail:
            return None
        raise Failure(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")

    def tail(self, log, lines=15):
        path = self.log(log)
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:]) if path.exists() else ""


def is_alive(process):
    return process is not None and process.poll() is None


def how_it_ended(process):
    """`status 1`, or `SIGKILL`."""
    code = process.returncode
    return signal.Signals(-code).name if code < 0 else f"status {code}"
