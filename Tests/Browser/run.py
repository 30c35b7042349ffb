#!/usr/bin/env python3
"""Runs the tests of the console in Chromium, or those whose name or sentence matches a part: `run.py [PART]`.

`make test` calls it when KAFKA_HOME names a Kafka; `make browser` runs it alone.
"""

import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Sentences(unittest.TextTestResult):
    """Says each test's sentence and how long it took."""

    def startTest(self, test):
        unittest.TestResult.startTest(self, test)
        self.started = time.monotonic()

    def say(self, sign, test):
        print(f"{sign} {test.shortDescription() or test.id()} ({time.monotonic() - self.started:.1f} s)", flush=True)

    def addSuccess(self, test):
        unittest.TestResult.addSuccess(self, test)
        self.say("✔", test)

    def addFailure(self, test, error):
        unittest.TestResult.addFailure(self, test, error)
        self.say("✘", test)

    def addError(self, test, error):
        unittest.TestResult.addError(self, test, error)
        print(f"✘ {test.shortDescription() or test}", flush=True)


def chosen(suite, part):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from chosen(test, part)
        elif part.lower() in f"{test.id()} {test.shortDescription()}".lower():
            yield test


def main():
    part = " ".join(sys.argv[1:])
    tests = list(chosen(unittest.defaultTestLoader.discover(HERE, pattern="*_test.py"), part))
    if not tests:
        sys.exit(f"browser: no test matches {part!r}")
    started = time.monotonic()
    result = unittest.TextTestRunner(resultclass=Sentences, stream=sys.stdout, verbosity=0).run(
        unittest.TestSuite(tests))
    print(f"browser: {result.testsRun} tests in {time.monotonic() - started:.0f} s")
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
