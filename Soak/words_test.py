"""Tests the judge of words.py: each kind of breach is found, and nothing where all is well."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "scripts/shared")]

from history import Call
from words import CAP, LAG_MS, Judge, Word

NIGHT = (500_000, 900_000)


class World:
    """One user, ann, with an event of one push service that was published at 100 000."""

    def __init__(self, words=(), recalled_at=None, campaign="sale"):
        self.words = {"ann": [Word(time, frozenset(out), quiet) for time, out, quiet in words]}
        self.recalled_at = recalled_at
        self.published = {("e", "ann", "gcm"): (100_000, campaign)}
        self.results, self.calls = {}, []

    def called(self, at, name="e", how="200"):
        self.calls.append(Call(len(self.calls), at, "w", name, "gcm", "ann", at + 5, how))
        return self

    def ended(self, at, outcome="delivered", reason=None, name="e"):
        self.published.setdefault((name, "ann", "gcm"), (100_000, "sale"))
        result = {"outcome": outcome, **({"reason": reason} if reason else {})}
        self.results.setdefault((name, "ann", "gcm"), []).append((at, result))
        return self

    def broken(self):
        judge = Judge(self.words, self.recalled_at, self.published, self.results, self.calls)
        judge.check()
        return sorted(judge.broken)


class JudgeTests(unittest.TestCase):
    def test_a_delivery_that_nobody_forbids_is_well(self):
        self.assertEqual(World().called(101_000).ended(101_010).broken(), [])

    def test_a_call_long_after_an_opt_out_is_found(self):
        world = World([(90_000, ["promotional"], ())]).called(101_000).ended(101_010)
        self.assertEqual(world.broken(), ["called against a word", "delivered against a word"])

    def test_a_call_that_began_before_the_word_could_be_known_is_well(self):
        self.assertEqual(World([(100_900, ["all"], ())]).called(101_000).ended(101_010).broken(), [])

    def test_who_took_an_opt_out_back_may_be_called(self):
        world = World([(90_000, ["all"], ()), (100_900, [], ())]).called(101_000).ended(101_010)
        self.assertEqual(world.broken(), [])

    def test_another_push_service_s_word_suppresses_nothing(self):
        world = World([(90_000, ["pns:apns"], ())]).ended(101_000, "suppressed", "opted-out")
        self.assertEqual(world.broken(), ["left out without a word"])

    def test_a_suppression_by_a_word_is_well(self):
        world = World([(90_000, ["pns:gcm"], ())]).ended(101_000, "suppressed", "opted-out")
        self.assertEqual(world.broken(), [])

    def test_a_call_at_night_is_found_and_one_in_the_morning_is_well(self):
        night = [(90_000, [], NIGHT)]
        self.assertEqual(World(night).called(NIGHT[0]).ended(NIGHT[0] + 10).broken(), ["called against a word"])
        self.assertEqual(World(night).called(NIGHT[1]).ended(NIGHT[1] + 10).broken(), [])

    def test_a_recalled_event_may_be_called_only_at_first(self):
        late = 100_500 + LAG_MS + 1
        self.assertEqual(World(recalled_at=100_500, campaign="wrong").called(100_600).ended(100_700).broken(), [])
        self.assertEqual(
            World(recalled_at=100_500, campaign="wrong").called(late).ended(late).broken(), ["called against a recall"])

    def test_another_campaign_is_not_recalled(self):
        world = World(recalled_at=100_500).ended(101_000, "suppressed", "recalled")
        self.assertEqual(world.broken(), ["recalled without a recall"])

    def test_missing_and_second_results_are_found(self):
        self.assertEqual(World().broken(), ["no result"])
        self.assertEqual(World().ended(101_000).ended(102_000).broken(), ["more than one result"])

    def test_a_dead_letter_is_found(self):
        self.assertEqual(World().ended(101_000, "dead-lettered", "rejected").broken(), ["ended otherwise"])

    def test_more_than_a_cap_allows_is_found(self):
        world = World()
        for number in range(CAP + 1):
            world.ended(101_000 + number, name="e" if number == 0 else f"e{number}")
        self.assertEqual(world.broken(), ["more than a cap allows"])

    def test_capped_needs_a_full_cap(self):
        world = World().ended(101_000, "suppressed", "capped")
        self.assertEqual(world.broken(), ["capped below the cap"])
        for number in range(CAP):
            world.ended(100_500 + number, name=f"b{number}")
        self.assertEqual(world.broken(), [])


if __name__ == "__main__":
    unittest.main()
