"""The common part of the console's tests: one broker, fixtures that classes share, one or two browsers."""

import pathlib
import re
import unittest

from browser import Browser
from cluster import ROOT, Broker
from fixture import Fixture
from selenium.webdriver.common.by import By

# The folder for pictures of failed tests.
PICTURES = ROOT / ".build/browser"
REGISTRY = ROOT / "Sources/faces/HeraldConsole/Frame/pages.js"
# Each page's title by its path, in navigation order.
PAGES = {f"/{name}": title for name, title in re.findall(r"\{ name: '(\w*)', title: '(\w+)'", REGISTRY.read_text())}




def gate(test):
    """Marks a test of the gate's set: the main way of a page, or the most important protections."""
    test.is_in_gate = True
    return test


class Scene:
    """Resources that a run starts when a test first needs them, and ends at its end."""

    def __init__(self):
        self.broker = None
        self.fixtures = {}
        self.browsers = []

    def fixture(self, plan):
        """The fixture with these arguments; classes with equal arguments share it."""
        key = tuple(sorted(plan.items()))
        if key not in self.fixtures:
            if self.broker is None:
                self.broker = Broker()
                self.broker.wait_until_started()
            self.fixtures[key] = Fixture(broker=self.broker, **plan)
        return self.fixtures[key]

    def browser(self, number):
        """A separate browser for each number, without the earlier tests' state."""
        while number >= len(self.browsers):
            self.browsers.append(Browser())
        self.browsers[number].forget()
        return self.browsers[number]

    def end_browsers(self):
        while self.browsers:
            self.browsers.pop().__exit__()

    def end(self):
        self.end_browsers()
        for fixture in self.fixtures.values():
            fixture.stop()
        if self.broker:
            self.broker.stop()


SCENE = Scene()


class ConsoleTest(unittest.TestCase):
    """After each test the browser must have no complaint, and must have called only the console."""

    # Arguments of the class's fixture.
    plan = {}
    # Parts of complaints that the class allows.
    accepted = ()
    # The widths and schemes in which a page must be accessible.
    looks = ((1920, False), *((width, dark) for width in (1280, 360) for dark in (False, True)))

    @classmethod
    def setUpClass(cls):
        cls.fixture = SCENE.fixture(cls.plan)
        cls.prepare()

    @classmethod
    def prepare(cls):
        """The events before the first test of the class."""

    def setUp(self):
        # Releases calls held by the previous test, and forgets its calls.
        self.fixture.misbehave()
        self.fixture.forget_calls()
        self.browser_count = 0
        self.browser = self.new_browser()
        self.sign_in()

    def sign_in(self):
        self.browser.sign_in(self.fixture)

    def new_browser(self):
        self.browser_count += 1
        return SCENE.browser(self.browser_count - 1)

    def tearDown(self):
        if self._has_failed():
            PICTURES.mkdir(parents=True, exist_ok=True)
            file = PICTURES / f"{self.id()}.png"
            self.browser.screenshot(file)
            print(f"        a picture: {pathlib.Path(file).relative_to(ROOT)}")
            # The fixture may be the cause of the failure.
            self.addCleanup(SCENE.end_browsers)
        complaints = [each for each in self.browser.complaints() if not any(part in each for part in self.accepted)]
        self.assertEqual(complaints, [], "the browser complains")
        self.assertEqual(self.browser.foreign_requests(self.fixture), [], "somebody else is asked")

    def _has_failed(self):
        outcome = self._outcome.result
        return any(test is self for test, _ in outcome.failures + outcome.errors)

    def assert_accessible(self):
        """axe-core finds nothing, in both schemes, wide and narrow; and reading needs no sideways scrolling."""
        for width, dark in self.looks:
            self.browser.looks(width, dark=dark)
            where = f"{self.browser.path}, {width} px, {'dark' if dark else 'light'}"
            self.assertEqual(self.browser.accessibility_findings(), [], where)
            self.assertFalse(self.browser.is_wider_than_the_window(), f"{where} is wider than the window")
            if width >= 1280:
                self.assertEqual(self.browser.cut_tables(), [], f"{where} cuts a table")
        self.browser.looks(1280)

    def assert_harmless(self):
        """No script has run, no text became an element, and no text contains direction marks."""
        self.assertNotIn("hacked", self.browser.driver.title)
        for selector in ("img", "main script", "main iframe", "main [onerror]", "main [onfocus]", "main [onmouseover]",
                         "a[href^='javascript:' i]"):
            self.assertEqual(self.browser.driver.find_elements(By.CSS_SELECTOR, selector), [], selector)
        self.assertNotIn("\u202e", self.browser.driver.execute_script("return document.body.textContent"))
