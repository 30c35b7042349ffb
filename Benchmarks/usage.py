"""What processes and the machine have spent, as /proc tells it."""

import os
import pathlib
import resource
import sys


def progress(text):
    """Tells who waits what is measured now."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def machine_seconds():
    """The processor time that was spent on this machine so far, by anybody."""
    user, nice, system, _, _, interrupts, soft = map(int, pathlib.Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


def processor_seconds(process):
    """User and system time of all threads of a process so far."""
    # The name in parentheses may hold spaces; utime and stime are the 14th and 15th fields.
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_bytes(process):
    """The most memory that a process has had so far."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def run_measured(processes, command):
    """Runs a command to its end; its output and its seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = processes.run(command, seconds=3_600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return output, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
