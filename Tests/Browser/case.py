"""What the tests of the console have in common: a fixture for each class, a browser for each test."""

import pathlib
import unittest

from browser import Browser
from fixture import ROOT, Fixture
from selenium.webdriver.common.by import By

# Where the pictures of tests that failed are put.
PICTURES = ROOT / ".build/browser"
PAGES = {"/": "Verdict", "/now": "Now", "/failures": "Failures", "/find": "Find", "/campaigns": "Campaigns",
         "/audit": "Audit"}


class ConsoleTest(unittest.TestCase):
    """After each test the browser must have nothing to complain about, and must have asked nobody but the console."""

    # Arguments of the class's fixture.
    plan = {}
    # Parts of what the browser may complain about.
    accepted = ()

    @classmethod
    def setUpClass(cls):
        cls.fixture = Fixture(**cls.plan)
        cls.addClassCleanup(cls.fixture.stop)
        cls.prepare()

    @classmethod
    def prepare(cls):
        """What has happened before the first test of the class."""

    def setUp(self):
        self.browser = self.new_browser()
        self.browser.sign_in(self.fixture)

    def new_browser(self, **looks):
        browser = Browser(**looks)
        self.addCleanup(browser.__exit__)
        return browser

    def tearDown(self):
        if self._has_failed():
            PICTURES.mkdir(parents=True, exist_ok=True)
            file = PICTURES / f"{self.id()}.png"
            self.browser.screenshot(file)
            print(f"        a picture: {pathlib.Path(file).relative_to(ROOT)}")
        complaints = [each for each in self.browser.complaints() if not any(part in each for part in self.accepted)]
        self.assertEqual(complaints, [], "the browser complains")
        self.assertEqual(self.browser.foreign_requests(self.fixture), [], "somebody else is asked")

    def _has_failed(self):
        outcome = self._outcome.result
        return any(test is self for test, _ in outcome.failures + outcome.errors)

    def assert_accessible(self):
        """axe-core finds nothing, in both schemes, wide and narrow; and nothing is to be read only by moving sideways."""
        for width in (1280, 360):
            for dark in (False, True):
                self.browser.looks(width, dark=dark)
                where = f"{self.browser.path}, {width} px, {'dark' if dark else 'light'}"
                self.assertEqual(self.browser.accessibility_findings(), [], where)
                self.assertFalse(self.browser.is_wider_than_the_window(), f"{where} is wider than the window")
        self.browser.looks(1280)

    def assert_harmless(self):
        """Nothing has run, nothing became an element, and nothing that turns text around is in it."""
        self.assertNotIn("hacked", self.browser.driver.title)
        for selector in ("img", "main script", "main iframe", "main [onerror]", "main [onfocus]", "main [onmouseover]",
                         "a[href^='javascript:' i]"):
            self.assertEqual(self.browser.driver.find_elements(By.CSS_SELECTOR, selector), [], selector)
        self.assertNotIn("\u202e", self.browser.driver.execute_script("return document.body.textContent"))
