"""The page Failures: groups, one dead letter, and a replay that stops by itself when it does harm."""

from case import ConsoleTest, gate
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


class FailuresTest(ConsoleTest):
    """Dead letters of the push service gcm, which rejects everything until it recovers."""

    # These many rejections are intended, and no outage.
    plan = {"name": "replay.", "settings": "outages: {deadLetterBreaker: {of: 0}}\n"}

    def break_gcm(self):
        self.fixture.misbehave({"pns": "gcm", "status": 400})

    def make(self, name, count):
        """Makes a number of dead letters of a campaign of this name."""
        self.break_gcm()
        self.fixture.publish([
            {"id": f"{name}-{number}", "user": f"{name}-user-{number}", "pns": ["gcm"], "message": f"Secret of {name}",
             "campaign": name} for number in range(count)])

    def dead_letters(self, name):
        """The address of a campaign's dead letters, in groups."""
        return f"/failures?where=campaign+%3D+{name}"

    def plan_group(self, name):
        self.browser.open(self.fixture, self.dead_letters(name))
        self.browser.press("Plan replay of…")
        self.browser.wait_for_text("would be replayed")

    def wait_for_job(self, state):
        self.browser.wait(lambda: state in self.browser.text("main h2 .badge"), f"the job is not {state!r}")


class ReplayTest(FailuresTest):
    @gate
    def test_three_clicks(self):
        """From the verdict to a running replay it takes three clicks and a reason, and everything is delivered"""
        self.make("clicks", 30)
        self.fixture.misbehave()
        self.fixture.forget_calls()
        self.browser.open(self.fixture, "/")
        self.browser.wait_for_text("Some dead letters")
        self.browser.driver.execute_script(
            "window.clicks = 0; addEventListener('click', (event) => { if (event.isTrusted) window.clicks += 1; }, true);")
        self.browser.press("See the failures")
        self.browser.press("Plan replay of…")
        self.browser.the("input", "Why…").send_keys("gcm is well again")
        self.browser.press("Start with a canary…")
        self.browser.wait(lambda: self.browser.path.startswith("/failures/job/"), "no replay was started")
        self.assertLessEqual(self.browser.driver.execute_script("return window.clicks"), 3)
        self.wait_for_job("done")
        self.assertEqual(len([call for call in self.fixture.calls() if call["user"].startswith("clicks")]), 30)
        self.assert_accessible()

    @gate
    def test_canary_stops(self):
        """A replay whose canary fails again stops by itself, and no later letter is touched"""
        self.make("canary", 40)
        self.fixture.forget_calls()
        self.plan_group("canary")
        self.assertIn("40 of 40 would be replayed", self.browser.text())
        self.assertIn("Nothing is left out", self.browser.text())
        self.assert_accessible()
        self.browser.fill("Why…", "is it well again?")
        self.browser.press("Start with a canary of 1")
        self.wait_for_job("stopped")
        self.assertEqual(len(self.fixture.calls()), 1)
        self.assert_accessible()
        # The rest can be planned, with the canary's new dead letter; the old one is left out.
        self.fixture.misbehave()
        self.browser.press("Plan what is left")
        self.browser.wait_for_text("40 of 41 would be replayed")
        self.browser.fill("Why…", "it is")
        self.browser.press("Start with a canary of 1")
        self.wait_for_job("done")
        self.assertIn("40 notifications delivered", self.browser.text())

    @gate
    def test_keyboard(self):
        """A replay is planned and started with Tab and Enter alone"""
        self.make("keyboard", 3)
        self.fixture.misbehave()
        self.browser.open(self.fixture, self.dead_letters("keyboard"))
        self.browser.wait_for_text("3 dead letters")
        self.browser.tab_to("Plan replay of…")
        self.browser.key(Keys.ENTER)
        self.browser.wait_for_text("would be replayed")
        self.browser.tab_to("Why…")
        self.browser.key("with the keyboard")
        self.browser.tab_to("Start with a canary…")
        self.browser.key(Keys.ENTER)
        self.browser.wait(lambda: self.browser.path.startswith("/failures/job/"), "no replay was started")
        self.wait_for_job("done")

    def test_two_tabs(self):
        """Two tabs show the same job; a plan is started once, and a second replay names the first one's owner"""
        self.make("tabs", 60)
        self.fixture.misbehave({"pns": "gcm", "hold": True})
        self.plan_group("tabs")
        plan = self.browser.path
        other = self.new_browser()
        other.sign_in(self.fixture)
        other.open(self.fixture, plan)
        other.wait_for_text("would be replayed")
        self.browser.fill("Why…", "first")
        self.browser.press("Start with a canary of 1")
        self.browser.wait(lambda: self.browser.path.startswith("/failures/job/"), "no replay was started")
        other.fill("Why…", "second")
        other.press("Start with a canary of 1")
        other.wait(lambda: other.text(".error"), "the plan was started twice")
        other.open(self.fixture, "/failures")
        other.wait_for_text("Jobs of this console")
        other.press("--group reason=rejected --where 'campaign = tabs'")
        # The canary's call is held: both tabs see a running job.
        other.wait_for_text("1 of 60 dead letters replayed")
        self.browser.wait_for_text("1 of 60 dead letters replayed")
        self.fixture.misbehave()
        self.wait_for_job("done")
        other.wait(lambda: "done" in other.text("main h2 .badge"), "the other tab does not see the end")
        self.assertEqual([each for each in other.complaints() if "status of 409" not in each], [])

    def test_tab_is_closed(self):
        """A replay goes on when its tab is closed, and is found again later"""
        self.make("closed", 60)
        self.fixture.misbehave({"pns": "gcm", "hold": True})
        self.plan_group("closed")
        self.browser.fill("Why…", "and good-bye")
        self.browser.press("Start with a canary of 1")
        self.browser.wait(lambda: self.browser.path.startswith("/failures/job/"), "no replay was started")
        job = self.browser.path
        self.browser.close_tab()
        self.fixture.misbehave()
        self.browser.open(self.fixture, job)
        self.wait_for_job("done")
        self.assertIn("60 of 60 dead letters replayed: 60 notifications delivered", self.browser.text())

    def test_filters_in_address(self):
        """Filters and grouping are in the address, which shows the same to another person"""
        self.make("address", 5)
        self.browser.open(self.fixture, "/failures")
        self.browser.choose("Group by", "campaign")
        self.browser.wait_for_text("campaign=address")
        self.browser.fill("Condition", "campaign = address")
        self.browser.press_button("Show")
        self.browser.wait_for_text("5 dead letters in groups")
        path = self.browser.path
        other = self.new_browser()
        other.sign_in(self.fixture)
        other.open(self.fixture, path)
        other.wait_for_text("5 dead letters in groups")
        self.assertIn("campaign=address", other.text())

    def test_wrong_condition(self):
        """A wrong condition is reported with the position of its mistake"""
        self.accepted = ("status of 400",)
        self.browser.open(self.fixture, "/failures")
        self.browser.fill("Condition", "status = abc")
        self.browser.press_button("Show")
        self.browser.wait(lambda: "whole number" in self.browser.text(".error"), "nothing was said")

    def test_letter(self):
        """A dead letter shows its attempts, masks its message, and records in the audit who revealed it"""
        self.make("letter", 1)
        self.browser.open(self.fixture, self.dead_letters("letter"))
        self.browser.press("reason=…")
        self.browser.wait_for_text("1 match")
        self.assert_accessible()
        self.browser.the("main th a", self.browser.driver.find_element(By.CSS_SELECTOR, "main tbody th a").text).click()
        self.browser.wait_for_text("Attempts, the oldest first")
        self.assertNotIn("Secret", self.browser.driver.page_source)
        self.assert_accessible()
        self.browser.press("Reveal the message")
        self.browser.wait_for_text("Secret of letter")
        self.browser.press("Audit")
        self.browser.wait_for_text("dlq.reveal")

    @gate
    def test_content(self):
        """Title, link and data of a dead letter are masked until they are revealed, and a plan corrects them"""
        self.break_gcm()
        self.fixture.publish([{
            "id": "content", "user": "cora", "pns": ["gcm"], "message": "Secret text", "title": "Secret title",
            "link": "shop://orders/17", "data": {"order": "<img src=x>"}, "badge": 7}])
        self.browser.open(self.fixture, "/failures/letter/content")
        self.browser.wait_for_text("Attempts, the oldest first")
        self.assertRegex(self.browser.text(), r"Title\s+masked, 12 bytes")
        self.assertNotIn("Secret", self.browser.driver.page_source)
        self.assertNotIn("shop://", self.browser.driver.page_source)
        self.browser.press("Reveal the message")
        self.browser.wait_for_text("Secret title")
        self.browser.wait_for_text("<img src=x>")
        self.assert_harmless()
        self.assert_accessible()
        self.fixture.misbehave()
        self.fixture.forget_calls()
        self.browser.press("Plan replay of…")
        self.browser.press("Change the plan")
        self.assert_accessible()
        self.browser.fill("Title", "Another title")
        self.browser.fill("Badge", "8")
        self.browser.press("Plan again")
        self.browser.wait_for_text("What is said otherwise")
        self.assertNotIn("Another title", self.browser.driver.page_source)
        self.browser.fill("Why…", "a wrong title")
        self.browser.press("Replay 1")
        self.wait_for_job("done")
        self.assertEqual([call["content"] for call in self.fixture.calls()], [
            {"title": "Another title", "link": "shop://orders/17", "badge": 8, "data": {"order": "<img src=x>"}}])

    def test_edit(self):
        """An invalid event is edited, and delivered in its new form"""
        self.fixture.misbehave()
        self.fixture.produce(self.fixture.topic("notifications"), [
            (b"ed", b'{"id":"edited","user":"ed","pns":["apnss"],"message":"Hello","campaign":"edit"}', [])])
        self.fixture.forget_calls()
        self.browser.open(self.fixture, "/failures/letter/edited")
        self.browser.press("Edit and replay…")
        area = self.browser.the("textarea", "What is published…")
        text = area.get_attribute("value").replace("apnss", "apns")
        area.clear()
        area.send_keys(text)
        self.browser.press("Plan replay of the edited event…")
        self.browser.wait_for_text("What is said otherwise")
        self.browser.fill("Why…", "misspelt")
        self.browser.press("Replay 1")
        self.wait_for_job("done")
        self.assertEqual([call["user"] for call in self.fixture.calls()], ["ed"])

    def test_resolve(self):
        """Dead letters handled otherwise are marked, and no replay takes them"""
        self.make("resolved", 4)
        self.browser.open(self.fixture, "/failures/letters?where=campaign+%3D+resolved")
        self.browser.press("Plan to resolve all that match")
        self.browser.wait_for_text("4 of 4 would be resolved")
        self.browser.fill("What was done…", "they were told by mail")
        self.browser.press("Resolve 4")
        self.wait_for_job("done")
        self.browser.open(self.fixture, self.dead_letters("resolved"))
        self.browser.wait_for_text("nothing left to do")
