"""The page Preferences: what a user does not want, and recalls."""

from case import ConsoleTest, gate
from selenium.webdriver.common.by import By


class PreferencesTest(ConsoleTest):
    plan = {"name": "words.", "settings": "preferences:\n  enabled: true\n"}
    # A field may be refused.
    accepted = ("status of 400",)

    def confirm(self, reason=None):
        """Answers the question, with a reason if it is given."""
        self.browser.wait(lambda: self.browser.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), "nothing was asked")
        if reason:
            self.browser.fill("Why…", reason)
        self.browser.driver.find_element(By.CSS_SELECTOR, "dialog[open] button[type=submit]").click()

    def show(self, user):
        self.browser.fill("User", user)
        self.browser.press_button("Show…")
        self.browser.wait(lambda: self.browser.named("button", "Change"), f"{user} was not shown")

    @gate
    def test_word(self):
        """A user's word is shown, changed and forgotten, and the audit has each step with its reason"""
        self.browser.press("Preferences")
        self.browser.wait(lambda: self.browser.heading() == "Preferences", "Preferences was not opened")
        self.show("ann")
        self.browser.wait_for_text("nothing is said: the user gets everything")
        self.browser.the("input", "advertisements").click()
        self.browser.the("input", "anything by apns").click()
        self.browser.fill("Advertisements of these sources", "shop")
        self.assert_accessible()
        self.browser.press_button("Change")
        self.browser.wait_for_text("Does not want: advertisements, anything by apns, advertisements of shop", "dialog")
        self.assert_accessible()
        self.confirm("she called")
        self.browser.wait_for_text("herald preferences set ann --opt-out promotional,pns:apns,source:shop --quiet-hours none --reason 'she called'")
        self.show("ann")
        self.browser.wait_for_text("Since")
        self.assertIn("promotional,pns:apns,source:shop", self.fixture.herald("preferences", "show", "ann"))
        self.fixture.publish([{"id": "ann-1", "user": "ann", "pns": ["apns"], "message": "Hello"}])
        self.assertEqual(self.fixture.calls(), [])
        self.browser.press_button("Forget the user")
        self.confirm()
        self.browser.wait_for_text("herald preferences forget ann")
        self.assertIn("nothing", self.fixture.herald("preferences", "show", "ann"))
        self.browser.open(self.fixture, "/audit")
        for entry in ("preferences.reveal", "preferences.set", "preferences.forget", "she called"):
            self.browser.wait_for_text(entry)

    @gate
    def test_quiet_hours(self):
        """Quiet hours are set, shown again and ended, a zone that is none is refused at its field, and the rest stays"""
        self.fixture.herald("preferences", "set", "nora", "--opt-out", "source:shop")
        self.browser.open(self.fixture, "/preferences")
        self.show("nora")
        for label, time in (("From", "22:00"), ("until", "07:00")):
            self.browser.the("input", label).send_keys(self.browser.driver.execute_script(
                "return new Date(2026, 0, 1, ...arguments[0].split(':')).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }).replace(/[^0-9APM]/g, '')", time))
        self.browser.fill("Time zone", "Europe/Berln")
        self.browser.the("input", "Sunday").click()
        self.assert_accessible()
        self.browser.press_button("Change")
        self.browser.wait_for_text("Quiet hours: 22:00-07:00 Europe/Berln sun.", "dialog")
        self.assert_accessible()
        self.confirm()
        self.browser.wait(lambda: self.browser.driver.find_elements(By.CSS_SELECTOR, "#word-zone[aria-invalid]"), "the zone was not refused")
        self.browser.fill("Time zone", "Europe/Berlin")
        self.browser.press_button("Change")
        self.confirm()
        self.browser.wait_for_text("--quiet-hours '22:00-07:00 Europe/Berlin sun'")
        self.assertIn("source:shop; quiet 22:00-07:00 Europe/Berlin sun", self.fixture.herald("preferences", "show", "nora"))
        self.show("nora")
        self.assertEqual(self.browser.the("input", "From").get_attribute("value"), "22:00")
        for label in ("From", "until"):
            self.browser.the("input", label).clear()
        self.browser.press_button("Change")
        self.browser.wait_for_text("Quiet hours: none.", "dialog")
        self.confirm()
        self.browser.wait_for_text("--quiet-hours none")
        self.assertNotIn("22:00", self.fixture.herald("preferences", "show", "nora"))

    @gate
    def test_recall_of_event(self):
        """An event that waits is recalled from its page, and the page says before and after what is left"""
        # It waits behind her first one.
        self.fixture.misbehave({"user": "rosa", "hold": True})
        self.fixture.publish_only([
            {"id": f"order-{number}", "user": "rosa", "pns": ["apns"], "message": "Hello", "source": "shop"} for number in range(2)])
        self.fixture.wait(self.fixture.calls, "the first one is not called")
        self.browser.open(self.fixture, "/find?id=order-1&user=rosa")
        self.browser.press("Recall")
        self.browser.wait_for_text("order-1: apns has no outcome yet.")
        self.assertEqual(self.browser.path, "/preferences?id=order-1&user=rosa&source=shop")
        self.assert_accessible()
        self.browser.press_button("Recall it")
        self.assert_accessible()
        self.confirm("wrong price")
        self.browser.wait_for_text("recalled since")
        self.fixture.misbehave()
        self.browser.wait_for_text("apns: suppressed at")
        self.browser.wait_for_text(": wrong price")
        self.browser.press_button("Withdraw the recall")
        self.confirm()
        self.browser.the("button", "Recall it")

    def test_recall_of_campaign(self):
        """A campaign is recalled from its page, whose numbers it has"""
        self.fixture.run_campaign("spring", ["carl", "dora"])
        self.browser.open(self.fixture, "/campaigns/spring")
        self.browser.press("Recall")
        self.browser.wait_for_text("0 notifications have no outcome yet. 2 delivered, 0 suppressed.")
        self.browser.open(self.fixture, "/preferences?campaign=sprin")
        self.browser.wait_for_text("did you mean spring?")

    def test_nobody(self):
        """A user that cannot be is refused at the field"""
        self.browser.open(self.fixture, "/preferences")
        self.browser.fill("User", "a b|c")
        self.browser.press_button("Show…")
        self.browser.wait(lambda: self.browser.driver.find_elements(By.CSS_SELECTOR, "[aria-invalid]"), "nothing was refused")
