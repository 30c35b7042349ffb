#!/usr/bin/env python3
"""Shows that the simulation finds a broken engine or lane: builds each of the mistakes of table.py and runs it.

    Tests/Mutants/mutants.py [PART OF A NAME …]

A small package in .build/mutants has the engine and the lane as copies and everything else as links, so that a mutant
is one file to compile; the next one is compiled while this one runs. Fails when a mutant survives, or when one no
longer applies.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from table import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / ".build" / "mutants"
CORE = "Sources/worker/HeraldCore"
LANE = "Sources/worker/HeraldWorker/Lane"
LINKS = [
    "Sources/c/CEpoll", "Sources/c/CRDKafka",
    "Sources/foundation/HeraldBytes", "Sources/foundation/HeraldTelemetry", "Sources/foundation/HeraldThreads",
    "Sources/foundation/HeraldText", "Sources/foundation/HeraldTime", "Sources/contract/HeraldEvents",
    "Sources/clients/HeraldKafka",
    "Sources/worker/HeraldWorker/Report", "Sources/worker/HeraldWorker/OutageReason+Words.swift",
    "Tests/Simulation", "Tests/Simulate",
]
# Inputs of engines in which a mutant has to show; most show within a thousand.
STEPS = "3000000"
# A mutant may spin.
SECONDS = 600
# What begins the line that says what was found.
FINDINGS = ("SEED", "LOCALITY", "BYSTANDERS", "Fatal error", "crashed")


def prepare() -> None:
    """Makes the package, or brings it up to date; what did not change keeps its date, and so its object files."""
    PACKAGE.mkdir(parents=True, exist_ok=True)
    copy(ROOT / "Tests/Mutants/Package.swift", PACKAGE / "Package.swift")
    for link in LINKS:
        place = PACKAGE / link
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_symlink():
            place.symlink_to(ROOT / link)
    for folder in (CORE, LANE):
        copy_folder(folder)


def copy_folder(folder: str) -> None:
    originals = {path.relative_to(ROOT / folder): path for path in (ROOT / folder).rglob("*.swift")}
    for path in (PACKAGE / folder).rglob("*.swift"):
        if path.relative_to(PACKAGE / folder) not in originals:
            path.unlink()
    for name, path in originals.items():
        copy(path, PACKAGE / folder / name)


def copy(source: Path, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    if not destination.exists() or destination.read_text() != source.read_text():
        shutil.copyfile(source, destination)


def build() -> str:
    """What went wrong, or nothing."""
    result = subprocess.run(
        ["swift", "build", "--product", "simulate"], cwd=PACKAGE, capture_output=True, text=True, check=False
    )
    return "" if result.returncode == 0 else result.stdout[-2000:] + result.stderr[-2000:]


def compile_mutant(mutant: Mutant, program: Path) -> str:
    """Makes the broken program; what went wrong, or nothing."""
    paths = [path for folder in (CORE, LANE) for path in (PACKAGE / folder).rglob(mutant.file)]
    if len(paths) != 1:
        return f"{mutant.file} is there {len(paths)} times, once is needed"
    path = paths[0]
    original = path.read_text()
    if original.count(mutant.original) != 1:
        return f"its original is {original.count(mutant.original)} times in {mutant.file}, once is needed"
    path.write_text(original.replace(mutant.original, mutant.broken))
    try:
        trouble = build()
    finally:
        path.write_text(original)
    if trouble:
        return f"it does not compile\n{trouble}"
    shutil.copy(PACKAGE / ".build/debug/simulate", program)
    return ""


def simulate(mutant: Mutant, program: Path) -> str:
    """Runs a broken program; says why the mutant is no proof, or nothing."""
    try:
        result = subprocess.run(
            [program, "--steps", STEPS, "--known"],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            env={"SWIFT_BACKTRACE": "enable=no"},
        )
        lines = [line for line in result.stderr.splitlines() if line.startswith(FINDINGS)]
        found = (lines or [f"status {result.returncode}"])[0].strip()
    except subprocess.TimeoutExpired:
        found = f"does not end within {SECONDS} s"
    else:
        if result.returncode == 0:
            return f"it survives: {result.stdout.strip()}"
    finally:
        program.unlink()
    print(f"mutants: {mutant.name}\n    {found[:150]}", flush=True)
    return ""


def main() -> int:
    chosen = [m for m in MUTANTS if not sys.argv[1:] or any(part in m.name for part in sys.argv[1:])]
    began = time.monotonic()
    prepare()
    trouble = build()
    if trouble:
        print(f"mutants: the package does not compile\n{trouble}", file=sys.stderr)
        return 1
    reasons: list[tuple[Mutant, Future[str] | str]] = []
    with tempfile.TemporaryDirectory() as programs, ThreadPoolExecutor(max_workers=2) as pool:
        for mutant in chosen:
            program = Path(programs) / f"simulate-{len(reasons)}"
            trouble = compile_mutant(mutant, program)
            reasons.append((mutant, trouble or pool.submit(simulate, mutant, program)))
    failures = 0
    for mutant, outcome in reasons:
        reason = outcome if isinstance(outcome, str) else outcome.result()
        if reason:
            failures += 1
            print(f"mutants: {mutant.name}: {reason}", file=sys.stderr, flush=True)
    print(f"mutants: {len(chosen) - failures} of {len(chosen)} found in {time.monotonic() - began:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
