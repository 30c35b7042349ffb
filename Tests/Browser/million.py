"""Measures the page Failures over a million dead letters: the time of the first reading, and of the page afterwards.

`scripts/browser --million [COUNT]` runs it; it asserts nothing, because the figures are the machine's.
"""

import json
import pathlib
import sys
import time

from browser import Browser
from fixture import Fixture, wait_for

# Reading a million takes longer than anything else.
READING_SECONDS = 900


def dead_letters(count):
    """Small ones, in groups like those of an outage."""
    now = int(time.time() * 1000)
    for number in range(count):
        value = f'{{"id":"n{number}","user":"u{number}","pns":["gcm"],"message":"Your table is free"}}'
        at = now - 21_600_000 + number * 21_600_000 // count
        headers = [
            ("herald-id", f"n{number}"), ("herald-pns", "gcm"), ("herald-attempts", "6"),
            ("herald-origin", f"notifications/{number % 2}/{number}"), ("herald-dead-lettered-at", str(at)),
            ("herald-reason", "rejected" if number % 20 == 0 else "attempts-exhausted"),
            ("herald-status", "404" if number % 20 == 0 else "503"), ("herald-detail", "the backend answered 503"),
            ("herald-source", ("shop", "tickets", "bank")[number % 3]), ("herald-campaign", f"c{number % 40}"),
        ]
        yield f"u{number}".encode(), value.encode(), headers, at


def seconds(action):
    started = time.monotonic()
    action()
    return time.monotonic() - started


def memory(process):
    """Its resident memory, in MiB. `env` has become the console."""
    line = next(line for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
                if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with Fixture(worker=False) as fixture, Browser() as browser:
        fixture.kill_console()
        print(f"million: {count} dead letters written in "
              f"{seconds(lambda: fixture.produce('notifications.dead-letter', dead_letters(count))):.1f} s", flush=True)
        before = time.monotonic()
        fixture.start_console()
        browser.sign_in(fixture)

        def read():
            answer = browser.driver.execute_async_script(
                "const done = arguments[0];"
                "fetch('/api/failures/groups?by=reason').then((answer) => answer.text()).then(done, () => done('{}'));")
            groups = json.loads(answer).get("groups", [])
            return sum(group["count"] for group in groups) >= count

        wait_for(read, READING_SECONDS, "they were not read")
        print(f"million: read once in {time.monotonic() - before:.1f} s; the console has {memory(fixture.console)} MiB")
        pages = {"groups by reason": "/failures", "groups by campaign": "/failures?by=campaign",
                 "groups of a condition": "/failures?where=status+%3D+503+and+campaign+%3D+c7",
                 "one by one": "/failures/letters?group=reason%3Drejected"}
        for name, path in pages.items():
            taken = [seconds(lambda: show(browser, fixture, path)) for _ in range(5)]
            print(f"million: {name}: {min(taken):.2f} to {max(taken):.2f} s until the table stands", flush=True)


def show(browser, fixture, path):
    """Opens the page in a new document, and waits for its rows."""
    browser.driver.get("about:blank")
    browser.driver.get(fixture.address + path)
    browser.wait(lambda: browser.driver.execute_script("return document.querySelector('main tbody tr') !== null;"),
                 f"{path} has no rows")


if __name__ == "__main__":
    main()
