"""The page Campaigns: a new one with its audience, paused and resumed, and its report."""

import csv
import re

import hostile
from case import ConsoleTest, gate
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

AUDIENCE = "user,first_name\n" + "".join(f"user-{number},Ann {number}\n" for number in range(120))


class CampaignTest(ConsoleTest):
    # An audience is in its file; a name is in the address, and this one is not known yet; a field may be refused.
    accepted = ("status of 404", "status of 400", "status of 401")

    def fill_in(self, name, begin_with=""):
        file = self.fixture.directory / f"{name}.csv"
        file.write_text(AUDIENCE + "user-1,again\n,nobody\n")
        self.browser.press("Campaigns")
        self.browser.press("New campaign")
        self.browser.fill("Name", name)
        self.browser.the("input[type=file]", "Audience").send_keys(str(file))
        self.browser.fill("Message", "Hi {{first_name}}, the sale ends tonight")
        self.choose_apns()
        self.browser.fill("Begin with", begin_with)
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("What would happen")

    def choose_apns(self):
        """The form may have it from before."""
        box = self.browser.the("input", "apns")
        if not box.is_selected():
            box.click()

    def value(self, label):
        return self.browser.the("input, textarea", label).get_attribute("value")

    def test_form_is_kept(self):
        """What was typed is there again after going back and after signing in again, until the campaign is started"""
        self.fill_in("easter")
        self.browser.press("Verdict")
        self.browser.wait(lambda: self.browser.path == "/", "the page was not left")
        self.browser.driver.back()
        self.browser.wait_for_text("The form has what you typed before")
        self.assertEqual((self.value("Name"), self.value("Message")), ("easter", "Hi {{first_name}}, the sale ends tonight"))
        self.assertIn("easter.csv was chosen: choose it again", self.browser.text())
        self.assert_accessible()
        self.browser.driver.delete_all_cookies()
        self.browser.open(self.fixture, "/campaigns?new=")
        self.browser.wait(lambda: self.browser.heading() == "Sign in", "it is still signed in")
        self.browser.driver.get(self.fixture.link().replace("/#", "/campaigns?new=#"))
        self.browser.wait_for_text("The form has what you typed before")
        self.assertEqual(self.value("Message"), "Hi {{first_name}}, the sale ends tonight")
        self.browser.press("Empty it")
        self.browser.wait(lambda: "typed before" not in self.browser.text() and self.value("Name") == "", "it is not empty")

    def test_unreached_with_audience(self):
        """With its audience's file a report lists all who were not reached, with the file's columns"""
        self.fixture.run_campaign("harvest", ["carl", "dora"])
        file = self.fixture.directory / "harvest.csv"
        file.write_text("name;user\nCarl;carl\nDora;dora\nEve;eve\nEve;eve\nx;a b\n")
        self.browser.open(self.fixture, "/campaigns/harvest")
        self.browser.wait_for_text("finished")
        self.browser.the("input[type=file]", "The campaign’s audience (you may leave it out)").send_keys(str(file))
        self.browser.press("Make a report")
        self.browser.wait_for_text("harvest.csv has 5 lines: 2 people were reached, 1 was not; 1 repeats a person, 1 is invalid.")
        self.browser.wait_for_text("never published")
        self.assert_accessible()
        other = self.fixture.directory / "other.csv"
        other.write_text("user\ncarl\nfay\ngus\n")
        self.browser.the("input[type=file]", "The campaign’s audience (you may leave it out)").send_keys(str(other))
        self.browser.press("Make a report")
        self.browser.wait_for_text("2 of 3 recipients of this file were never published by campaign harvest, and 1 of those who were is not in it")
        self.assert_accessible()

    def test_leave_people_out(self):
        """The form leaves out who was delivered by another campaign and who is in a file, counted in the preview"""
        self.fixture.run_campaign("before", ["anna", "bela"])
        audience = self.fixture.directory / "after.csv"
        audience.write_text("user\nanna\nbela\ncarl\ndora\n")
        staff = self.fixture.directory / "staff.csv"
        staff.write_text("user\nbela\ncarl\n")
        self.browser.press("Campaigns")
        self.browser.press("New campaign")
        self.browser.fill("Name", "after")
        self.browser.the("input[type=file]", "Audience").send_keys(str(audience))
        self.browser.fill("Message", "Hi")
        self.choose_apns()
        self.browser.press("Leave people out")
        self.browser.the("input", "before").click()
        self.browser.the("input[type=file]", "Who is in this file").send_keys(str(staff))
        self.assert_accessible()
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("4 lines = 1 recipient + 2 excluded by staff.csv + 1 delivered by before")
        self.browser.wait_for_text("--exclude-campaign before")
        self.assert_accessible()
        self.browser.press("Start it")
        self.confirm()
        self.browser.wait_for_text("3 people left out: 2 excluded by staff.csv, 1 delivered by before")
        self.browser.wait_for_text("finished")
        self.browser.open(self.fixture, "/campaigns?new=after")
        self.browser.wait_for_text("Choose staff.csv again")
        self.assertTrue(self.browser.the("input", "before").is_selected())

    def test_sent_to_me_first(self):
        """Beside the preview the notification is sent to a few users, with its outcome; who they are is kept in the browser"""
        self.fill_in("tried")
        self.browser.fill("Send it first to", "user-7,me")
        self.browser.press("Send it to me first")
        self.browser.wait_for_text("Who is not in the audience gets the texts of user-0.")
        self.browser.wait_for_text("What became of the test")
        self.assertEqual(self.browser.text().count("status 200"), 2)
        self.assert_accessible()
        self.browser.fill("Send it first to", "x" * 3 + "," + ",".join(f"u{number}" for number in range(20)))
        self.browser.press("Send it to me first")
        self.browser.wait_for_text("a test goes to 20 users at most, and 21 are named")
        self.browser.open(self.fixture, "/campaigns")
        self.assertNotIn("tried", self.browser.text())

    def test_report_encoding(self):
        """A report takes the file that its campaign was begun with in its encoding, which is chosen as at the start"""
        self.fixture.run_campaign("umlaut", ["carl", "dora"])
        file = self.fixture.directory / "umlaut-1252.csv"
        file.write_text("Größe;user\nBjörn;carl\nGörlitz;dora\n", encoding="cp1252")
        self.browser.open(self.fixture, "/campaigns/umlaut")
        self.browser.wait_for_text("finished")
        self.browser.the("input[type=file]", "The campaign’s audience (you may leave it out)").send_keys(str(file))
        self.browser.press("Make a report")
        self.browser.wait_for_text("The file is not UTF-8. How does it read right?")
        self.browser.wait_for_text("Björn;carl")
        self.assertNotIn("--encoding", self.browser.text())
        self.assert_accessible()
        self.browser.press("Read it as WINDOWS-1252")
        self.browser.wait_for_text("umlaut-1252.csv has 2 lines: 2 people were reached, 0 were not.")
        self.browser.press("The same on a command line")
        self.browser.wait_for_text("--encoding WINDOWS-1252")
        self.assert_accessible()

    def test_chosen_file(self):
        """What a file is shows when it is chosen: a workbook is refused, and a heading reads right in the chosen encoding"""
        self.browser.press("Campaigns")
        self.browser.press("New campaign")
        self.browser.fill("Name", "chosen")
        self.browser.fill("Message", "Hi {{Größe}}")
        book = self.fixture.directory / "liste.xlsx"
        book.write_bytes(b"PK\x03\x04" + bytes(100))
        chosen = self.browser.the("input[type=file]", "Audience")
        chosen.send_keys(str(book))
        self.browser.wait_for_text("Audience: the file is an Excel workbook (xlsx)")
        self.assertNotIn("The file has", self.browser.text())
        self.assert_accessible()
        file = self.fixture.directory / "heading.csv"
        file.write_text("Größe;user\nBjörn;ann\n", encoding="cp1252")
        chosen.send_keys(str(file))
        self.browser.wait(lambda: "Excel workbook" not in self.browser.text(), "the mark stays")
        self.choose_apns()
        self.browser.press("Upload and preview")
        self.browser.press("Read it as WINDOWS-1252")
        self.browser.wait_for_text("The file has: Größe, user.")
        text = self.fixture.directory / "unicode.txt"
        text.write_text("E-Mail\tuser\nx\tann\n", encoding="utf-16")
        chosen = self.browser.the("input[type=file]", "Audience")
        self.browser.fill("Encoding", "")
        chosen.send_keys(str(text))
        self.browser.wait_for_text("The file has: E-Mail, user.")
        self.browser.fill("Message", "Hi {{E-Mail}}")
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("CSV with tabs in UTF-16")

    def confirm(self, typed=None):
        """Answers the question: types the required text, and presses its first button."""
        self.browser.wait(lambda: self.browser.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), "nothing was asked")
        if typed:
            self.browser.fill("Type…", typed)
        self.browser.driver.find_element(By.CSS_SELECTOR, "dialog[open] button[type=submit]").click()

    def hold_calls(self):
        """Calls end only after `misbehave()`, so that a campaign is still running on any machine."""
        self.fixture.misbehave({"user": "user-*", "hold": True})

    def users(self):
        """The people notified so far or currently."""
        return sorted(call["user"] for call in self.fixture.calls())

    @gate
    def test_pause_and_resume(self):
        """A campaign is previewed, started, paused and resumed, and no person is notified twice or skipped"""
        self.hold_calls()
        self.fill_in("autumn", begin_with="40")
        text = self.browser.text()
        for fact in ("120", "Repeats", "Hi Ann 0, the sale ends tonight"):
            self.assertIn(fact, text)
        self.assert_accessible()
        self.browser.press("Start it")
        self.assert_accessible()
        self.confirm(typed="120")
        self.browser.wait(lambda: self.browser.path == "/campaigns/autumn", "the campaign was not started")
        self.browser.wait_for_text("is at work")
        self.browser.wait(lambda: len(self.users()) == 40, "the first step was not called")
        self.browser.press("Pause")
        self.confirm()
        self.browser.the("button", "Resume")
        # The first step may end, and the next one does not begin.
        self.fixture.misbehave()
        self.browser.wait(
            lambda: re.search(r"delivered\s+40\b", self.browser.text(), re.I), "the first step has no end")
        self.assertEqual(len(self.users()), 40)
        self.assert_accessible()
        self.browser.press("Resume")
        self.assert_accessible()
        self.confirm()
        self.browser.wait_for_text("finished")
        self.assertEqual(self.users(), sorted(f"user-{number}" for number in range(120)))
        self.assert_accessible()

    @gate
    def test_hold(self):
        """A campaign waits for its operator at each hold, with the numbers beside the button, and goes on when he says so"""
        self.fill_in("careful")
        self.browser.fill("Wait for me when published", "40,20")
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("is not understood; write rising numbers of recipients")
        self.browser.fill("Wait for me when published", "20,100")
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("Waits for you when published")
        self.browser.wait_for_text("20, 100")
        self.assert_accessible()
        self.browser.press("Start it")
        self.confirm(typed="120")
        self.browser.wait_for_text("It waits for you: 20 of 120 recipients are published")
        self.browser.wait_for_text("It goes on with the next 80, and waits again.")
        self.browser.wait(lambda: re.search(r"delivered\s+20\b", self.browser.text("[aria-labelledby=hold]"), re.I), "its numbers are not shown")
        self.assertEqual(self.browser.text("[aria-label='How it stands'] .badge"), "waiting for you")
        self.assert_accessible()
        self.browser.press("Campaigns")
        self.browser.wait_for_text("waiting for you")
        self.assert_accessible()
        self.browser.press("careful")
        self.browser.press("Go on")
        self.browser.wait_for_text("20 delivered, 0 failed, 0 open. It goes on with the next 80, and waits for you again.", "dialog")
        self.assert_accessible()
        self.confirm()
        self.browser.wait_for_text("It waits for you: 100 of 120 recipients are published")
        self.assertEqual(len(self.users()), 100)
        self.browser.press("Go on")
        self.confirm()
        self.browser.wait_for_text("finished")
        self.assertEqual(self.users(), sorted(f"user-{number}" for number in range(120)))

    def set_moment(self, date, clock):
        """Chooses a day and a time, as the browser's own pickers do: what is typed depends on its language."""
        for selector, value in (("#at", date), ("#atTime", clock)):
            self.browser.driver.execute_script("""
                const field = document.querySelector(arguments[0]);
                field.value = arguments[1];
                for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }));
            """, selector, value)

    def schedule(self, name):
        """Schedules a campaign for a day that this browser's zone names, and leaves its page open."""
        self.fill_in(name)
        zone = self.browser.driver.execute_script("return Intl.DateTimeFormat().resolvedOptions().timeZone")
        self.browser.wait_for_text(f"By the clock of {zone}, where this browser is.")
        self.set_moment("2099-12-24", "09:00")
        self.browser.wait_for_text("The preview is void")
        self.browser.press("Upload and preview")
        self.browser.wait_for_text(f"starts 2099-12-24 09:00 ({zone}), in ")
        return zone

    @gate
    def test_schedule(self):
        """A campaign is scheduled by day, time and zone, is shown as scheduled, and is cancelled before its moment"""
        zone = self.schedule("advent")
        self.assert_accessible()
        self.browser.press("Schedule it")
        self.browser.wait_for_text(f"notify the other 120, from 2099-12-24 09:00 ({zone}) on?", "dialog")
        self.assert_accessible()
        self.confirm(typed="120")
        self.browser.wait(lambda: self.browser.path == "/campaigns/advent", "the campaign was not scheduled")
        self.browser.wait(lambda: self.browser.text("[aria-label='How it stands'] .badge") == "scheduled", "it is not scheduled")
        self.browser.wait_for_text(f"2099-12-24 09:00 ({zone})")
        self.browser.wait_for_text("waits for that moment")
        self.assert_accessible()
        self.browser.press("Campaigns")
        self.browser.wait_for_text("scheduled")
        self.browser.wait_for_text(f"2099-12-24 09:00 ({zone})")
        self.assert_accessible()
        self.assertEqual(self.users(), [])
        self.browser.press("advent")
        self.browser.press("Cancel for good")
        self.assert_accessible()
        self.confirm()
        self.browser.wait(lambda: self.browser.text("[aria-label='How it stands'] .badge") == "cancelled", "it is not cancelled")
        self.assertEqual(self.users(), [])

    def test_begin_at_once(self):
        """A day without its time is refused at its field, and what is scheduled begins at once when that is said"""
        self.schedule("epiphany")
        self.set_moment("2099-12-24", "")
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("the time of that day is missing")
        self.assertEqual(self.browser.focused(), "At")
        self.assert_accessible()
        self.set_moment("2001-12-24", "09:00")
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("give a moment to come")
        self.set_moment("2099-12-24", "09:00")
        self.browser.press("Upload and preview")
        self.browser.press("Schedule it")
        self.confirm(typed="120")
        self.browser.wait_for_text("waits for that moment")
        self.browser.press("Change it")
        self.browser.the("input[type=file]", "Audience").send_keys(str(self.fixture.directory / "epiphany.csv"))
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("It keeps the moment of its last start")
        self.browser.the("input", "It begins at once, though it was to begin later").click()
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("it begins at once instead of 2099-12-24 09:00")
        self.assert_accessible()
        self.browser.press("Go on with it")
        self.confirm(typed="120")
        self.browser.wait_for_text("finished")
        self.assertEqual(self.users(), sorted(f"user-{number}" for number in range(120)))

    def test_detached(self):
        """A campaign whose audience is kept in Kafka is scheduled without a publisher, and only with a moment"""
        detach = "Keep the audience in Kafka until then: any console that may make changes, or herald campaign run, publishes it"
        self.fill_in("detached")
        self.browser.the("input", detach).click()
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("is for a campaign that begins later; add “Begin on”")
        self.assert_accessible()
        self.set_moment("2099-12-24", "09:00")
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("starts 2099-12-24 09:00")
        self.assertIn("--detach", self.browser.text())
        self.browser.press("Schedule it")
        self.browser.wait_for_text("a console that may make changes, or herald campaign run, has to run then", "dialog")
        self.confirm(typed="120")
        self.browser.wait_for_text("Its audience is kept in Kafka: a console that may make changes, or herald campaign run, publishes it then.")
        self.assertEqual(self.browser.text("[aria-label='How it stands'] .badge"), "scheduled")
        self.assert_accessible()
        self.browser.press("Verdict")
        self.browser.wait(lambda: self.browser.path == "/", "the page was not left")
        self.assertNotIn("Campaign detached is stopped", self.browser.text())
        self.assertEqual(self.users(), [])

    def test_refused_files(self):
        """Files that are refused, or left with Back, lock no viewer out"""
        for number in range(5):
            file = self.fixture.directory / f"refused-{number}.csv"
            file.write_text(f"name\nann {number}\n")
            self.browser.press("Campaigns")
            self.browser.press("New campaign")
            self.browser.fill("Name", "refused")
            self.browser.the("input[type=file]", "Audience").send_keys(str(file))
            self.browser.fill("Message", "Hi")
            self.choose_apns()
            self.browser.press("Upload and preview")
            self.browser.wait_for_text("user")
            self.browser.wait_for_text("column")
        for number in range(5):
            self.fill_in(f"left-{number}")
            self.browser.press("Back")

    def test_report(self):
        """The page of an ended campaign makes a report to save"""
        self.fixture.run_campaign("spring", ["carl", "dora"])
        self.browser.open(self.fixture, "/campaigns")
        self.browser.wait_for_text("spring")
        self.assert_accessible()
        self.browser.press("spring")
        self.browser.wait_for_text("finished")
        for order in ("Pause", "Resume", "Cancel for good"):
            self.assertEqual(self.browser.named("button", order), [], "what has ended takes no orders")
        self.browser.press("Make a report")
        self.browser.wait_for_text("Save the report")
        self.browser.wait_for_text("All 2 people who were published were reached")
        self.browser.press("Save who was not reached")
        self.browser.press("Save what was not delivered")
        self.browser.press("Save all results")
        self.browser.press("The same on a command line")
        self.browser.wait_for_text("the audience of a new campaign")
        self.browser.wait_for_text("--not-reached spring.not-reached.csv --audience AUDIENCE")
        self.assert_accessible()
        self.browser.press("Audit")
        self.browser.wait(
            lambda: len(re.findall(r"campaign\.reveal\s+spring", self.browser.text())) == 3,
            "the audit does not have who took the lists")

    def test_tab_is_closed(self):
        """A campaign goes on when its tab is closed, and is found again in another one"""
        self.hold_calls()
        self.fill_in("winter", begin_with="5")
        self.browser.press("Start it")
        self.confirm(typed="120")
        self.browser.wait(lambda: self.browser.path == "/campaigns/winter", "the campaign was not started")
        self.browser.wait(lambda: len(self.users()) == 5, "the first step was not called")
        self.browser.close_tab()
        self.fixture.misbehave()
        self.browser.open(self.fixture, "/campaigns")
        self.browser.press("winter")
        self.browser.wait_for_text("finished")

    def test_question_by_keyboard(self):
        """A question is answered with the keyboard: Escape takes it back, and the focus is where it was"""
        self.fill_in("summer")
        self.browser.press("Start it")
        self.browser.wait(lambda: self.browser.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), "nothing was asked")
        self.assertEqual(self.browser.focused_tag(), "input")
        self.browser.key(Keys.ESCAPE)
        self.browser.wait(lambda: not self.browser.driver.find_elements(By.CSS_SELECTOR, "dialog"), "it is still asked")
        self.assertEqual(self.browser.focused(), "Start it")

    def upload(self, name, text, encoding="utf-8", **fields):
        """Uploads an audience and requests its preview."""
        file = self.fixture.directory / f"{name}.csv"
        file.write_text(text, encoding=encoding)
        self.browser.press("Campaigns")
        self.browser.press("New campaign")
        self.browser.fill("Name", name)
        self.browser.the("input[type=file]", "Audience").send_keys(str(file))
        self.browser.fill("Message", "Hi {{name}}")
        self.choose_apns()
        for title, value in fields.items():
            self.browser.fill(title.replace("_", " "), value)
        self.browser.press("Upload and preview")

    @gate
    def test_spreadsheet(self):
        """A spreadsheet's file is read as it is, and too many invalid lines are left out only after consent"""
        text = "sep=;\nE-Mail;name\nann@x.org;Ann\n" + "b b;Bob\n" * 19 + ";;\n"
        self.upload("sheet", text)
        self.browser.wait_for_text('its columns are "E-Mail", "name"')
        self.upload("sheet", text, Column_with_the_users="E-Mail")
        self.browser.wait_for_text("19 of 20 lines are invalid (95.0%)")
        self.assertIn('CSV with semicolons, users in the column "E-Mail"', self.browser.text())
        self.assert_accessible()
        self.browser.press("Start it")
        self.browser.wait_for_text("Leave these 19 invalid lines out and notify the other one?", "dialog")
        self.assert_accessible()
        self.confirm()
        self.browser.wait_for_text("finished")
        self.assertEqual(self.users(), ["ann@x.org"])

    @gate
    def test_encoding(self):
        """A list that is not UTF-8 is shown in likely encodings, and is notified in the chosen one"""
        self.upload("cyrillic", "user,name\nann,Анна\nbob,Борис\n", encoding="cp1251")
        self.browser.wait_for_text("ann,Анна")
        self.assertIn("ann,Àííà", self.browser.text())
        self.assert_accessible()
        self.browser.press("Read it as WINDOWS-1251")
        self.browser.wait_for_text("Hi Борис")
        self.browser.press("Start it")
        self.confirm()
        self.browser.wait_for_text("finished")
        self.assertEqual(self.users(), ["ann", "bob"])
        # It goes on in the same encoding, which nobody has to choose again, and in no other.
        more = "user,name\nann,Анна\nbob,Борис\neve,Ева\n"
        self.upload("cyrillic", more, encoding="cp1251")
        self.browser.wait_for_text("Hi Ева")
        self.upload("cyrillic", more, encoding="cp1251", Encoding="MACINTOSH")
        self.browser.wait_for_text("Encoding: the campaign's audience was read as WINDOWS-1251")
        # Where the message is kept, the first messages show on request how the file is read.
        self.browser.open(self.fixture, "/campaigns?new=cyrillic")
        self.browser.the("input[type=file]", "Audience").send_keys(str(self.fixture.directory / "cyrillic.csv"))
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("The first messages are hidden")
        self.assertNotIn("Hi Ева", self.browser.text())
        self.assert_accessible()
        self.browser.press("Reveal (goes into the audit)")
        self.browser.wait_for_text("Hi Ева")

    def test_people_are_added(self):
        """People added to the audience of a finished campaign are notified, and its page says so"""
        self.upload("grown", "user,name\nann,Ann\n")
        self.browser.press("Start it")
        self.confirm()
        self.browser.wait_for_text("finished")
        # Every time has its zone.
        self.assertRegex(self.browser.text(), r"since \d\d:\d\d:\d\d UTC")
        self.assertNotIn("is at work", self.browser.text())
        # Its page leads there; and its message may be left out.
        self.browser.press("Add people")
        self.browser.wait_for_text("Add people to campaign grown")
        self.assertNotIn("Another audience takes the place", self.browser.text())
        self.assert_accessible()
        file = self.fixture.directory / "new.csv"
        file.write_text("user,name\nben,Ben\n")
        self.browser.the("input[type=file]", "Audience").send_keys(str(file))
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("1 recipient is added to the 1 that it had")
        self.browser.wait_for_text("The first messages are hidden, because the message was not typed here.")
        self.browser.press("Go on with it")
        self.confirm()
        self.browser.wait_for_text("1 recipient added at")
        self.browser.wait_for_text("finished")
        self.assertEqual(self.users(), ["ann", "ben"])

    def test_wrong_field(self):
        """A refused field is named by its label, marked, and has the focus; an edit takes the mark back"""
        self.fill_in("marked")
        self.browser.fill("Recipients a second", "quickly")
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("Recipients a second: \"quickly\" is not understood")
        self.assertEqual(self.browser.driver.switch_to.active_element.get_attribute("id"), "rate")
        self.assertEqual(self.browser.the("#rate", "Recipients a second").get_attribute("aria-invalid"), "true")
        self.assert_accessible()
        self.browser.fill("Recipients a second", "100/s")
        self.browser.wait(lambda: "is not understood" not in self.browser.text(), "the mark stays")

    @gate
    def test_publisher_is_gone(self):
        """A campaign whose publisher has ended is stopped in its page, list and verdict, and goes on by a new start"""
        self.hold_calls()
        self.fill_in("gone", begin_with="5")
        self.browser.press("Start it")
        self.confirm(typed="120")
        self.browser.wait(lambda: self.browser.path == "/campaigns/gone", "the campaign was not started")
        self.browser.wait(lambda: len(self.users()) == 5, "the first step was not called")
        self.browser.press("Stop publishing")
        self.confirm()
        self.browser.wait_for_text("nobody publishes the rest, 115 recipients")
        self.browser.wait_for_text("has ended (interrupted by ")
        self.assertEqual(self.browser.text("[aria-label='How it stands'] .badge"), "stopped")
        self.assert_accessible()
        self.fixture.misbehave()
        self.browser.press("Verdict")
        self.browser.wait_for_text("Campaign gone is stopped")
        self.browser.press("See the campaign")
        self.browser.press("Campaigns")
        self.browser.wait_for_text("stopped")
        self.fill_in("gone", begin_with="none")
        self.browser.press("Go on with it")
        self.confirm(typed="115")
        self.browser.wait_for_text("finished")
        self.assertEqual(self.users(), sorted(f"user-{number}" for number in range(120)))

    def test_take_over(self):
        """A start takes over from the publisher at work, as its preview says"""
        self.hold_calls()
        self.fill_in("taken", begin_with="5")
        self.browser.press("Start it")
        self.confirm(typed="120")
        self.browser.wait(lambda: len(self.users()) == 5, "the first step was not called")
        self.browser.wait(lambda: self.browser.named("a", "Take it over"), "the page has no link to a start")
        self.fill_in("taken", begin_with="none")
        self.browser.fill("Message", "")
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("a start takes over from it")
        self.browser.press("Go on with it")
        self.browser.wait_for_text("It takes over from", "dialog")
        self.confirm(typed="115")
        self.fixture.misbehave()
        self.browser.wait_for_text("finished")
        self.assertEqual(self.users(), sorted(f"user-{number}" for number in range(120)))

    def test_finish_now(self):
        """A campaign that waits for one user is declared finished, and that one is still called"""
        self.fixture.misbehave({"user": "user-7", "status": 503})
        self.fill_in("nearly")
        self.browser.press("Start it")
        self.confirm(typed="120")
        self.browser.press("Finish now")
        self.assert_accessible()
        self.confirm()
        self.browser.wait_for_text("1 notification is left to its retries.")
        self.fixture.forget_calls()
        self.fixture.misbehave()
        self.browser.wait_for_text("Nothing will change any more, but by replays.")
        self.assertEqual(self.users()[-1], "user-7", "no later test has a call of this one")

    @gate
    def test_voided_preview(self):
        """Every edit voids the preview: only the last previewed text is sent"""
        self.fill_in("edited")
        self.browser.fill("Message", "Hi {{first_name}}, the sale is over")
        self.browser.wait_for_text("The preview is void")
        self.assertEqual(self.browser.named("button", "Start it"), [])
        self.assert_accessible()
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("Hi Ann 0, the sale is over")
        self.browser.the("input", "wns").click()
        self.browser.wait_for_text("The preview is void")
        self.browser.the("input", "wns").click()
        self.browser.press("Upload and preview")
        self.browser.wait_for_text("What would happen")
        self.browser.press("Start it")
        self.confirm(typed="120")
        self.browser.wait_for_text("finished")
        self.assertEqual({call["message"] for call in self.fixture.calls()},
                         {f"Hi Ann {number}, the sale is over" for number in range(120)})


class ContentTest(ConsoleTest):
    """A campaign with more than a message."""

    accepted = ("status of 404",)
    looks = tuple((width, dark) for width in (1920, 1280, 390) for dark in (False, True))

    def preview(self, name, rows, **fields):
        """Uploads users with a title, a message and a picture each, and previews the campaign."""
        file = self.fixture.directory / f"{name}.csv"
        with file.open("w", encoding="utf-8", newline="") as output:
            csv.writer(output).writerows([("user", "title", "text", "picture"), *rows])
        self.browser.press("Campaigns")
        self.browser.press("New campaign")
        self.browser.fill("Name", name)
        self.browser.the("input[type=file]", "Audience").send_keys(str(file))
        self.browser.fill("Message", "{{text}}")
        self.browser.fill("Title", "{{title}}")
        self.browser.fill("Picture", "{{picture|}}")
        self.browser.the("input", "apns").click()
        for title, value in fields.items():
            self.browser.fill(title.replace("_", " "), value)
        self.browser.press("Upload and preview")
        self.browser.wait_for_text(f"As phones show it to {rows[0][0]}")

    def drawings(self):
        return [each.text for each in self.browser.driver.find_elements(By.CSS_SELECTOR, ".phone .notification")]

    @gate
    def test_content(self):
        """A campaign's title, link, picture and data are drawn for whom one likes, and everybody gets their own"""
        self.preview("content", [("ann", "For Ann", "Look inside", "https://cdn.example/1.png"), ("bob", "For Bob", "Look", "")],
                     Link="shop://offers/{{user}}", Badge="3", Sound="none", Category="OFFER", Data_for_the_app="offer={{user}}\nkind=spring")
        drawings = self.drawings()
        self.assertEqual(len(drawings), 2)
        for drawing in drawings:
            for part in ("For Ann", "Look inside", "cdn.example"):
                self.assertIn(part, drawing)
        self.browser.wait_for_text("A tap leads to shop://offers/ann.")
        self.browser.the("input", "bob, the emptiest, without picture").click()
        self.browser.wait_for_text("As phones show it to bob")
        self.assertTrue(all("For Bob" in drawing for drawing in self.drawings()))
        self.assert_accessible()
        self.browser.press("Start it")
        self.browser.wait(lambda: self.browser.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"), "nothing was asked")
        self.browser.driver.find_element(By.CSS_SELECTOR, "dialog[open] button[type=submit]").click()
        self.browser.wait_for_text("finished")
        self.assertEqual({call["user"]: (call["message"], call["content"]) for call in self.fixture.calls()}, {
            "ann": ("Look inside", {"title": "For Ann", "link": "shop://offers/ann", "image": "https://cdn.example/1.png",
                                    "sound": "none", "category": "OFFER", "badge": 3, "data": {"kind": "spring", "offer": "ann"}}),
            "bob": ("Look", {"title": "For Bob", "link": "shop://offers/bob", "sound": "none", "category": "OFFER",
                             "badge": 3, "data": {"kind": "spring", "offer": "bob"}})})
        self.browser.press("Reveal…")
        self.browser.wait_for_text("shop://offers/{{user}}")

    def test_hostile_drawing(self):
        """Hostile texts are texts in the drawing, and it fits a phone and a wide screen"""
        for number, (title, text) in enumerate([
                (hostile.IMAGE, hostile.SCRIPT + hostile.TEMPLATE), (hostile.ATTRIBUTE, "</script>" + hostile.IMAGE),
                ("W" * 256, "W" * 3000), ("\U0001f4e6" * 60, "\U0001f469\u200d\U0001f469\u200d\U0001f467" * 100),
                ("invoice \u202egnp.exe", "\u05e9\u05dc\u05d5\u05dd \u202e abc\nApproved: yes")]):
            with self.subTest(title=title[:20]):
                self.preview(f"hostile-{number}", [("ann", title, text, f"https://{'w' * 60}.example/1.png")], Link="https://shop.example/" + "w" * 1000)
                self.assert_harmless()
                for drawing in self.drawings():
                    self.assertIn(title.split("\u202e")[0].strip(), drawing)
                for width in (1920, 1280, 390):
                    self.browser.looks(width)
                    self.assertEqual(self.browser.overflowing(".phone, .notification"), [], f"{width} px")
                    self.assertFalse(self.browser.is_wider_than_the_window(), f"{width} px")
                    if width >= 1280:
                        self.assertEqual(self.browser.cut_tables(), [], f"{width} px")
        self.assert_accessible()


class ReadOnlyTest(ConsoleTest):
    plan = {"name": "read-only.", "changes": False}

    def test_no_orders(self):
        """Without --allow-changes nothing can be started, paused or resumed, and the page says why"""
        self.fixture.run_campaign("spring", ["ann", "bob"])
        self.browser.open(self.fixture, "/campaigns/spring")
        self.browser.wait_for_text("spring")
        self.assertIn("read-only", self.browser.text("#who"))
        for order in ("Pause", "Resume", "Cancel for good"):
            self.assertEqual(self.browser.named("button", order), [])
