"""The checker of queries finds the faults of a query."""

import unittest

import exported
import queries
import texts

KNOWN = {"herald_calls_total": {"pns", "result", "job"}, "herald_ready": {"job"}, "rule:x": {"topic"}}


class Queries(unittest.TestCase):
    def check(self, query):
        return queries.labels(queries.parse(query), KNOWN)

    def test_an_unknown_metric_is_found_wherever_it_is(self):
        for query in ("herald_call_total", "sum(rate(herald_call_total[5m]))", "1 - herald_call_total / herald_ready",
                      "deriv(sum(herald_call_total)[30m:1m])", "herald_ready unless on (job) (herald_call_total > 0)"):
            with self.subTest(query), self.assertRaisesRegex(queries.Unknown, "herald_call_total"):
                self.check(query)

    def test_an_unknown_label_is_found_in_matchers_aggregations_and_joins(self):
        for query in ('herald_calls_total{reason="x"}', "sum by (reason) (herald_calls_total)",
                      "herald_ready and on (pns) herald_calls_total",
                      "sum by (pns) (sum by (result) (herald_calls_total))"):
            with self.subTest(query), self.assertRaises(queries.Unknown):
                self.check(query)

    def test_what_is_no_PromQL_is_said_to_be_none(self):
        with self.assertRaisesRegex(queries.Unknown, "no PromQL"):
            self.check("sum(herald_ready")

    def test_labels_are_those_that_remain(self):
        self.assertEqual(self.check("sum by (pns) (rate(herald_calls_total[5m])) > 1"), {"pns"})
        self.assertEqual(self.check("max without (pns) (herald_calls_total)"), {"result", "job"})
        self.assertEqual(self.check("sum(herald_calls_total)"), set())

    def test_selectors_name_metrics_and_matchers(self):
        found = queries.selectors(queries.parse('sum(rate(herald_calls_total{pns="a"}[5m])) / herald_ready'))
        self.assertEqual([name for name, _ in found], ["herald_calls_total", "herald_ready"])
        self.assertEqual([(label, value) for label, _, value in found[0][1]], [("pns", "a")])


class Documents(unittest.TestCase):
    def test_anchors_are_those_of_a_forge(self):
        self.assertEqual(texts.anchors("# A b\n## `c-d` & E!\n```\n# no\n```\n"), ["a-b", "c-d--e"])

    def test_the_code_has_words_for_outages(self):
        self.assertIn("dead-letter-breaker", exported.outages())


if __name__ == "__main__":
    unittest.main()
