"""The charts of Now: axes with numbers, one time for all, by pointer and by keys, in the reader's colour scheme."""

from case import ConsoleTest, gate
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

# The state of each chart at one time: the canvas hides its numbers, so Chart.js is asked for them.
CHARTS = """
return [...document.querySelectorAll('main .chart')].filter((each) => !each.querySelector('.plot').hidden).map((each) => {
    const plot = each.querySelector('.plot');
    const chart = Chart.getChart(plot.querySelector('canvas'));
    const { scales } = chart;
    return {
        title: each.querySelector('h2').textContent,
        x: scales.x.ticks.map(({ label }) => label), y: scales.y.ticks.map(({ label }) => label),
        left: scales.x.left, right: scales.x.right,
        readout: each.querySelector('.readout').textContent, at: each.querySelector('.readout time').getAttribute('datetime'),
        names: [...each.querySelectorAll('.legend li')].map((line) => line.textContent),
        place: Number(plot.getAttribute('aria-valuenow')), newest: Number(plot.getAttribute('aria-valuemax')),
        marked: chart.data.datasets.flatMap((_, line) => chart.getDatasetMeta(line).data.map(({ options }, place) => [place, options.radius]))
            .filter(([, radius]) => radius > 2).map(([place]) => place),
        said: plot.getAttribute('aria-valuetext'),
    };
});
"""

# The number of pixels of the chart's canvas in a colour of the scheme.
PIXELS = """
const [title, name] = arguments;
const section = [...document.querySelectorAll('main .chart')].find((each) => each.querySelector('h2').textContent === title);
const drawn = section.querySelector('canvas');
const canvas = Object.assign(document.createElement('canvas'), { width: drawn.width, height: drawn.height });
const copy = canvas.getContext('2d', { willReadFrequently: true });
copy.drawImage(drawn, 0, 0);
const colour = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const wanted = [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));
const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
let count = 0;
for (let place = 0; place < data.length; place += 4) {
    if (data[place + 3] === 255 && wanted.every((part, index) => Math.abs(data[place + index] - part) < 3)) count += 1;
}
return [colour, count];
"""


class ChartsTest(ConsoleTest):
    def setUp(self):
        super().setUp()
        self.fixture.publish([{"id": f"chart-{number}", "user": f"user-{number}", "pns": ["apns", "gcm"], "message": "Hello"}
                              for number in range(50)])
        self.browser.open(self.fixture, "/now")
        self.browser.wait_for_text("apns delivered")
        self.browser.wait(lambda: self.charts()[0]["newest"] >= 3, "no time passes in the charts")

    def charts(self):
        return self.browser.driver.execute_script(CHARTS)

    def plot(self, place):
        return self.browser.driver.find_elements(By.CSS_SELECTOR, "main .plot:not([hidden])")[place]

    @gate
    def test_axes(self):
        """The axes of a chart have numbers, and the charts of the page share one time axis"""
        charts = self.charts()
        self.assertGreaterEqual(len(charts), 4)
        for chart in charts:
            self.assertGreaterEqual(len(chart["y"]), 2, chart)
            self.assertEqual(chart["y"][0], "0", chart)
            self.assertTrue(all(any(mark.isdigit() for mark in label) for label in chart["y"]), chart)
            self.assertGreaterEqual(len(chart["x"]), 2, chart)
            for label in chart["x"]:
                self.assertRegex(label, r"^\d\d:\d\d(:\d\d)?$")
            for what in ("x", "left", "right"):
                self.assertEqual(chart[what], charts[0][what], f"{what} of {chart['title']}")
        units = {chart["title"]: chart["y"][-1] for chart in charts}
        self.assertRegex(units["Calls by result"], "/s$")
        self.assertRegex(units["From publication to outcome"], " (ms|s|min)$")
        self.assertRegex(units["Calls in flight, and their limit"], r"^[\d\u202f]+$")

    @gate
    def test_pointer(self):
        """A pointer over one chart shows the values of one time in all charts of the page"""
        self.assertTrue(all(each["readout"].startswith("Newest, ") for each in self.charts()))
        plot = self.plot(1)
        ActionChains(self.browser.driver).move_to_element_with_offset(plot, plot.size["width"] // 3, 0).perform()
        self.browser.wait(lambda: self.charts()[0]["readout"].startswith("At "), "the pointer shows nothing")
        charts = self.charts()
        self.assertEqual(len({(each["at"], each["place"], each["readout"]) for each in charts}), 1, charts)
        self.assertLess(charts[0]["place"], charts[0]["newest"])
        for chart in charts:
            # The same values, in a sentence: "10:00:02 UTC: apns delivered 3/s, gcm delivered 3/s".
            self.assertEqual(chart["said"].split(": ", 1)[1], ", ".join(chart["names"]))
            self.assertIn(chart["said"].split(": ", 1)[0], chart["readout"])
        # While time passes the pointer stays in place, and shows the time beneath it.
        newest = charts[0]["at"]
        self.browser.wait(lambda: self.charts()[0]["at"] > newest, "time does not pass beneath the pointer")
        charts = self.charts()
        self.assertEqual(len({each["at"] for each in charts}), 1)
        # Each line with a value at that time has a point there, and nowhere else.
        for chart in charts:
            self.assertEqual(set(chart["marked"]) - {chart["place"]}, set(), chart)
            self.assertEqual(len(chart["marked"]), sum(not name.endswith("–") for name in chart["names"]), chart)
        ActionChains(self.browser.driver).move_to_element(self.browser.driver.find_element(By.CSS_SELECTOR, "h1")).perform()
        self.browser.wait(lambda: all(each["readout"].startswith("Newest, ") for each in self.charts()), "it is still shown")

    @gate
    def test_keys(self):
        """Arrow keys move from time to time, in all charts of the page, and Escape returns to the newest"""
        plot = self.plot(0)
        self.assertEqual(plot.get_attribute("role"), "slider")
        self.browser.driver.execute_script("arguments[0].focus()", plot)
        self.browser.key(Keys.HOME)
        first = self.charts()
        self.assertEqual({each["place"] for each in first}, {0})
        self.browser.key(Keys.ARROW_RIGHT)
        self.browser.key(Keys.ARROW_RIGHT)
        third = self.charts()
        self.assertEqual({each["place"] for each in third}, {2})
        self.browser.key(Keys.ARROW_LEFT)
        second = self.charts()
        self.assertEqual(len({each["at"] for each in second}), 1)
        self.assertTrue(first[0]["at"] < second[0]["at"] < third[0]["at"])
        self.assertTrue(all(each["readout"].startswith("At ") for each in second))
        # A time selected by keys stays while time passes.
        self.browser.wait(lambda: self.charts()[0]["newest"] > second[0]["newest"], "no time passes")
        self.assertEqual(self.charts()[0]["at"], second[0]["at"])
        self.browser.key(Keys.ESCAPE)
        self.assertTrue(all(each["readout"].startswith("Newest, ") for each in self.charts()))

    def test_schemes(self):
        """The lines have the colours of the reader's scheme, and change with it"""
        seen = set()
        for dark in (False, True):
            self.browser.looks(1280, dark=dark)

            def is_drawn():
                colour, count = self.browser.driver.execute_script(PIXELS, "Calls by result", "--series-2")
                seen.add(colour)
                return count > 20
            self.browser.wait(is_drawn, f"there is no line in the colour of the scheme ({'dark' if dark else 'light'})")
        self.assertEqual(len(seen), 2, seen)
