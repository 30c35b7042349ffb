#!/usr/bin/env python3
"""Runs a command and ends it when it hangs, however long it takes while it works.

    watchdog.py [--quiet SECONDS] COMMAND ARGUMENT…

A command hangs when it and its descendants have, for five minutes, written nothing and used next to no processor time:
a machine that is slow or busy makes neither true. Its output passes through, and its status is returned; 124 says that
it was ended.
"""

import argparse
import os
import select
import signal
import subprocess
import sys
import time

QUIET_SECONDS = 300
# The share of one processor below which a command does nothing; a broker without work uses less.
IDLE_SHARE = 0.02
TICKS = os.sysconf("SC_CLK_TCK")


def processor_ticks(root: int) -> dict[int, int]:
    """The clock ticks that the process and each of its descendants have used."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                # The name in parentheses may contain spaces and parentheses.
                fields = file.read().rpartition(") ")[2].split()
        except OSError:
            continue  # It is gone.
        parents[int(name)] = int(fields[1])
        ticks[int(name)] = int(fields[11]) + int(fields[12])

    def belongs(process: int) -> bool:
        while process and process != root:
            process = parents.get(process, 0)
        return process == root

    return {process: used for process, used in ticks.items() if belongs(process)}


class Activity:
    """A command's progress since its last sign of work."""

    def __init__(self, root: int, quiet: float) -> None:
        self.root = root
        self.quiet = quiet
        self.known = processor_ticks(root)
        self.wrote()

    def wrote(self) -> None:
        self.since = time.monotonic()
        self.used = 0

    def hangs(self) -> bool:
        now = processor_ticks(self.root)
        self.used += sum(max(0, used - self.known.get(process, 0)) for process, used in now.items())
        self.known = now
        if self.used / TICKS > self.quiet * IDLE_SHARE:
            self.wrote()
        return time.monotonic() - self.since > self.quiet


def end(root: int) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processor_ticks(root):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass
        if number == signal.SIGTERM:
            time.sleep(2)


def run(command: list[str], quiet: float) -> int:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout
    output = process.stdout.fileno()
    # Frequent enough that one idle look is not a whole spell, and rare enough to cost nothing.
    pause = min(1.0, quiet / 10)
    activity = Activity(process.pid, quiet)
    looked = time.monotonic()
    is_open = True
    while process.poll() is None:
        if is_open and select.select([output], [], [], pause)[0]:
            data = os.read(output, 65536)
            is_open = bool(data)
            pass_on(data)
            activity.wrote()
        elif not is_open:
            time.sleep(pause)
        if time.monotonic() - looked >= pause:
            looked = time.monotonic()
            if activity.hangs():
                print(f"watchdog: no output and no work for {quiet:g} s: {' '.join(command)}", flush=True)
                end(process.pid)
                return 124
    # Processes left behind by the command may hold the pipe open, so its end is not waited for.
    while is_open and select.select([output], [], [], 0)[0]:
        data = os.read(output, 65536)
        is_open = bool(data)
        pass_on(data)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def pass_on(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--quiet", type=float, default=QUIET_SECONDS, metavar="SECONDS")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    return run(options.command, options.quiet)


if __name__ == "__main__":
    sys.exit(main())
