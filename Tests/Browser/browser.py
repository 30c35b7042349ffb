"""Chromium, driven as a person uses it, with everything it noticed on the way."""

import base64
import json
import os
import pathlib
import shutil
import tempfile
import urllib.parse

import axe_playwright_python
from fixture import PATIENCE
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()

# An element's accessible name: a screen reader's words, without decoration.
NAME = """
const label = element.getAttribute('aria-label')
    ?? (element.labels?.length ? [...element.labels].map((each) => each.textContent).join(' ') : element.textContent);
return label.replace(/\\s+/g, ' ').trim();
"""
BUTTONS = "button, [role=button], summary"
LINKS = "a[href]"
FIELDS = "input, select, textarea"


class Browser:
    """One window. Its complaints (console errors, CSP, foreign requests) are collected until `complaints`."""

    def __init__(self, width=1280, height=900, dark=False):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        self.profile = tempfile.mkdtemp(prefix="herald-chromium-")
        for argument in ("--headless=new", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                         "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                         f"--user-data-dir={self.profile}", f"--window-size={width},{height}"):
            options.add_argument(argument)
        if os.geteuid() == 0:
            # Chromium has no sandbox for root.
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.set_page_load_timeout(PATIENCE)
        self.driver.set_script_timeout(PATIENCE)
        self.looks(width, height, dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def looks(self, width, height=900, dark=False):
        """The size of the page (narrower than any window can be), and the preferred colour scheme."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    # Places

    def forget(self):
        """Leaves one empty tab of the usual looks, signed out, without complaints."""
        first, *others = self.driver.window_handles
        for each in others:
            self.driver.switch_to.window(each)
            self.driver.close()
        self.driver.switch_to.window(first)
        if self.driver.current_url.startswith("http"):
            self.driver.execute_script("sessionStorage.clear()")
        self.driver.get("about:blank")
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.looks(1280)
        for log in ("browser", "performance"):
            self.driver.get_log(log)

    def sign_in(self, fixture):
        """Opens the one-time link, like the person who started the console."""
        self.driver.get(fixture.link())
        self.wait(lambda: self.driver.find_elements(By.CSS_SELECTOR, "#pages a"), "nobody was signed in")

    def open(self, fixture, path):
        """Goes to an address within the console."""
        self.driver.get(fixture.address + path)
        self.wait(lambda: self.heading(), f"{path} has no heading")

    def close_tab(self):
        """Closes the tab; a new empty one replaces it."""
        first = self.driver.current_window_handle
        self.driver.switch_to.new_window("tab")
        second = self.driver.current_window_handle
        self.driver.switch_to.window(first)
        self.driver.close()
        self.driver.switch_to.window(second)

    @property
    def path(self):
        """The address's place, including its query."""
        url = urllib.parse.urlsplit(self.driver.current_url)
        return url.path + (f"?{url.query}" if url.query else "")

    def heading(self):
        found = self.driver.find_elements(By.CSS_SELECTOR, "main h1")
        return found[0].text if found else ""

    # Content

    def text(self, selector="main"):
        """An element's text; empty while it is absent."""
        return self._safely(lambda: "\n".join(
            element.text for element in self.driver.find_elements(By.CSS_SELECTOR, selector))) or ""

    def wait_for_text(self, text, selector="main"):
        self.wait(lambda: text in self.text(selector), f"{text!r} was not to be read")

    def wait(self, condition, what):
        """Waits for a condition of the page."""
        try:
            return WebDriverWait(self.driver, PATIENCE, poll_frequency=0.05).until(lambda _: self._safely(condition))
        except TimeoutException:
            raise AssertionError(
                f"{what} within {PATIENCE} s; {self.path} says:\n{self.text('body')[:3000]}\n"
                f"and the browser: {self.complaints()}") from None

    @staticmethod
    def _safely(question):
        """Repeats a look at the page if it changes meanwhile."""
        try:
            return question()
        except StaleElementReferenceException:
            return None

    def named(self, selector, name, within=None):
        """The visible elements with exactly this name, or with this beginning when it ends with `…`."""
        def matches(element):
            called = self.driver.execute_script(f"const element = arguments[0]; {NAME}", element)
            return called.startswith(name[:-1]) if name.endswith("…") else called == name
        scope = within or self.driver
        return [each for each in scope.find_elements(By.CSS_SELECTOR, selector) if each.is_displayed() and matches(each)]

    def the(self, selector, name):
        """The first visible and enabled element of that name; waits for it."""
        def find():
            return next((each for each in self.named(selector, name) if each.is_enabled()), None)
        return self.wait(find, f"there was no {selector} {name!r}")

    # Actions

    def _act(self, selector, name, action):
        """Does something to the first element of that name, to its successor if the page replaces it meanwhile."""
        def act():
            action(self.the(selector, name))
            return True
        self.wait(act, f"{selector} {name!r} was replaced again and again")

    def press(self, name):
        """Clicks a button or a link."""
        self._act(f"{BUTTONS}, {LINKS}", name, lambda element: element.click())

    def press_button(self, name):
        """Clicks a button, even if a link has the same name."""
        self._act("button", name, lambda element: element.click())

    def fill(self, label, text):
        """Types into the field with this label."""
        def fill(field):
            field.clear()
            field.send_keys(text)
        self._act(FIELDS, label, fill)

    def choose(self, label, option):
        """Picks an option of a list by its text."""
        def choose(field):
            next(each for each in field.find_elements(By.TAG_NAME, "option") if each.text == option).click()
        self._act("select", label, choose)

    def focused(self):
        """The accessible name of the focused element."""
        return self.driver.execute_script(f"const element = document.activeElement; {NAME}")

    def focused_tag(self):
        return self.driver.execute_script("return document.activeElement.tagName.toLowerCase()")

    def key(self, *keys):
        """Presses keys wherever the focus is."""
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def tab_to(self, name, limit=200):
        """Presses Tab until an element of this name has the focus; returns the number of presses."""
        for number in range(1, limit + 1):
            self.key(Keys.TAB)
            focused = self.focused()
            if focused.startswith(name[:-1]) if name.endswith("…") else focused == name:
                return number
        raise AssertionError(f"Tab does not lead to {name!r} on {self.path}:\n{self.text('body')[:2000]}")

    # Complaints

    def complaints(self):
        """Errors and refusals that the browser has logged since the last call: scripts, CSP, missing files."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def foreign_requests(self, fixture):
        """Requests since the last call to any server but the console."""
        urls = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                parameters = message["params"]
                urls.append(parameters["request"]["url"] if "request" in parameters else parameters["url"])
        allowed = (fixture.address + "/", "data:", "blob:", "chrome:", "about:")
        return [url for url in urls if not url.startswith(allowed)]

    def accessibility_findings(self):
        """The findings of axe-core on the current page, one line for each element."""
        self.driver.execute_script(AXE)
        result = self.driver.execute_async_script("""
            const done = arguments[arguments.length - 1];
            axe.run(document, { resultTypes: ['violations'] }).then(done, (error) => done({ error: String(error) }));
        """)
        if "error" in result:
            raise AssertionError(f"axe-core failed: {result['error']}")
        return [f"{finding['id']}: {finding['help']}: {node['target']} {node['html'][:200]}"
                for finding in result["violations"] for node in finding["nodes"]]

    def cut_tables(self):
        """The tables whose last columns are seen only after scrolling sideways."""
        return self.driver.execute_script(
            "return [...document.querySelectorAll('main .scroll')].filter((each) => each.scrollWidth > each.clientWidth + 1)"
            ".map((each) => each.getAttribute('aria-label'))")

    def overflowing(self, selector):
        """The parts of elements that reach beyond them."""
        return self.driver.execute_script("""
            return [...document.querySelectorAll(arguments[0])].flatMap((outer) => {
                const box = outer.getBoundingClientRect();
                return [...outer.querySelectorAll('*')].filter((inner) => {
                    const { left, right, bottom } = inner.getBoundingClientRect();
                    return left < box.left - 1 || right > box.right + 1 || bottom > box.bottom + 1;
                }).map((inner) => inner.outerHTML.slice(0, 100));
            });
        """, selector)

    def is_wider_than_the_window(self):
        """Whether the page has to be scrolled sideways to be read."""
        return self.driver.execute_script(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth")

    def screenshot(self, file, height=None):
        """A picture of the page, in full height by default."""
        if height is None:
            height = self.driver.execute_script("return document.documentElement.scrollHeight")
        width = self.driver.execute_script("return document.documentElement.clientWidth")
        data = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
        pathlib.Path(file).write_bytes(base64.b64decode(data["data"]))
