"""The last day: a console's view of a time in which none ran; the runbook; links; and all of it on a phone."""

import json
import time

from case import PAGES, ConsoleTest
from selenium.webdriver.common.by import By

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class DayTest(ConsoleTest):
    plan = {"name": "day.", "settings": "console:\n  links:\n    traces: https://traces.example.com/trace/{traceId}\n"
            "    alerts: https://alerts.example.com/alerts?name={alert}\noutages: {breaker: {of: 20}}\n"}

    @classmethod
    def prepare(cls):
        """An outage begins and ends, and no console runs meanwhile."""
        fixture = cls.fixture
        fixture.publish([event(number) for number in range(4)])
        fixture.kill_console()
        fixture.misbehave({"status": 503})
        began = int(time.time() * 1000) - 1_500_000
        # As if the backend had been away for twenty-five minutes: Kafka has each record's publication time.
        fixture.produce(fixture.topic("notifications"), [
            (f"user-{number}", json.dumps(event(number)), [("traceparent", f"00-{TRACE}-00f067aa0ba902b7-01")], began + number * 1000)
            for number in range(100, 160)])
        fixture.wait(lambda: "outage-" in (fixture.reasons() or ""), "there was no outage")
        fixture.misbehave()
        # Some may have become dead letters before the outage was known.
        fixture.wait(lambda: fixture.ended() == 128, "they have no outcome")
        late = [call["user"] for call in fixture.calls() if call["status"] == 200 and int(call["user"][5:]) >= 100]
        # An event counts once, for any number of push services.
        cls.deliveries, cls.late = len(late), len(set(late))
        cls.began = began
        fixture.start_console()

    def open_day(self):
        self.browser.open(self.fixture, "/")
        self.browser.wait_for_text("Delivered late")
        # Results become readable when their transaction is over.
        self.browser.wait(lambda: f"{self.late}, by up to 2" in self.browser.text(), "not all are told that came late")

    def test_outage_before_start(self):
        """A console started after an outage reads from Kafka when it was, and how many events waited and came late"""
        self.open_day()
        row = next(row for row in self.browser.driver.find_elements(By.CSS_SELECTOR, "main tbody tr") if "Delivered late" in row.text)
        self.assertIn(f"{self.late} waited at most", row.text)
        begin = row.find_element(By.CSS_SELECTOR, "time").get_attribute("datetime")
        self.assertGreater(self.late, 20)
        self.assertIn(begin, [moment(self.began + second * 1000) for second in range(100, 160)])
        self.browser.wait_for_text(f"all {8 + self.deliveries} deliveries of the day")
        self.browser.wait(lambda: "still read" not in self.browser.text(), "the day is not read to its end")

    def test_phone(self):
        """On a phone nothing is off-screen: the day, charts, the runbook, a plan, an event"""
        self.fixture.produce(self.fixture.topic("notifications.dead-letter"), [(b"user-1", json.dumps(event(1)), [
            ("herald-id", "e1"), ("herald-pns", "apns"), ("herald-attempts", "0"), ("herald-reason", "invalid"),
            ("herald-detail", "sms is not allowed, " * 10), ("herald-dead-lettered-at", str(int(time.time() * 1000))),
            ("herald-origin", f"{self.fixture.topic('notifications')}/0/1")])])
        self.browser.looks(390)
        self.open_day()
        self.assert_fits()
        for path in (*PAGES, "/runbook/login-failed", "/find?user=user-100"):
            self.browser.open(self.fixture, path)
            self.browser.wait_for_text({"/now": "From publication to outcome", "/failures": "reason=invalid", "/runbook": "First look",
                                        "/runbook/login-failed": "First look", "/find?user=user-100": "What happened"}.get(path, ""))
            self.assert_fits()
        self.browser.open(self.fixture, "/failures")
        self.browser.press("Plan their replay…")
        self.browser.wait_for_text("would be replayed")
        self.assert_fits()

    def assert_fits(self):
        wide = self.browser.driver.execute_script("""
            return document.documentElement.scrollWidth <= innerWidth ? []
                : [...document.querySelectorAll('body *')].filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
                    .map((each) => `${each.tagName}.${each.className}: ${each.textContent.slice(0, 60)}`).slice(0, 5);""")
        self.assertEqual(wide, [], f"{self.browser.path} is wider than a phone")

    def test_runbook(self):
        """The verdict's step leads to its section of the runbook, in the console, and its links lead on"""
        self.browser.open(self.fixture, "/runbook/brokers-unreachable")
        self.browser.wait_for_text("No broker answers.")
        self.assert_in_view("brokers-unreachable")
        self.browser.press("HeraldBrokersUnreachable")
        self.browser.wait(lambda: self.browser.path == "/runbook/heraldbrokersunreachable", "the link leads elsewhere")
        self.assert_in_view("heraldbrokersunreachable")
        self.assert_accessible()

    def assert_in_view(self, section):
        self.browser.wait(lambda: self.browser.driver.execute_script("""
            const box = document.getElementById(arguments[0])?.getBoundingClientRect();
            return Boolean(box) && box.top > -1 && box.bottom <= innerHeight;""", section), f"{section} is not in view")

    def test_links(self):
        """An event leads to its trace, and a finding to its alert and its section of the runbook"""
        self.browser.open(self.fixture, "/find?user=user-100")
        self.browser.wait_for_text("What happened")
        self.assertEqual(self.browser.the("a", TRACE).get_attribute("href"), f"https://traces.example.com/trace/{TRACE}")
        self.fixture.stop_worker()
        self.browser.open(self.fixture, "/")
        self.browser.wait(lambda: "No worker" in self.browser.heading(), "the worker's end is not seen")
        self.assertEqual(self.browser.the("a", "HeraldDown").get_attribute("href"), "https://alerts.example.com/alerts?name=HeraldDown")
        self.browser.press("heralddown")
        self.assert_in_view("heralddown")
        self.fixture.start_worker()


class NotKnownTest(ConsoleTest):
    # The location of its admin port is unknown: it has none.
    plan = {"name": "unknown.", "worker": False, "admin": False}

    @classmethod
    def prepare(cls):
        cls.fixture.start_worker_only()

    def test_not_known(self):
        """Without a worker's admin port nothing is green: whether events are delivered is unknown, with the reason"""
        self.browser.open(self.fixture, "/")
        self.browser.wait(lambda: "Not known" in self.browser.heading(), "the verdict is known")
        self.browser.wait_for_text("console.workers")
        self.assertNotIn("All is well", self.browser.text("body"))
        self.assert_accessible()


def event(number, **more):
    return {"id": f"e{number}", "user": f"user-{number}", "pns": ["apns", "gcm"], "message": "Hello", **more}


def moment(milliseconds):
    """A time in the console's form."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000)) + f".{milliseconds % 1000:03}Z"
