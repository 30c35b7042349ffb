"""The page Account: what was published, and what became of it."""

from case import ConsoleTest, gate


class AccountTest(ConsoleTest):
    plan = {"name": "account."}

    @gate
    def test_equal(self):
        """Everything of the last day has one result: the page says that it is equal, by topic, source and push service"""
        self.fixture.publish([{"id": f"a{number}", "source": "shop", "user": f"user-{number}", "pns": ["apns", "gcm"],
                               "message": "Hi"} for number in range(30)])
        self.browser.press("Account")
        self.browser.press("The last 24 hours")
        self.browser.wait_for_text("Every notification has one result")
        text = self.browser.text()
        for fact in ("Equal", "60", "shop", "apns", "gcm", "herald account --since 24h"):
            self.assertIn(fact, text)
        self.assert_accessible()

    def test_refused_span(self):
        """A span that cannot be is refused at its field"""
        self.browser.press("Account")
        self.browser.fill("Published since", "yesterday")
        self.browser.press("Count")
        self.browser.wait_for_text("Published since: \"yesterday\" is not understood")
        self.assert_accessible()

    accepted = ("status of 400",)
