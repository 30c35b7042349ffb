import unittest

from mutants import MUTANTS, misfit


class TheTable(unittest.TestCase):
    def test_each_mutant_has_one_place_in_the_sources_as_they_are(self):
        # A run chooses some of them: the others must not wait for their turn to be found outdated.
        self.assertEqual([], [f"{mutant.name}: {reason}" for mutant in MUTANTS if (reason := misfit(mutant))])

    def test_no_two_mutants_have_the_same_name(self):
        names = [mutant.name for mutant in MUTANTS]
        self.assertEqual(sorted(set(names)), sorted(names))
