"""The pages Find and Audit: the history of an event, the reasons, and the audit of actions."""

import json
import urllib.request

import hostile
from case import ConsoleTest, gate
from fixture import PATIENCE
from processes import wait_for
from selenium.webdriver.common.keys import Keys


class FindTest(ConsoleTest):
    @classmethod
    def prepare(cls):
        cls.fixture.misbehave({"pns": "gcm", "status": 400})
        # Users of these tests alone: the topics are shared with all others.
        cls.fixture.publish([
            {"id": "order-17", "user": "rosa", "pns": ["apns", "gcm"], "message": "Your parcel is here", "source": "shop"},
            {"id": "order-18", "user": "rosa", "pns": ["apns"], "message": "Your parcel has left"},
            {"id": "order-19", "user": "otto", "pns": ["apns"], "message": "Hello"},
        ])

    @gate
    def test_user(self):
        """The events of a user are found, each with its outcomes; one of them has its timeline"""
        self.browser.press("Find")
        self.browser.wait(lambda: self.browser.heading() == "Find", "Find was not opened")
        self.browser.fill("User", "rosa")
        self.browser.press_button("Find")
        self.browser.wait_for_text("2 events")
        self.assertEqual(self.browser.path, "/find?user=rosa")
        self.assertNotIn("order-19", self.browser.text())
        self.assert_accessible()
        self.browser.press("order-17…")
        self.browser.wait_for_text("What happened")
        self.assertIn("gcm: dead-lettered", self.browser.text())
        self.assertIn("apns: delivered", self.browser.text())
        # Green is what was delivered alone.
        for look, word in (("bad", "dead-lettered"), ("good", "delivered")):
            self.assertIn(word, self.browser.text(f"main .step-settled.{look}"))
        self.browser.wait_for_text("herald explain")
        self.assert_accessible()

    def test_id_by_keyboard(self):
        """An event is found by its id with the keyboard alone, and its address leads there again"""
        self.browser.open(self.fixture, "/find")
        self.browser.tab_to("Event id…")
        self.browser.key("order-18", Keys.ENTER)
        self.browser.wait_for_text("What happened")
        self.assertIn("apns: delivered", self.browser.text())
        path = self.browser.path
        self.browser.open(self.fixture, "/")
        self.browser.open(self.fixture, path)
        self.browser.wait_for_text("What happened")
        self.assertIn("order-18", self.browser.text())

    def test_nothing(self):
        """An event that was never published is reported as not found"""
        self.browser.open(self.fixture, "/find?id=nobody-has-this")
        self.browser.wait_for_text("Nothing was found")

    def test_reveal(self):
        """A message is masked until a viewer reveals it, and the audit records who did"""
        self.browser.open(self.fixture, "/find?id=order-17")
        self.browser.wait_for_text("masked")
        self.assertNotIn("parcel", self.browser.driver.page_source)
        self.browser.press("Reveal…")
        self.browser.wait_for_text("Your parcel is here")
        self.browser.press("Audit")
        self.browser.wait_for_text("event.reveal")

    @gate
    def test_audit_filter(self):
        """The audit is filtered by action, and the filter is in the address"""
        self.browser.open(self.fixture, "/audit")
        self.browser.choose("What", "dlq.replay")
        self.browser.press("Show")
        self.browser.wait_for_text("No entry matches.")
        self.assertEqual(self.browser.path, "/audit?what=dlq.replay")
        self.assert_accessible()


class WaitingEventTest(ConsoleTest):
    plan = {"name": "waiting."}

    def hold_behind(self):
        """Her first event is being called for as long as the test runs, and her code waits behind it."""
        self.fixture.misbehave({"user": "ann", "hold": True})
        self.fixture.publish_only([
            {"id": "news", "user": "ann", "pns": ["apns"], "message": "Good morning"},
            {"id": "code", "user": "ann", "pns": ["apns"], "message": "123456"},
        ])
        page = f"http://127.0.0.1:{self.fixture.admin_port}/waiting?event=code"

        def is_behind():
            with urllib.request.urlopen(page) as answer:
                return [wait["reason"] for event in json.load(answer)["events"] for wait in event["waits"]] == ["behind-user"]

        wait_for(is_behind, PATIENCE, "her code does not wait behind her first event")

    def test_why(self):
        """An event that waits in a worker's memory is shown with the reason, and with ways to change it"""
        self.hold_behind()
        self.browser.open(self.fixture, "/find?id=code")
        self.browser.wait_for_text("it waits behind 1 earlier event of its user, of which news (")
        text = self.browser.text()
        self.assertIn("is first: apns is being called since", text)
        self.assertIn("(delivery.ordering)", text)
        self.assert_accessible()


# The user's partition of the dead letters; the first one there may be the event's.
LETTER = "/failures/letter/0:1"


class HostileTextTest(ConsoleTest):
    plan = {"name": "hostile."}

    @classmethod
    def prepare(cls):
        cls.fixture.misbehave({"status": 400})
        cls.fixture.publish([hostile.event()])
        cls.fixture.produce(cls.fixture.topic("notifications.dead-letter"), [hostile.dead_letter(number) for number in range(3)])
        cls.fixture.produce(cls.fixture.topic("notifications.audit"), [hostile.audit_entry()])

    @gate
    def test_find(self):
        """Hostile user, id, source and campaign are texts on the page Find, and so is the revealed message"""
        self.browser.open(self.fixture, "/find")
        self.browser.fill("User", hostile.USER)
        self.browser.press_button("Find")
        self.browser.wait_for_text("3 events")
        self.assert_harmless()
        self.browser.open(self.fixture, "/find?user=mallory")
        self.browser.wait_for_text("What happened")
        self.assertIn(hostile.SCRIPT, self.browser.text())
        self.assert_harmless()
        self.browser.press("Reveal…")
        self.browser.wait_for_text(hostile.TEMPLATE)
        self.assert_harmless()

    @gate
    def test_audit(self):
        """Hostile names and reasons are texts on the page Audit"""
        self.browser.open(self.fixture, "/audit")
        self.browser.wait_for_text(hostile.IMAGE)
        self.browser.press(hostile.SCRIPT)
        self.browser.wait_for_text(hostile.TEMPLATE)
        self.assert_harmless()
        self.assert_accessible()

    def test_address(self):
        """A hostile address fills fields with texts, and runs no script"""
        self.browser.driver.get(self.fixture.address + "/find?user=%3Cscript%3Edocument.title%3D%27hacked%27%3C%2Fscript%3E")
        self.browser.wait_for_text("Nothing was found")
        self.assert_harmless()
        for page in ("failures", "campaigns", "audit", "find"):
            self.browser.driver.get(f"{self.fixture.address}/{page}/%3Cimg%20src=x%20onerror=document.title='hacked'%3E")
            self.browser.wait(self.browser.heading, f"{page} has no heading")
            self.assert_harmless()

    @gate
    def test_letters(self):
        """Hostile user, message, campaign, source, detail and header values are texts on the page Failures"""
        for path in ("/failures?by=campaign", "/failures?by=source", "/failures/letters", LETTER):
            self.browser.open(self.fixture, path)
            self.browser.wait_for_text("document.title" if "by=" in path else hostile.IMAGE)
            self.assert_harmless()
        self.browser.press("Reveal the message")
        self.browser.wait_for_text(hostile.TEMPLATE)
        self.assert_harmless()
