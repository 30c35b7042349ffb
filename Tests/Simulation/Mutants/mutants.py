#!/usr/bin/env python3
"""Shows that the simulation finds a broken engine, lane or job: builds each of the faults of table.py and runs it.

    Tests/Simulation/Mutants/mutants.py [PART OF A NAME …]
    Tests/Simulation/Mutants/mutants.py --changed-since COMMIT [--most N]   only of files that differ from COMMIT
    Tests/Simulation/Mutants/mutants.py --build                             builds the simulation's program, unbroken
    Tests/Simulation/Mutants/mutants.py PART --hunt SCENARIO [--seeds N]    names the seeds of a scenario that find it

A small package in .build/mutants has the engine, the lane, the jobs' machines, their drivers and Kafka's client as copies
and everything else as links, so that a mutant is one file to compile; the next one is compiled while this one runs. A
mutant runs any scenario, or its own, with the first seeds until it is found, and the unbroken engine repeats the run that
found it. Fails when the unbroken engine does, when a mutant survives, and when one no longer applies.
"""

import argparse
import fcntl
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from table import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / ".build" / "mutants"
PROGRAM = ".build/debug/simulate"
CORE = "Sources/machines/HeraldCore"
LANE = "Sources/machines/HeraldWorker/Lane"
CLIENT = "Sources/ports/HeraldKafka"
KERNEL = "Sources/kernel/HeraldKernel"
DRIVER = "Sources/kernel/HeraldDriver"
FEEDBACK = "Sources/machines/HeraldFeedback/Machine"
PUBLICATION = "Sources/machines/HeraldTools/Publication"
REPLAY = "Sources/machines/HeraldReplay/Machine"
CAMPAIGNS = "Sources/machines/HeraldCampaigns/Machine"
CONTROLS = "Sources/machines/HeraldWorker/Campaigns/Machine"
# The folders with files that a mutant may break.
BREAKABLE = (CORE, LANE, CLIENT, KERNEL, DRIVER, FEEDBACK, PUBLICATION, REPLAY, CAMPAIGNS, CONTROLS)
# The package's other sources, and the simulation.
SOURCES = [
    "Sources/c/CEpoll", "Sources/c/CExpat", "Sources/c/CRDKafka", "Sources/c/CSSL",
    "Sources/base/HeraldBytes", "Sources/base/HeraldTelemetry", "Sources/base/HeraldThreads",
    "Sources/base/HeraldText", "Sources/base/HeraldTime", "Sources/contract/HeraldEvents",
    "Sources/ports/HeraldHub/Telemetry/MessageAnswer.swift",
    "Sources/ports/HeraldHub/Telemetry/MessageDetails.swift", "Sources/ports/HeraldHub/XML",
    "Sources/machines/HeraldWorker/Report", "Sources/machines/HeraldWorker/OutageReason+Words.swift",
    *(f"Sources/machines/HeraldTools/{name}" for name in (
        "ClusterReach.swift", "ToolFailure.swift", "Files", "Journal/AuditEntry.swift",
        "Journal/ProcessIdentity.swift", "LastWord/RecallScope.swift", "Publish",
        "Records", "Results", "Text",
    )),
    *(f"Sources/machines/HeraldCampaigns/{name}" for name in (
        "Audience", "CampaignContext.swift", "Control", "Encoding", "Index", "Outcomes", "Publish/CampaignContinuation.swift",
        "Publish/CampaignOrder.swift", "Publish/CampaignPreview.swift", "Publish/CampaignTerms.swift",
        "Publish/ContentReach.swift", "Records", "Status", "Stored/AudienceAssembly.swift", "Stored/AudienceChunk.swift",
        "Stored/CampaignStatus+Detached.swift", "Stored/StoredAudienceRule.swift", "Template",
    )),
    *(f"Sources/machines/HeraldReplay/{name}" for name in (
        "DeadLetters/DeadLetterEntry.swift", "Foreign/ForeignHeaders.swift", "Foreign/ForeignTopic.swift",
        "Foreign/ReplayRules+Foreign.swift",
        "List/GroupedLetter.swift", "List/NewestLetters.swift", "List/CorrectableField.swift",
        "Marks/KnownState.swift", "Marks/Lease.swift", "Marks/MarkIndex.swift",
        "Marks/MarkRecord.swift", "Marks/OffsetSet.swift", "Outcomes/LetterFate.swift",
        "Outcomes/ReplayOutcomes.swift", "Replay/Correction.swift", "Replay/JudgedEvent.swift",
        "Replay/ReplayContext.swift",
        "Replay/ReplayOptions.swift", "Replay/ReplayPlan.swift", "Replay/ReplayRecord.swift",
        "Replay/ReplayRules.swift", "Replay/ReplayTally.swift", "Where/WhereField.swift",
    )),
]
WORLD = ["Tests/Simulation/World", "Tests/Simulation/Program"]
# A mutant has to be found with these seeds of any scenario, or with as many of its own.
SEEDS = "1...120"
SCENARIO_SEEDS = 40
# A scenario whose seed the table names is a rare one; with as many others it has to be found when that seed no longer does.
OTHER_SEEDS = 200
SEED = re.compile(r"\bseed=\d+ ?")
# A mutant may spin; seconds of processor time.
SECONDS = 300
# The names of failed cases, or of the case under way at a trap, in the program's output.
CASE = re.compile(r"^(?:crashed\? make simulate )?(SEED|LOCALITY|BYSTANDERS|REFUSALS)=(\d+)", re.MULTILINE)
# The beginnings of lines that report findings.
FINDINGS = ("SEED", "LOCALITY", "BYSTANDERS", "REFUSALS", "SCENARIO", "Fatal error", "crashed")


def prepare(package: Path = PACKAGE, sources: Path = ROOT) -> None:
    """Makes the package, or brings it up to date; unchanged files keep their dates, and so their object files.

    Other sources than the tree's are copied, because they may be gone when it is built.
    """
    copy(ROOT / "Tests/Simulation/Mutants/Package.swift", package / "Package.swift")
    for name in WORLD:
        link(package, name)
    for name in SOURCES:
        if sources == ROOT:
            link(package, name)
        else:
            copy_tree(sources / name, package / name)
    for folder in BREAKABLE:
        copy_tree(sources / folder, package / folder)


def link(package: Path, name: str) -> None:
    place = package / name
    for folder in Path(name).parents:
        # An earlier layout may have a link here.
        if folder != Path(".") and (package / folder).is_symlink():
            (package / folder).unlink()
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir() and not place.is_symlink():
        # An earlier layout may have some of its files here.
        shutil.rmtree(place)
    if not place.is_symlink():
        place.symlink_to(ROOT / name)


def copy_tree(source: Path, destination: Path) -> None:
    # An earlier layout may have a link to the tree here, and a mutant would break the tree.
    if destination.is_symlink():
        destination.unlink()
    if source.is_file():
        copy(source, destination)
        return
    originals = {path.relative_to(source): path for path in source.rglob("*") if path.is_file()}
    for path in destination.rglob("*"):
        if path.is_file() and path.relative_to(destination) not in originals:
            path.unlink()
    for name, path in originals.items():
        copy(path, destination / name)


def copy(source: Path, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    if not destination.exists() or destination.read_bytes() != source.read_bytes():
        shutil.copyfile(source, destination)


@contextmanager
def locked() -> Iterator[None]:
    """Locks the package for this process, so that no other gets a program that is broken here."""
    PACKAGE.mkdir(parents=True, exist_ok=True)
    with open(PACKAGE / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(package: Path = PACKAGE) -> str:
    """The error, or nothing."""
    result = subprocess.run(
        ["swift", "build", "--product", "simulate"], cwd=package, capture_output=True, text=True, check=False
    )
    return "" if result.returncode == 0 else result.stdout[-2000:] + result.stderr[-2000:]


def misfit(mutant: Mutant) -> str:
    """The reason for which the mutant no longer applies, or nothing."""
    paths = files(ROOT, mutant)
    if len(paths) != 1:
        return f"{mutant.file} is there {len(paths)} times, once is needed"
    count = paths[0].read_text().count(mutant.original)
    return "" if count == 1 else f"its original is {count} times in {mutant.file}, once is needed"


def files(root: Path, mutant: Mutant) -> list[Path]:
    return [path for folder in BREAKABLE for path in (root / folder).rglob(mutant.file)]


def compile_mutant(mutant: Mutant, program: Path) -> str:
    """Makes the broken program; returns the error, or nothing."""
    path = files(PACKAGE, mutant)[0]
    original = path.read_text()
    path.write_text(original.replace(mutant.original, mutant.broken))
    try:
        trouble = build()
    finally:
        path.write_text(original)
    if trouble:
        return f"it does not compile\n{trouble}"
    shutil.copy(PACKAGE / PROGRAM, program)
    return ""


class Run(NamedTuple):
    # The findings, or nothing.
    found: str
    # The arguments that repeat it alone.
    again: list[str]
    # The run's own summary when nothing was found.
    summary: str = ""


def start(program: Path, arguments: list[str], seconds: int) -> subprocess.CompletedProcess[str]:
    """Runs the program; SIGXCPU ends it after SECONDS of processor time, which a busy machine does not shorten."""
    return subprocess.run(
        ["prlimit", f"--cpu={seconds}", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"SWIFT_BACKTRACE": "enable=no"},
    )


def simulate(program: Path, arguments: list[str]) -> Run:
    result = start(program, arguments, SECONDS)
    if result.returncode == -signal.SIGXCPU:
        return Run(f"does not end within {SECONDS} s of processor time", arguments)
    if result.returncode == 0:
        return Run("", arguments, result.stdout.strip().rpartition("\n")[2])
    lines = [line for line in result.stderr.splitlines() if line.startswith(FINDINGS)]
    case = CASE.search(result.stderr)
    again = [f"--{case[1].lower()}", case[2], "--quiet"] if case else arguments
    return Run((lines or [f"status {result.returncode}"])[0].strip(), again)


def runs_of(mutant: Mutant) -> Iterator[list[str]]:
    """The runs of which one has to find the mutant.

    A seed that the table names is a way to be quick, not the proof: which seed finds a mutant moves whenever the engine
    does, so the scenario's other seeds follow it.
    """
    if not mutant.scenario:
        yield ["--first", SEEDS]
        return
    named = SEED.search(mutant.scenario)
    if named:
        yield ["--scenario", mutant.scenario, "--quiet"]
    rest = SEED.sub("", mutant.scenario)
    for seed in range(1, (OTHER_SEEDS if named else SCENARIO_SEEDS) + 1):
        yield ["--scenario", f"seed={seed} {rest}", "--quiet"]


def run_mutant(mutant: Mutant, program: Path, unbroken: Path) -> str:
    """Runs a broken program; returns the reason for which the mutant is no proof, or nothing."""
    try:
        for arguments in runs_of(mutant):
            run = simulate(program, arguments)
            if run.found:
                break
    finally:
        program.unlink()
    if not run.found:
        return f"it survives: {run.summary}"
    violation = simulate(unbroken, run.again).found
    if violation:
        return f"the unbroken engine fails too: simulate {' '.join(run.again)}: {violation}"
    print(f"mutants: {mutant.name}\n    {run.found[:150]}", flush=True)
    if "seed=" in mutant.scenario and mutant.scenario not in arguments:
        print(f"    its seed in the table no longer finds it; this does: {arguments[1]}", flush=True)
    return ""


def changed_since(commit: str, mutants: list[Mutant]) -> list[Mutant]:
    """The mutants in files that differ from a commit, whether or not the difference is committed."""
    names = subprocess.run(
        ["git", "diff", "--name-only", commit, "--", *BREAKABLE], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    changed = {Path(name).name for name in names}
    return [mutant for mutant in mutants if mutant.file in changed]


def spread(mutants: list[Mutant], most: int) -> list[Mutant]:
    """At most `most` mutants, from everywhere in the table."""
    if len(mutants) <= most:
        return mutants
    return [mutants[index * len(mutants) // most] for index in range(most)]


def choose(options: argparse.Namespace) -> list[Mutant]:
    chosen = [m for m in MUTANTS if not options.parts or any(part in m.name for part in options.parts)]
    if not options.changed_since:
        return chosen
    concerned = changed_since(options.changed_since, chosen)
    if not concerned:
        print(f"mutants: none is run, for none is of a file that differs from {options.changed_since}")
        return []
    chosen = spread(concerned, options.most)
    if len(chosen) < len(concerned):
        print(f"mutants: {len(chosen)} of the {len(concerned)} of files that differ; "
              f"{len(concerned) - len(chosen)} are left out")
    return chosen


def run(chosen: list[Mutant]) -> int:
    """Runs mutants in a package that is built; returns the number without proof."""
    reasons: list[tuple[Mutant, Future[str] | str]] = []
    with tempfile.TemporaryDirectory() as programs, ThreadPoolExecutor(max_workers=2) as pool:
        unbroken = Path(programs) / "simulate"
        shutil.copy(PACKAGE / PROGRAM, unbroken)
        for mutant in chosen:
            program = Path(programs) / f"simulate-{len(reasons)}"
            trouble = misfit(mutant) or compile_mutant(mutant, program)
            reasons.append((mutant, trouble or pool.submit(run_mutant, mutant, program, unbroken)))
    failures = 0
    for mutant, outcome in reasons:
        reason = outcome if isinstance(outcome, str) else outcome.result()
        if reason:
            failures += 1
            print(f"mutants: {mutant.name}: {reason}", file=sys.stderr, flush=True)
    return failures


def hunt(mutant: Mutant, scenario: str, seeds: int) -> int:
    """Runs a mutant in a scenario with one seed after the other, and names the ones that find it; returns 1 if none does.

    Some scenarios make nearly any seed find it; where only one in hundreds does, the table names that seed.
    """
    with tempfile.TemporaryDirectory() as programs:
        unbroken, program = Path(programs) / "simulate", Path(programs) / "simulate-broken"
        shutil.copy(PACKAGE / PROGRAM, unbroken)
        trouble = misfit(mutant) or compile_mutant(mutant, program)
        if trouble:
            print(f"mutants: {mutant.name}: {trouble}", file=sys.stderr)
            return 1

        def found(seed: int) -> tuple[int, str, str]:
            arguments = ["--scenario", f"seed={seed} {scenario}", "--quiet"]
            broken = simulate(program, arguments).found
            return seed, broken, simulate(unbroken, arguments).found if broken else ""

        count = 0
        with ThreadPoolExecutor(max_workers=2) as pool:
            for seed, broken, itself in pool.map(found, range(1, seeds + 1)):
                if itself:
                    print(f"mutants: seed {seed}: the unbroken engine fails too: {itself[:150]}", flush=True)
                elif broken:
                    count += 1
                    print(f"mutants: seed {seed}: {broken[:150]}", flush=True)
    print(f"mutants: {count} of {seeds} seeds find: {mutant.name}")
    return 0 if count else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Breaks engine and lane, and shows that the simulation finds it.")
    parser.add_argument("parts", nargs="*", metavar="PART", help="only mutants whose name has one of these parts")
    parser.add_argument("--changed-since", metavar="COMMIT", help="only mutants of files that differ from it")
    parser.add_argument("--most", type=int, default=30, metavar="N", help="of those at most so many (30)")
    parser.add_argument("--build", action="store_true", help="only builds the simulation's program, unbroken")
    parser.add_argument("--hunt", metavar="SCENARIO", help="only says which of its seeds find each chosen mutant")
    parser.add_argument("--seeds", type=int, default=100, metavar="N", help="of a hunt: the seeds 1 to N (100)")
    options = parser.parse_args()
    began = time.monotonic()
    chosen = [] if options.build else choose(options)
    if not chosen and not options.build:
        return 0
    with locked():
        prepare()
        trouble = build()
        if trouble:
            print(f"mutants: the package does not compile\n{trouble}", file=sys.stderr)
            return 1
        if options.build:
            return 0
        if options.hunt is not None:
            return max(hunt(mutant, options.hunt, options.seeds) for mutant in chosen)
        failures = run(chosen)
    print(f"mutants: {len(chosen) - failures} of {len(chosen)} found in {time.monotonic() - began:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
