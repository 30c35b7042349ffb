#!/usr/bin/env python3
"""Counts what an event costs, its pure parts and the whole worker: instructions and allocations, under valgrind.

    Benchmarks/micro.py [CASE…] [--update] [--where] [--build DIR] [--herald DIR]

Time on a shared machine says little about a change; instructions do, and they come out the same run after run (but for
a few in a thousand, between machines whose libc picks other routines). Each case runs twice, the second time for more
events: the difference is the steady state, without the program's start and without what warms up. A case that takes
more than micro.limits allows, or allocates more, fails, and so does one that costs too much more than another (RATIOS).

The cases `worker` and `worker-http2` (with nginx) are the release build itself, on a broker from KAFKA_HOME (whole.py);
without one they are left out. Each has two limits: for all threads, and for the lane's alone (`worker-lane`). Both spread,
because timers and batches fall otherwise on a busy machine: within 4 in a hundred for the lane, within 9 for all.

--update writes the limits anew: a tenth above what was counted (a seventh for all threads), allocations as counted.
--where says from where memory is allocated. `make micro` builds first.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import whole

HERE = pathlib.Path(__file__).resolve().parent
LIMITS = HERE / "micro.limits"
HEADROOM = 1.10
# The largest cost of an event as a multiple of another one's.
RATIOS = {("hub", "event"): 1.3, ("event-last-word", "event"): 1.1}
# The suffix of the row for a worker's lane.
LANE = "-lane"
# For counts with a spread of their own.
WIDE_HEADROOM = 1.15
# Every slot of an engine has been made and used after the first, and no table doubles between the two.
WARM, LONG = 20_000, 30_000
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}


class Profile:
    """callgrind's profile: all instructions, and the number of calls from each function to each other one."""

    def __init__(self, path):
        self.instructions = 0
        self.calls = collections.Counter()
        names, caller, callee = {}, None, None
        for line in path.read_text(errors="replace").splitlines():
            if line.startswith("summary:"):
                self.instructions = int(line.split()[1])
            elif line.startswith("fn="):
                caller = self.name(line[3:], names)
            elif line.startswith("cfn="):
                callee = self.name(line[4:], names)
            elif line.startswith("calls="):
                self.calls[caller, callee] += int(line[6:].split()[0])

    @staticmethod
    def name(text, names):
        """A name is written once, and then referred to by its number."""
        number, name = re.fullmatch(r"\((\d+)\)(?: (.*))?", text).groups()
        return names.setdefault(number, name or "?")

    def allocations(self):
        """The number of allocations by each caller; an allocator's request to another one counts once.

        A name is followed by those of its callers, as many as callgrind was told to distinguish.
        """
        counts = collections.Counter()
        for (caller, callee), count in self.calls.items():
            if callee.split("'")[0] in ALLOCATORS and caller.split("'")[0] not in ALLOCATORS:
                counts[caller] += count
        return counts


def profile(binary, case, count, callers):
    with tempfile.NamedTemporaryFile() as output:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output.name}",
                   f"--separate-callers={callers}", binary, case, str(count)]
        # Otherwise dictionaries would have another order in every run.
        environment = dict(os.environ, SWIFT_DETERMINISTIC_HASHING="1")
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"micro: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
        return Profile(pathlib.Path(output.name))


def measure(binary, case, callers=0):
    """Instructions, allocations and their callers, for each event."""
    warm, long = profile(binary, case, WARM, callers), profile(binary, case, LONG, callers)
    callers = long.allocations()
    callers.subtract(warm.allocations())
    events = LONG - WARM
    return (long.instructions - warm.instructions) / events, sum(callers.values()) / events, callers


def measure_all(case, binary, options):
    """The rows of a case: name, instructions, allocations, their callers."""
    if case not in whole.CASES:
        return [(case, *measure(binary, case, callers=8 if options.where else 0))]
    rows = whole.measure(case, os.environ["KAFKA_HOME"], options.herald, options.build, Profile)
    return [(name, *row, collections.Counter()) for name, row in zip((case, case + LANE), rows)]


def worker_cases():
    """The cases of the whole worker that can be counted here."""
    if "KAFKA_HOME" not in os.environ:
        return []
    for case in whole.CASES:
        if not whole.can_count(case):
            print(f"micro: {case} is left out: apt-get install nginx-light openssl", file=sys.stderr)
    return list(filter(whole.can_count, whole.CASES))


def raised(case, instructions, allocations):
    """The limits that follow from the counts."""
    if case in whole.CASES:
        return round(instructions * WIDE_HEADROOM), allocations * WIDE_HEADROOM
    return round(instructions * HEADROOM), allocations * (HEADROOM if case.endswith(LANE) else 1)


def read_limits():
    limits = {}
    for line in LIMITS.read_text().splitlines():
        if line and not line.startswith("#"):
            case, instructions, allocations = line.split()
            limits[case] = int(instructions), float(allocations)
    return limits


def write_limits(counted):
    head = [line for line in LIMITS.read_text().splitlines() if line.startswith("#")]
    limits = {case: raised(case, *costs) for case, costs in counted.items()}
    rows = [f"{case:<20}{instructions:>8}{allocations:>8.2f}" for case, (instructions, allocations) in limits.items()]
    LIMITS.write_text("\n".join(head + rows) + "\n")


def demangled(names):
    """Herald's own functions in a chain of callers, the innermost first."""
    ours = [name for name in names.split("'") if re.search(r"\d(Herald|micro)", name)][:3] or names.split("'")[:3]
    done = subprocess.run(["swift", "demangle", "--simplified", "--compact", *ours], stdout=subprocess.PIPE, text=True)
    return " < ".join(done.stdout.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="which to count (default: all)")
    parser.add_argument("--update", action="store_true", help="write micro.limits anew")
    parser.add_argument("--where", action="store_true", help="say from where memory is allocated")
    parser.add_argument("--build", default=str(HERE.parent / ".build/benchmarks/release"), help="where the binary is")
    parser.add_argument("--herald", default=str(HERE.parent / ".build/release"), help="where the program is")
    options = parser.parse_args()
    binary = f"{options.build}/micro"
    parts = subprocess.run([binary], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    cases = options.cases or parts + worker_cases()

    limits, counted, failed = read_limits(), {}, []
    print(f"{'for each event':<20}{'instructions':>14}{'limit':>8}{'allocations':>14}{'limit':>8}")
    for name, instructions, allocations, callers in (row for case in cases for row in measure_all(case, binary, options)):
        counted[name] = instructions, allocations
        most, allowed = limits.get(name, (0, 0))
        # The cost of each commit, every few thousand events, and of a table that doubles at times.
        within = instructions <= most and allocations <= allowed + 0.01
        print(f"{name:<20}{instructions:>14,.0f}{most:>8,}{allocations:>14.3f}{allowed:>8.2f}"
              f"{'' if within else '  too much'}", flush=True)
        if not within:
            failed.append(name)
        if options.where:
            for caller, count in callers.most_common():
                if count * 10_000 >= LONG - WARM:
                    print(f"{count / (LONG - WARM):>22.4f} from {demangled(caller)}")
    for (case, other), most in RATIOS.items():
        if case in counted and other in counted:
            ratio = counted[case][0] / counted[other][0]
            print(f"{f'{case} : {other}':<20}{ratio:>14.2f}{most:>8}{'' if ratio <= most else '  too much'}")
            if ratio > most:
                failed.append(f"{case} : {other}")
    if options.update:
        if options.cases or not counted.keys() >= whole.CASES.keys():
            sys.exit("micro: --update writes all limits, so it counts all cases, the workers' on KAFKA_HOME too.")
        write_limits(counted)
    elif failed:
        sys.exit(f"micro: above the limits of Benchmarks/micro.limits: {', '.join(failed)}. What the change gains has "
                 "to be worth it (then --update), or it has to cost less.")


if __name__ == "__main__":
    main()
