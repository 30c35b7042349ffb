"""The pages Verdict and Now, as a worker, its backend and its broker come and go."""

import json
import time

from case import ConsoleTest, gate
from selenium.webdriver.common.by import By


def event(number, **more):
    return {"id": f"e{number}", "user": f"user-{number}", "pns": ["apns", "gcm"], "message": "Hello", **more}


class VerdictTest(ConsoleTest):
    """It comes last, because it ends with a broker that was killed; its topics have seen no failure before it."""

    plan = {"name": "verdict."}
    # The browser notes that the console was away, and that its sessions are gone afterwards.
    accepted = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_INCOMPLETE_CHUNKED_ENCODING",
                "ERR_EMPTY_RESPONSE", "status of 401")

    def fail_letters(self, first, last):
        """Dead letters of one service that publishes nonsense."""
        now = int(time.time() * 1000)
        self.fixture.produce(self.fixture.topic("notifications.dead-letter"), [(f"user-{number}", json.dumps(event(number)), [
            ("herald-id", f"n{number}"), ("herald-pns", "apns"), ("herald-attempts", "0"), ("herald-reason", "invalid"),
            ("herald-detail", "sms is not allowed"), ("herald-source", "billing"), ("herald-dead-lettered-at", str(now)),
            ("herald-origin", f"{self.fixture.topic('notifications')}/0/{number}")]) for number in range(first, last)])

    def wait_for_verdict(self, text):
        self.browser.wait(lambda: text in self.browser.heading(), f"the verdict does not say {text!r}")

    @gate
    def test_1_all_is_well(self):
        """While a worker delivers, the verdict says so, and there is nothing to do"""
        self.fixture.publish([event(number) for number in range(20)])
        self.browser.open(self.fixture, "/")
        self.wait_for_verdict("Delivering")
        self.assertIn("All is well", self.browser.heading())
        self.assertIn("Nothing to do", self.browser.text())
        self.assert_accessible()

    @gate
    def test_2_now(self):
        """Now shows rates and limits as they change, without reloading"""
        self.browser.open(self.fixture, "/now")
        self.browser.wait_for_text("1 of 1")
        self.fixture.publish([event(number) for number in range(100, 400)])
        self.browser.wait_for_text("apns delivered")
        self.browser.wait(lambda: self.browser.driver.find_elements(By.CSS_SELECTOR, "main .plot:not([hidden]) canvas"),
                          "there is no chart")
        self.browser.press("As a table…")
        self.assertTrue(self.browser.driver.find_elements(By.CSS_SELECTOR, "details[open] table"))
        self.assert_accessible()

    def test_3_backend_is_away(self):
        """When the backend answers 503, every page says so, with the cause, the beginning, and the runbook's step"""
        self.fixture.misbehave({"status": 503})
        self.fixture.publish_only([event(number) for number in range(500, 700)])
        self.browser.open(self.fixture, "/")
        self.wait_for_verdict("Outage")
        self.assertIn("Act now", self.browser.heading())
        self.assertIn("503", self.browser.text())
        self.assertIn("outage-breaker", self.browser.text())
        # The heading is a few words, and the line above repeats no more than that.
        self.assertLessEqual(len(self.browser.heading().removeprefix("Act now").split()), 6)
        self.assertEqual(self.browser.text("#verdict-line"), "Outage")
        self.assertTrue(self.browser.driver.find_elements(By.CSS_SELECTOR, "main .first time"))
        self.assert_accessible()
        self.browser.press("Find")
        self.browser.wait_for_text("Outage", "#verdict-line")
        self.fixture.misbehave()
        self.browser.press("Verdict")
        self.browser.wait(lambda: "Outage" not in self.browser.heading(), "the outage has no end")

    def test_4_no_worker(self):
        """Without a worker the verdict says how many events wait, and clears once one runs"""
        self.fixture.stop_worker()
        # The letters from the backend's absence are handled.
        self.fixture.herald("dlq", "resolve", "--where", "offset >= 0", "--note", "a test", "--yes", may_fail=True)
        self.fixture.publish_only([event(number) for number in range(700, 712)])
        self.browser.open(self.fixture, "/")
        self.wait_for_verdict("No worker runs")
        self.browser.wait_for_text("12 events wait")
        # The findings below the worst are current, too, without reloading.
        self.fail_letters(0, 3)
        self.browser.wait_for_text("3 of the last hour are open")
        self.browser.driver.execute_script("window.isTheSame = true;")
        self.fail_letters(3, 20)
        self.browser.wait_for_text("20 of the last hour are open.")
        self.browser.wait_for_text("all from source billing", "main .chips")
        self.assertTrue(self.browser.driver.execute_script("return window.isTheSame === true;"))
        self.browser.wait_for_text("UTC (")
        self.browser.press("Plan their replay")
        self.browser.wait_for_text("20 of 20 would be replayed")
        self.assertIn("all from source billing", self.browser.text(".pattern .chips"))
        self.assertIn("These cannot succeed unchanged", self.browser.text())
        self.assert_accessible()
        self.fixture.start_worker()
        self.browser.open(self.fixture, "/")
        self.browser.wait(lambda: "No worker" not in self.browser.heading(), "the worker is not seen")

    def test_5_broker_is_away(self):
        """The broker away and back: the page says so and recovers, without reloading"""
        self.browser.open(self.fixture, "/")
        self.browser.driver.execute_script("window.isTheSame = true;")
        self.fixture.broker.kill()
        self.wait_for_verdict("Brokers unreachable")
        self.browser.press("Now")
        self.browser.wait(lambda: self.browser.heading() == "Now", "Now was not opened")
        self.browser.wait_for_text("0 of 1")
        self.assertIn("no broker answers", self.browser.text())
        self.browser.press("Verdict")
        self.fixture.broker.revive()
        self.browser.wait(lambda: "unreachable" not in self.browser.heading(), "the broker is not seen to be back")
        self.assertTrue(self.browser.driver.execute_script("return window.isTheSame === true;"))

    def test_6_console_is_away(self):
        """While the console is away the page says so, instead of old news; it is back when the console is"""
        self.browser.open(self.fixture, "/")
        self.browser.wait(lambda: self.browser.text("#verdict-line"), "there is no verdict")
        self.fixture.kill_console()
        self.browser.wait_for_text("does not answer", "#verdict-line")
        self.fixture.start_console()
        # Sessions are only in the console's memory, so viewers sign in again.
        self.browser.wait(lambda: self.browser.heading() == "Sign in", "the page does not find the console again")
        self.browser.sign_in(self.fixture)
