"""Child processes that do not outlive the benchmark, and what /proc says about them."""

import os
import pathlib
import resource
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def progress(text):
    """Tells who waits what is measured now."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def wait_for(condition, seconds, what):
    """Polls until the condition holds, at most so many seconds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"bench: {what} within {seconds} s.")
        time.sleep(0.05)


def machine_seconds():
    """The processor time that was spent on this machine so far, by anybody."""
    user, nice, system, _, _, interrupts, soft = map(int, pathlib.Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


class Processes:
    """Starts processes with a log file each, and ends them all when the `with` statement does."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.running = []
        self.number = 0

    def next_number(self):
        """A number for a name that was not used yet."""
        self.number += 1
        return self.number

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            if process.poll() is None:
                process.terminate()
        for process in reversed(self.running):
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, command, log, **options):
        with open(self.directory / f"{log}.log", "wb") as output:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, **options)
        self.running.append(process)
        return process

    def end(self, process):
        process.terminate()
        process.wait(timeout=10)
        self.running.remove(process)

    def run(self, command, **options):
        """Runs a command to its end; its output, or the end of the benchmark when it fails."""
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def run_measured(self, command):
        """Runs a command to its end; its output and its seconds of processor time."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output = self.run(command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return output, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def tail(self, log):
        return "\n".join((self.directory / f"{log}.log").read_text(errors="replace").splitlines()[-15:])

    @staticmethod
    def processor_seconds(process):
        """User and system time of all threads so far."""
        # The name in parentheses may hold spaces; utime and stime are the 14th and 15th fields.
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def peak_bytes(process):
        for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        return 0
