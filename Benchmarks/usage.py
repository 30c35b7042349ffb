"""The usage of processes and of the machine, from /proc."""

import os
import pathlib
import resource
import sys
import time


def progress(text):
    """Names the current measurement for a waiting reader."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def machine_seconds():
    """The processor time of all processes on this machine so far."""
    user, nice, system, _, _, interrupts, soft = map(int, pathlib.Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


def processor_seconds(process):
    """User and system time of all threads of a process so far."""
    # The process's own clock (clock_getcpuclockid), because /proc counts hundredths of a second.
    return time.clock_gettime(~process.pid << 3 | 2)


def peak_bytes(process):
    """The peak memory of a process so far."""
    return _status(process, "VmHWM:")


def resident_bytes(process):
    """The present memory of a process."""
    return _status(process, "VmRSS:")


def _status(process, name):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0


def run_measured(processes, command):
    """Runs a command to its end; returns its output and its seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = processes.run(command, seconds=3_600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return output, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
