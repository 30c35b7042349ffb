"""The oracle finds the violations that it looks for: a correct history passes, and each kind of breach is named."""

import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts/shared"))

import logfiles
from history import Call, History, Incident, Record, Request
from oracle import Oracle

REQUESTS, RETRY = "notifications", "notifications.retry.1s"
RESULTS, DEAD = "notifications.results", "notifications.dead-letter"
NEVER = float("inf")


class World:
    """Three events of one user: one is delivered, one rejected, one delivered after a retry."""

    def __init__(self):
        self.requests = [
            Request((REQUESTS, 0, 0), 1_000, "u", "plain", "plain-0", "u", ("apns",), ""),
            Request((REQUESTS, 0, 1), 1_000, "rejected-0", "rejected", "rejected-1", "rejected-0", ("apns",), ""),
            Request((REQUESTS, 0, 2), 1_000, "u", "plain", "plain-2", "u", ("apns",), ""),
            Request((REQUESTS, 0, 3), 1_000, "u", "plain", "plain-3", "u", ("apns",), ""),
        ]
        self.calls = [
            self.call(1, 1_100, "plain-0", "u", "200"), self.call(2, 1_110, "rejected-1", "rejected-0", "400"),
            self.call(3, 1_200, "plain-2", "u", "500"), self.call(4, 1_300, "plain-3", "u", "200"),
            self.call(5, 2_300, "plain-2", "u", "200"),
        ]
        self.results = [
            self.result(0, 1_200, "delivered", status=200),
            self.result(1, 1_210, "dead-lettered", "rejected", status=400),
            self.result(3, 1_400, "delivered", status=200), self.result(2, 2_400, "delivered", status=200),
        ]
        self.retries = [Record((RETRY, 0, 0), 1_290, (REQUESTS, 0, 2), ("apns",), {"herald-reason": "transient"})]
        self.dead = [Record((DEAD, 0, 0), 1_210, (REQUESTS, 0, 1), ("apns",), {"herald-reason": "rejected"})]
        self.commits = [logfiles.Commit(1_450, REQUESTS, 0, 4), logfiles.Commit(2_450, RETRY, 0, 1)]
        self.incidents = []
        self.ends = []
        self.faults = []

    @staticmethod
    def call(number, begin, identifier, user, how, worker="ada.1", end=None):
        return Call(number, begin, worker, identifier, "apns", user, end or begin + 10, how)

    def result(self, event, time, outcome, reason=None, **facts):
        request = self.requests[event]
        facts |= {"outcome": outcome, "id": request.id, "user": request.user} | ({"reason": reason} if reason else {})
        return Record((RESULTS, 0, time), time, request.place, ("apns",), facts, time + 5)

    def violations(self, guarantee="atomic"):
        history = History(
            self.requests, self.results, self.retries, self.dead, self.calls, self.commits, self.incidents,
            faults=self.faults, ends=self.ends)
        oracle = Oracle(history, guarantee, {"ada": 1, "bob": 1}, 5, 3_000).check()
        return {kind for kind, sentences in oracle.violations.items() if sentences}


    def account(self):
        """What a right account says of it."""
        counts = {"events": 4, "notifications": 4, "delivered": 3, "dead-lettered": 1, "missing": 0, "repeated": 0}
        return {"total": counts, "topics": [{"topic": REQUESTS} | counts], "pushServices": [{"pns": "apns"} | counts],
                "tombstones": 0, "gaps": []}

    def misjudged(self, account):
        oracle = Oracle(History(self.requests, self.results, [], [], [], [], []), "atomic", {}, 5, 3_000)
        oracle.check_account(account)
        return oracle.violations["a wrong account"]


class OracleTest(unittest.TestCase):
    def setUp(self):
        self.world = World()

    def expect(self, *kinds, guarantee="atomic"):
        self.assertEqual(self.world.violations(guarantee), set(kinds))

    def repeat(self, time=1_600, event="plain-3", worker="bob.1"):
        self.world.calls.append(World.call(9, time, event, "u", "200", worker))

    def test_a_sound_history_passes(self):
        self.expect()
        self.expect(guarantee="at-least-once")

    def test_a_missing_result_is_a_loss_and_its_commit_came_too_early(self):
        del self.world.results[0]
        self.expect("lost", "committed and not finished")

    def test_a_retry_without_an_end_is_a_loss(self):
        del self.world.results[3]
        self.expect("lost", "committed and not finished")

    def test_a_second_result_is_one_too_many_unless_at_least_once(self):
        self.world.results.append(self.world.results[0]._replace(place=(RESULTS, 0, 9_999)))
        self.expect("doubled")
        self.expect(guarantee="at-least-once")

    def test_a_second_dead_letter_is_one_too_many(self):
        self.world.dead.append(self.world.dead[0]._replace(place=(DEAD, 0, 1)))
        self.expect("doubled")

    def test_delivered_without_an_accepted_call(self):
        self.world.calls[0] = self.world.calls[0]._replace(how="500")
        self.expect("wrong result")

    def test_delivered_before_the_call_was_answered(self):
        self.world.results[0] = self.world.results[0]._replace(time=1_102)
        self.expect("wrong result")

    def test_given_up_before_all_calls_were_made(self):
        self.world.results[3] = self.world.result(2, 2_400, "dead-lettered", "attempts-exhausted", attempts=2)
        self.world.dead.append(self.world.dead[0]._replace(
            place=(DEAD, 0, 1), time=2_400, origin=(REQUESTS, 0, 2), facts={"herald-reason": "attempts-exhausted"}))
        self.expect("wrong result")

    def test_a_rejection_without_its_dead_letter(self):
        self.world.dead.clear()
        self.expect("dead letter without result, or the reverse", "committed and not finished")

    def test_an_account_that_agrees(self):
        self.assertEqual(self.world.misjudged(self.world.account()), [])

    def test_an_account_that_overlooks_a_loss(self):
        account = self.world.account()
        del self.world.results[0]
        self.assertIn("('all', 'missing'): 0, where the topics have 1", self.world.misjudged(account))

    def test_an_account_that_counts_too_many_or_could_not_read_all(self):
        account = self.world.account()
        account["tombstones"] = 1
        account["pushServices"].append({"pns": "gcm", "events": 1})
        account["gaps"] = ["results"]
        self.assertEqual(len(self.world.misjudged(account)), 3)

    def test_records_and_calls_of_nobody(self):
        self.world.results.append(self.world.results[0]._replace(origin=(REQUESTS, 0, 77)))
        self.expect("unasked")
        self.setUp()
        self.world.calls.append(World.call(9, 3_000, "plain-77", "u", "200"))
        self.expect("unasked")

    def test_a_commit_before_the_result_was_durable(self):
        self.world.commits[0] = self.world.commits[0]._replace(time=1_300)
        self.expect("committed and not finished")

    def test_a_retry_that_was_committed_before_it_ended(self):
        self.world.commits[1] = self.world.commits[1]._replace(time=2_000)
        self.expect("committed and not finished")

    def test_a_commit_that_goes_back(self):
        self.world.commits.append(self.world.commits[0]._replace(offset=1))
        self.expect("commit went back")

    def test_an_event_that_was_never_committed(self):
        self.world.commits[0] = self.world.commits[0]._replace(offset=3)
        self.expect("not committed at the end")

    def test_a_repeated_call_needs_a_cause(self):
        self.repeat(time=1_350)
        self.expect("repeated without cause")
        self.world.incidents = [Incident("leave", "ada.1", 1_340, 1_340)]
        self.expect("repeated without cause")
        self.world.incidents = [Incident("kill", "ada.1", 1_340, 1_340)]
        self.expect()

    def test_what_has_its_result_is_not_called_again_even_after_a_kill(self):
        self.world.incidents = [Incident("kill", "ada.1", 1_500, 1_500)]
        self.repeat()
        self.expect("called after its result")
        self.expect(guarantee="at-least-once")

    def test_a_worker_that_was_stopped_cannot_know_better(self):
        self.world.incidents = [Incident("stop", "bob.1", 1_150, 1_590)]
        self.repeat()
        self.expect()

    def test_a_session_that_ran_out_is_as_good_as_a_stop(self):
        self.world.incidents = [Incident("session lost", "bob.1", 1_150, 1_590)]
        self.repeat()
        self.expect()

    def test_no_more_is_repeated_than_a_worker_had_under_way(self):
        self.world.incidents = [Incident("kill", "ada.1", 1_203, 1_203)]
        self.repeat(time=1_304)
        self.expect()
        self.world.calls.append(World.call(10, 1_204, "plain-0", "u", "200", "bob.1"))
        self.expect("more repeated than was under way")

    def test_order_of_one_user(self):
        self.world.calls[0], self.world.calls[3] = (
            self.world.calls[0]._replace(number=4), self.world.calls[3]._replace(number=1))
        self.expect("order")

    def test_what_was_retried_may_be_overtaken(self):
        self.world.calls[2] = self.world.calls[2]._replace(number=6)
        self.expect()

    def test_what_waits_for_its_moment_may_be_overtaken(self):
        self.world.requests[0] = self.world.requests[0]._replace(kind="later", not_before="1970-01-01T00:00:02.100Z")
        self.world.calls[0] = self.world.calls[0]._replace(number=6, begin=2_110, end=2_115)
        self.world.results[0] = self.world.result(0, 2_120, "delivered", status=200)
        self.world.commits[0] = self.world.commits[0]._replace(time=2_200)
        self.expect()
        self.world.requests[0] = self.world.requests[0]._replace(not_before="1970-01-01T00:00:01.100Z")
        self.expect("order")

    def test_what_was_put_off_may_be_overtaken(self):
        self.test_order_of_one_user()
        self.world.faults = [(1_000, 1_050, "429")]
        self.expect()

    def test_what_waited_in_a_retry_topic_before_its_call_may_overtake(self):
        self.world.calls[3] = self.world.calls[3]._replace(number=0)
        self.world.commits[1] = self.world.commits[1]._replace(offset=2)
        retry = Record((RETRY, 0, 1), 1_250, (REQUESTS, 0, 3), ("apns",), {"herald-reason": "blocked"})
        self.world.retries.append(retry)
        self.expect()
        self.world.retries[-1] = retry._replace(time=1_305)
        self.expect("order")

    def test_a_worker_that_crashes(self):
        self.world.ends = [{"at": 1_500, "worker": "ada.1", "how": "SIGSEGV", "was_leaving": False, "log": ""}]
        self.expect("a worker ended by itself")
        self.world.ends[0]["how"] = "status 1"
        self.expect("a worker ended by itself")
        self.world.incidents = [Incident("stop", "ada.1", 1_450, 1_490)]
        self.expect()


class LogFilesTest(unittest.TestCase):
    """A partition with a plain batch, a committed transaction, an aborted one, and an open one."""

    @staticmethod
    def batch(base, count, attributes=0, producer=-1, time=0, key=b"", value=b""):
        body = b""
        for delta in range(count):
            fields = bytes([2 * len(key)]) + key + bytes([2 * len(value)]) + value
            record = b"\x00\x00" + bytes([2 * delta]) + fields + b"\x00"
            body += bytes([2 * len(record)]) + record
        length = logfiles.HEADER.size - logfiles.PREFIX + len(body)
        return logfiles.HEADER.pack(
            base, length, 0, 2, 0, attributes, count - 1, time, time, producer, 0, 0, count) + body

    def marker(self, base, producer, is_commit, time):
        attributes = logfiles.CONTROL | logfiles.TRANSACTIONAL
        return self.batch(base, 1, attributes, producer, time, struct.pack(">hh", 0, is_commit))

    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        transactional = logfiles.TRANSACTIONAL
        self.batches = [
            self.batch(0, 2, time=10), self.batch(2, 3, transactional, 7, 20), self.batch(5, 1, transactional, 8, 21),
            self.marker(6, 7, True, 30), self.marker(7, 8, False, 31),
        ]

    def write(self, *more):
        (self.folder / "0.log").write_bytes(b"".join([*self.batches, *more]))

    def test_the_last_committed_record_is_the_end(self):
        self.write()
        self.assertEqual(logfiles.end_of(self.folder), (4, False))
        self.write(self.batch(8, 1, logfiles.TRANSACTIONAL, 9))
        self.assertEqual(logfiles.end_of(self.folder), (4, True))

    def test_records_become_visible_with_their_marker(self):
        self.write()
        visibility = logfiles.Visibility(self.folder)
        self.assertEqual([visibility.time(offset) for offset in (1, 2, 4)], [10, 30, 30])
        with self.assertRaises(ValueError):
            visibility.time(5)

    def test_half_a_batch_at_the_end_is_left_out(self):
        self.write(self.batch(8, 5)[:-3])
        self.assertEqual(logfiles.end_of(self.folder).last, 4)

    def test_commits_of_the_group_that_became_visible(self):
        def offset(group, number):
            key = struct.pack(">hh", 1, len(group)) + group + struct.pack(">h", 1) + b"t" + struct.pack(">i", 3)
            return {"key": key, "value": struct.pack(">hqi", 3, number, -1)}

        transactional = logfiles.TRANSACTIONAL
        self.batches = [
            self.batch(0, 1, time=10, **offset(b"g", 5)), self.batch(1, 1, time=11, **offset(b"other", 6)),
            self.batch(2, 1, transactional, 7, 12, **offset(b"g", 7)),
            self.batch(3, 1, transactional, 8, 13, **offset(b"g", 8)),
            self.marker(4, 8, False, 14), self.marker(5, 7, True, 15),
        ]
        self.write()
        self.assertEqual(
            logfiles.commits([self.folder], "g"), [logfiles.Commit(10, "t", 3, 5), logfiles.Commit(15, "t", 3, 7)])


if __name__ == "__main__":
    unittest.main()
