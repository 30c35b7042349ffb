"""The frame of all pages: signing in and out, navigation, roles, and the rules for every page."""

import urllib.request

from case import PAGES, ConsoleTest, gate
from fixture import PATIENCE
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

TOKENS = """\
operator olga operator-token-0123456789abcdef0123456789
viewer victor viewer-token-0123456789abcdef0123456789ab
"""


class SigningInTest(ConsoleTest):
    # Signed-out requests get status 401, and the browser notes it.
    accepted = ("status of 401",)

    @gate
    def test_link(self):
        """The link signs one browser in; the key stays in no address, and opens nothing a second time"""
        self.assertEqual(self.browser.path, "/")
        self.assertNotIn("key", self.browser.driver.current_url)
        used = self.fixture.used_links[-1]
        other = self.new_browser()
        other.driver.get(used)
        other.wait_for_text("Sign in")
        self.assertEqual(other.heading(), "Sign in")

    def test_sign_out(self):
        """Signing out empties the page, and the tab beside it too"""
        first = self.browser.driver.current_window_handle
        self.browser.driver.switch_to.new_window("tab")
        self.browser.open(self.fixture, "/audit")
        self.browser.press("Sign out")
        self.browser.wait(lambda: self.browser.heading() == "Sign in", "the tab did not sign out")
        self.browser.driver.switch_to.window(first)
        self.browser.press("Now")
        self.browser.wait(lambda: self.browser.heading() == "Sign in", "the other tab goes on")

    def test_address_is_kept(self):
        """An address is kept during signing in, and shown afterwards"""
        self.browser.press("Sign out")
        self.browser.wait(lambda: self.browser.heading() == "Sign in", "it did not sign out")
        link = self.fixture.link()
        self.browser.driver.get(link.replace("/#", "/find?user=ann#"))
        self.browser.wait(lambda: self.browser.heading() == "Find", "the place is lost")
        self.assertEqual(self.browser.path, "/find?user=ann")

    def test_page_is_accessible(self):
        """Signing in works with a screen reader, in the dark scheme, and on a phone"""
        self.browser.press("Sign out")
        self.browser.wait(lambda: self.browser.heading() == "Sign in", "it did not sign out")
        self.assert_accessible()


class RolesTest(ConsoleTest):
    plan = {"name": "roles.", "worker": False, "tokens": TOKENS}
    accepted = ("status of 401",)

    def sign_in(self):
        """Each test does so in its own way."""

    def sign_in_with(self, token):
        self.browser.open(self.fixture, "/")
        self.browser.fill("Token", token)
        self.browser.press("Sign in")

    def test_viewer(self):
        """A viewer signs in with a token, and learns that nothing can be changed"""
        self.sign_in_with(TOKENS.split()[5])
        self.browser.wait_for_text("victor", "#who")
        self.assertIn("read-only", self.browser.text("#who"))

    def test_operator(self):
        """An operator signs in with a token"""
        self.sign_in_with(TOKENS.split()[2])
        self.browser.wait_for_text("olga", "#who")
        self.assertIn("operator", self.browser.text("#who"))
        self.assertNotIn("read-only", self.browser.text("#who"))

    def test_wrong_token(self):
        """A wrong token signs no viewer in, and the page says so"""
        self.sign_in_with("nothing-that-is-in-the-file-0123456789")
        self.browser.wait(lambda: self.browser.text(".error"), "nothing was said")
        self.assertEqual(self.browser.heading(), "Sign in")


class FrameTest(ConsoleTest):
    @gate
    def test_pages(self):
        """Each page has its title, one heading, one main part and one place in the navigation, and leads to the others"""
        for path, title in PAGES.items():
            self.browser.press(title)
            self.browser.wait(lambda: self.browser.path.split("?")[0] == path, f"{title} does not lead to {path}")
            self.browser.wait(self.browser.heading, f"{path} has no heading")
            self.assertEqual(self.browser.driver.title, f"{title} · Herald")
            for selector in ("h1", "main", "#pages"):
                self.assertEqual(len(self.browser.driver.find_elements(By.CSS_SELECTOR, selector)), 1, selector)
            current = self.browser.driver.find_elements(By.CSS_SELECTOR, "#pages [aria-current]")
            self.assertEqual([each.text for each in current], [title])

    @gate
    def test_pages_are_accessible(self):
        """Each page can be used with a screen reader, in the dark, and on a phone"""
        for path in PAGES:
            self.browser.open(self.fixture, path)
            self.assert_accessible()

    def test_back(self):
        """Back and forward lead through the pages, and a reloaded page is the same one"""
        self.browser.press("Find")
        self.browser.wait(lambda: self.browser.path == "/find", "Find was not opened")
        self.browser.press("Audit")
        self.browser.wait(lambda: self.browser.heading() == "Audit", "Audit was not opened")
        self.browser.driver.back()
        self.browser.wait(lambda: self.browser.heading() == "Find", "back leads elsewhere")
        self.browser.driver.refresh()
        self.browser.wait(lambda: self.browser.heading() == "Find", "loaded anew it is another page")

    def test_unknown(self):
        """An unknown address is reported as such"""
        self.accepted = ("status of 404",)
        self.browser.driver.get(self.fixture.address + "/nowhere")
        self.browser.wait_for_text("no such page", "body")

    @gate
    def test_keyboard(self):
        """The first Tab offers to skip to the page, and every page is reached without a mouse"""
        self.browser.open(self.fixture, "/")
        self.browser.key(Keys.TAB)
        self.assertEqual(self.browser.focused(), "Skip to the page")
        self.browser.key(Keys.ENTER)
        self.assertEqual(self.browser.focused_tag(), "main")
        for path, title in list(PAGES.items())[1:]:
            self.browser.open(self.fixture, "/")
            self.browser.tab_to(title)
            self.browser.key(Keys.ENTER)
            self.browser.wait(lambda: self.browser.path == path, f"{title} was not opened")

    @gate
    def test_policy(self):
        """No page may load anything from elsewhere, be framed, or run a script that is not its own file"""
        for path in (*PAGES, "/Frame/shell.js"):
            with urllib.request.urlopen(self.fixture.address + path, timeout=PATIENCE) as answer:
                headers = answer.headers
            policy = headers["Content-Security-Policy"] or ""
            for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
                         "frame-ancestors 'none'"):
                self.assertIn(part, policy, path)
            self.assertNotIn("unsafe", policy, path)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff", path)
