import datetime
import json
import unittest

import run_verdict as verdict

TODAY = datetime.date(2026, 11, 24)
FLAKY = "EndToEndTests.StopTests/zombie()"


def test(name, title="A sentence"):
    return {"kind": "test", "payload": {"kind": "function", "id": f"{name}/A.swift:3:6", "name": "f", "displayName": title}}


def event(kind, name=None, **more):
    payload = {"kind": kind, "messages": [{"symbol": "fail", "text": "1 == 2"}], **more}
    if name:
        payload["testID"] = f"{name}/A.swift:3:6"
    return {"kind": "event", "payload": payload}


def run(*records):
    return verdict.read_stream([json.dumps(record) for record in records])


class Reading(unittest.TestCase):
    def test_an_issue_makes_its_test_a_failure_with_what_was_said(self):
        read = run(test(FLAKY), event("issueRecorded", FLAKY, issue={"isKnown": False}), event("runEnded"))
        self.assertEqual(read.failures, {FLAKY: ["1 == 2"]})
        self.assertEqual(read.functions, {FLAKY: "A sentence"})
        self.assertTrue(read.ended)

    def test_a_known_issue_and_a_warning_are_no_failures(self):
        read = run(
            event("issueRecorded", FLAKY, issue={"isKnown": True}),
            event("issueRecorded", FLAKY, issue={"isKnown": False, "_severity": "warning"}),
        )
        self.assertEqual(read.failures, {})

    def test_a_process_that_died_in_a_line_has_not_ended(self):
        read = verdict.read_stream([json.dumps(test(FLAKY)), '{"kind":"ev'])
        self.assertFalse(read.ended)


class RunningAgain(unittest.TestCase):
    def failing(self, *names):
        return run(*(event("issueRecorded", name, issue={"isKnown": False}) for name in names), event("runEnded"))

    def test_one_test_of_real_time_may(self):
        self.assertEqual(verdict.may_run_again(self.failing(FLAKY), 1, {FLAKY}), (FLAKY, ""))

    def test_two_may_not(self):
        self.assertIsNone(verdict.may_run_again(self.failing(FLAKY, "b"), 1, {FLAKY, "b"})[0])

    def test_a_test_without_real_time_may_not(self):
        self.assertIsNone(verdict.may_run_again(self.failing(FLAKY), 1, {"b"})[0])

    def test_a_crash_may_not(self):
        crashed = run(event("issueRecorded", FLAKY, issue={"isKnown": False}))
        self.assertIsNone(verdict.may_run_again(crashed, 132, {FLAKY})[0])

    def test_a_status_without_a_failure_may_not(self):
        self.assertIsNone(verdict.may_run_again(self.failing(), 1, {FLAKY})[0])


class Quarantine(unittest.TestCase):
    def problems(self, *lines):
        return verdict.read_quarantine("\n".join(lines), TODAY)[1]

    def test_a_line_is_a_test_a_reason_and_a_day(self):
        entries, problems = verdict.read_quarantine(f"# why\n\n{FLAKY} | a member joins late | 2026-12-08\n", TODAY)
        self.assertEqual(problems, [])
        self.assertEqual(entries, [verdict.Entry(FLAKY, "a member joins late", datetime.date(2026, 12, 8))])

    def test_a_day_that_is_over_is_an_error(self):
        self.assertEqual(self.problems(f"{FLAKY} | why | 2026-11-24"), [])
        self.assertIn("mend it", self.problems(f"{FLAKY} | why | 2026-11-23")[0])

    def test_a_day_beyond_fourteen_is_an_error(self):
        self.assertIn("14 days", self.problems(f"{FLAKY} | why | 2026-12-09")[0])

    def test_a_sixth_line_is_an_error(self):
        self.assertEqual(self.problems(*[f"{FLAKY} | why | 2026-12-01"] * 5), [])
        self.assertIn("6 tests", self.problems(*[f"{FLAKY} | why | 2026-12-01"] * 6)[0])

    def test_what_is_no_such_line_is_an_error(self):
        for line in ["x", f"{FLAKY} | why", f"{FLAKY} | why | tomorrow", f"{FLAKY} | | 2026-12-01", "| why | 2026-12-01"]:
            self.assertEqual(len(self.problems(line)), 1, line)

    def test_a_test_that_is_gone_is_an_error(self):
        entries = [verdict.Entry(FLAKY, "why", TODAY)]
        self.assertEqual(verdict.unknown(entries, run(test(FLAKY))), [])
        self.assertEqual(len(verdict.unknown(entries, run(test("b")))), 1)


if __name__ == "__main__":
    unittest.main()
