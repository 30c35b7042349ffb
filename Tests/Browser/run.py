#!/usr/bin/env python3
"""Runs the tests of the console in Chromium: all, the gate's, or those with a part in their name or sentence.

    run.py [--gate] [PART]

`make test` runs the gate's set when KAFKA_HOME names a Kafka, `make browser` and `make long` run all.
"""

import pathlib
import sys
import time
import unittest

from case import SCENE, ConsoleTest

HERE = pathlib.Path(__file__).resolve().parent


class Sentences(unittest.TextTestResult):
    """Prints each test's sentence and duration."""

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


def all_tests(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from all_tests(test)
        else:
            yield test


def is_in_gate(test):
    return hasattr(getattr(test, test._testMethodName), "is_in_gate")


def main():
    words = sys.argv[1:]
    is_gate = words[:1] == ["--gate"]
    part = " ".join(words[1:] if is_gate else words).lower()
    loader = unittest.TestLoader()
    tests = list(all_tests(loader.discover(HERE, pattern="*_test.py")))
    if loader.errors:
        sys.exit("\n".join(loader.errors))
    chosen = [test for test in tests if part in f"{test.id()} {test.shortDescription()}".lower()]
    if is_gate:
        chosen = [test for test in chosen if is_in_gate(test)]
        ConsoleTest.looks = ConsoleTest.looks[:1]
    if not chosen:
        sys.exit(f"browser: no test matches {part!r}")
    started = time.monotonic()
    try:
        result = unittest.TextTestRunner(resultclass=Sentences, stream=sys.stdout, verbosity=0).run(
            unittest.TestSuite(chosen))
    finally:
        SCENE.end()
    print(f"browser: {result.testsRun} tests in {time.monotonic() - started:.0f} s")
    if is_gate:
        print(f"left to make long: {len(tests) - len(chosen)} browser tests")
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
